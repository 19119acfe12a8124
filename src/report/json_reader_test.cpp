#include "report/json_reader.hpp"

#include "report/csv.hpp"
#include "report/golden.hpp"
#include "report/html.hpp"
#include "report/json.hpp"
#include "report/text.hpp"

#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

namespace onbeat::report {
namespace {

using namespace std::chrono_literals;
using Json = nlohmann::ordered_json;

/// One in which every field that JSON has is set to something.
run::Report full() {
  run::Report report = testing::troubled();
  report.commit = "abcdef0+";
  report.tags = {{"host", "a"}, {"build", "7"}};
  report.options.push_back({"header", "A: 1", "cli"});
  report.percentiles = {50, 90, 97.5, 99};
  report.warmup_excluded = 11;
  report.samples = run::Report::Samples{.one_of = 10, .kept = 990, .dropped = 3};
  report.connections.reset = 3;
  report.cost.limits = {"cpu"};
  report.observed.wall_minus_monotonic = -7ns;
  report.observed.in_flight_mean = 0.1;
  report.total.response.record_censored(6h, 2);  // beyond the range of the buckets
  report.series[3].counts.missed_late = 2;
  report.series[3].p99.reset();
  for (kernel::Counts* counts : {&report.total.counts, &report.endpoints[0].counts}) {
    counts->passed = 5;
    counts->not_passed = 6;
    counts->untimed = 7;
  }
  report.endpoints[0].part = true;
  report.sources = {{"lookups", 4}};
  report.levels.push_back({.concurrency = 3,
                           .counts = report.total.counts,
                           .issue = 1s,
                           .drain = 1ms,
                           .response = report.total.response,
                           .service = report.total.service,
                           .failed = report.total.failed,
                           .codes = {{"OK", 5}}});
  report.endpoints[0].message_gap.record(3ms);
  run::judge(report, {.thresholds = {testing::threshold("p(99) < 25ms"),
                                     testing::threshold("lag.p(99) < 1s"),
                                     testing::threshold("code(500) < 1%")}});
  return report;
}

std::vector<run::Report> all() {
  std::vector<run::Report> reports{full(),
                                   run::testing::healthy_open(),
                                   run::testing::healthy_closed(),
                                   run::testing::without_data(),
                                   run::testing::found_by_search(),
                                   run::testing::latency_curve(),
                                   run::Report{},
                                   testing::hostile(),
                                   testing::hostile_without_data()};
  run::judge(reports[2], {});
  return reports;
}

TEST(JsonReader, WhatIsWrittenAgainIsTheSameText) {
  for (const run::Report& report : all()) {
    const std::string text = to_json(report);
    const auto back = from_json(text);
    ASSERT_TRUE(back) << back.error();
    EXPECT_EQ(to_json(*back), text);
  }
}

TEST(JsonReader, EveryOtherFormatIsTheSameToo) {
  for (const run::Report& report : {full(), run::testing::healthy_open(),
                                    run::testing::found_by_search(), run::testing::latency_curve(),
                                    run::testing::healthy_closed(), run::testing::without_data()}) {
    const auto back = from_json(to_json(report));
    ASSERT_TRUE(back) << back.error();
    EXPECT_EQ(to_text(*back), to_text(report));
    EXPECT_EQ(to_csv(*back), to_csv(report));
    EXPECT_EQ(to_html(*back), to_html(report));
  }
}

TEST(JsonReader, AVerdictCanBeReachedAgain) {
  run::Report report = full();
  auto back = from_json(to_json(report)).value();
  back.verdict = {};
  back.thresholds.clear();
  run::judge(report, {});
  run::judge(back, {});
  EXPECT_EQ(to_json(back), to_json(report));
}

std::string refusal(const std::string& text) {
  const auto read = from_json(text);
  return read ? "accepted" : read.error();
}

TEST(JsonReader, WhatIsWrongIsNamedWithItsPlace) {
  const Json right = Json::parse(to_json(full()));
  const auto with = [&](const char* pointer, const Json& value) {
    Json json = right;
    json[Json::json_pointer(pointer)] = value;
    return refusal(json.dump());
  };
  EXPECT_TRUE(refusal("{").starts_with("not JSON: ")) << refusal("{");
  EXPECT_EQ(refusal("[]"), "must be an object");
  EXPECT_EQ(refusal("{}"), "schema: is missing");
  EXPECT_EQ(with("/schema", "onbeat.report/9"),
            "schema: \"onbeat.report/9\" is not onbeat.report/1");
  EXPECT_EQ(with("/counts/ok", -1), "counts/ok: must be a whole number");
  EXPECT_EQ(with("/run/exit_code", 77), "run/exit_code: is no exit code");
  EXPECT_EQ(with("/run/name", 5), "run/name: must be a text");
  EXPECT_EQ(with("/load/model", "ajar"), "load/model: must be open or closed");
  EXPECT_EQ(with("/verdict/status", "fine"), "verdict/status: \"fine\" is none of its values");
  EXPECT_EQ(with("/series/2/t_ns", "soon"), "series/2/t_ns: must be whole nanoseconds");
  EXPECT_EQ(with("/codes/200", 0.5), "codes/200: must be a whole number");
  EXPECT_EQ(with("/latency/response/hdr", "AAA"),
            "latency/response/hdr: not base64: its length is no multiple of 4");
  EXPECT_EQ(with("/latency/lag/sum", 1), "latency/lag: the figures are not those of its histogram");
  EXPECT_EQ(with("/latency/lag/sum", 1e300), "latency/lag/sum: is out of range");
  EXPECT_EQ(with("/latency/lag/count", 1),
            "latency/lag: the figures are not those of its histogram");
  EXPECT_EQ(with("/latency/response/percentiles/x", 1),
            "latency/response/percentiles/x: is no percentile");
  EXPECT_EQ(with("/observed/loops", Json::object()), "observed/loops: must be an array");
  EXPECT_EQ(with("/verdict/untrusted", "x"), "verdict/untrusted: must be an array");
  EXPECT_EQ(with("/run/name", "x"), "accepted");
}

}  // namespace
}  // namespace onbeat::report
