#include <onbeat/kernel/stats.hpp>

#include <gtest/gtest.h>

#include <memory>
#include <random>
#include <stdexcept>
#include <thread>

namespace onbeat::kernel {
namespace {

using namespace std::chrono_literals;

/// A started sample without a schedule.
Sample unscheduled(Duration start, Duration latency, Ending ending = Ending::ok) {
  Sample sample;
  sample.started = Instant{} + start;
  sample.done = *sample.started + latency;
  sample.ending = ending;
  return sample;
}

Sample scheduled(Duration due, Duration late, Duration latency, Ending ending = Ending::ok) {
  Sample sample = unscheduled(due + late, latency, ending);
  sample.due = Instant{} + due;
  return sample;
}

Sample never_started(Duration due, Duration elapsed, Ending ending) {
  Sample sample;
  sample.due = Instant{} + due;
  sample.done = *sample.due + elapsed;
  sample.ending = ending;
  return sample;
}

/// The reference's range: 1 µs to 60 s.
StatsOptions up_to_a_minute() { return {.layout = HistogramLayout(1us, 60s, 3)}; }

Snapshot of(const std::vector<Sample>& samples, const StatsOptions& options = {}) {
  Stats stats(options);
  for (const auto& sample : samples) stats.record(sample);
  return stats.snapshot();
}

TEST(Stats, Case81_OneSlowFailureDoesNotMoveTheMedian) {
  std::vector<Sample> samples(100, unscheduled(0s, 10ms));
  samples.push_back(unscheduled(0s, 1s, Ending::failed));
  const Snapshot got = of(samples);
  EXPECT_EQ(got.count, 101U);
  EXPECT_EQ(got.errors, 1U);
  EXPECT_GE(got.latency.p50, 9ms);
  EXPECT_LE(got.latency.p50, 11ms);
  EXPECT_EQ(got.latency.max, 10ms);
  EXPECT_EQ(got.failed_latency.count, 1U);
  EXPECT_EQ(got.failed_latency.max, 1s);
}

TEST(Stats, Case82_ALatencyBeyondTheRangeIsClampedNotDropped) {
  const Snapshot got = of({unscheduled(0s, 5min)}, up_to_a_minute());
  EXPECT_GE(got.latency.p99, 50s);
  EXPECT_EQ(got.latency.max, 5min);
}

TEST(Stats, Case83_ElevenResultsInASecondAreTenASecond) {
  std::vector<Sample> samples;
  for (const int i : {3, 0, 10, 7, 1, 2, 9, 4, 8, 5, 6}) {  // first and last in any order
    samples.push_back(unscheduled(100ms * i, 1ms));
  }
  ASSERT_TRUE(of(samples).rps);
  EXPECT_NEAR(*of(samples).rps, 10, 1e-9);
}

TEST(Stats, Case84_OneResultHasNoRate) {
  const Snapshot got = of({scheduled(1s, 0s, 1ms)});
  EXPECT_FALSE(got.rps);
  EXPECT_FALSE(got.offered_rps);
  EXPECT_FALSE(got.throughput);
  EXPECT_FALSE(of({unscheduled(1s, 1ms), unscheduled(1s, 1ms)}).rps);  // nor have two at once
}

TEST(Stats, Case85_ClampedAtBothEnds) {
  const Snapshot got =
      of({unscheduled(0s, 10ms), unscheduled(0s, 5min), unscheduled(0s, 100ns)}, up_to_a_minute());
  EXPECT_EQ(got.latency.clamped, 2U);
  EXPECT_EQ(got.latency.max, 5min);
}

TEST(Stats, Case86_ClampedOnceASample) {
  const Snapshot got = of({scheduled(0s, 0s, 5min)}, up_to_a_minute());
  EXPECT_EQ(got.latency.clamped, 1U);
  EXPECT_EQ(got.corrected.clamped, 1U);
}

TEST(Stats, Case87_OnlyTheCorrectedValueIsClamped) {
  const Snapshot got = of({scheduled(0s, 2min, 10ms)}, up_to_a_minute());
  EXPECT_EQ(got.latency.clamped, 0U);
  EXPECT_EQ(got.corrected.clamped, 1U);
}

TEST(Stats, Case88_MaxScheduleLagIgnoresEarlyStarts) {
  const Snapshot got =
      of({scheduled(5s, 10ms, 1ms), scheduled(5s, 250ms, 1ms), scheduled(5s, -1s, 1ms)});
  EXPECT_EQ(got.max_schedule_lag, 250ms);
  EXPECT_EQ(of({scheduled(5s, -1s, 1ms)}).max_schedule_lag, 0ms);
  EXPECT_FALSE(of({unscheduled(0s, 1ms)}).max_schedule_lag);
}

TEST(Stats, Case89_OneLine) {
  Sample failed = scheduled(1s, 0s, 0ms, Ending::failed);
  EXPECT_EQ(to_string(of({scheduled(0s, 1500us, 10ms), failed})),
            "2 req, 1.0 rps, 50.00% err (0 saturated), p50/p95/p99 10ms/10ms/10ms, "
            "corrected p95/p99 11.5ms/11.5ms, behind schedule 1.5ms");
}

TEST(Stats, M13_OneLineOfNothing) {
  EXPECT_EQ(to_string(Stats().snapshot()),
            "0 req, n/a rps, n/a err (0 saturated), p50/p95/p99 n/a/n/a/n/a, corrected p95/p99 "
            "n/a/n/a, behind schedule n/a");
}

TEST(Stats, OneLineMarksLowerBounds) {
  std::vector<Sample> samples(9, scheduled(0s, 0s, 85ns));
  samples.push_back(scheduled(0s, 0s, 90s, Ending::timed_out));
  EXPECT_EQ(to_string(of(samples)),
            "10 req, n/a rps, 10.00% err (0 saturated), p50/p95/p99 85ns/≥1m30s/≥1m30s, "
            "corrected p95/p99 ≥1m30s/≥1m30s, behind schedule 0s");
}

TEST(Stats, OneLineWritesDurationsInTheLargestUnit) {
  const auto behind = [](Duration late) {
    const std::string line = to_string(of({scheduled(0s, late, 1ms)}));
    return line.substr(line.rfind(' ') + 1);
  };
  EXPECT_EQ(behind(7ns), "7ns");
  EXPECT_EQ(behind(1050ns), "1.05µs");
  EXPECT_EQ(behind(10'007us), "10.007ms");
  EXPECT_EQ(behind(1'000'447us), "1.000447s");
  EXPECT_EQ(behind(2min), "2m0s");
  EXPECT_EQ(behind(3h + 5s + 1ns), "3h0m5.000000001s");
}

TEST(Stats, Case90_ErrorsAreFailedAndSaturated) {
  const Snapshot got = of({scheduled(0s, 0s, 1ms), scheduled(0s, 0s, 1ms, Ending::failed),
                           never_started(0s, 0s, Ending::saturated)});
  EXPECT_EQ(got.failed, 1U);
  EXPECT_EQ(got.saturated, 1U);
  EXPECT_EQ(got.errors, 2U);
  EXPECT_DOUBLE_EQ(*got.error_rate, 2.0 / 3);
  EXPECT_DOUBLE_EQ(*got.target_error_rate, 0.5);
}

TEST(Stats, Case91_ThroughputUsesTheEstimatorOfTheRate) {
  std::vector<Sample> samples{unscheduled(0s, 1ms), unscheduled(1s, 1ms)};
  for (auto& sample : samples) sample.bytes = 1000;
  const Snapshot got = of(samples);
  EXPECT_NEAR(*got.throughput, *got.rps * 2000 / 2, 1e-9);
  EXPECT_NEAR(*got.throughput, 1000, 1e-9);
}

TEST(Stats, Case92_AnotherRange) {
  const Snapshot got = of({unscheduled(0s, 5min)}, {.layout = HistogramLayout(1ms, 10min, 3)});
  EXPECT_EQ(got.latency.clamped, 0U);
  EXPECT_GE(got.latency.p99, 4min);
  EXPECT_LE(got.latency.p99, 6min);
}

TEST(Stats, Case94_CodesAndBytes) {
  std::vector<Sample> samples;
  for (const char* code : {"200", "200", "500", "200", "429"}) {
    samples.push_back(unscheduled(250ms * static_cast<int>(samples.size()), 1ms));
    samples.back().code = code;
    samples.back().bytes = 1000;
  }
  samples.push_back(unscheduled(500ms, 1ms));
  const Snapshot got = of(samples);
  EXPECT_EQ(got.bytes, 5000U);
  EXPECT_NEAR(*got.throughput, 5.0 * 5000 / 6, 1e-9);
  EXPECT_EQ(got.codes, (std::map<std::string, std::uint64_t, std::less<>>{
                           {"200", 3}, {"429", 1}, {"500", 1}}));
}

TEST(Stats, Case95_CodesAreACopy) {
  Stats stats;
  Sample sample = unscheduled(0s, 1ms);
  sample.code = "200";
  stats.record(sample);
  stats.snapshot().codes.clear();
  Snapshot first = stats.snapshot();
  first.codes["200"] = 99;
  EXPECT_EQ(stats.snapshot().codes.at("200"), 1U);
}

TEST(Stats, Case96_CorrectedLatencyRunsFromTheDueTime) {
  std::vector<Sample> samples;
  for (int i = 0; i < 100; ++i) samples.push_back(scheduled(10ms * i, 100ms, 10ms));
  const Snapshot got = of(samples);
  EXPECT_EQ(got.corrected.count, 100U);
  EXPECT_NEAR(static_cast<double>(got.latency.p50->count()), 10e6, 10e3);
  EXPECT_GE(got.corrected.p50, 105ms);
  EXPECT_LE(got.corrected.p50, 115ms);
  EXPECT_NEAR(*got.offered_rps, 100, 1e-9);
}

TEST(Stats, Case97_WithoutDueTimesThereIsNoCorrectedValue) {
  const Snapshot got = of({unscheduled(0s, 10ms)});
  EXPECT_EQ(got.corrected.count, 0U);
  EXPECT_FALSE(got.corrected.p95);
  EXPECT_FALSE(got.corrected.mean);
  EXPECT_EQ(got.latency.count, 1U);
}

TEST(Stats, Case98_CorrectedIsNeverBelowRaw) {
  const Snapshot got = of({scheduled(5s, -1s, 10ms)});
  EXPECT_GE(got.corrected.p50, got.latency.p50);
}

TEST(Stats, D3_SaturatedUnitsAreInNoHistogram) {
  std::vector<Sample> samples(10, scheduled(0s, 0s, 10ms));
  samples.insert(samples.end(), 90, never_started(0s, 0s, Ending::saturated));
  samples.push_back(never_started(0s, 2s, Ending::missed_late));
  const Snapshot got = of(samples);
  EXPECT_EQ(got.latency.p50, 10ms);
  EXPECT_EQ(got.latency.count, 10U);
  EXPECT_EQ(got.corrected.count, 10U);
  EXPECT_EQ(got.latency.clamped, 0U);
  EXPECT_TRUE(got.failed_latency.count == 0);
}

TEST(Stats, D4_OnlyWhatWasStartedIsAchieved) {
  std::vector<Sample> samples;
  for (int i = 0; i <= 100; ++i) {
    samples.push_back(i % 10 == 0
                          ? scheduled(10ms * i, 0s, 1ms, i % 20 ? Ending::failed : Ending::ok)
                          : never_started(10ms * i, 0s, Ending::saturated));
  }
  const Snapshot got = of(samples);
  EXPECT_NEAR(*got.offered_rps, 100, 1e-9);
  EXPECT_NEAR(*got.rps, 10, 1e-9);
  EXPECT_NEAR(*got.ok_rps, 10.0 * 6 / 11, 1e-9);
  EXPECT_NEAR(*got.failed_rps, 10.0 * 5 / 11, 1e-9);

  const Snapshot saturated = of(std::vector<Sample>(5, never_started(1s, 0s, Ending::saturated)));
  EXPECT_FALSE(saturated.rps);
  EXPECT_FALSE(saturated.target_error_rate);
  EXPECT_EQ(saturated.error_rate, 1.0);
}

TEST(Stats, D4_ASaturatedUnitWithAStampIsNotStartedEither) {
  std::vector<Sample> samples{scheduled(0s, 0s, 1ms), scheduled(1s, 0s, 1ms)};
  samples.push_back(scheduled(2s, 5s, 0ms, Ending::saturated));
  const Snapshot got = of(samples);
  EXPECT_NEAR(*got.rps, 1, 1e-9);
  EXPECT_EQ(got.max_schedule_lag, 0s);
  EXPECT_EQ(got.corrected.count, 2U);
}

TEST(Stats, D7_NanosecondsAreTold) {
  const Snapshot got = of({unscheduled(0s, 85ns)});
  EXPECT_EQ(got.latency.p50, 85ns);
  EXPECT_EQ(got.latency.clamped, 0U);
}

TEST(Stats, D8_CodesAreBounded) {
  Stats stats({.max_codes = 3});
  for (int i = 0; i < 10; ++i) {
    Sample sample = unscheduled(0s, 1ms);
    sample.code = std::to_string(i);
    stats.record(sample);
    stats.record(sample);
  }
  const auto codes = stats.snapshot().codes;
  EXPECT_EQ(codes.size(), 4U);
  EXPECT_EQ(codes.at("2"), 2U);
  EXPECT_EQ(codes.at("__overflow__"), 14U);
}

TEST(Stats, D8_MergedOverflowTakesNoCodesPlace) {
  const auto with_codes = [](std::initializer_list<const char*> codes) {
    auto stats = std::make_unique<Stats>(StatsOptions{.max_codes = 2});
    for (const char* code : codes) {
      Sample sample = unscheduled(0s, 1ms);
      sample.code = code;
      stats->record(sample);
    }
    return stats;
  };
  const auto into = with_codes({});
  into->merge(*with_codes({"a", "b", "c"}));
  into->merge(*with_codes({"b"}));
  EXPECT_EQ(into->snapshot().codes, (std::map<std::string, std::uint64_t, std::less<>>{
                                        {"__overflow__", 1}, {"a", 1}, {"b", 2}}));
}

TEST(Stats, Case35_Figures) {
  std::vector<Sample> samples{scheduled(0s, 0s, 300ms)};
  for (int i = 1; i <= 3; ++i) samples.push_back(never_started(100ms * i, 0s, Ending::saturated));
  const Snapshot got = of(samples);
  EXPECT_EQ(got.count, 4U);
  EXPECT_EQ(got.errors, 3U);
  EXPECT_EQ(got.saturated, 3U);
  EXPECT_DOUBLE_EQ(*got.error_rate, 0.75);
  EXPECT_EQ(got.corrected.count, 1U);
}

TEST(Stats, WhatDidNotEndIsALowerBound) {
  for (const auto ending : {Ending::timed_out, Ending::cancelled, Ending::in_flight}) {
    std::vector<Sample> samples(9, scheduled(0s, 0s, 1ms));
    samples.push_back(scheduled(0s, 1s, 2s, ending));
    const Snapshot got = of(samples);
    EXPECT_EQ(got.latency.censored, 1U);
    EXPECT_EQ(got.latency.max, 2s);
    EXPECT_EQ(got.corrected.max, 3s);
    EXPECT_TRUE(got.corrected.is_lower_bound(*got.corrected.p99));
    EXPECT_FALSE(got.corrected.is_lower_bound(*got.corrected.p90));
    EXPECT_EQ(got.failed_latency.count, 0U);
    EXPECT_EQ(got.started, 10U);
    EXPECT_EQ(got.ok, 9U);
  }
}

TEST(Stats, WhatWaitedInVainIsInTheCorrectedLatencyAlone) {
  const Snapshot got = of(
      {never_started(0s, 4s, Ending::missed_at_end), never_started(0s, 3s, Ending::missed_waited)});
  EXPECT_EQ(got.corrected.count, 2U);
  EXPECT_EQ(got.corrected.at_least_from, 3s);
  EXPECT_EQ(got.latency.count, 0U);
  EXPECT_EQ(got.started, 0U);
  EXPECT_EQ(got.missed_at_end, 1U);
  EXPECT_EQ(got.missed_waited, 1U);
}

std::vector<Sample> anything(std::uint64_t seed, int count) {
  std::mt19937_64 random(seed);
  std::vector<Sample> samples;
  for (int i = 0; i < count; ++i) {
    const auto ending = static_cast<Ending>(random() % 9);
    const Duration due{random() % 1'000'000'000};
    const Duration elapsed{random() % 50'000'000};
    Sample sample = ending > Ending::in_flight
                        ? never_started(due, elapsed, ending)
                        : scheduled(due, Duration{random() % 9999}, elapsed, ending);
    sample.code = std::to_string(random() % 5);
    sample.bytes = random() % 100;
    samples.push_back(sample);
  }
  return samples;
}

void expect_same(const Snapshot& a, const Snapshot& b) {
  EXPECT_EQ(to_string(a), to_string(b));
  EXPECT_EQ(a.count, b.count);
  EXPECT_EQ(a.started, b.started);
  EXPECT_EQ(a.offered_rps, b.offered_rps);
  EXPECT_EQ(a.throughput, b.throughput);
  EXPECT_EQ(a.codes, b.codes);
  EXPECT_EQ(a.bytes, b.bytes);
  EXPECT_EQ(a.failed_latency.p99, b.failed_latency.p99);
  EXPECT_EQ(a.max_schedule_lag, b.max_schedule_lag);
}

TEST(Stats, MergedIsAsRecordedTogether) {
  Stats all;
  Stats merged;
  for (std::uint64_t seed = 1; seed <= 6; ++seed) {
    Stats part;
    for (const auto& sample : anything(seed, 200)) {
      part.record(sample);
      all.record(sample);
    }
    merged.merge(part);
  }
  merged.merge(Stats());
  expect_same(merged.snapshot(), all.snapshot());
  EXPECT_EQ(merged.tally().corrected(), all.tally().corrected());
}

TEST(Stats, MergeRefusesAnotherRangeAndChangesNothing) {
  Stats stats;
  stats.record(unscheduled(0s, 1ms));
  Stats other(up_to_a_minute());
  other.record(unscheduled(0s, 1ms));
  EXPECT_THROW(stats.merge(other), std::invalid_argument);
  EXPECT_EQ(stats.snapshot().count, 1U);
}

TEST(Stats, MergingIntoItselfOrCrosswiseDoesNotLockUp) {
  Stats a;
  Stats b;
  a.record(unscheduled(0s, 1ms));
  a.merge(a);
  EXPECT_EQ(a.snapshot().count, 2U);
  std::thread crossing([&] {
    for (int i = 0; i < 10; ++i) b.merge(a);
  });
  for (int i = 0; i < 10; ++i) a.merge(b);
  crossing.join();
  EXPECT_GE(a.snapshot().count, 2U);
}

TEST(Stats, RecordsFromSeveralThreads) {
  Stats stats;
  std::vector<std::jthread> threads;
  for (std::uint64_t seed = 1; seed <= 3; ++seed) {
    threads.emplace_back([&stats, samples = anything(seed, 2000)] {
      for (const auto& sample : samples) stats.record(sample);
    });
  }
  threads.clear();
  Stats all;
  for (std::uint64_t seed = 1; seed <= 3; ++seed) {
    for (const auto& sample : anything(seed, 2000)) all.record(sample);
  }
  expect_same(stats.snapshot(), all.snapshot());
}

}  // namespace
}  // namespace onbeat::kernel
