#include "kernel/allocation_count.hpp"
#include <onbeat/kernel/recorder.hpp>

#include <gtest/gtest.h>

#include <atomic>
#include <random>
#include <thread>

namespace onbeat::kernel {
namespace {

using namespace std::chrono_literals;

/// A unit due at 1 s, with the parts of its response time.
Result unit(Duration lag, Duration wait, Duration service, Outcome outcome = Outcome::ok) {
  Result result;
  result.unit.due = Instant{} + 1s;
  result.unit.released = result.unit.due + lag;
  result.unit.started = result.unit.released + wait;
  result.done = result.unit.started + service;
  result.outcome = outcome;
  return result;
}

Interval taken(Recorder& recorder, Duration t = 1s) {
  Interval interval;
  EXPECT_TRUE(recorder.hand_over(t));
  EXPECT_TRUE(recorder.collect(interval));
  return interval;
}

Histogram of(std::initializer_list<Duration> values) {
  Histogram histogram;
  for (const auto value : values) histogram.record(value);
  return histogram;
}

Histogram censored(std::initializer_list<Duration> values) {
  Histogram histogram;
  for (const auto value : values) histogram.record_censored(value);
  return histogram;
}

TEST(IntervalHistogram, IsTheHistogramOfTheSameValues) {
  std::mt19937_64 random(3);
  IntervalHistogram interval;
  Histogram drained;
  Histogram direct;
  for (int round = 0; round < 20; ++round) {
    for (int i = 0; i < 200; ++i) {
      auto value = static_cast<std::int64_t>(random() >> (10 + random() % 50));
      if (i % 50 == 0) value = -value;
      if (i % 7 == 0) {
        interval.record_censored(value);
        direct.record_censored(Duration{value});
      } else {
        interval.record(value);
        direct.record(Duration{value});
      }
    }
    interval.drain_into(drained);
    ASSERT_EQ(drained, direct) << round;
    ASSERT_TRUE(interval.empty());
  }
  EXPECT_GT(direct.clamped(), 0U);
}

TEST(IntervalHistogram, EachBucketIsThatOfTheLayout) {
  const HistogramLayout layout;
  for (std::uint32_t i = 0; i < layout.size(); ++i) {
    for (const auto value : {layout.lowest_of(i), layout.highest_of(i)}) {
      ASSERT_EQ(detail::bucket_of(value, 0, detail::kHalfMagnitude), i);
    }
  }
}

TEST(IntervalHistogram, SumsBeyond64BitsStayExact) {
  IntervalHistogram interval;
  Histogram direct;
  for (int i = 0; i < 5; ++i) {
    interval.record(INT64_MAX / 2);
    direct.record(Duration{INT64_MAX / 2});
  }
  interval.record(3);
  direct.record(3ns);
  for (int round = 0; round < 2; ++round) {
    Histogram drained;
    interval.add_to(drained);
    EXPECT_EQ(drained, direct);
  }
  interval.clear();
  interval.record(1);
  Histogram one;
  interval.add_to(one);
  EXPECT_EQ(one, of({1ns}));
}

TEST(IntervalHistogram, ClearLeavesNoCountBehind) {
  IntervalHistogram histogram;
  histogram.record(0);
  histogram.record(detail::kHighestNs);
  histogram.record(1'000'000);
  histogram.clear();
  histogram.record(0);
  histogram.record(detail::kHighestNs);
  Histogram out;
  histogram.add_to(out);
  EXPECT_EQ(out, of({0ns, Duration{detail::kHighestNs}}));
}

TEST(Recorder, AnOkUnitLeavesItsFourTimes) {
  Recorder recorder({});
  recorder.planned(1);
  recorder.started();
  Result result = unit(1us, 20us, 3ms);
  result.bytes_sent = 70;
  result.bytes_received = 900;
  result.code = 2;
  recorder.finished(result);
  const Interval got = taken(recorder);
  EXPECT_EQ(got.lag, of({1us}));
  EXPECT_EQ(got.wait, of({20us}));
  EXPECT_EQ(got.service, of({3ms}));
  EXPECT_EQ(got.response, of({Duration(3ms) + 21us}));
  EXPECT_TRUE(got.failed.empty());
  EXPECT_EQ(got.lag_max, 1us);
  EXPECT_EQ(got.codes, (std::vector<std::uint64_t>{0, 0, 1}));
  EXPECT_TRUE(got.errors.empty());
  EXPECT_EQ(got.counts,
            (Counts{.planned = 1, .started = 1, .ok = 1, .bytes_sent = 70, .bytes_received = 900}));
  ASSERT_EQ(got.endpoints.size(), 1U);
  EXPECT_EQ(got.endpoints[0].response, got.response);
  EXPECT_EQ(got.endpoints[0].service, got.service);
  EXPECT_EQ(got.endpoints[0].codes, got.codes);
  EXPECT_EQ(got.endpoints[0].counts,
            (Counts{.started = 1, .ok = 1, .bytes_sent = 70, .bytes_received = 900}));
}

TEST(Recorder, AFailureHasAHistogramOfItsOwn) {
  Recorder recorder({});
  Result result = unit(1us, 2us, 3us, Outcome::failed);
  result.code = 1;
  result.error = 4;
  recorder.finished(result);
  const Interval got = taken(recorder);
  EXPECT_EQ(got.failed, of({6us}));
  EXPECT_EQ(got.endpoints[0].failed, of({6us}));
  EXPECT_TRUE(got.response.empty());
  EXPECT_TRUE(got.service.empty());
  EXPECT_EQ(got.wait, of({2us}));
  EXPECT_EQ(got.lag, of({1us}));
  EXPECT_EQ(got.errors, (std::vector<std::uint64_t>{0, 0, 0, 0, 1}));
  EXPECT_EQ(got.endpoints[0].errors, got.errors);
  EXPECT_EQ(got.counts.failed, 1U);
}

TEST(Recorder, WhatDidNotEndIsCensoredAtItsElapsedTime) {
  for (const auto outcome : {Outcome::timed_out, Outcome::cancelled, Outcome::in_flight}) {
    Recorder recorder({});
    recorder.finished(unit(1us, 2us, 3us, outcome));
    const Interval got = taken(recorder);
    EXPECT_EQ(got.response, censored({6us}));
    EXPECT_EQ(got.service, censored({3us}));
    EXPECT_EQ(got.endpoints[0].response, censored({6us}));
    EXPECT_TRUE(got.failed.empty());
    EXPECT_EQ(got.wait, of({2us}));
    EXPECT_EQ(got.lag, of({1us}));
    EXPECT_EQ(got.counts.timed_out, outcome == Outcome::timed_out ? 1U : 0U);
    EXPECT_EQ(got.counts.cancelled, outcome == Outcome::cancelled ? 1U : 0U);
    EXPECT_EQ(got.counts.in_flight_at_end, outcome == Outcome::in_flight ? 1U : 0U);
  }
}

TEST(Recorder, ArrivalsThatNeverStartedLeaveTheirTrace) {
  Recorder recorder({});
  recorder.planned(10);
  recorder.missed_late(2);
  recorder.saturated(3);
  recorder.missed_waited(30s);
  recorder.missed_at_end(4s);
  recorder.missed_at_end(5s);
  const Interval got = taken(recorder);
  EXPECT_EQ(got.counts, (Counts{.planned = 10,
                                .missed_late = 2,
                                .missed_waited = 1,
                                .missed_at_end = 2,
                                .saturated = 3}));
  EXPECT_EQ(got.response, censored({4s, 5s, 30s}));  // late and saturated ones enter none
  EXPECT_TRUE(got.service.empty());
  EXPECT_TRUE(got.endpoints[0].response.empty());  // no endpoint yet
}

TEST(Recorder, ClosedResponseIsServiceWithoutWaitAndLag) {
  Recorder recorder({.open = false});
  recorder.finished(unit(0ns, 0ns, 3ms));
  recorder.finished(unit(0ns, 0ns, 9ms, Outcome::failed));
  recorder.finished(unit(0ns, 0ns, 2s, Outcome::timed_out));
  const Interval got = taken(recorder);
  EXPECT_EQ(got.response, got.service);
  EXPECT_EQ(got.endpoints[0].response, got.service);
  EXPECT_EQ(got.service.count(), 2U);
  EXPECT_EQ(got.service.smallest_censored(), 2s);
  EXPECT_EQ(got.failed, of({9ms}));
  EXPECT_TRUE(got.wait.empty());
  EXPECT_TRUE(got.lag.empty());
  EXPECT_EQ(got.lag_max, 0ns);
}

TEST(Recorder, EndpointsAreKeptApartAndSumToTheRun) {
  Recorder recorder({.endpoints = 2});
  for (const int id : {0, 1, 1, 7, 7, 7}) {
    recorder.started();
    Result result = unit(0ns, 0ns, Duration(1ms) * (id + 1));
    result.endpoint = static_cast<EndpointId>(id);
    result.code = static_cast<CodeId>(id);
    recorder.finished(result);
  }
  const Interval got = taken(recorder);
  ASSERT_EQ(got.endpoints.size(), 8U);
  EXPECT_EQ(got.endpoints[0].response, of({1ms}));
  EXPECT_EQ(got.endpoints[1].response, of({2ms, 2ms}));
  EXPECT_TRUE(got.endpoints[3].response.empty());
  EXPECT_EQ(got.endpoints[7].response, of({8ms, 8ms, 8ms}));
  EXPECT_EQ(got.response, of({1ms, 2ms, 2ms, 8ms, 8ms, 8ms}));
  EXPECT_EQ(got.codes, (std::vector<std::uint64_t>{1, 2, 0, 0, 0, 0, 0, 3}));
  EXPECT_EQ(got.counts.started, 6U);
}

TEST(Recorder, IdsBeyondTheUsualRoomAreCountedToo) {
  Recorder recorder({});
  Result result = unit(0ns, 0ns, 1ms, Outcome::failed);
  result.code = 255;
  result.error = 1000;
  recorder.finished(result);
  result.code = 256;
  recorder.finished(result);
  const Interval got = taken(recorder);
  ASSERT_EQ(got.codes.size(), 257U);
  EXPECT_EQ(got.codes[255], 1U);
  EXPECT_EQ(got.codes[256], 1U);
  ASSERT_EQ(got.errors.size(), 1001U);
  EXPECT_EQ(got.errors[1000], 2U);
}

TEST(Recorder, ExtrasUsageAndVerdicts) {
  Recorder recorder({.loop = 2, .histograms = {"turn", "connect"}, .counters = {"opened"}});
  recorder.record(1, 5ms);
  recorder.count(0);
  recorder.count(0, 4);
  for (const Verdict verdict :
       {Verdict::passed, Verdict::not_passed, Verdict::not_passed, Verdict::not_judged}) {
    Result judged = unit(1us, 1us, 1us);
    judged.verdict = verdict;
    recorder.finished(judged);
  }
  recorder.usage({1s, 200ms, 0ms, 0, 50});
  recorder.usage({1s, 300ms, 15ms, 1, 70});
  const Interval got = taken(recorder);
  ASSERT_EQ(got.extra.size(), 2U);
  EXPECT_TRUE(got.extra[0].empty());
  EXPECT_EQ(got.extra[1], of({5ms}));
  EXPECT_EQ(got.counters, (std::vector<std::uint64_t>{5}));
  EXPECT_EQ(got.counts.passed, 1U);
  EXPECT_EQ(got.counts.not_passed, 2U);
  EXPECT_EQ(got.endpoints[0].counts.not_passed, 2U);
  ASSERT_EQ(got.loops.size(), 3U);
  EXPECT_EQ(got.loops[2], (LoopUsage{2s, 500ms, 15ms, 1, 120}));
  EXPECT_EQ(got.loops[0], LoopUsage{});
}

TEST(Recorder, TimesGoWhereTheUnitSays) {
  for (const bool open : {true, false}) {
    Recorder recorder({.open = open});
    const auto finish = [&](Outcome outcome, Timing timing, Duration service) {
      Result result = unit(0us, 0us, service);
      result.outcome = outcome;
      result.timing = timing;
      recorder.finished(result);
    };
    finish(Outcome::failed, Timing::headline, 1ms);
    finish(Outcome::ok, Timing::failures, 2ms);
    finish(Outcome::ok, Timing::endpoint_only, 3ms);
    finish(Outcome::ok, Timing::nowhere, 4ms);
    finish(Outcome::cancelled, Timing::nowhere, 5ms);
    const Interval got = taken(recorder);
    EXPECT_EQ(got.response, of({1ms}));
    EXPECT_EQ(got.service, of({1ms}));
    EXPECT_EQ(got.failed, of({2ms}));
    EXPECT_EQ(got.counts.untimed, 3U);
    EXPECT_EQ(got.counts.ok, 3U);
    EXPECT_EQ(got.counts.failed, 1U);
    EXPECT_EQ(got.endpoints[0].response, of({1ms, 3ms}));
    EXPECT_EQ(got.endpoints[0].service, of({1ms, 3ms}));
    EXPECT_EQ(taken(recorder).endpoints[0].service, of({})) << "the sheet comes back clean";
  }
}

TEST(Recorder, PartsOfAUnitAreNotInTheTotals) {
  Recorder recorder({});
  Result whole = unit(0us, 0us, 5ms);
  whole.code = 1;
  Result part = unit(0us, 0us, 2ms);
  part.endpoint = 1;
  part.code = 2;
  recorder.part_finished(part);
  part.outcome = Outcome::failed;
  part.error = 3;
  recorder.part_finished(part);
  recorder.message_gap(1, 7ms);
  recorder.finished(whole);
  const Interval got = taken(recorder);
  EXPECT_EQ(got.counts.ended(), 1U);
  EXPECT_EQ(got.response, of({5ms}));
  EXPECT_TRUE(got.failed.empty());
  EXPECT_EQ(got.codes, (std::vector<std::uint64_t>{0, 1}));
  EXPECT_TRUE(got.errors.empty());
  EXPECT_FALSE(got.endpoints[0].part);
  EXPECT_TRUE(got.endpoints[1].part);
  EXPECT_EQ(got.endpoints[1].response, of({2ms}));
  EXPECT_EQ(got.endpoints[1].failed, of({2ms}));
  EXPECT_EQ(got.endpoints[1].counts.started, 2U);
  EXPECT_EQ(got.endpoints[1].codes, (std::vector<std::uint64_t>{0, 0, 2}));
  EXPECT_EQ(got.endpoints[1].errors, (std::vector<std::uint64_t>{0, 0, 0, 1}));
  EXPECT_EQ(got.endpoints[1].message_gap, of({7ms}));
}

TEST(Recorder, InFlightIsCarriedIntoTheNextInterval) {
  Recorder recorder({});
  recorder.in_flight(5);
  recorder.in_flight(9);
  recorder.in_flight(4);
  const Interval first = taken(recorder, 1s);
  EXPECT_EQ(first.in_flight, 4U);
  EXPECT_EQ(first.in_flight_max, 9U);
  const Interval second = taken(recorder, 2s);
  EXPECT_EQ(second.in_flight, 4U);
  EXPECT_EQ(second.in_flight_max, 4U);
}

TEST(Recorder, LoopsCollectIntoOneInterval) {
  Recorder first({.loop = 0});
  Recorder second({.loop = 1});
  first.finished(unit(1us, 0ns, 1ms));
  second.finished(unit(2us, 0ns, 2ms));
  first.in_flight(3);
  second.in_flight(4);
  first.usage({1s, 100ms, 0ms, 0, 1});
  second.usage({1s, 200ms, 0ms, 0, 2});
  Interval both;
  first.hand_over(1s);
  second.hand_over(1s);
  EXPECT_TRUE(first.collect(both));
  EXPECT_TRUE(second.collect(both));
  EXPECT_EQ(both.service, of({1ms, 2ms}));
  EXPECT_EQ(both.lag_max, 2us);
  EXPECT_EQ(both.in_flight_max, 7U);
  ASSERT_EQ(both.loops.size(), 2U);
  EXPECT_EQ(both.loops[1].turns, 2U);
}

TEST(Recorder, AnUncollectedSheetMakesTheIntervalGrow) {
  Recorder recorder({});
  recorder.finished(unit(0ns, 0ns, 1ms));
  EXPECT_TRUE(recorder.hand_over(1s));
  recorder.finished(unit(0ns, 0ns, 2ms));
  EXPECT_FALSE(recorder.hand_over(2s));
  recorder.finished(unit(0ns, 0ns, 3ms));
  Interval first;
  EXPECT_TRUE(recorder.collect(first));
  EXPECT_FALSE(recorder.collect(first));
  EXPECT_EQ(first.service, of({1ms}));
  EXPECT_EQ(first.start, 0s);
  EXPECT_EQ(first.end, 1s);
  EXPECT_TRUE(recorder.hand_over(3s));
  Interval second;
  EXPECT_TRUE(recorder.collect(second));
  EXPECT_EQ(second.service, of({2ms, 3ms}));
  EXPECT_EQ(second.start, 1s);
  EXPECT_EQ(second.end, 3s);
}

TEST(Recorder, ACollectedSheetComesBackClean) {
  Recorder recorder({.histograms = {"turn"}, .counters = {"opened"}});
  recorder.planned(1);
  recorder.missed_at_end(1s);
  recorder.record(0, 1s);
  recorder.count(0);
  recorder.usage({1s, 1s, 1s, 1, 1});
  Result result = unit(1us, 1us, 1us);
  result.code = result.error = 3;
  result.verdict = Verdict::passed;
  result.bytes_sent = result.bytes_received = 1;
  recorder.finished(result);
  taken(recorder, 1s);
  taken(recorder, 2s);
  const Interval third = taken(recorder, 3s);  // the first sheet again
  Interval nothing;
  nothing.start = 2s;
  nothing.end = 3s;
  nothing.endpoints.resize(1);
  nothing.extra.resize(1);
  nothing.counters.resize(1);
  nothing.loops.resize(1);
  EXPECT_EQ(third, nothing);
}

TEST(Recorder, M3_ThreeMillionSamplesKeepTheTrueMeanAndMoveP99) {
  Recorder recorder({.open = false});
  Interval run;
  for (int million = 0; million < 3; ++million) {
    if (million == 2) {
      EXPECT_EQ(run.response.percentile(99), 1ms);
    }
    for (int i = 0; i < 1'000'000; ++i) {
      recorder.finished(unit(0ns, 0ns, million < 2 ? 1ms : 7ms));
    }
    recorder.hand_over(Duration(1s) * (million + 1));
    Interval second;
    recorder.collect(second);
    run.merge_next(second);
  }
  EXPECT_EQ(run.response.count(), 3'000'000U);
  EXPECT_DOUBLE_EQ(run.response.mean(), 3e6);
  EXPECT_NEAR(static_cast<double>(run.response.percentile(99).count()), 7e6, 7e3);
}

TEST(Recorder, AllocatesNothingOnceWarm) {
  Recorder recorder({.histograms = {"turn"}, .counters = {"opened"}});
  std::uint64_t allocations = 0;
  for (int round = 0; round < 6; ++round) {
    const auto before = allocations_of_this_thread();
    for (int i = 0; i < 1000; ++i) {
      recorder.planned(1);
      recorder.started();
      Result result = unit(Duration{i}, Duration{i * 10}, Duration{i * 1000},
                           static_cast<Outcome>(i % kOutcomes));
      result.endpoint = static_cast<EndpointId>(i % 3);
      result.code = static_cast<CodeId>(i % 200);
      result.error = static_cast<ErrorId>(i % 100);
      recorder.finished(result);
      recorder.missed_waited(1s);
      recorder.record(0, 1us);
      recorder.count(0);
    }
    recorder.hand_over(Duration(1s) * round);
    // Both sheets have met all endpoints after two rounds.
    if (round >= 2) allocations += allocations_of_this_thread() - before;
    Interval interval;
    recorder.collect(interval);
  }
  EXPECT_EQ(allocations, 0U);
}

TEST(Recorder, NothingIsLostOrDoubledBetweenTwoThreads) {
  constexpr std::uint64_t kUnits = 1'000'000;
  constexpr std::uint64_t kSure = 20'000;
  Recorder recorder({});
  std::atomic<bool> over{false};
  Interval run;
  std::uint64_t collected = 0;
  std::thread collector([&] {
    for (;;) {
      const bool last = over.load();
      Interval interval;
      if (recorder.collect(interval)) {
        run.merge_next(interval);
        ++collected;
      } else if (last) {
        return;
      } else {
        std::this_thread::yield();
      }
    }
  });
  std::mt19937_64 random(9);
  std::uint64_t until_hand_over = 1;
  std::uint64_t handed = 0;
  for (std::uint64_t i = 0; i < kUnits; ++i) {
    recorder.planned(1);
    recorder.started();
    Result result = unit(1ns, Duration{static_cast<int>(i % 900)}, Duration{static_cast<int>(i)});
    result.code = static_cast<CodeId>(i % 7);
    result.endpoint = static_cast<EndpointId>(i % 2);
    recorder.finished(result);
    const Duration t{static_cast<int>(i + 1)};
    if (i % kSure == kSure - 1) {
      // Whatever the two threads' luck, the sheets change hands this often.
      while (!recorder.hand_over(t)) std::this_thread::yield();
      ++handed;
    } else if (--until_hand_over == 0) {
      handed += recorder.hand_over(t) ? 1U : 0U;
      until_hand_over = 1 + random() % 500;
    }
  }
  while (!recorder.hand_over(Duration{kUnits})) std::this_thread::yield();
  ++handed;
  over.store(true);
  collector.join();

  EXPECT_EQ(collected, handed);
  EXPECT_GE(handed, kUnits / kSure);
  EXPECT_EQ(run.counts.planned, kUnits);
  EXPECT_EQ(run.counts.started, kUnits);
  EXPECT_EQ(run.counts.ok, kUnits);
  Histogram service;
  for (std::uint64_t i = 0; i < kUnits; ++i) service.record(Duration{static_cast<int>(i)});
  EXPECT_EQ(run.service, service);
  EXPECT_EQ(run.response.count(), kUnits);
  EXPECT_EQ(run.wait.count(), kUnits);
  for (std::size_t code = 0; code < 7; ++code) {
    EXPECT_EQ(run.codes[code], kUnits / 7 + (code < kUnits % 7 ? 1 : 0));
  }
  EXPECT_EQ(run.start, 0s);
  EXPECT_EQ(run.end, Duration{kUnits});
}

}  // namespace
}  // namespace onbeat::kernel
