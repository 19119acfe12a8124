#include "run/thresholds.hpp"

#include "run/sample_report.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>

namespace onbeat::run {
namespace {

using namespace std::chrono_literals;
using testing::always;
using ::testing::HasSubstr;
using testing::healthy_closed;
using testing::healthy_open;
using ::testing::IsEmpty;
using testing::without_data;

options::Threshold parse(std::string_view text) {
  static constexpr std::string_view kMetrics[] = {"passed", "hit_ratio"};
  static constexpr std::string_view kOperations[] = {"get"};
  return options::parse_threshold(text, {.metrics = kMetrics, .operations = kOperations}).value();
}

ThresholdResult judged(std::string_view text, const Report& report) {
  return judge(parse(text), report);
}

Report with_failures() {
  Report report = healthy_open();
  kernel::Counts& counts = report.total.counts;
  counts.ok = 9'700;
  counts.failed = 200;
  counts.timed_out = 100;
  report.series[0].counts.ok -= 300;
  report.series[0].counts.failed = 200;
  report.series[0].counts.timed_out = 100;
  report.total.response = testing::spread(4ms, 6ms, 9'700);
  report.total.response.record_censored(2s, 100);
  report.total.service = report.total.response;
  report.total.failed = always(1ms, 200);
  report.codes = {{"200", 9'700}, {"503", 200}};
  report.errors = {{"status", 200}, {"timeout", 100}};
  Endpoint login{.name = "login"};
  login.counts.started = 1'000;
  login.counts.ok = 990;
  login.counts.failed = 10;
  login.response = login.service = always(9ms, 990);
  login.codes = {{"503", 10}};
  Endpoint rest{.name = "rest"};
  rest.counts.started = 9'000;
  rest.counts.ok = 8'710;
  rest.counts.failed = 190;
  rest.counts.timed_out = 100;
  report.endpoints = {login, rest};
  return report;
}

TEST(Thresholds, EveryMetricHasItsValue) {
  const Report report = with_failures();
  struct Case {
    const char* expr;
    double actual;
  };
  for (const auto& [expr, actual] : std::initializer_list<Case>{
           {"min < 10ms", 4},
           {"max > 1s", 2},
           {"mean < 1s", 0.0253571},
           {"lag.p99 < 1ms", 0.02},
           {"wait.max < 1ms", 0},
           {"rate > 900/s", 1'000},
           {"ok_rate > 90%", 97},
           {"ok_rate > 900/s", 970},
           {"error_rate < 5%", 3},
           {"error_rate < 50/s", 30},
           {"count > 10", 10'000},
           {"code(503) < 1000", 200},
           {"code(503) < 5%", 2},
           {"code(404) == 0", 0},
           {"error(timeout) < 5%", 1},
           {"endpoint(\"login\").p(50) < 10ms", 9},
           {"endpoint(\"login\").count > 1", 1'000},
           {"endpoint(\"login\").error_rate < 5%", 1},
           {"endpoint(\"login\").code(503) < 50", 10},
           {"endpoint(\"login\").rate > 50/s", 100},
       }) {
    const ThresholdResult result = judged(expr, report);
    ASSERT_TRUE(result.actual) << expr;
    EXPECT_NEAR(*result.actual, actual, actual * 0.001) << expr;
    EXPECT_EQ(result.expr, expr);
  }
}

TEST(Thresholds, PassAndFailWithTheActualValue) {
  const Report report = healthy_open();
  const ThresholdResult pass = judged("p(99) < 25ms", report);
  EXPECT_TRUE(pass.passed);
  EXPECT_THAT(pass.reason, IsEmpty());
  EXPECT_EQ(pass.actual_text, "5.98 ms");
  const ThresholdResult fail = judged("p(99) < 5ms", report);
  EXPECT_FALSE(fail.passed);
  EXPECT_EQ(fail.reason, "it is 5.98 ms");
}

TEST(Thresholds, DefaultIsResponseWhenOpenAndServiceWhenClosed) {
  Report report = healthy_open();
  report.total.service = always(1ms, 10'000);
  report.total.response = always(9ms, 10'000);
  EXPECT_NEAR(*judged("p50 < 1s", report).actual, 0.009, 0.0001);
  EXPECT_NEAR(*judged("service.p50 < 1s", report).actual, 0.001, 0.0001);
  report.open = false;
  EXPECT_NEAR(*judged("p50 < 1s", report).actual, 0.001, 0.0001);
  EXPECT_NEAR(*judged("response.p50 < 1s", report).actual, 0.009, 0.0001);
}

TEST(Thresholds, M13_EmptyMetricsAreNotAvailableAndFailWithThatReason) {
  for (const char* expr : {"p(99) < 25ms", "mean > 0ms", "min < 1s", "ok_rate > 1%", "rate > 1/s",
                           "error_rate < 1%", "code(500) < 1%", "passed > 1%", "hit_ratio > 1%",
                           "get.p99 < 1s", "endpoint(\"x\").p99 < 1s", "wait.p99 < 1s"}) {
    const ThresholdResult result = judged(expr, without_data());
    EXPECT_FALSE(result.passed) << expr;
    EXPECT_EQ(result.actual, std::nullopt) << expr;
    EXPECT_EQ(result.actual_text, "n/a") << expr;
    EXPECT_THAT(result.reason, HasSubstr("n/a: ")) << expr;
  }
  EXPECT_THAT(judged("wait.p99 < 1s", healthy_closed()).reason, HasSubstr("closed run"));
  EXPECT_THAT(judged("endpoint(\"login\").lag.p99 < 1s", with_failures()).reason,
              HasSubstr("not kept for each endpoint"));
}

TEST(Thresholds, M8_LowerBoundsProveGreaterAndNeverLess) {
  Report report = healthy_open();
  report.total.response = testing::spread(4ms, 6ms, 9'000);
  report.total.response.record_censored(2s, 1'000);
  struct Case {
    const char* expr;
    bool passed;
  };
  for (const auto& [expr, passed] : std::initializer_list<Case>{{"p(50) < 10ms", true},
                                                                {"p(95) < 3s", false},
                                                                {"p(95) <= 3s", false},
                                                                {"p(95) > 1s", true},
                                                                {"p(95) >= 1s", true},
                                                                {"p(95) > 3s", false},
                                                                {"mean < 10s", false},
                                                                {"max < 10s", false},
                                                                {"min < 10s", true},
                                                                {"max == 2s", false},
                                                                {"max != 1s", true},
                                                                {"max != 3s", false}}) {
    EXPECT_EQ(judged(expr, report).passed, passed) << expr;
  }
  const ThresholdResult result = judged("p(95) < 3s", report);
  EXPECT_EQ(result.actual_text, ">= 2 s");
  EXPECT_EQ(result.reason, "the value is a lower bound: it is at least 2 s");
  EXPECT_TRUE(result.on_lower_bound);
}

TEST(Thresholds, OnAnUntrustedFigureFailAndMakeTheRunInvalid) {
  Report report = healthy_open();
  report.total.lag = always(3ms, 10'000);
  judge(report, {.thresholds = {parse("p(99) < 1h")}});
  EXPECT_FALSE(report.thresholds[0].passed);
  EXPECT_THAT(report.thresholds[0].reason, HasSubstr("not to be trusted"));
  EXPECT_EQ(report.verdict.status, Status::invalid);
  EXPECT_EQ(report.exit_code, ExitCode::not_trusted);
  EXPECT_TRUE(report.cost.generator_limited);
  EXPECT_THAT(report.cost.limits, ::testing::ElementsAre("lag_p99"));
  judge(report, {.thresholds = {parse("p(99) < 1h")}, .allow_invalid = true});
  EXPECT_EQ(report.exit_code, ExitCode::threshold_failed);
}

TEST(Thresholds, OnAnotherFigureThanTheUntrustedOneAreJudged) {
  Report report = healthy_open();
  report.total.lag = always(3ms, 10'000);
  judge(report, {.thresholds = {parse("service.p(99) < 1s"), parse("error_rate < 1%"),
                                parse("rate > 1/s"), parse("lag.p99 < 1s")}});
  EXPECT_EQ(report.verdict.status, Status::degraded);
  EXPECT_EQ(report.exit_code, ExitCode::passed);
  judge(report, {.thresholds = {parse("response.max < 1h")}});
  EXPECT_EQ(report.verdict.status, Status::invalid);
}

TEST(Thresholds, TheTargetsFaultsAreJudged) {
  Report report = healthy_open();
  report.total.wait = always(3ms, 10'000);
  judge(report, {.thresholds = {parse("p(99) < 25ms")}});
  EXPECT_EQ(report.verdict.status, Status::degraded);
  EXPECT_TRUE(report.thresholds[0].passed);
  EXPECT_EQ(report.exit_code, ExitCode::passed);
  EXPECT_FALSE(report.cost.generator_limited);
}

TEST(Thresholds, TooFewSamplesDegradeAndAreJudgedAsTheyStand) {
  Report report = healthy_open();
  judge(report, {.thresholds = {parse("p(99.9) < 25ms")}});
  EXPECT_EQ(report.verdict.status, Status::valid);
  judge(report, {.thresholds = {parse("p(99.99) < 25ms")}});
  EXPECT_EQ(report.verdict.status, Status::degraded);
  EXPECT_TRUE(report.thresholds[0].passed);
  EXPECT_EQ(report.exit_code, ExitCode::passed);
}

TEST(ExitCodes, TheFirstThatAppliesOf2_5_130_6_4_3_1) {
  ExitInputs inputs{.usage = true,
                    .scenario_failed = true,
                    .interrupted = true,
                    .aborted = true,
                    .unreachable = true,
                    .verdict = Status::invalid,
                    .threshold_failed = true};
  EXPECT_EQ(resolve_exit(inputs), ExitCode::usage);
  inputs.usage = false;
  EXPECT_EQ(resolve_exit(inputs), ExitCode::scenario);
  inputs.scenario_failed = false;
  EXPECT_EQ(resolve_exit(inputs), ExitCode::interrupted);
  inputs.interrupted = false;
  EXPECT_EQ(resolve_exit(inputs), ExitCode::aborted);
  inputs.aborted = false;
  EXPECT_EQ(resolve_exit(inputs), ExitCode::unreachable);
  inputs.unreachable = false;
  EXPECT_EQ(resolve_exit(inputs), ExitCode::not_trusted);
  inputs.verdict = Status::valid;
  EXPECT_EQ(resolve_exit(inputs), ExitCode::threshold_failed);
  inputs.threshold_failed = false;
  EXPECT_EQ(resolve_exit(inputs), ExitCode::passed);
}

TEST(ExitCodes, StrictAndAllowInvalid) {
  EXPECT_EQ(resolve_exit({.verdict = Status::degraded}), ExitCode::passed);
  EXPECT_EQ(resolve_exit({.verdict = Status::degraded, .strict = true}), ExitCode::not_trusted);
  EXPECT_EQ(resolve_exit({.verdict = Status::valid, .strict = true}), ExitCode::passed);
  EXPECT_EQ(resolve_exit({.verdict = Status::invalid, .allow_invalid = true}), ExitCode::passed);
  EXPECT_EQ(resolve_exit({.verdict = Status::degraded, .strict = true, .allow_invalid = true}),
            ExitCode::not_trusted);
}

TEST(ExitCodes, C6_NothingSucceededIs4) {
  Report report;
  judge(report, {});
  EXPECT_EQ(report.exit_code, ExitCode::unreachable);
  report = with_failures();
  judge(report, {});
  EXPECT_EQ(report.exit_code, ExitCode::passed);
  report.total.counts.not_passed = 100;  // documents: what passed counts
  judge(report, {});
  EXPECT_EQ(report.exit_code, ExitCode::unreachable);
  report.observed.interrupted = true;
  judge(report, {});
  EXPECT_EQ(report.exit_code, ExitCode::interrupted);
}

class Aborts : public ::testing::Test {
 protected:
  std::optional<std::string> feed(AbortWatch& watch, std::uint64_t ok, std::uint64_t failed,
                                  Duration length = 1s) {
    kernel::Interval interval;
    interval.start = at_;
    interval.end = at_ += length;
    interval.counts.planned = interval.counts.started = ok + failed;
    interval.counts.ok = ok;
    interval.counts.failed = failed;
    interval.errors = {0, failed};
    interval.response.record(1ms, ok);
    return watch.feed(interval);
  }
  AbortWatch watch(std::string_view rule) {
    return {options::parse_abort(rule).value(), true, names_};
  }
  kernel::Names names_;
  Duration at_{};
};

TEST_F(Aborts, WaitForAWholeWindow) {
  AbortWatch rule = watch("error_rate > 20% over 3s");
  EXPECT_FALSE(feed(rule, 0, 100));
  EXPECT_FALSE(feed(rule, 0, 100));
  EXPECT_EQ(feed(rule, 0, 100), "error_rate was 100% over 3 s");
}

TEST_F(Aborts, SlideAndForget) {
  AbortWatch rule = watch("error_rate > 20% over 2s");
  feed(rule, 0, 20);
  EXPECT_FALSE(feed(rule, 100, 0));  // 20 of 120
  EXPECT_FALSE(feed(rule, 90, 10));
  EXPECT_FALSE(feed(rule, 70, 30));  // 40 of 200: exactly 20 %
  EXPECT_TRUE(feed(rule, 80, 20));   // 50 of 200: of the last two seconds only
}

TEST_F(Aborts, CountIntervalsOfAnyLength) {
  AbortWatch rule = watch("rate < 50/s over 2s");
  EXPECT_FALSE(feed(rule, 10, 0, 500ms));
  EXPECT_FALSE(feed(rule, 10, 0, 1400ms));
  EXPECT_TRUE(feed(rule, 10, 0, 200ms));
}

TEST_F(Aborts, M13_NothingToMeasureAbortsNothing) {
  AbortWatch rule = watch("p(99) > 1ms over 1s");
  EXPECT_FALSE(feed(rule, 0, 0));
  AbortWatch rate = watch("error_rate > 0% over 1s");
  EXPECT_FALSE(feed(rate, 0, 0));
}

TEST_F(Aborts, KnowClassesOfErrorsByName) {
  (void)names_.errors.id("reset");
  (void)names_.errors.id("timeout");
  AbortWatch reset = watch("error(reset) > 0 over 1s");
  AbortWatch timeout = watch("error(timeout) > 4 over 1s");
  AbortWatch unknown = watch("error(dns) > 0 over 1s");
  EXPECT_FALSE(feed(reset, 10, 5));
  EXPECT_TRUE(feed(timeout, 10, 5));
  EXPECT_FALSE(feed(unknown, 10, 5));
}

TEST(Judge, ASearchThatFoundNothingFailsWhateverTheThresholdsSay) {
  Report report = testing::found_by_search();
  judge(report, {});
  EXPECT_EQ(report.exit_code, ExitCode::passed);
  report.search->rate.reset();
  judge(report, {});
  EXPECT_EQ(report.exit_code, ExitCode::threshold_failed);
}

}  // namespace
}  // namespace onbeat::run
