#include "allocation_count.hpp"
#include "driver_simulation.hpp"
#include <onbeat/kernel/driver.hpp>
#include <onbeat/kernel/random.hpp>

#include <gtest/gtest.h>

#include <chrono>
#include <cmath>
#include <limits>
#include <memory>
#include <set>
#include <vector>

namespace onbeat::kernel {
namespace {

using namespace std::chrono_literals;
using Why = MissedSink::Why;

SchedulePlan at_rate(double rate, Duration length = kNoTime) {
  return {.profile = RateProfile::constant(rate), .length = length};
}

SchedulePlan in_steps(std::vector<RateProfile::Step> steps, Duration length = kNoTime) {
  return {.profile = RateProfile::phased(std::move(steps)), .length = length};
}

SchedulePlan paused(Duration length) { return at_rate(0, length); }

DriverSimulation::Service takes(Duration service) {
  return [service](std::uint64_t, Duration) { return service; };
}

/// Service of a target that stands still in [from, to) and takes `usual` otherwise.
DriverSimulation::Service frozen(Duration from, Duration to, Duration usual) {
  return [=](std::uint64_t, Duration started) {
    return started >= from && started < to ? to - started + usual : usual;
  };
}

/// The identities of 0.9, of the driver and of what it recorded; call after the drain.
void expect_books_balance(DriverSimulation& simulation, const Interval& interval) {
  EXPECT_EQ(simulation.counts().unaccounted_planned(), 0);
  EXPECT_EQ(simulation.counts().unaccounted_started(), 0);
  EXPECT_EQ(interval.counts, simulation.counts());
  EXPECT_EQ(simulation.driver().waiting(), 0U);
  EXPECT_EQ(simulation.driver().in_flight(), 0U);
  EXPECT_EQ(simulation.missed_arrivals.size(),
            interval.counts.missed() + interval.counts.saturated);
  std::set<std::uint64_t> traces;
  for (const Result& result : simulation.results) traces.insert(result.unit.arrival);
  for (const auto& missed : simulation.missed_arrivals) traces.insert(missed.arrival);
  EXPECT_EQ(traces.size(), interval.counts.planned) << "each arrival leaves exactly one trace";
}

Interval run_whole(DriverSimulation& simulation, Duration length, Duration drain = 10s) {
  simulation.run(length - 1ns);
  simulation.end_issue(length);
  simulation.drain(length + drain);
  Interval interval = simulation.interval();
  expect_books_balance(simulation, interval);
  return interval;
}

// --- what is planned ---

TEST(Driver, PlansWhatIsDueBeforeTheEnd) {
  DriverSimulation simulation({.workers = 4}, at_rate(100, 10s), takes(1ms));
  const Interval interval = run_whole(simulation, 10s);
  EXPECT_EQ(interval.counts.planned, 1000U);
  EXPECT_EQ(interval.counts.ok, 1000U);
  EXPECT_EQ(interval.lag.max(), 0ns);
  EXPECT_EQ(interval.wait.max(), 0ns);
}

TEST(Driver, ARunThatStartsPausedSendsNothing) {
  DriverSimulation simulation({.workers = 4}, at_rate(0, 10s), takes(1ms));
  EXPECT_EQ(run_whole(simulation, 10s).counts.planned, 0U);
}

TEST(Driver, MaxArrivalsEndsTheSchedule) {
  SchedulePlan plan = at_rate(1000);
  plan.max_arrivals = 50;
  DriverSimulation simulation({.workers = 4}, plan, takes(1ms));
  EXPECT_FALSE(simulation.driver().exhausted());
  simulation.run(1s);
  EXPECT_TRUE(simulation.driver().exhausted());
  EXPECT_EQ(run_whole(simulation, 1s).counts.ok, 50U);
}

TEST(Driver, AnEarlyEndPlansOnlyWhatWasDueByThen) {
  DriverSimulation simulation({.workers = 4}, at_rate(100, 10s), takes(1ms));
  EXPECT_EQ(run_whole(simulation, 2505ms).counts.planned, 251U);
  DriverSimulation on_a_due_time({.workers = 4}, at_rate(100, 10s), takes(1ms));
  EXPECT_EQ(run_whole(on_a_due_time, 2500ms).counts.planned, 250U);
}

TEST(Driver, NothingStartsAfterTheEnd) {
  DriverSimulation simulation({.workers = 4}, at_rate(100, 1s), takes(1ms));
  run_whole(simulation, 1s);
  Unit unit;
  EXPECT_EQ(simulation.driver().advance(DriverSimulation::kStart + 2s), kNever);
  EXPECT_FALSE(simulation.driver().take(DriverSimulation::kStart + 2s, unit));
  EXPECT_TRUE(simulation.driver().exhausted());
}

TEST(Driver, M6_TwoRunsOfOnePlanAreTheSame) {
  auto dues = [] {
    SchedulePlan plan = at_rate(500, 4s);
    plan.arrivals = Arrivals::poisson;
    plan.seed = 7;
    DriverSimulation simulation({.workers = 50}, plan, takes(3ms));
    run_whole(simulation, 4s);
    return simulation.dues();
  };
  const auto first = dues();
  EXPECT_GT(first.size(), 1800U);
  EXPECT_EQ(first, dues());
}

TEST(Driver, LoopsShareOneSchedule) {
  std::vector<Duration> together;
  for (std::uint32_t loop = 0; loop < 3; ++loop) {
    SchedulePlan plan = at_rate(300, 2s);
    plan.share = loop;
    plan.of = 3;
    DriverSimulation simulation({.workers = 5}, plan, takes(1ms));
    run_whole(simulation, 2s);
    for (const Result& result : simulation.results) EXPECT_EQ(result.unit.arrival % 3, loop);
    const auto dues = simulation.dues();
    together.insert(together.end(), dues.begin(), dues.end());
  }
  DriverSimulation alone({.workers = 5}, at_rate(300, 2s), takes(1ms));
  run_whole(alone, 2s);
  std::ranges::sort(together);
  EXPECT_EQ(together, alone.dues());
}

TEST(Driver, AdvanceReturnsWhenToComeBack) {
  DriverSimulation simulation({.workers = 1}, at_rate(10, 10s), takes(1ms));
  Driver& driver = simulation.driver();
  const Instant t0 = DriverSimulation::kStart;
  Unit unit;
  EXPECT_EQ(driver.advance(t0), t0 + 100ms);
  ASSERT_TRUE(driver.take(t0, unit));
  EXPECT_EQ(driver.advance(t0 + 50ms), t0 + 100ms);
  EXPECT_FALSE(driver.take(t0 + 50ms, unit));
  EXPECT_EQ(driver.advance(t0 + 9950ms), kNever);
}

TEST(Driver, ALiveChangeKeepsWhatIsAlreadyReleased) {
  LiveRate live(RateProfile::constant(10));
  live.begin(DriverSimulation::kStart, 1);
  DriverSimulation simulation({.workers = 4}, paused(1s), takes(1ms), &live);
  simulation.run(100ms);  // one is due, and released, at this very instant
  live.set_rate(0, [&] { return DriverSimulation::kStart + simulation.now(); });
  EXPECT_EQ(run_whole(simulation, 1s).counts.planned, 2U);
  EXPECT_EQ(std::ceil(live.profile().arrivals_by(1s)), 2);
}

// --- the reference's defects ---

TEST(Driver, D1_PauseIsNotLag) {
  DriverSimulation simulation({.workers = 4}, in_steps({{1s, 100}, {10s, 0}, {1s, 100}}, 12s),
                              takes(1ms));
  const Interval interval = run_whole(simulation, 12s);
  EXPECT_EQ(interval.counts.planned, 200U);
  EXPECT_EQ(interval.lag.max(), 0ns);
  EXPECT_LE(interval.response.max(), 1ms);
}

TEST(Driver, D1_PauseOfALiveRateIsNotLag) {
  LiveRate live(RateProfile::constant(100));
  live.begin(DriverSimulation::kStart, 1);
  DriverSimulation simulation({.workers = 4}, paused(12s), takes(1ms), &live);
  auto set_rate = [&](double rate) {
    live.set_rate(rate, [&] { return DriverSimulation::kStart + simulation.now(); });
  };
  simulation.run(999ms);
  set_rate(0);
  simulation.run(11s);
  EXPECT_EQ(simulation.counts().planned, 100U);
  EXPECT_FALSE(simulation.driver().exhausted());
  set_rate(std::numeric_limits<double>::quiet_NaN());
  set_rate(100);
  const Interval interval = run_whole(simulation, 12s);
  EXPECT_EQ(interval.lag.max(), 0ns);
  EXPECT_EQ(interval.counts.planned, 200U);
}

TEST(Driver, D2_LagReturnsToZeroAfterAHiccup) {
  DriverSimulation simulation({.workers = 100}, at_rate(1000, 1s), takes(1ms));
  simulation.run(100ms);
  simulation.stall(150ms);
  const Interval interval = run_whole(simulation, 1s);
  EXPECT_EQ(interval.counts.ok, 1000U);
  EXPECT_EQ(interval.lag_max, 49ms);
  for (const Result& result : simulation.results) {
    if (result.unit.due > DriverSimulation::kStart + 150ms) {
      ASSERT_EQ(result.lag(), 0ns);
    }
  }
}

TEST(Driver, D3_SaturatedUnitsAreInNoLatency) {
  DriverSimulation simulation({.workers = 1}, at_rate(1000, 1s), takes(10ms));
  const Interval interval = run_whole(simulation, 1s);
  EXPECT_EQ(interval.counts.saturated, 900U);
  EXPECT_EQ(interval.response.count(), 100U);
  EXPECT_EQ(interval.service.min(), 10ms);
  EXPECT_EQ(interval.response.min(), 10ms);
  EXPECT_EQ(interval.lag.count(), 100U);
}

TEST(Driver, D4_SaturatedUnitsAreNotStarted) {
  DriverSimulation simulation({.workers = 1}, at_rate(1000, 1s), takes(20s));
  const Interval interval = run_whole(simulation, 1s, 1s);
  EXPECT_EQ(interval.counts.started, 1U);
  EXPECT_EQ(interval.counts.saturated, 999U);
  EXPECT_EQ(interval.counts.in_flight_at_end, 1U);
  EXPECT_EQ(interval.counts.planned, 1000U);
}

TEST(Driver, D6_ALowerRateLeavesNoLag) {
  DriverSimulation simulation({.workers = 4}, in_steps({{1s, 100}, {9s, 10}}, 10s), takes(1ms));
  const Interval interval = run_whole(simulation, 10s);
  EXPECT_EQ(interval.counts.planned, 190U);
  EXPECT_EQ(interval.lag.max(), 0ns);
  const auto dues = simulation.dues();
  EXPECT_EQ(dues[101] - dues[100], 100ms);
}

TEST(Driver, D7_WorkOfNanosecondsReadsNanoseconds) {
  DriverSimulation simulation({.workers = 1}, at_rate(1000, 1s), takes(137ns));
  const Interval interval = run_whole(simulation, 1s);
  EXPECT_EQ(interval.service.percentile(50), 137ns);
  EXPECT_EQ(interval.service.clamped(), 0U);
}

// --- lag, wait, and the queue (0.5, 0.8) ---

TEST(Driver, WaitIsForWantOfAWorkerLagIsTheGenerators) {
  DriverSimulation simulation({.workers = 1, .on_saturation = OnSaturation::queue},
                              at_rate(100, 40ms), takes(25ms));
  run_whole(simulation, 40ms + 1s);
  ASSERT_EQ(simulation.results.size(), 4U);
  for (std::size_t i = 0; i < 4; ++i) {
    EXPECT_EQ(simulation.results[i].lag(), 0ns);
    EXPECT_EQ(simulation.results[i].wait(), 15ms * i);
  }
}

TEST(Driver, StartingOthersFirstIsLagNotWait) {
  DriverSimulation simulation({.workers = 2, .on_saturation = OnSaturation::queue},
                              {.profile = in_steps({{1ms, 3000}}).profile, .length = 1ms},
                              takes(1ms));
  Driver& driver = simulation.driver();
  const Instant t = DriverSimulation::kStart + 1ms;
  driver.advance(t);
  Unit first, second, third;
  ASSERT_TRUE(driver.take(t + 1us, first));
  ASSERT_TRUE(driver.take(t + 2us, second));
  ASSERT_FALSE(driver.take(t + 3us, third));
  EXPECT_EQ(first.released, t + 1us);
  EXPECT_EQ(second.released, t + 2us);
  driver.finish({.unit = first, .done = t + 9us});
  ASSERT_TRUE(driver.take(t + 10us, third));
  EXPECT_EQ(third.released, t) << "it had no worker when it was released";
  EXPECT_EQ(third.started, t + 10us);
}

TEST(Driver, DropCountsWhatFindsNoWorkerAsSaturated) {
  DriverSimulation simulation({.workers = 2}, at_rate(10, 1s), takes(450ms));
  const Interval interval = run_whole(simulation, 1s);
  EXPECT_EQ(interval.counts.started, 4U);
  EXPECT_EQ(interval.counts.saturated, 6U);
  EXPECT_EQ(interval.wait.max(), 0ns);
  for (const auto& missed : simulation.missed_arrivals) {
    EXPECT_EQ(missed.why, Why::saturated);
    EXPECT_EQ(missed.due, missed.at);
  }
}

TEST(Driver, QueueLimitSaturatesBeyondIt) {
  DriverSimulation simulation(
      {.workers = 1, .on_saturation = OnSaturation::queue, .queue_limit = 3}, at_rate(100, 1s),
      takes(50ms));
  simulation.run(500ms);
  EXPECT_EQ(simulation.driver().waiting(), 3U);
  const Interval interval = run_whole(simulation, 1s);
  EXPECT_EQ(interval.counts.started, 20U);
  EXPECT_EQ(interval.counts.missed_at_end, 3U);
  EXPECT_EQ(interval.counts.saturated, 77U);
  EXPECT_LE(interval.wait.max(), 200ms);
}

TEST(Driver, MaxWaitMissesWhatWaitedTooLong) {
  DriverSimulation simulation(
      {.workers = 1, .on_saturation = OnSaturation::queue, .max_wait = 95ms}, at_rate(100, 1s),
      takes(50ms));
  const Interval interval = run_whole(simulation, 1s);
  EXPECT_EQ(interval.counts.started, 20U);
  EXPECT_GT(interval.counts.missed_waited, 60U);
  EXPECT_LT(interval.wait.max(), 95ms);
  EXPECT_EQ(interval.response.smallest_censored(), 10ms) << "the last one due, at the end";
  for (const auto& missed : simulation.missed_arrivals) {
    if (missed.why == Why::waited) {
      ASSERT_EQ(missed.at - missed.due, 95ms) << "at the instant that advance() named";
    }
  }
}

TEST(Driver, MaxWaitHoldsWithoutAnAdvance) {
  DriverSimulation simulation(
      {.workers = 1, .on_saturation = OnSaturation::queue, .max_wait = 100ms}, at_rate(1000, 2ms),
      takes(1ms));
  Driver& driver = simulation.driver();
  const Instant t0 = DriverSimulation::kStart;
  Unit first, second;
  driver.advance(t0);
  ASSERT_TRUE(driver.take(t0, first));
  EXPECT_EQ(driver.advance(t0 + 1ms), t0 + 101ms);
  driver.finish({.unit = first, .done = t0 + 150ms});
  EXPECT_FALSE(driver.take(t0 + 150ms, second));
  EXPECT_EQ(driver.counts().missed_waited, 1U);
}

TEST(Driver, WaitingAtTheEndIsMissedAndCensored) {
  DriverSimulation simulation({.workers = 1, .on_saturation = OnSaturation::queue}, at_rate(10, 1s),
                              takes(10s));
  const Interval interval = run_whole(simulation, 1s, 5s);
  EXPECT_EQ(interval.counts.started, 1U);
  EXPECT_EQ(interval.counts.in_flight_at_end, 1U);
  EXPECT_EQ(interval.counts.missed_at_end, 9U);
  EXPECT_EQ(interval.response.count(), 10U);
  EXPECT_EQ(interval.response.censored(), 10U);
  EXPECT_EQ(interval.response.smallest_censored(), 100ms);
  EXPECT_EQ(interval.service.smallest_censored(), 6s) << "to the end of the drain";
}

TEST(Driver, WhatWaitsAtALateEndIsCensoredAtTheWindowsEnd) {
  DriverSimulation simulation({.workers = 1, .on_saturation = OnSaturation::queue}, at_rate(10, 1s),
                              takes(10s));
  simulation.run(950ms);
  simulation.end_issue(1500ms);
  simulation.drain(2s);
  const Interval interval = simulation.interval();
  expect_books_balance(simulation, interval);
  EXPECT_EQ(interval.response.smallest_censored(), 100ms);
}

TEST(Driver, AFullRingNeverUnderstatesLag) {
  // 3 000 batches wait; in the middle of them the generator was late once, by 40 ms.
  DriverSimulation simulation(
      {.workers = 1, .on_saturation = OnSaturation::queue}, at_rate(1000, 3s),
      [](std::uint64_t arrival, Duration) { return arrival == 0 ? Duration(3s) : Duration(1us); });
  simulation.run(2s);
  simulation.stall(2040ms);
  simulation.run(5s);
  ASSERT_EQ(simulation.results.size(), 3000U);
  for (const Result& result : simulation.results) {
    const Duration due = result.unit.due - DriverSimulation::kStart;
    const Duration lag = due > 2s && due < 2040ms ? 2040ms - due : 0ns;
    ASSERT_GE(result.lag(), lag) << result.unit.arrival;
    ASSERT_LE(result.lag(), 39ms) << result.unit.arrival;
    ASSERT_LE(result.unit.released, result.unit.started);
    if (due < 1s) {
      ASSERT_EQ(result.lag(), 0ns);
    }
  }
  run_whole(simulation, 5s);
}

// --- late (0.7) ---

TEST(Driver, CatchUpSendsEverythingDueAtOnce) {
  DriverSimulation simulation({.workers = 5000}, at_rate(1000, 3s), takes(1ms));
  simulation.run(1s);
  simulation.stall(1900ms);
  const Interval interval = run_whole(simulation, 3s);
  EXPECT_EQ(interval.counts.ok, 3000U);
  EXPECT_EQ(interval.lag_max, 899ms);
}

TEST(Driver, CatchUpMissesWhatIsOlderThanASecond) {
  DriverSimulation simulation({.workers = 5000}, at_rate(1000, 10s), takes(1ms));
  simulation.run(1s);
  simulation.stall(5s);
  const Interval interval = run_whole(simulation, 10s);
  EXPECT_EQ(interval.counts.missed_late, 2999U);
  EXPECT_EQ(interval.lag_max, 1s);
  EXPECT_EQ(interval.counts.ok, 7001U);
  EXPECT_EQ(interval.response.count(), 7001U);
}

TEST(Driver, SkipMissesWhatIsLate) {
  DriverSimulation simulation({.workers = 5000, .on_late = OnLate::skip}, at_rate(1000, 3s),
                              takes(1ms));
  simulation.run(1s);
  simulation.stall(1100ms + 500us);
  const Interval interval = run_whole(simulation, 3s);
  EXPECT_EQ(interval.counts.missed_late, 99U) << "1 001 ms to 1 099 ms";
  EXPECT_EQ(interval.lag_max, 500us);
}

TEST(Driver, LateAfterDefaultsToOneGapButAMillisecondAtLeast) {
  DriverSimulation slow({.workers = 50, .on_late = OnLate::skip}, at_rate(10, 3s), takes(1ms));
  slow.run(1s);
  slow.stall(1250ms);  // the arrival at 1.1 s is 150 ms late, the one at 1.2 s 50 ms
  EXPECT_EQ(run_whole(slow, 3s).counts.missed_late, 1U);

  DriverSimulation given({.workers = 50, .on_late = OnLate::skip, .late_after = 20ms},
                         at_rate(10, 3s), takes(1ms));
  given.run(1s);
  given.stall(1250ms);
  EXPECT_EQ(run_whole(given, 3s).counts.missed_late, 2U);
}

TEST(Driver, AMillisecondIsNotLateHoweverHighTheRate) {
  DriverSimulation simulation({.workers = 5000, .on_late = OnLate::skip}, at_rate(100'000, 1s),
                              takes(1ms));
  simulation.run(100ms);
  simulation.stall(100'900us);
  EXPECT_EQ(run_whole(simulation, 1s).counts.missed_late, 0U);
}

TEST(Driver, Case11_BurstBoundsCatchingUp) {
  DriverSimulation simulation({.workers = 50, .on_late = OnLate::burst, .burst = 5},
                              at_rate(10, 3s), takes(1ms));
  simulation.run(0s);
  EXPECT_EQ(simulation.counts().started, 1U) << "nothing is released before it is due";
  simulation.stall(750ms);  // 7 are due
  simulation.run(750ms);
  EXPECT_EQ(simulation.counts().started, 6U);
  simulation.run(849ms);
  EXPECT_EQ(simulation.counts().started, 6U);
  simulation.run(851ms);
  EXPECT_EQ(simulation.counts().started, 7U) << "one token a gap";
  const Interval interval = run_whole(simulation, 3s);
  EXPECT_EQ(interval.counts.planned, 30U);
  EXPECT_EQ(interval.counts.started + interval.counts.missed_at_end, 30U);
  EXPECT_NEAR(static_cast<double>(simulation.results.back().lag().count()), 250e6, 10);
}

TEST(Driver, Case34_BurstOfFiveAfterOneJump) {
  SchedulePlan plan = at_rate(1);
  plan.max_arrivals = 6;
  DriverSimulation simulation({.workers = 10, .on_late = OnLate::burst, .burst = 5}, plan,
                              takes(1ms));
  simulation.run(0s);
  EXPECT_EQ(simulation.counts().started, 1U);
  simulation.stall(5s);
  simulation.run(5s);
  EXPECT_EQ(simulation.counts().started, 6U);
}

TEST(Driver, BurstDoesNotBendPoissonArrivals) {
  SchedulePlan plan = at_rate(1000, 5s);
  plan.arrivals = Arrivals::poisson;
  DriverSimulation simulation({.workers = 1000, .on_late = OnLate::burst}, plan, takes(1ms));
  const Interval interval = run_whole(simulation, 5s);
  EXPECT_EQ(interval.counts.ok, interval.counts.planned);
  EXPECT_EQ(interval.lag.max(), 0ns);
}

TEST(Driver, WhatTheGeneratorNeverSawIsPlannedAllTheSame) {
  DriverSimulation simulation({.workers = 50}, at_rate(100, 10s), takes(1ms));
  simulation.run(5s);
  simulation.end_issue(12s);  // it slept from 5 s on
  simulation.drain(12s);
  const Interval interval = simulation.interval();
  expect_books_balance(simulation, interval);
  EXPECT_EQ(interval.counts.planned, 1000U);
  EXPECT_EQ(interval.counts.started, 501U);
  EXPECT_EQ(interval.counts.missed_late, 399U);
  EXPECT_EQ(interval.counts.missed_at_end, 100U) << "at most a second old at the end, 10 s";
  EXPECT_EQ(interval.response.max(), 1s);
}

// --- closed (0.6) ---

TEST(Driver, ClosedUnitsFollowEachOther) {
  DriverSimulation simulation({.model = Model::closed, .workers = 3}, paused(1s), takes(10ms));
  const Interval interval = run_whole(simulation, 1s);
  EXPECT_EQ(interval.counts.planned, 300U);
  EXPECT_EQ(interval.counts.ok, 300U);
  EXPECT_EQ(simulation.most_in_flight, 3U);
  EXPECT_EQ(simulation.worst_lag(), 0ns);
  EXPECT_TRUE(simulation.driver().exhausted());
}

TEST(Driver, NothingOfAClosedOrUnlimitedRunStartsAtItsLength) {
  for (const Model model : {Model::closed, Model::open, Model::paced}) {
    DriverSimulation simulation({.model = model, .workers = 2},
                                at_rate(std::numeric_limits<double>::infinity(), 1s), takes(1s));
    Driver& driver = simulation.driver();
    Unit unit;
    driver.advance(DriverSimulation::kStart);
    EXPECT_TRUE(driver.take(DriverSimulation::kStart + 1s - 1ns, unit));
    EXPECT_FALSE(driver.take(DriverSimulation::kStart + 1s, unit));
    EXPECT_TRUE(driver.exhausted());
  }
}

TEST(Driver, ClosedBudgetIsExactOverLoops) {
  for (const std::uint64_t requests : {0ULL, 1ULL, 5ULL, 5000ULL, 12345ULL}) {
    RequestBudget budget(requests);
    std::set<std::uint64_t> arrivals;
    std::uint64_t started = 0;
    for (std::uint32_t loop = 0; loop < 3; ++loop) {
      DriverSimulation simulation({.model = Model::closed, .workers = 4},
                                  {.profile = {}, .share = loop, .of = 3}, takes(1ms), nullptr,
                                  &budget);
      simulation.run(loop < 2 ? 100ms : 10s);
      simulation.end_issue(10s);
      simulation.drain(20s);
      const Interval interval = simulation.interval();
      expect_books_balance(simulation, interval);
      started += interval.counts.started;
      for (const Result& result : simulation.results) arrivals.insert(result.unit.arrival);
    }
    EXPECT_EQ(started, requests);
    EXPECT_EQ(arrivals.size(), requests);
  }
}

TEST(Driver, BlocksOfTheBudgetShrinkTowardsTheEnd) {
  RequestBudget budget(5000);
  std::uint64_t sum = 0;
  std::uint64_t last = UINT64_MAX;
  for (std::uint64_t block = budget.take_block(4); block != 0; block = budget.take_block(4)) {
    EXPECT_LE(block, std::min<std::uint64_t>(256, last));
    last = block;
    sum += block;
  }
  EXPECT_EQ(sum, 5000U);
  EXPECT_EQ(last, 1U);
}

// --- closed at a rate (0.6) ---

TEST(Driver, PacedLagRunsUntilAWorkerIsReady) {
  DriverSimulation simulation({.model = Model::paced, .workers = 1}, at_rate(100, 200ms),
                              takes(50ms));
  simulation.run(2s);
  ASSERT_EQ(simulation.results.size(), 20U);
  for (std::size_t i = 0; i < 20; ++i) {
    EXPECT_EQ(simulation.results[i].lag(), 40ms * i);
    EXPECT_EQ(simulation.results[i].wait(), 0ns);
  }
  run_whole(simulation, 2s);
}

TEST(Driver, PacedWaitIsTheTimeWithAFreeWorker) {
  DriverSimulation simulation({.model = Model::paced, .workers = 1}, at_rate(100, 200ms),
                              takes(1ms));
  Driver& driver = simulation.driver();
  const Instant t0 = DriverSimulation::kStart;
  Unit unit;
  driver.advance(t0);
  ASSERT_TRUE(driver.take(t0 + 1us, unit));
  EXPECT_EQ(unit.released, t0);
  driver.finish({.unit = unit, .done = t0 + 12ms});
  driver.advance(t0 + 13ms);
  ASSERT_TRUE(driver.take(t0 + 14ms, unit));
  EXPECT_EQ(unit.due, t0 + 10ms);
  EXPECT_EQ(unit.released, t0 + 12ms) << "a worker was ready";
  EXPECT_EQ(unit.started, t0 + 14ms);
}

TEST(Driver, M9_ResponseGrowsServiceDoesNot) {
  DriverSimulation simulation({.model = Model::paced, .workers = 1}, at_rate(100, 20s),
                              takes(100ms));
  const Interval interval = run_whole(simulation, 20s);
  EXPECT_EQ(interval.service.min(), 100ms);
  EXPECT_EQ(interval.counts.started, 200U);
  for (const Result& result : simulation.results) {
    const Duration expected = 100ms + 90ms * result.unit.arrival;
    ASSERT_EQ(result.response(), expected);
  }
}

// --- unlimited ---

TEST(Driver, UnlimitedStartsWhateverAWorkerIsFreeFor) {
  SchedulePlan plan = at_rate(std::numeric_limits<double>::infinity());
  plan.max_arrivals = 40;
  DriverSimulation simulation({.workers = 4}, plan, takes(1ms));
  simulation.run(1s);
  EXPECT_TRUE(simulation.driver().exhausted());
  const Interval interval = run_whole(simulation, 1s);
  EXPECT_EQ(interval.counts.ok, 40U);
  EXPECT_EQ(interval.counts.saturated, 0U);
  EXPECT_EQ(interval.lag.max(), 0ns);
}

TEST(Driver, UnlimitedEndsAtItsLength) {
  DriverSimulation simulation({.workers = 2}, at_rate(std::numeric_limits<double>::infinity(), 1s),
                              takes(10ms));
  EXPECT_EQ(run_whole(simulation, 1s).counts.ok, 200U);
  EXPECT_TRUE(simulation.driver().exhausted());
}

TEST(Driver, AfterAnUnlimitedRateTheScheduleGoesOn) {
  LiveRate live(RateProfile::constant(std::numeric_limits<double>::infinity()));
  live.begin(DriverSimulation::kStart, 1);
  DriverSimulation simulation({.workers = 2, .on_saturation = OnSaturation::queue}, paused(2s),
                              takes(10ms), &live);
  auto set_rate = [&](double rate) {
    live.set_rate(rate, [&] { return DriverSimulation::kStart + simulation.now(); });
  };
  simulation.run(995ms);
  EXPECT_EQ(simulation.counts().started, 200U);
  set_rate(10);
  simulation.run(1500ms);
  EXPECT_EQ(simulation.counts().started, 206U);
  set_rate(100);
  const Interval interval = run_whole(simulation, 2s);
  EXPECT_EQ(interval.counts.ok, 256U);
  EXPECT_EQ(interval.lag.max(), 0ns);
}

// --- the whole truth ---

TEST(Driver, M1_FreezeAmidTheRunIsInThePercentiles) {
  constexpr double kRate = 200;
  DriverSimulation simulation({.workers = 1000}, at_rate(kRate, 20s), frozen(5s, 7s, 1ms));
  const Interval interval = run_whole(simulation, 20s);
  EXPECT_EQ(interval.counts.ok, 4000U);
  std::vector<Duration> slow;
  for (const Result& result : simulation.results) {
    if (result.response() > 10ms) slow.push_back(result.response());
  }
  std::ranges::sort(slow);
  EXPECT_NEAR(static_cast<double>(slow.size()), kRate * 2, kRate * 2 * 0.01);
  for (std::size_t i = 1; i < slow.size(); ++i) ASSERT_EQ(slow[i] - slow[i - 1], 5ms);
  const double p = 100 * (1 - 2.0 / (2 * 20));
  EXPECT_NEAR(std::chrono::duration<double>(interval.response.percentile(p)).count(), 1, 0.02);
}

TEST(Driver, M1_FreezeAtTheEndReadsAtLeast) {
  DriverSimulation simulation({.workers = 5000}, at_rate(100, 10s), frozen(8s, 1h, 1ms));
  const Interval interval = run_whole(simulation, 10s, 0s);
  EXPECT_EQ(interval.counts.in_flight_at_end, 200U);
  EXPECT_EQ(interval.response.count(), 1000U);
  EXPECT_GE(interval.response.percentile(90), 900ms);
  EXPECT_TRUE(interval.response.percentile_is_lower_bound(90));
  EXPECT_FALSE(interval.response.percentile_is_lower_bound(50));
}

TEST(Driver, M1_FreezeAtTheEndWithFewWorkersReadsAtLeast) {
  DriverSimulation simulation({.workers = 10, .on_saturation = OnSaturation::queue},
                              at_rate(100, 10s), frozen(8s, 1h, 1ms));
  const Interval interval = run_whole(simulation, 10s, 0s);
  EXPECT_EQ(interval.counts.in_flight_at_end, 10U);
  EXPECT_EQ(interval.counts.missed_at_end, 190U);
  EXPECT_EQ(interval.response.count(), 1000U);
  EXPECT_GE(interval.response.percentile(90), 900ms);
  EXPECT_TRUE(interval.response.percentile_is_lower_bound(90));
}

TEST(Driver, M2_SamplesAreThePlannedArrivals) {
  DriverSimulation simulation({.workers = 3, .on_saturation = OnSaturation::queue},
                              at_rate(200, 10s), frozen(4s, 6s, 1ms));
  const Interval interval = run_whole(simulation, 10s);
  EXPECT_EQ(interval.counts.planned, 2000U);
  EXPECT_EQ(interval.response.count() + interval.failed.count(), 2000U);
}

TEST(Driver, M4_WaitingForOnesTurnIsNotLatency) {
  DriverSimulation simulation({.model = Model::paced, .workers = 100}, at_rate(10, 10s),
                              takes(1us));
  const Interval interval = run_whole(simulation, 10s);
  EXPECT_EQ(interval.counts.ok, 100U);
  EXPECT_EQ(interval.response.max(), 1us);
  EXPECT_EQ(interval.lag.max(), 0ns);
}

TEST(Driver, M10_OverloadDoesNotSlowWhatCompletes) {
  for (const auto policy : {OnSaturation::drop, OnSaturation::queue}) {
    DriverSimulation simulation({.workers = 4, .on_saturation = policy}, at_rate(4000, 5s),
                                takes(10ms));
    EXPECT_NEAR(static_cast<double>(run_whole(simulation, 5s).counts.ok), 2000, 100);
  }
}

TEST(Driver, M16_ARateBelowTheNumberOfWorkersIsEven) {
  DriverSimulation simulation({.workers = 1000}, at_rate(7, 10s), takes(1ms));
  run_whole(simulation, 10s);
  const auto dues = simulation.dues();
  ASSERT_EQ(dues.size(), 70U);
  for (std::size_t i = 1; i < dues.size(); ++i) {
    ASSERT_NEAR(static_cast<double>((dues[i] - dues[i - 1]).count()), 1e9 / 7, 2);
  }
}

TEST(Driver, M18_ArrivalsNeverStartedAreInTheResponseTimes) {
  DriverSimulation simulation({.workers = 16, .on_saturation = OnSaturation::queue},
                              at_rate(1000, 60s), takes(32ms));
  const Interval interval = run_whole(simulation, 60s);
  EXPECT_NEAR(static_cast<double>(interval.counts.started), 30000, 20);
  EXPECT_EQ(interval.response.count(), 60000U);
  const auto seconds = [&](double p) {
    return std::chrono::duration<double>(interval.response.percentile(p)).count();
  };
  EXPECT_NEAR(seconds(50), 15, 0.3);
  EXPECT_NEAR(seconds(99), 30, 0.6);
  EXPECT_TRUE(interval.response.percentile_is_lower_bound(99));
  EXPECT_EQ(interval.lag.max(), 0ns) << "the target's doing, not the generator's";
}

// --- a live rate over several loops (0.3) ---

TEST(Driver, ThousandRandomRateChangesOnFourLoopsPlanExactly) {
  constexpr std::uint32_t kLoops = 4;
  const Instant t0 = DriverSimulation::kStart;
  LiveRate live(RateProfile::constant(2000));
  live.begin(t0, kLoops);
  Recorder recorder({});
  std::vector<std::unique_ptr<Driver>> drivers;
  for (std::uint32_t loop = 0; loop < kLoops; ++loop) {
    drivers.push_back(std::make_unique<Driver>(
        DriverOptions{.workers = 1000000},
        SchedulePlan{.profile = {}, .share = loop, .of = kLoops, .length = 10s}, recorder, &live));
    drivers.back()->begin(t0);
  }
  Random random(42);
  Duration now{};
  std::uint64_t changes = 0;
  while (now < 10s) {
    now += Duration(random.below(50'000));
    // The loops turn one by one, each with its own clock reading, a change now and then between.
    Driver& driver = *drivers[random.below(kLoops)];
    driver.advance(t0 + now);
    Unit unit;
    while (driver.take(t0 + now, unit)) {
      driver.finish({.unit = unit, .done = t0 + now});
    }
    if (changes < 1000 && random.below(200) == 0) {
      ++changes;
      const double rate = random.below(5) == 0 ? 0 : static_cast<double>(random.below(5000));
      live.set_rate(rate, [&] { return t0 + now; });
    }
  }
  EXPECT_EQ(changes, 1000U);
  Counts counts;
  for (auto& driver : drivers) {
    driver->end_issue(t0 + 10s);
    counts += driver->counts();
  }
  EXPECT_EQ(static_cast<double>(counts.planned), std::ceil(live.profile().arrivals_by(10s)));
  EXPECT_EQ(counts.unaccounted_planned(), 0);
}

// --- cost ---

TEST(Driver, TheHotPathDoesNotAllocate) {
  if (!kCountsAllocations) GTEST_SKIP() << "not with ThreadSanitizer";
  LiveRate live(RateProfile::constant(100000));
  live.begin(DriverSimulation::kStart, 1);
  Recorder recorder({});
  for (const Model model : {Model::open, Model::paced, Model::closed}) {
    Driver driver({.model = model, .workers = 8, .on_saturation = OnSaturation::queue}, {},
                  recorder, model == Model::open ? &live : nullptr);
    driver.begin(DriverSimulation::kStart);
    Instant now = DriverSimulation::kStart;
    Unit unit;
    const std::uint64_t before = allocations_of_this_thread();
    for (int i = 0; i < 10000; ++i) {
      now += 100us;
      driver.advance(now);
      while (driver.in_flight() < 4 && driver.take(now, unit)) {
        if (i % 100 != 0) driver.finish({.unit = unit, .done = now + 5us});
        if (model == Model::closed) break;
      }
    }
    driver.end_issue(now);
    EXPECT_EQ(allocations_of_this_thread(), before);
  }
}

}  // namespace
}  // namespace onbeat::kernel
