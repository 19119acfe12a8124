#include "report/ndjson.hpp"

#include "report/golden.hpp"
#include "report/hdr_encoding.hpp"

#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

#include <algorithm>

namespace onbeat::report {
namespace {

using namespace std::chrono_literals;
using Json = nlohmann::ordered_json;

kernel::Interval interval_of(kernel::Names& names) {
  const auto code = names.codes.id("200");
  const auto error = names.errors.id(testing::kHostile);
  kernel::Interval interval;
  interval.index = 3;
  interval.start = 3s;
  interval.end = 4s;
  interval.counts.planned = interval.counts.started = 101;
  interval.counts.ok = 100;
  interval.counts.timed_out = 1;
  interval.response = run::testing::spread(4ms, 6ms, 100);
  interval.response.record_censored(2s);
  interval.codes.resize(code + 1u);
  interval.codes[code] = 100;
  interval.errors.resize(error + 1u);
  interval.errors[error] = 1;
  interval.endpoints.resize(1);
  interval.endpoints[0].counts.ok = 100;
  interval.endpoints[0].codes = interval.codes;
  interval.extra = {run::testing::always(8us, 5)};
  interval.counters = {7};
  interval.loops = {{.wall = 1s, .cpu = 20ms, .stalled = 0ns, .stalls = 0, .turns = 9}};
  interval.events = {testing::kHostile};
  return interval;
}

TEST(Stream, AnIntervalIsOneLineWithEverythingInIt) {
  kernel::Names names;
  (void)names.endpoints.id("/");
  const kernel::Interval interval = interval_of(names);
  kernel::RecorderShape shape;
  shape.histograms = {"turn"};
  shape.counters = {"opened"};
  const std::string line = stream_interval(interval, names, shape);
  EXPECT_EQ(std::ranges::count(line, '\n'), 1);
  EXPECT_EQ(line.back(), '\n');
  const Json json = Json::parse(line);
  EXPECT_EQ(json["type"], "interval");
  EXPECT_EQ(json["index"], 3);
  EXPECT_EQ(json["end_ns"], 4'000'000'000);
  EXPECT_EQ(json["counts"]["timed_out"], 1);
  EXPECT_EQ(json["codes"]["200"], 100);
  EXPECT_EQ(json["endpoints"][0]["name"], "/");
  EXPECT_EQ(json["endpoints"][0]["codes"]["200"], 100);
  EXPECT_EQ(json["counters"]["opened"], 7);
  EXPECT_EQ(json["extra"]["turn"]["count"], 5);
  EXPECT_EQ(json["loops"][0]["cpu_ns"], 20'000'000);
  EXPECT_EQ(json["latency"]["lag"], nullptr);
  const Json& response = json["latency"]["response"];
  EXPECT_EQ(response["censored"], 1);
  EXPECT_EQ(response["smallest_censored"], 2'000'000'000);
  EXPECT_EQ(decode_hdr(response["hdr"].get<std::string>())->count(), 101u);
}

TEST(Stream, StartsWithTheSchemaAndEndsWithTheReport) {
  const Json header = Json::parse(stream_header(testing::hostile()));
  EXPECT_EQ(header["type"], "header");
  EXPECT_EQ(header["schema"], "onbeat.stream/1");
  EXPECT_EQ(header["load"]["model"], "open");
  EXPECT_FALSE(header["run"].contains("exit_code"));
  const std::string last = stream_report(testing::hostile());
  EXPECT_EQ(std::ranges::count(last, '\n'), 1);
  EXPECT_EQ(Json::parse(last)["report"]["schema"], "onbeat.report/1");
}

}  // namespace
}  // namespace onbeat::report
