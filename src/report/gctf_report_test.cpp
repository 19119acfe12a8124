#include "report/gctf_report.hpp"

#include "report/bench_compare.hpp"
#include "report/golden.hpp"
#include "report/json_parts.hpp"

#include <gtest/gtest.h>

#include <string>

namespace onbeat::report {
namespace {

using namespace std::chrono_literals;
using run::Report;

Report bench() {
  Report report = testing::troubled();
  report.workload = "grpc";
  report.started_at = "2026-01-31T14:25:01.500Z";
  report.ended_at = "2026-01-31T14:25:31.500Z";
  report.codes = {{"OK", 7}, {"NotFound", 2}, {"Unavailable", 1}};
  report.errors = {{"status", 2}, {"connect_refused", 1}, {"expectation", 3}};
  report.options = {{"mode", "fixed", "default"},
                    {"concurrency", "10", "cli"},
                    {"load_schedule", "step", "bench_section"},
                    {"load_start", "5", "bench_section"},
                    {"load_end", "none", "default"},
                    {"progress_interval", "5s", "default"}};
  report.total.counts.passed = 5;
  report.total.counts.not_passed = 3;
  return report;
}

Json parsed(const Report& report) { return Json::parse(to_gctf_json(report)); }

TEST(GctfReport, Golden) { testing::expect_golden("gctf.json", to_gctf_json(bench())); }
TEST(GctfReport, GoldenPrometheus) {
  testing::expect_golden("gctf.prom", to_gctf_prometheus(bench()));
}

TEST(GctfReport, FieldsInTheirOrder) {
  std::vector<std::string> keys;
  for (const auto& [key, value] : parsed(bench()).items()) keys.push_back(key);
  EXPECT_EQ(keys, (std::vector<std::string>{"schema_version", "run", "options_resolved", "summary",
                                            "latency_distribution", "histogram",
                                            "grpc_status_distribution", "error_distribution",
                                            "threshold_evaluation", "details", "tags",
                                            "sources_runtime", "per_endpoint", "client_cost"}));
}

TEST(GctfReport, OnlyOptionsThatAreSetOrAlwaysTold) {
  const Json options = parsed(bench())["options_resolved"];
  EXPECT_EQ(options.size(), 4U);
  EXPECT_EQ(options["load_start"], (Json{{"value", "5"}, {"source", "bench_section"}}));
  EXPECT_FALSE(options.contains("load_end"));
}

TEST(GctfReport, CategoriesOfErrors) {
  const Json errors = parsed(bench())["error_distribution"];
  EXPECT_EQ(errors, (Json{{"assert_failure", 3}, {"connection_error", 1}, {"other", 2}}));
  EXPECT_EQ(parsed(bench())["grpc_status_distribution"]["NotFound"], 2);
}

TEST(GctfReport, LinearHistogram) {
  Report report;
  for (const int value : {10, 10, 11, 12, 12}) report.total.service.record(kernel::Duration(value));
  Json buckets = parsed(report)["histogram"];
  ASSERT_EQ(buckets.size(), 10U);
  std::uint64_t sum = 0;
  for (const Json& bucket : buckets) sum += bucket["count"].get<std::uint64_t>();
  EXPECT_EQ(sum, 5U);
  EXPECT_EQ(buckets[0]["count"], 2);
  EXPECT_EQ(buckets[9]["count"], 2);
  Report one;
  one.total.service.record(5ms);
  EXPECT_EQ(parsed(one)["histogram"].size(), 1U);
  EXPECT_EQ(parsed(Report{})["histogram"], Json::array());
}

TEST(GctfReport, FailuresCountInTheExtremes) {
  Report report;
  report.total.service.record(100ns);
  report.total.failed.record(9999ns);
  report.total.counts.ok = report.total.counts.failed = 1;
  const Json json = parsed(report);
  EXPECT_EQ(json["summary"]["count"], 2);
  EXPECT_EQ(json["summary"]["errors"], 1);
  EXPECT_EQ(json["summary"]["slowest_ns"], 9999);
  EXPECT_EQ(json["summary"]["fastest_ns"], 100);
  EXPECT_EQ(json["latency_distribution"].back()["latency_ns"], 100) << "of the success alone";
}

TEST(GctfReport, LevelsOfASweep) {
  Report report = bench();
  EXPECT_FALSE(parsed(report).contains("levels"));
  report.levels = {{.concurrency = 1}, {.concurrency = 3}};
  const Json json = parsed(report);
  ASSERT_EQ(json["levels"].size(), 2U);
  EXPECT_EQ(json["levels"][1]["concurrency"], 3);
  EXPECT_EQ(json["client_cost"], nullptr);
}

Report plain(double rps, kernel::Duration latency, std::uint64_t errors = 0) {
  Report report;
  report.issue = 100s;
  const auto count = static_cast<std::uint64_t>(rps * 100);
  report.total.counts.started = count;
  report.total.counts.failed = errors * count / 100;
  report.total.counts.ok = count - report.total.counts.failed;
  report.total.service.record(latency, count);
  run::Endpoint endpoint{.name = "a/B", .counts = report.total.counts};
  endpoint.service = report.total.service;
  report.endpoints.push_back(endpoint);
  return report;
}

bool worse(const Report& base, const Report& current, const BenchTolerances& tolerances = {}) {
  const auto before = read_bench_figures(to_gctf_json(base));
  const auto now = read_bench_figures(to_gctf_json(current));
  EXPECT_TRUE(before && now);
  return regressed(compare_bench(*before, *now, tolerances));
}

TEST(BenchCompare, AgainstABaseline) {
  const Report base = plain(1000, 1ms);
  EXPECT_FALSE(worse(base, base));
  EXPECT_TRUE(worse(base, plain(1000, 2ms))) << "doubled latency";
  EXPECT_FALSE(worse(base, plain(1000, 2ms), {.latency_percent = 150}));
  EXPECT_TRUE(worse(base, plain(500, 1ms))) << "half the throughput";
  EXPECT_TRUE(worse(base, plain(1000, 1ms, 20))) << "20 % errors";
  EXPECT_FALSE(worse(base, plain(2000, 500us))) << "faster";
  EXPECT_FALSE(worse(base, plain(960, 1ms))) << "within 5 %";
  EXPECT_TRUE(worse(base, plain(940, 1ms)));
}

TEST(BenchCompare, BaselineOfZero) {
  BenchFigures zero{.throughput_rps = 1000, .mean_ns = 0.0};
  BenchFigures now{.throughput_rps = 1000, .mean_ns = 5.0};
  EXPECT_TRUE(regressed(compare_bench(zero, now, {})));
  EXPECT_FALSE(regressed(compare_bench(zero, zero, {})));
  EXPECT_NE(to_json(compare_bench(zero, now, {})).find("\"change\": null"), std::string::npos);
}

TEST(BenchCompare, OnlyWhatBothHave) {
  const BenchFigures one{.throughput_rps = 1,
                         .percentiles_ns = {{50, 1}, {99.9, 2}},
                         .endpoint_p99_ns = {{"a", 1}, {"b", 1}}};
  const BenchFigures other{
      .throughput_rps = 1, .percentiles_ns = {{99.9, 2}, {99, 2}}, .endpoint_p99_ns = {{"b", 1}}};
  std::vector<std::string> metrics;
  for (const BenchChange& change : compare_bench(one, other, {})) metrics.push_back(change.metric);
  EXPECT_EQ(metrics, (std::vector<std::string>{"throughput_rps", "error_rate", "latency_p99.9",
                                               "endpoint b p99"}));
}

TEST(BenchCompare, WhatIsNoReport) {
  EXPECT_FALSE(read_bench_figures("no json"));
  EXPECT_FALSE(read_bench_figures("[]"));
  EXPECT_FALSE(read_bench_figures("{}"));
  EXPECT_FALSE(read_bench_figures(R"({"schema_version": "bench_report_schema_v1"})"));
}

}  // namespace
}  // namespace onbeat::report
