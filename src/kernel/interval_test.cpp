#include <onbeat/kernel/interval.hpp>

#include <gtest/gtest.h>

#include <random>

namespace onbeat::kernel {
namespace {

using namespace std::chrono_literals;

class IntervalMaker {
 public:
  explicit IntervalMaker(std::uint64_t seed) : random_(seed) {}

  Interval interval() {
    Interval made;
    made.index = below(100);
    made.start = Duration{below(1000)};
    made.end = made.start + Duration{below(3)};  // some have no time
    made.counts = counts();
    for (auto* one : {&made.response, &made.service, &made.wait, &made.lag, &made.failed}) {
      *one = histogram();
    }
    made.endpoints.resize(below(4));
    for (auto& one : made.endpoints) {
      one = {.part = below(2) == 0,
             .counts = counts(),
             .response = histogram(),
             .service = histogram(),
             .failed = histogram(),
             .message_gap = histogram(),
             .codes = numbers(),
             .errors = numbers()};
    }
    made.codes = numbers();
    made.errors = numbers();
    made.extra.resize(below(3));
    for (auto& one : made.extra) one = histogram();
    made.counters = numbers();
    made.loops.resize(below(4));
    for (auto& one : made.loops) {
      one = {Duration{below(99)}, Duration{below(99)}, Duration{below(99)}, below(99), below(99)};
    }
    made.in_flight = below(50);
    made.in_flight_max = below(90);
    made.lag_max = Duration{below(1000)};
    for (auto i = below(3); i > 0; --i) made.events.push_back("event " + std::to_string(below(9)));
    return made;
  }

  Counts counts() {
    Counts made;
    for (auto* one : {&made.planned, &made.started, &made.missed_late, &made.missed_waited,
                      &made.missed_at_end, &made.saturated, &made.ok, &made.failed, &made.timed_out,
                      &made.cancelled, &made.in_flight_at_end, &made.passed, &made.not_passed,
                      &made.untimed, &made.bytes_sent, &made.bytes_received}) {
      *one = below(1000);
    }
    return made;
  }

 private:
  std::uint64_t below(std::uint64_t limit) { return random_() % limit; }
  std::vector<std::uint64_t> numbers() {
    std::vector<std::uint64_t> made(below(5));
    for (auto& one : made) one = below(100);
    return made;
  }
  Histogram histogram() {
    Histogram made;
    for (auto i = below(20); i > 0; --i) made.record(Duration{random_() >> (20 + below(40))});
    if (below(3) == 0) made.record_censored(Duration{below(5000)}, below(4));
    return made;
  }

