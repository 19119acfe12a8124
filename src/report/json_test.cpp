#include "report/json.hpp"

#include "report/golden.hpp"
#include "report/hdr_encoding.hpp"

#include <gtest/gtest.h>
#include <nlohmann/json.hpp>
#include <sys/wait.h>

#include <cstdio>
#include <fstream>

namespace onbeat::report {
namespace {

using namespace std::chrono_literals;
using run::testing::healthy_closed;
using run::testing::healthy_open;
using run::testing::without_data;
using Json = nlohmann::ordered_json;

Json parsed(const run::Report& report) { return Json::parse(to_json(report)); }

std::vector<std::string> keys(const Json& json) {
  std::vector<std::string> names;
  for (const auto& [key, value] : json.items()) names.push_back(key);
  return names;
}

TEST(JsonReport, FieldsStandInTheirFixedOrder) {
  const Json json = parsed(healthy_open());
  EXPECT_EQ(
      keys(json),
      (std::vector<std::string>{
          "schema",         "tool",        "host",    "run",           "options",     "load",
          "verdict",        "counts",      "rates",   "bytes",         "duration_ns", "latency",
          "failed_latency", "codes",       "errors",  "error_samples", "endpoints",   "breakdown",
          "connections",    "client_cost", "samples", "thresholds",    "observed",    "levels",
          "sources",        "series"}));
  EXPECT_EQ(keys(json["counts"]),
            (std::vector<std::string>{"planned", "started", "missed", "missed_by", "saturated",
                                      "ok", "failed", "timed_out", "cancelled", "in_flight_at_end",
                                      "passed", "not_passed", "untimed", "warmup_excluded"}));
  EXPECT_EQ(keys(json["latency"]),
            (std::vector<std::string>{"response", "service", "wait", "lag"}));
  EXPECT_EQ(
      keys(json["latency"]["lag"]),
      (std::vector<std::string>{"count", "censored", "min", "mean", "stddev", "max", "percentiles",
                                "at_least", "smallest_censored", "sum", "hdr"}));
}

TEST(JsonReport, ValuesAreThoseOfTheReport) {
  run::Report report = testing::troubled();
  run::judge(report, {.thresholds = {testing::threshold("p(99) < 25ms")}});
  const Json json = parsed(report);
  EXPECT_EQ(json["counts"]["timed_out"], 100);
  EXPECT_EQ(json["rates"]["achieved"], 1000.0);
  EXPECT_EQ(json["rates"]["ok"], 970.0);
  EXPECT_EQ(json["duration_ns"]["issue"], 10'000'000'000);
  EXPECT_EQ(json["latency"]["response"]["censored"], 100);
  EXPECT_EQ(json["latency"]["response"]["min"], 4'000'000);
  EXPECT_EQ(json["options"]["rate"]["source"], "cli");
  EXPECT_EQ(json["endpoints"][1]["errors"]["timeout"], 100);
  EXPECT_EQ(json["failed_latency"]["count"], 200);
  EXPECT_EQ(json["thresholds"][0]["passed"], false);
  EXPECT_EQ(json["run"]["exit_code"], 1);
  EXPECT_EQ(json["breakdown"]["turn"]["count"], 20'000);
  std::uint64_t started = 0;
  for (const Json& row : json["series"]) started += row["started"].get<std::uint64_t>();
  EXPECT_EQ(started, json["counts"]["started"]);
}

TEST(JsonReport, LowerBoundsAreNamed) {
  const Json response = parsed(testing::troubled())["latency"]["response"];
  EXPECT_EQ(response["at_least"], (Json{"99", "mean", "max"}));
  EXPECT_EQ(response["percentiles"]["99.9"],
            nullptr);  // too few samples: neither shown nor marked
  EXPECT_GE(response["percentiles"]["99"], 2'000'000'000);
  EXPECT_EQ(parsed(healthy_open())["latency"]["response"]["at_least"], Json::array());
}

TEST(JsonReport, M13_AbsentIsNullAndNothingIsZero) {
  const Json json = parsed(without_data());
  EXPECT_EQ(json["counts"]["planned"], 0);
  EXPECT_EQ(json["rates"]["achieved"], nullptr);
  EXPECT_EQ(json["latency"]["response"]["count"], 0);
  for (const char* key : {"min", "mean", "stddev", "max", "hdr"}) {
    EXPECT_EQ(json["latency"]["response"][key], nullptr) << key;
  }
  EXPECT_EQ(json["latency"]["response"]["percentiles"]["50"], nullptr);
  EXPECT_EQ(json["run"]["error"]["class"], "dns");
  EXPECT_EQ(parsed(healthy_open())["run"]["error"], nullptr);
  const Json closed = parsed(healthy_closed());
  EXPECT_EQ(closed["load"]["arrivals"], nullptr);
  EXPECT_EQ(closed["rates"]["planned"], nullptr);
  EXPECT_EQ(closed["latency"]["lag"]["max"], nullptr);
}

TEST(JsonReport, M13_NoNanAnywhere) {
  run::Report report = healthy_open();
  report.cost.cores_used = report.host.cores = std::numeric_limits<double>::quiet_NaN();
  report.cost.rps_per_core = std::numeric_limits<double>::infinity();
  const Json json = parsed(report);
  EXPECT_EQ(json["client_cost"]["cores_used"], nullptr);
  EXPECT_EQ(json["client_cost"]["rps_per_core"], nullptr);
  EXPECT_EQ(json["host"]["cores"], nullptr);
}

TEST(JsonReport, HdrPayloadHoldsTheDistribution) {
  const run::Report report = healthy_open();
  const auto decoded = decode_hdr(parsed(report)["latency"]["response"]["hdr"].get<std::string>());
  ASSERT_TRUE(decoded);
  EXPECT_EQ(decoded->count(), report.total.response.count());
  const auto bucket = [&](const kernel::Histogram& h) {
    return h.layout().index_of(h.percentile(99).count());
  };
  EXPECT_EQ(bucket(*decoded), bucket(report.total.response));
}

TEST(JsonReport, RepeatedOptionsAreAllThere) {
  run::Report report = healthy_open();
  report.options = {{"header", "A: 1", "cli"}, {"header", "B: 2", "cli"}};
  EXPECT_EQ(parsed(report)["options"]["header"]["value"], "A: 1\nB: 2");
}

TEST(JsonReport, C5_HostileLabelsStayText) {
  const Json json = parsed(testing::hostile());
  const std::string name = json["run"]["name"];
  EXPECT_TRUE(name.starts_with("a\"b',c\n<script>")) << name;
  EXPECT_TRUE(name.contains("\xEF\xBF\xBD"));
}

TEST(JsonReport, Golden) {
  run::Report report = testing::troubled();
  run::judge(report, {.thresholds = {testing::threshold("p(99) < 25ms"),
                                     testing::threshold("error_rate < 5%")}});
  Json json = parsed(report);
  // zlib's output may differ between versions; what is in it has a test of its own.
  const auto strip = [](auto& self, Json& node) -> void {
    if (node.is_object() && node.contains("hdr") && node["hdr"].is_string()) node["hdr"] = "...";
    if (node.is_structured()) {
      for (Json& child : node) self(self, child);
    }
  };
  strip(strip, json);
  testing::expect_golden("report.json", json.dump(1) + "\n");
}

TEST(JsonReport, EveryReportIsValidByTheSchema) {
  const testing::Scratch scratch;
  run::Report judged = testing::troubled();
  run::judge(judged, {.thresholds = {testing::threshold("p(99) < 25ms"),
                                     testing::threshold("code(500) < 1%")}});
  std::string command =
      "/usr/bin/python3 " ONBEAT_SOURCE_DIR
      "/src/report/testdata/validate_report.py " ONBEAT_SOURCE_DIR "/docs/report.schema.json";
  int number = 0;
  for (const run::Report& report : {healthy_open(), healthy_closed(), without_data(), run::Report{},
                                    run::testing::found_by_search(), run::testing::latency_curve(),
                                    judged, testing::hostile(), testing::hostile_without_data()}) {
    const auto path = scratch.path(std::to_string(++number) + ".json");
    std::ofstream(path) << to_json(report);
    command += " " + path.string();
  }
  // And a file that is not: the check must be able to fail.
  Json wrong = parsed(healthy_open());
  wrong["counts"]["planned"] = -1;
  wrong["extra"] = 1;
  std::ofstream(scratch.path("wrong.json")) << wrong.dump();
  FILE* pipe =
      ::popen((command + " " + scratch.path("wrong.json").string() + " 2>&1").c_str(), "r");
  ASSERT_NE(pipe, nullptr);
  std::string output;
  for (int c = std::fgetc(pipe); c != EOF; c = std::fgetc(pipe)) output += static_cast<char>(c);
  EXPECT_EQ(WEXITSTATUS(::pclose(pipe)), 1)
      << output << "(needs the Debian package python3-jsonschema)";
  EXPECT_EQ(std::ranges::count(output, '\n'), 2) << output;
  EXPECT_TRUE(output.contains("wrong.json: counts/planned")) << output;
}

}  // namespace
}  // namespace onbeat::report
