#include "run/audit.hpp"

#include "options/limits.hpp"
#include "run/sample_report.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <functional>

namespace onbeat::run {
namespace {

using namespace std::chrono_literals;
using testing::always;
using ::testing::Contains;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using testing::healthy_closed;
using testing::healthy_open;
using ::testing::IsEmpty;
using ::testing::Not;
using testing::without_data;
using State = Check::State;

const Check& find(const Verdict& verdict, std::string_view code) {
  return *std::ranges::find(verdict.checks, code, &Check::name);
}

State state_of(const Report& report, std::string_view code, const AuditLimits& limits = {}) {
  return find(audit(report, limits), code).state;
}

const Reason* reason_of(const Verdict& verdict, std::string_view code) {
  const auto found = std::ranges::find(verdict.reasons, code, &Reason::code);
  return found == verdict.reasons.end() ? nullptr : &*found;
}

// Moves `count` successes to another outcome, histograms and rows included.
void move_ok(Report& report, std::uint64_t kernel::Counts::* to, std::uint64_t count) {
  for (kernel::Counts* counts : {&report.total.counts, &report.series[0].counts}) {
    counts->ok -= count;
    counts->*to += count;
  }
}

// Arrivals that were planned and never started, in the books of total and rows.
void unstarted(Report& report, std::uint64_t kernel::Counts::* as, std::uint64_t count) {
  for (kernel::Counts* counts : {&report.total.counts, &report.series[0].counts}) {
    counts->planned += count;
    counts->*as += count;
  }
}

// Of the 10,000 planned arrivals, `count` were never started; everything adds up.
void never_started(Report& report, std::uint64_t kernel::Counts::* as, std::uint64_t count) {
  for (kernel::Counts* counts : {&report.total.counts, &report.series[0].counts}) {
    counts->started -= count;
    counts->ok -= count;
    counts->*as += count;
  }
  report.total.response = report.total.service = testing::spread(4ms, 6ms, 10'000 - count);
}

TEST(Audit, C10_HealthyRunsAreValidWithoutAWord) {
  for (const Report& report : {healthy_open(), healthy_closed()}) {
    const Verdict verdict = audit(report);
    EXPECT_EQ(verdict.status, Status::valid);
    EXPECT_THAT(verdict.untrusted, IsEmpty());
    for (const Reason& reason : verdict.reasons) ADD_FAILURE() << reason.code << reason.message;
  }
}

TEST(Audit, ListsEveryCheckInItsOrder) {
  for (const Report& report : {healthy_open(), healthy_closed(), without_data(), Report{}}) {
    const Verdict verdict = audit(report);
    std::vector<std::string_view> names;
    for (const Check& check : verdict.checks) names.push_back(check.name);
    EXPECT_EQ(names, check_codes());
  }
}

TEST(Audit, CalibrationIsSaid) {
  Report report = healthy_closed();
  EXPECT_EQ(find(audit(report), "calibration").state, State::not_applicable);
  report.observed.calibration = true;
  const Verdict verdict = audit(report);
  EXPECT_EQ(find(verdict, "calibration").state, State::note);
  ASSERT_EQ(verdict.reasons.size(), 1U);
  EXPECT_EQ(verdict.reasons[0].code, "calibration");
  EXPECT_EQ(verdict.status, Status::valid);
}

TEST(Audit, EveryCodeIsExplained) {
  for (const std::string_view code : check_codes()) EXPECT_GT(explain(code).size(), 100u) << code;
  EXPECT_GT(explain("broken_off").size(), 100u);
  EXPECT_TRUE(explain("nonsense").empty());
}

TEST(Audit, BookkeepingFiresOnEveryMismatch) {
  const std::vector<std::function<void(Report&)>> faults{
      [](Report& r) {
        r.total.counts.planned += 1;
        r.series[0].counts.planned += 1;
      },
      [](Report& r) {
        r.total.counts.ok -= 1;
        r.series[0].counts.ok -= 1;
      },
      [](Report& r) { r.series[3].counts.bytes_sent += 1; },
      [](Report& r) { r.endpoints.push_back({.name = "/", .counts = r.series[0].counts}); },
      [](Report& r) { r.total.response.record(5ms); },
      [](Report& r) { r.total.failed.record(5ms); },
  };
  for (std::size_t i = 0; i < faults.size(); ++i) {
    Report report = healthy_open();
    faults[i](report);
    const Verdict verdict = audit(report);
    EXPECT_EQ(find(verdict, "bookkeeping").state, State::invalid) << i;
    EXPECT_EQ(verdict.status, Status::invalid) << i;
    EXPECT_THAT(verdict.untrusted, Contains("counts"));
  }
}

TEST(Audit, BookkeepingIsQuietWhenItAddsUp) {
  Report report = healthy_open();
  unstarted(report, &kernel::Counts::missed_late, 3);
  unstarted(report, &kernel::Counts::saturated, 4);
  unstarted(report, &kernel::Counts::missed_waited, 5);
  report.total.response.record_censored(1s, 5);
  move_ok(report, &kernel::Counts::failed, 10);
  report.total.response = testing::spread(4ms, 6ms, 9'990);
  report.total.response.record_censored(1s, 5);
  report.total.failed.record(3ms, 10);
  report.endpoints.push_back({.name = "/", .counts = report.total.counts});
  EXPECT_EQ(state_of(report, "bookkeeping"), State::ok);
  EXPECT_EQ(state_of(without_data(), "bookkeeping"), State::ok);
}

TEST(Audit, ClockStepsAreInvalid) {
  Report report = healthy_open();
  EXPECT_EQ(state_of(report, "clock"), State::ok);
  report.observed.clock_stepped = true;
  const Verdict verdict = audit(report);
  EXPECT_EQ(verdict.status, Status::invalid);
  EXPECT_THAT(verdict.untrusted, Contains("response"));
  EXPECT_THAT(verdict.untrusted, Contains("rates"));
}

struct LagCase {
  Duration lag, response;
  State state;
};

TEST(Audit, LagP99FollowsTheTable) {
  // Histograms are exact to a bucket: powers of two in ns sit on bucket edges, so the borderline
  // can be hit exactly.
  const std::vector<LagCase> cases{{20us, 6ms, State::ok},       {590us, 6ms, State::ok},
                                   {700us, 6ms, State::note},    {900us, 1ms, State::note},
                                   {1100us, 12ms, State::ok},    {1100us, 10ms, State::degraded},
                                   {11ms, 120ms, State::ok},     {11ms, 40ms, State::degraded},
                                   {9ms, 10ms, State::degraded}, {11ms, 20ms, State::invalid}};
  for (const LagCase& c : cases) {
    Report report = healthy_open();
    report.total.lag = always(c.lag, 10'000);
    report.total.response = always(c.response, 10'000);
    const Verdict verdict = audit(report);
    EXPECT_EQ(find(verdict, "lag_p99").state, c.state)
        << c.lag.count() << " " << c.response.count();
    EXPECT_EQ(!verdict.untrusted.empty(), c.state >= State::degraded);
    EXPECT_EQ(reason_of(verdict, "lag_p99") != nullptr, c.state >= State::note);
  }
}

TEST(Audit, LagAtItsLimitIsQuiet) {
  Report report = healthy_open();
  report.total.lag = always(1ms, 10'000);  // max is exact, and a percentile never exceeds it
  report.total.response = always(5ms, 10'000);
  EXPECT_EQ(state_of(report, "lag_p99"), State::note);
  report.total.lag = always(1ms + 1us, 10'000);
  EXPECT_EQ(state_of(report, "lag_p99"), State::degraded);
  report.total.lag = always(1ms, 10'000);
  report.total.response = always(10ms, 10'000);  // exactly 10 %
  EXPECT_EQ(state_of(report, "lag_p99"), State::ok);
}

TEST(Audit, LagIsJudgedOnFailuresWhenNothingSucceeded) {
  Report report = healthy_open();
  report.total.lag = always(20ms, 10'000);
  report.total.failed = always(21ms, 10'000);
  report.total.response = Histogram();
  EXPECT_EQ(state_of(report, "lag_p99"), State::invalid);
}

TEST(Audit, ClosedRunsHaveNoLagNoLatenessAndAlwaysSustain) {
  const Report report = healthy_closed();
  for (const char* code : {"lag_p99", "missed_late", "sustained"}) {
    EXPECT_EQ(state_of(report, code), State::not_applicable) << code;
  }
}

TEST(Audit, MissedForLateness) {
  struct Case {
    std::uint64_t missed;
    State state;
  };
  // Of 10,000 planned in all: 0.1 % is 10, 1 % is 100.
  for (const Case c : {Case{0, State::ok}, Case{10, State::ok}, Case{11, State::degraded},
                       Case{100, State::degraded}, Case{101, State::invalid}}) {
    Report report = healthy_open();
    never_started(report, &kernel::Counts::missed_late, c.missed);
    const Verdict verdict = audit(report);
    EXPECT_EQ(find(verdict, "bookkeeping").state, State::ok);
    EXPECT_EQ(find(verdict, "missed_late").state, c.state) << c.missed;
    EXPECT_EQ(verdict.untrusted.empty(), c.state == State::ok);
  }
}

TEST(Audit, SustainedIsQuietUpToItsLimits) {
  Report report = healthy_open();
  report.total.counts.missed_at_end = 10;  // 0.1 %
  report.total.wait = always(1ms, 10'000);
  EXPECT_EQ(state_of(report, "sustained"), State::ok);
  report.total.wait = always(5ms, 10'000);
  report.total.response = always(60ms, 10'000);  // 5 ms is under 10 %
  EXPECT_EQ(state_of(report, "sustained"), State::ok);
}

TEST(Audit, SustainedFiresForEachWayOfBeingHeldBack) {
  using Counts = kernel::Counts;
  for (auto way : {&Counts::missed_waited, &Counts::missed_at_end, &Counts::saturated}) {
    Report report = healthy_open();
    report.total.counts.*way = 11;
    EXPECT_EQ(state_of(report, "sustained"), State::degraded);
  }
  Report report = healthy_open();
  report.total.wait = always(2ms, 10'000);
  EXPECT_EQ(state_of(report, "sustained"), State::degraded);
}

TEST(Audit, SustainedJudgesPacedRunsToo) {
  Report report = healthy_closed();
  report.arrivals = "even";
  report.total.counts.missed_at_end = report.total.counts.planned / 2;
  EXPECT_EQ(state_of(report, "sustained"), State::degraded);
  report.total.counts.missed_at_end = 0;
  EXPECT_EQ(state_of(report, "sustained"), State::ok);
}

TEST(Audit, M18_TheTargetDidNotSustainIsTheTargetsFault) {
  Report report = healthy_open();
  unstarted(report, &kernel::Counts::missed_waited, 5'000);
  report.total.response.record_censored(2s, 5'000);
  const Verdict verdict = audit(report);
  const Reason* reason = reason_of(verdict, "sustained");
  ASSERT_NE(reason, nullptr);
  EXPECT_THAT(reason->message, HasSubstr("The target did not sustain the rate: 5,000 of 15,000"));
  EXPECT_THAT(reason->figures, ElementsAre("response"));
  EXPECT_EQ(verdict.status, Status::degraded);
  EXPECT_THAT(verdict.untrusted, IsEmpty());
}

TEST(Audit, M9_TheCeilingSaysWhichNumberWouldDo) {
  Report report = healthy_open();
  report.concurrency = 1;
  report.observed.in_flight_peak = 1;
  report.total.service = always(100ms, 10'000);
  report.total.wait = always(3s, 10'000);
  report.total.response = always(3100ms, 10'000);
  const Verdict verdict = audit(report);
  const Reason* reason = reason_of(verdict, "sustained");
  ASSERT_NE(reason, nullptr);
  EXPECT_THAT(reason->message, HasSubstr("The ceiling of 1 in flight was the limit"));
  EXPECT_THAT(reason->message, HasSubstr("this rate needs about 100."));
  EXPECT_THAT(reason->remedy, HasSubstr("--concurrency 100"));
}

TEST(Audit, CeilingOfARampNeedsWhatItsHighestSecondNeeds) {
  Report report = healthy_open();
  report.concurrency = report.observed.in_flight_peak = 2;
  report.series[4].counts.planned = 2'000;
  report.series[5].counts.planned = 0;
  report.total.service = always(10ms, 10'000);
  report.total.wait = always(3s, 10'000);
  EXPECT_THAT(reason_of(audit(report), "sustained")->remedy, HasSubstr("--concurrency 20"));
}

TEST(Audit, TargetThatSlowsDownUnderTheCeilingIsNamedAsTheLimit) {
  Report report = healthy_open();
  report.concurrency = report.observed.in_flight_peak = 16;
  report.total.service = always(32ms, 9'999);
  report.total.service.record(2ms);
  report.total.wait = always(1s, 10'000);
  EXPECT_THAT(reason_of(audit(report), "sustained")->message,
              HasSubstr("The target did not sustain the rate"));
}

TEST(Audit, BusiestLoop) {
  for (const bool open : {true, false}) {
    Report report = open ? healthy_open() : healthy_closed();
    report.observed.busiest_loop = 0.80;
    EXPECT_EQ(state_of(report, "busiest_loop"), State::ok);
    report.observed.busiest_loop = 0.801;
    const Verdict verdict = audit(report);
    EXPECT_EQ(verdict.status, Status::degraded);
    const Reason* reason = reason_of(verdict, "busiest_loop");
    ASSERT_NE(reason, nullptr);
    if (open) {
      EXPECT_THAT(reason->figures, ElementsAre("response"));
      EXPECT_THAT(verdict.untrusted, ElementsAre("response"));
    } else {
      EXPECT_THAT(reason->message, HasSubstr("the rate is a lower bound"));
      EXPECT_THAT(verdict.untrusted, IsEmpty());
    }
  }
}

TEST(Audit, LoopTurn) {
  Report report = healthy_open();  // service p50 is 5 ms
  report.breakdown["turn"] = always(400us, 20'000);
  EXPECT_EQ(state_of(report, "loop_turn"), State::ok);
  report.breakdown["turn"] = always(100us, 20'000);
  report.total.service = always(200us, 10'000);
  EXPECT_EQ(state_of(report, "loop_turn"), State::ok);
  report.breakdown["turn"] = always(101us, 20'000);
  const Verdict verdict = audit(report);
  EXPECT_EQ(find(verdict, "loop_turn").state, State::degraded);
  EXPECT_THAT(verdict.untrusted, ElementsAre("service", "wait", "response"));
  report.breakdown.clear();
  EXPECT_EQ(state_of(report, "loop_turn"), State::not_applicable);
}

TEST(Audit, Stalls) {
  Report report = healthy_open();
  EXPECT_EQ(state_of(report, "stalls"), State::ok);
  report.total.loops[0].stalls = 1;
  report.total.loops[0].stalled = 100ms;  // 1 %
  Verdict verdict = audit(report);
  EXPECT_EQ(find(verdict, "stalls").state, State::note);
  EXPECT_EQ(verdict.status, Status::valid);
  EXPECT_THAT(reason_of(verdict, "stalls")->message, HasSubstr("held up 1 time "));
  report.total.loops[0].stalled = 101ms;
  verdict = audit(report);
  EXPECT_EQ(verdict.status, Status::degraded);
  EXPECT_THAT(verdict.untrusted, Contains("response"));
  report.total.loops.push_back({.wall = 10s});  // a second loop that never stalled halves the share
  EXPECT_EQ(state_of(report, "stalls"), State::note);
}

TEST(Audit, FewSamples) {
  Report report = healthy_open();
  report.percentiles = {50, 99.9};  // 99.9 needs exactly these 10,000
  EXPECT_EQ(state_of(report, "few_samples"), State::ok);
  report.percentiles = {50, 99.99};
  Verdict verdict = audit(report);
  EXPECT_EQ(find(verdict, "few_samples").state, State::note);
  EXPECT_EQ(find(verdict, "few_samples").actual, "not shown: p99.99");
  EXPECT_EQ(verdict.status, Status::valid);
  report.thresholds.push_back(
      {.metric = "p(99.99)", .expr = "p(99.99) < 1s", .too_few_samples = true});
  verdict = audit(report);
  EXPECT_EQ(verdict.status, Status::degraded);
  EXPECT_THAT(verdict.untrusted, IsEmpty());
  EXPECT_THAT(reason_of(verdict, "few_samples")->message, HasSubstr("p(99.99) < 1s"));
}

TEST(Audit, SamplesNeeded) {
  EXPECT_EQ(samples_needed(50), 20u);
  EXPECT_EQ(samples_needed(90), 100u);
  EXPECT_EQ(samples_needed(99), 1'000u);
  EXPECT_EQ(samples_needed(99.9), 10'000u);
  EXPECT_EQ(samples_needed(99.99), 100'000u);
  EXPECT_EQ(samples_needed(100), 1u);
  EXPECT_EQ(shown_percentile(always(1ms, 999), 99), std::nullopt);
  EXPECT_EQ(shown_percentile(always(1ms, 1'000), 99), 1ms);
  EXPECT_EQ(shown_percentile(Histogram(), 100), std::nullopt);
}

TEST(Audit, M15_EveryFigureLiesBetweenMinAndMax) {
  Histogram histogram;
  for (int i = 0; i < 7; ++i) histogram.record(Duration{123'456'789});
  EXPECT_EQ(mean_of(histogram), 123'456'789.0);
  histogram = testing::spread(3us, 7s, 5'000);
  for (double p = 0; p <= 100; p += 0.5) {
    EXPECT_GE(histogram.percentile(p), histogram.min());
    EXPECT_LE(histogram.percentile(p), histogram.max());
  }
  EXPECT_EQ(mean_of(Histogram()), std::nullopt);
}

TEST(Audit, Censored) {
  Report report = healthy_open();
  EXPECT_EQ(state_of(report, "censored"), State::ok);
  report.total.response = testing::spread(4ms, 6ms, 9'800);
  report.total.response.record_censored(2s, 200);
  const Verdict verdict = audit(report);
  EXPECT_EQ(find(verdict, "censored").state, State::note);
  EXPECT_EQ(find(verdict, "censored").actual, "at least: p99, p99.9");
  EXPECT_EQ(verdict.status, Status::valid);
  EXPECT_EQ(state_of(without_data(), "censored"), State::not_applicable);
}

TEST(Audit, H19_ConnectionsOpenAgainstAsked) {
  Report report = healthy_open();
  EXPECT_EQ(state_of(report, "connections"), State::not_applicable);
  report.connections.asked = 1'000;
  report.connections.open_peak = 1'000;
  EXPECT_EQ(state_of(report, "connections"), State::ok);
  report.connections.open_peak = 999;
  EXPECT_EQ(state_of(report, "connections"), State::degraded);
  report.connections.open_peak = 100;
  EXPECT_THAT(reason_of(audit(report), "connections")->message, HasSubstr("100 of 1,000 open"));
  report.connections.open_peak = 2'000;  // those of two hosts
  EXPECT_EQ(find(audit(report), "connections").actual, "2,000 (1,000 for each host) open");
}

TEST(Audit, LittlesLawNeedsFivePercentAndFourErrors) {
  Report report = healthy_open();  // 10,000 * 5 ms over 10.006 s: 4.997 in flight
  report.observed.in_flight_mean = 5.2;
  report.observed.in_flight_error = 0.0001;
  EXPECT_EQ(state_of(report, "littles_law"), State::ok);  // 4 %
  report.observed.in_flight_mean = 5.6;
  report.observed.in_flight_error = 0.16;
  EXPECT_EQ(state_of(report, "littles_law"), State::ok);  // 12 %, but under four errors
  report.observed.in_flight_error = 0.14;
  const Verdict verdict = audit(report);
  EXPECT_EQ(find(verdict, "littles_law").state, State::degraded);
  EXPECT_THAT(verdict.untrusted, IsEmpty());
  report.observed.in_flight_mean = 4.4;
  EXPECT_EQ(state_of(report, "littles_law"), State::degraded);
}

TEST(Audit, LittlesLawIsNotApplicableWhenNotComparable) {
  Report wrong = healthy_open();
  wrong.observed.in_flight_mean = 50.0;
  ASSERT_EQ(state_of(wrong, "littles_law"), State::degraded);
  const std::vector<std::function<void(Report&)>> obstacles{
      [](Report& r) { r.observed.in_flight_samples = 999; },
      [](Report& r) { r.observed.in_flight_mean.reset(); },
      [](Report& r) { r.observed.in_flight_error.reset(); },
      [](Report& r) { r.observed.clock_stepped = true; },
      [](Report& r) { r.total.service.record(1ms); },
      [](Report& r) { r.issue = r.drain = 0ns; },
  };
  for (const auto& obstacle : obstacles) {
    Report report = wrong;
    obstacle(report);
    EXPECT_EQ(state_of(report, "littles_law"), State::not_applicable);
  }
  wrong.observed.in_flight_samples = 1'000;
  EXPECT_EQ(state_of(wrong, "littles_law"), State::degraded);
}

TEST(Audit, LittlesLawCountsFailuresThatWereInFlight) {
  Report report = healthy_open();
  move_ok(report, &kernel::Counts::failed, 5'000);
  report.total.service = report.total.response = testing::spread(4ms, 6ms, 5'000);
  report.total.failed = always(1s, 5'000);  // up to 500 more in flight
  report.observed.in_flight_error = 0.001;
  for (const double mean : {2.5, 100.0, 500.0}) {
    report.observed.in_flight_mean = mean;
    EXPECT_EQ(state_of(report, "littles_law"), State::ok) << mean;
  }
  report.observed.in_flight_mean = 600;
  EXPECT_EQ(state_of(report, "littles_law"), State::degraded);
}

TEST(Audit, NeighboursAreOnlySaid) {
  Report report = healthy_open();
  report.observed.target_on_same_cores = true;
  report.observed.other_load_share = 0.10;
  Verdict verdict = audit(report);
  EXPECT_EQ(find(verdict, "target_on_same_cores").state, State::note);
  EXPECT_EQ(find(verdict, "other_load").state, State::ok);
  report.observed.other_load_share = 0.11;
  verdict = audit(report);
  EXPECT_EQ(find(verdict, "other_load").state, State::note);
  EXPECT_EQ(verdict.status, Status::valid);
  EXPECT_THAT(verdict.untrusted, IsEmpty());
  report.observed.other_load_share.reset();
  EXPECT_EQ(state_of(report, "other_load"), State::not_applicable);
}

TEST(Audit, Steal) {
  Report report = healthy_open();
  for (const auto& [share, state] : {std::pair{0.01, State::ok},
                                     {0.02, State::note},
                                     {0.05, State::note},
                                     {0.051, State::degraded}}) {
    report.observed.steal_share = share;
    const Verdict verdict = audit(report);
    EXPECT_EQ(find(verdict, "steal").state, state) << share;
    EXPECT_EQ(verdict.untrusted.empty(), state != State::degraded);
  }
  report.observed.steal_share.reset();
  EXPECT_EQ(state_of(report, "steal"), State::not_applicable);
}

TEST(Audit, FirstTenthUnlikeTheRest) {
  Report report = healthy_open();
  report.series[0].p50 = 7500us;  // exactly half more
  EXPECT_EQ(state_of(report, "first_tenth"), State::ok);
  report.series[0].p50 = 7501us;
  EXPECT_EQ(state_of(report, "first_tenth"), State::note);
  report.series[0].p50 = 2ms;
  EXPECT_EQ(state_of(report, "first_tenth"), State::note);
  EXPECT_EQ(audit(report).status, Status::valid);
  for (SeriesRow& row : report.series) row.p50 = 50us;
  report.series[0].p50 = 150us;  // three times as much, but only 100 us
  EXPECT_EQ(state_of(report, "first_tenth"), State::ok);
  Report curve = healthy_open();
  curve.series[0].p50 = 2ms;
  curve.curve.emplace();
  EXPECT_EQ(state_of(curve, "first_tenth"), State::not_applicable)
      << "its steps are meant to differ";
  report.series.resize(9);
  EXPECT_EQ(state_of(report, "first_tenth"), State::not_applicable);
}

TEST(Audit, SearchThatDidNotEndOrWasEndedByTheGenerator) {
  EXPECT_EQ(state_of(healthy_open(), "search"), State::not_applicable);
  Report report = testing::found_by_search();
  EXPECT_EQ(state_of(report, "search"), State::ok);
  report.search->generator = "The generator was late.";
  EXPECT_EQ(state_of(report, "search"), State::degraded);
  report.search->generator.clear();
  report.search->converged = false;
  report.search->shortfall = "the time was over";
  EXPECT_EQ(state_of(report, "search"), State::degraded);
}

TEST(Audit, UntrustedThresholdIsInvalid) {
  Report report = healthy_open();
  EXPECT_EQ(state_of(report, "untrusted_threshold"), State::not_applicable);
  report.thresholds.push_back({.expr = "p(99) < 1s", .passed = false});
  EXPECT_EQ(state_of(report, "untrusted_threshold"), State::ok);
  report.thresholds[0].on_untrusted = true;
  EXPECT_EQ(audit(report).status, Status::invalid);
}

TEST(Audit, ReasonsStandInTheOrderOfGravity) {
  Report report = healthy_open();
  report.observed.target_on_same_cores = true;  // a note
  report.observed.steal_share = 0.2;            // degraded
  report.total.counts.missed_late = 500;        // invalid (and the books no longer balance)
  const Verdict verdict = audit(report);
  ASSERT_GE(verdict.reasons.size(), 3u);
  EXPECT_TRUE(std::ranges::is_sorted(verdict.reasons, std::greater<>{}, &Reason::status));
  EXPECT_EQ(verdict.status, Status::invalid);
  for (const Reason& reason : verdict.reasons) {
    EXPECT_THAT(reason.remedy, Not(IsEmpty())) << reason.code;
    EXPECT_THAT(reason.figures, Not(IsEmpty())) << reason.code;
  }
}

TEST(Audit, C6_NoDataMeansNoComplaint) {
  const Verdict verdict = audit(without_data());
  EXPECT_EQ(verdict.status, Status::valid);
  EXPECT_THAT(verdict.reasons, IsEmpty());
}

/// The limits as --limit sets them.
AuditLimits with(const std::vector<const char*>& settings) {
  options::Limits limits;
  for (const char* setting : settings) {
    const auto limit = options::parse_limit(setting);
    EXPECT_TRUE(limit) << setting;
    if (limit) limits.set(limit->first, limit->second);
  }
  return AuditLimits::from(limits);
}

// Each limit, set to a value under which (or over which) a healthy run trips, changes the verdict
// of its check.
TEST(AuditLimits, EveryLimitMovesItsCheck) {
  Report report = healthy_open();
  report.total.wait = always(10us, 10'000);
  report.observed.other_load_share = 0.05;
  report.observed.steal_share = 0.008;
  report.total.counts.missed_at_end = 1;
  report.total.counts.missed_late = 1;
  report.total.loops[0].stalled = 1ms;
  report.connections.asked = 8;
  report.series[0].p50 = 5500us;
  report.observed.in_flight_mean = 5.1;
  report.observed.in_flight_error = 0.001;
  struct Case {
    const char* code;
    std::vector<const char*> settings;
    State state;
  };
  const std::vector<Case> cases{
      {"lag_p99", {"lag_share.note=0.1%"}, State::note},
      {"lag_p99", {"lag_p99.degraded=1us", "lag_share.degraded=0%"}, State::degraded},
      {"lag_p99", {"lag_p99.invalid=1us", "lag_share.invalid=0%"}, State::invalid},
      {"missed_late", {"missed_late.degraded=0%"}, State::degraded},
      {"missed_late", {"missed_late.invalid=0%"}, State::invalid},
      {"sustained", {"held_back.degraded=0%"}, State::degraded},
      {"sustained", {"wait_p99.degraded=1us", "wait_share.degraded=0%"}, State::degraded},
      {"busiest_loop", {"busiest_loop.degraded=1%"}, State::degraded},
      {"loop_turn",
       {"loop_turn_p99.degraded=1us", "loop_turn_share.degraded=0.01%"},
       State::degraded},
      {"stalls", {"stalls.degraded=0%"}, State::degraded},
      {"few_samples", {"samples.degraded=11"}, State::note},
      {"connections", {"connections.degraded=80%"}, State::ok},
      {"littles_law", {"littles_law.degraded=1%"}, State::degraded},
      {"littles_law", {"littles_law_samples.note=2001"}, State::not_applicable},
      {"other_load", {"other_load.note=4%"}, State::note},
      {"steal", {"steal.note=0.5%"}, State::note},
      {"steal", {"steal.degraded=0.5%"}, State::degraded},
      {"first_tenth", {"first_tenth_share.note=5%"}, State::note},
  };
  report.percentiles = {99.9};
  for (const Case& c : cases) {
    const std::string first = c.settings[0];
    ASSERT_NE(state_of(report, c.code), c.state) << first;
    EXPECT_EQ(state_of(report, c.code, with(c.settings)), c.state) << first;
  }
  EXPECT_EQ(state_of(report, "littles_law",
                     with({"littles_law.degraded=1%", "littles_law_errors.degraded=1000"})),
            State::ok);
  EXPECT_EQ(
      state_of(report, "first_tenth", with({"first_tenth_share.note=5%", "first_tenth.note=1ms"})),
      State::ok);
}

TEST(AuditLimits, StandardsAreThoseOfTheOptions) {
  const AuditLimits standard, from = AuditLimits::from({});
  for (const auto member :
       {&AuditLimits::lag_degraded, &AuditLimits::lag_invalid, &AuditLimits::wait_degraded,
        &AuditLimits::loop_turn, &AuditLimits::first_tenth_floor}) {
    EXPECT_EQ(from.*member, standard.*member);
  }
  for (const auto member :
       {&AuditLimits::lag_note_share, &AuditLimits::lag_degraded_share,
        &AuditLimits::lag_invalid_share, &AuditLimits::missed_late_degraded,
        &AuditLimits::missed_late_invalid, &AuditLimits::held_back_share,
        &AuditLimits::wait_degraded_share, &AuditLimits::busiest_loop,
        &AuditLimits::loop_turn_share, &AuditLimits::stalls, &AuditLimits::tail_samples,
        &AuditLimits::connections, &AuditLimits::littles_law, &AuditLimits::littles_law_errors,
        &AuditLimits::littles_law_samples, &AuditLimits::other_load, &AuditLimits::steal_note,
        &AuditLimits::steal_degraded, &AuditLimits::first_tenth_share}) {
    EXPECT_DOUBLE_EQ(from.*member, standard.*member);
  }
}

// A name that the options know and the audit does not would be a --limit without effect.
TEST(AuditLimits, EveryNameOfTheOptionsMovesOneFigure) {
  const auto figures = [](const AuditLimits& limits) {
    const auto time = [](Duration duration) { return static_cast<double>(duration.count()); };
    return std::vector<double>{limits.lag_note_share,      time(limits.lag_degraded),
                               limits.lag_degraded_share,  time(limits.lag_invalid),
                               limits.lag_invalid_share,   limits.missed_late_degraded,
                               limits.missed_late_invalid, limits.held_back_share,
                               time(limits.wait_degraded), limits.wait_degraded_share,
                               limits.busiest_loop,        time(limits.loop_turn),
                               limits.loop_turn_share,     limits.stalls,
                               limits.tail_samples,        limits.connections,
                               limits.littles_law,         limits.littles_law_errors,
                               limits.littles_law_samples, limits.other_load,
                               limits.steal_note,          limits.steal_degraded,
                               limits.first_tenth_share,   time(limits.first_tenth_floor)};
  };
  const std::vector<double> standard = figures(AuditLimits{});
  ASSERT_EQ(options::limits().size(), standard.size());
  std::vector<bool> moved(standard.size(), false);
  for (const options::Limit& limit : options::limits()) {
    options::Limits changed;
    changed.set(std::string(limit.name), 7);
    const std::vector<double> now = figures(AuditLimits::from(changed));
    const double seven = limit.unit == options::LimitUnit::percent ? 0.07 : 7;
    int moves = 0;
    for (std::size_t i = 0; i < now.size(); ++i) {
      if (now[i] == standard[i]) continue;
      ++moves;
      EXPECT_DOUBLE_EQ(now[i], seven) << limit.name;
      EXPECT_FALSE(moved[i]) << limit.name;
      moved[i] = true;
    }
    EXPECT_EQ(moves, 1) << limit.name;
  }
}

}  // namespace
}  // namespace onbeat::run