  std::mt19937_64 random_;
};

template <class Merge>
void expect_associative(Merge merge) {
  IntervalMaker maker(11);
  for (int round = 0; round < 40; ++round) {
    const Interval a = maker.interval();
    const Interval b = maker.interval();
    const Interval c = maker.interval();
    Interval left = a;
    merge(left, b);
    merge(left, c);
    Interval tail = b;
    merge(tail, c);
    Interval right = a;
    merge(right, tail);
    ASSERT_EQ(left, right) << round;
  }
}

TEST(Interval, MergesAreAssociative) {
  expect_associative([](Interval& into, const Interval& other) { into.merge_parallel(other); });
  expect_associative([](Interval& into, const Interval& other) { into.merge_next(other); });
}

TEST(Interval, TheEmptyIntervalChangesNothing) {
  IntervalMaker maker(3);
  for (int round = 0; round < 50; ++round) {
    Interval interval = maker.interval();
    interval.index = 0;
    Interval before = interval;
    before.merge_parallel({});
    Interval after;
    after.merge_next(interval);
    if (interval.start == interval.end) continue;
    EXPECT_EQ(before, interval);
    EXPECT_EQ(after, interval);
  }
}

TEST(Interval, ParallelSumsAreLosslessInAnyOrder) {
  IntervalMaker maker(5);
  Interval ab = maker.interval();
  const Interval a = ab;
  const Interval b = maker.interval();
  Interval ba = b;
  ab.merge_parallel(b);
  ba.merge_parallel(a);
  EXPECT_EQ(ab.counts, ba.counts);
  EXPECT_EQ(ab.response, ba.response);
  EXPECT_EQ(ab.endpoints, ba.endpoints);
  EXPECT_EQ(ab.codes, ba.codes);
  EXPECT_EQ(ab.counts.planned, a.counts.planned + b.counts.planned);
  EXPECT_EQ(ab.response.count(), a.response.count() + b.response.count());
  EXPECT_EQ(ab.loops.size(), a.loops.size() + b.loops.size());
}

TEST(Interval, ParallelLoopsAreInFlightTogether) {
  Interval a;
  Interval b;
  a.in_flight = 3;
  a.in_flight_max = 20;
  a.lag_max = 5us;
  b.in_flight = 4;
  b.in_flight_max = 30;
  b.lag_max = 2us;
  a.merge_parallel(b);
  EXPECT_EQ(a.in_flight, 7U);
  EXPECT_EQ(a.in_flight_max, 50U);
  EXPECT_EQ(a.lag_max, 5us);
}

TEST(Interval, EveryCountIsSummed) {
  Counts sum;
  for (std::uint64_t i = 1; i <= 3; ++i) {
    sum += Counts{.planned = i,
                  .started = 2 * i,
                  .missed_late = 3 * i,
                  .missed_waited = 4 * i,
                  .missed_at_end = 5 * i,
                  .saturated = 6 * i,
                  .ok = 7 * i,
                  .failed = 8 * i,
                  .timed_out = 9 * i,
                  .cancelled = 10 * i,
                  .in_flight_at_end = 11 * i,
                  .passed = 12 * i,
                  .not_passed = 13 * i,
                  .untimed = 14 * i,
                  .bytes_sent = 15 * i,
                  .bytes_received = 16 * i};
  }
  const Counts expected{6, 12, 18, 24, 30, 36, 42, 48, 54, 60, 66, 72, 78, 84, 90, 96};
  EXPECT_EQ(sum, expected);
}

TEST(Interval, NextAddsUsageLoopByLoopAndKeepsTheLaterInFlight) {
  Interval first;
  first.start = 0s;
  first.end = 1s;
  first.loops = {{1s, 300ms, 0ms, 0, 10}, {1s, 400ms, 20ms, 1, 20}};
  first.in_flight = 7;
  first.in_flight_max = 30;
  Interval second;
  second.start = 1s;
  second.end = 2s;
  second.loops = {{1s, 100ms, 0ms, 0, 5}, {1s, 100ms, 0ms, 0, 5}};
  second.in_flight = 3;
  second.in_flight_max = 9;
  first.merge_next(second);
  EXPECT_EQ(first.end, 2s);
  ASSERT_EQ(first.loops.size(), 2U);
  EXPECT_EQ(first.loops[1], (LoopUsage{2s, 500ms, 20ms, 1, 25}));
  EXPECT_EQ(first.in_flight, 3U);
  EXPECT_EQ(first.in_flight_max, 30U);
}

TEST(Interval, TheBooksTellWhatIsMissing) {
  Counts counts{.planned = 100,
                .started = 90,
                .missed_late = 2,
                .missed_waited = 3,
                .missed_at_end = 1,
                .saturated = 4,
                .ok = 80,
                .failed = 5,
                .timed_out = 2,
                .cancelled = 2,
                .in_flight_at_end = 1};
  EXPECT_EQ(counts.unaccounted_planned(), 0);
  EXPECT_EQ(counts.unaccounted_started(), 0);
  ++counts.started;
  EXPECT_EQ(counts.unaccounted_planned(), -1);
  EXPECT_EQ(counts.unaccounted_started(), 1);
}

}  // namespace
}  // namespace onbeat::kernel
