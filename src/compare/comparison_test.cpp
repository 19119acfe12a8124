#include "compare/comparison.hpp"

#include "run/sample_report.hpp"
#include "run/thresholds.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <functional>
#include <random>

namespace onbeat::compare {
namespace {

using Runs = std::vector<Run>;  // Run is something else in a test

using namespace std::chrono_literals;
using run::Report;

/// A run of an open load whose response times are spread around `typical`; each run differs a
/// little.
Report run_of(double typical_ms, std::uint64_t failed, std::mt19937_64& random) {
  std::normal_distribution<double> drift(0, 0.03), spread(0, 0.2);
  const double centre = typical_ms * std::exp(drift(random));
  Report report = run::testing::healthy_open();
  kernel::Interval& total = report.total;
  total.response = total.service = {};
  constexpr std::uint64_t kUnits = 1500;
  for (std::uint64_t i = failed; i < kUnits; ++i) {
    const auto ns = static_cast<std::int64_t>(centre * std::exp(spread(random)) * 1e6);
    total.response.record(kernel::Duration(ns));
  }
  total.service = total.response;
  total.failed = run::testing::always(1ms, failed);
  total.counts.planned = total.counts.started = kUnits;
  total.counts.ok = kUnits - failed;
  total.counts.failed = failed;
  report.cost.cpu_us_per_request = 20 * std::exp(drift(random));
  return report;
}

Runs runs_of(double typical_ms, std::size_t count, std::uint64_t seed, std::uint64_t failed = 0) {
  std::mt19937_64 random(seed);
  Runs runs;
  for (std::size_t i = 0; i < count; ++i)
    runs.push_back({"run " + std::to_string(i + 1), run_of(typical_ms, failed, random)});
  return runs;
}

const Difference& of(const Comparison& comparison, std::string_view name) {
  for (const Difference& difference : comparison.differences)
    if (difference.metric->name == name) return difference;
  throw std::invalid_argument(std::string(name));
}

bool warns(const Comparison& comparison, std::string_view part) {
  for (const std::string& warning : comparison.warnings)
    if (warning.contains(part)) return true;
  return false;
}

TEST(Comparison, ARegressionIsSignificantAndLargeEnough) {
  const Comparison found = compare(runs_of(5, 5, 1), runs_of(6, 5, 2), {});
  EXPECT_TRUE(found.regressed());
  EXPECT_EQ(found.exit_code(), run::ExitCode::threshold_failed);
  const Difference& p99 = of(found, "response.p99");
  EXPECT_TRUE(p99.gated);
  EXPECT_EQ(p99.change, Change::regressed);
  EXPECT_NEAR(*p99.effect, 20, 6);
  EXPECT_LT(*p99.adjusted, 0.05);
  ASSERT_TRUE(p99.shift.low);
  EXPECT_LT(*p99.shift.low, p99.shift.estimate);
  EXPECT_GT(*p99.shift.high, p99.shift.estimate);
  EXPECT_EQ(of(found, "response.p50").change, Change::none) << "not gated";
  EXPECT_LT(*of(found, "response.p50").p, 0.05) << "but tested";
}

TEST(Comparison, WhatIsBetterIsNoRegression) {
  const Comparison found = compare(runs_of(6, 5, 1), runs_of(5, 5, 2), {});
  EXPECT_EQ(of(found, "response.p99").change, Change::improved);
  EXPECT_EQ(found.exit_code(), run::ExitCode::passed);
}

TEST(Comparison, HigherRatesAreBetter) {
  Runs slower = runs_of(5, 4, 2);
  for (auto& run : slower) run.report.issue = 12s;  // the same in more time
  const Comparison found = compare(runs_of(5, 4, 1), slower, {});
  EXPECT_EQ(of(found, "ok_rate").change, Change::regressed);
  EXPECT_NEAR(*of(found, "ok_rate").effect, -100.0 / 6, 0.1);
  EXPECT_EQ(compare(slower, runs_of(5, 4, 1), {}).exit_code(), run::ExitCode::passed);
}

TEST(Comparison, ASignificantTrifleIsNoRegression) {
  Settings settings;
  settings.min_effect = 50;
  const Comparison found = compare(runs_of(5, 8, 1), runs_of(6, 8, 2), settings);
  EXPECT_LT(*of(found, "response.p99").adjusted, 0.05);
  EXPECT_EQ(of(found, "response.p99").change, Change::none);
  EXPECT_FALSE(found.regressed());
}

TEST(Comparison, ErrorsFromNothingAreARegression) {
  const Comparison found = compare(runs_of(5, 4, 1), runs_of(5, 4, 2, 30), {});
  EXPECT_EQ(of(found, "error_rate").change, Change::regressed);
  EXPECT_FALSE(of(found, "error_rate").effect) << "no share of nothing";
  EXPECT_NEAR(of(found, "error_rate").shift.estimate, 2, 1e-9);
  // One in 1,500 is less than a tenth of a percent point.
  EXPECT_EQ(of(compare(runs_of(5, 4, 1), runs_of(5, 4, 2, 1), {}), "error_rate").change,
            Change::none);
}

TEST(Comparison, FromFourRunsASideOn) {
  const Comparison few = compare(runs_of(5, 3, 1), runs_of(50, 4, 2), {});
  EXPECT_FALSE(few.conclusive);
  EXPECT_FALSE(few.regressed());
  EXPECT_EQ(few.exit_code(), run::ExitCode::passed);
  EXPECT_EQ(of(few, "response.p99").change, Change::undecided);
  EXPECT_FALSE(of(few, "response.p99").p);
  EXPECT_TRUE(warns(few, "nothing significant can be stated")) << few.warnings.size();
  EXPECT_EQ(few.summary(), "too few runs to say anything significant");
  EXPECT_TRUE(compare(runs_of(5, 4, 1), runs_of(6, 4, 2), {}).regressed())
      << "four are enough for the standard gates";
}

TEST(Comparison, MoreGatesThanTheRunsCanTellApartAreSaid) {
  Settings settings;
  settings.gates = {"ok_rate", "error_rate", "p50", "p99"};
  const Comparison four = compare(runs_of(5, 4, 1), runs_of(6, 4, 2), settings);
  EXPECT_TRUE(warns(four, "no change of 4 gated metrics can be significant"));
  EXPECT_FALSE(warns(compare(runs_of(5, 5, 1), runs_of(6, 5, 2), settings), "can be significant"));
}

TEST(Comparison, RunsWithoutFiguresAreRefused) {
  Runs next = runs_of(5, 4, 2);
  next[2].report = run::testing::without_data();
  const Comparison found = compare(runs_of(5, 4, 1), next, {});
  ASSERT_EQ(found.refusals.size(), 1U);
  EXPECT_EQ(found.refusals[0], "run 3: nothing was measured: nowhere.invalid: no such host");
  EXPECT_EQ(found.exit_code(), run::ExitCode::not_trusted);
  EXPECT_EQ(compare({}, next, {}).exit_code(), run::ExitCode::not_trusted);
}

TEST(Comparison, InvalidRunsAreRefusedUnlessAllowed) {
  Runs next = runs_of(6, 4, 2);
  next[0].report.verdict.status = run::Status::invalid;
  next[0].report.verdict.reasons = {
      {.code = "clock", .status = run::Status::invalid, .message = "The clock stepped."}};
  EXPECT_EQ(compare(runs_of(5, 4, 1), next, {}).refusals,
            (std::vector<std::string>{"run 1: the measurement is invalid: The clock stepped."}));
  Settings settings;
  settings.allow_invalid = true;
  const Comparison allowed = compare(runs_of(5, 4, 1), next, settings);
  EXPECT_TRUE(warns(allowed, "run 1: the measurement is invalid"));
  EXPECT_TRUE(allowed.regressed());
}

TEST(Comparison, AGatedFigureThatAVerdictDistrustsDecidesNothing) {
  Runs next = runs_of(6, 5, 2);
  next[1].report.verdict.status = run::Status::degraded;
  next[1].report.verdict.untrusted = {"response"};
  const Comparison found = compare(runs_of(5, 5, 1), next, {});
  EXPECT_EQ(of(found, "response.p99").change, Change::undecided);
  EXPECT_EQ(found.exit_code(), run::ExitCode::not_trusted);
  EXPECT_TRUE(warns(found, "run 2: the measurement is degraded"));
  Settings settings;
  settings.gates = {"ok_rate"};
  EXPECT_EQ(compare(runs_of(5, 5, 1), next, settings).exit_code(), run::ExitCode::passed)
      << "only what is gated must be trusted";
}

TEST(Comparison, DifferentLoadsAreNamed) {
  Runs next = runs_of(5, 4, 2);
  for (auto& run : next) {
    run.report.open = false;
    run.report.options.push_back({"concurrency", "20", "cli"});
  }
  const Comparison found = compare(runs_of(5, 4, 1), next, {});
  EXPECT_TRUE(warns(found, "the load model differs: open in the base, closed in the new runs"));
  EXPECT_TRUE(warns(found, "option concurrency differs: none in the base, 20 in the new runs"));
  next[0].report.open = true;
  EXPECT_TRUE(warns(compare(runs_of(5, 4, 1), next, {}), "load model differs among the new runs"));
  EXPECT_FALSE(warns(compare(runs_of(5, 4, 1), runs_of(5, 4, 2), {}), "differs"));
}

/// The same, but rates and errors vary from run to run as the latencies do.
Runs varied_runs(std::size_t count, std::uint64_t seed) {
  std::mt19937_64 random(seed);
  std::normal_distribution<double> drift(0, 0.03);
  std::poisson_distribution<std::uint64_t> failures(20);
  Runs runs;
  for (std::size_t i = 0; i < count; ++i) {
    Report report = run_of(5, failures(random), random);
    report.issue = kernel::Duration(std::llround(10e9 * std::exp(drift(random))));
    runs.push_back({"run", std::move(report)});
  }
  return runs;
}

// Of comparisons of equal distributions at most 5 % may cry wolf; 3 points for chance.
TEST(Comparison, TheFalseAlarmRateIsWhatItSays) {
  constexpr int kComparisons = 200;
  Settings settings;
  settings.min_effect = 0;  // significance alone
  for (const std::size_t count : {4UL, 6UL}) {
    int alarms = 0;
    for (std::uint64_t i = 0; i < kComparisons; ++i) {
      const std::uint64_t seed = 1000 * count + 2 * i;
      if (compare(varied_runs(count, seed), varied_runs(count, seed + 1), settings).regressed())
        ++alarms;
    }
    EXPECT_LE(alarms, kComparisons * 8 / 100) << count << " runs a side";
  }
}

// And where there is a difference it must be seen, or no alarm would be worth nothing.
TEST(Comparison, ATenPercentDifferenceIsSeenWithTenRuns) {
  int seen = 0;
  for (std::uint64_t i = 0; i < 20; ++i)
    if (compare(runs_of(5, 10, 500 + 2 * i), runs_of(5.5, 10, 501 + 2 * i), {}).regressed()) ++seen;
  EXPECT_GE(seen, 18);
}

TEST(Metrics, AreFoundByTheirNameOrTheHeadlines) {
  EXPECT_EQ(find_metric("p99", true)->name, "response.p99");
  EXPECT_EQ(find_metric("p99", false)->name, "service.p99");
  EXPECT_EQ(find_metric("service.p99.9", true)->name, "service.p99.9");
  EXPECT_EQ(find_metric("mean", true)->name, "response.mean");
  EXPECT_EQ(find_metric("ok_rate", true)->name, "ok_rate");
  EXPECT_EQ(find_metric("p98", true), nullptr);
}

TEST(Metrics, AClosedRunHasNoResponseTimes) {
  const Report closed = run::testing::healthy_closed();
  EXPECT_FALSE(find_metric("response.p99", false)->read(closed));
  EXPECT_TRUE(find_metric("service.p99", false)->read(closed));
  EXPECT_TRUE(find_metric("response.p99", true)->read(run::testing::healthy_open()));
}

}  // namespace
}  // namespace onbeat::compare
