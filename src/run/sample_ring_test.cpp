#include "run/sample_ring.hpp"

#include <gtest/gtest.h>

#include <set>
#include <thread>

namespace onbeat::run {
namespace {

using namespace std::chrono_literals;
using kernel::Ending;
using kernel::Instant;
using kernel::MissedSink;

kernel::Result result_of(std::uint64_t arrival, kernel::Outcome outcome = kernel::Outcome::ok) {
  kernel::Result result;
  result.unit.arrival = arrival;
  result.outcome = outcome;
  return result;
}

std::vector<LoggedSample> taken(SampleRing& ring) {
  std::vector<LoggedSample> samples;
  ring.take(samples);
  return samples;
}

TEST(SampleRing, WhatWasPutComesOutOnceAndInOrder) {
  SampleRing ring(1, 7, 4);
  ring.finished(result_of(3, kernel::Outcome::timed_out));
  ring.missed(4, Instant{5s}, Instant{6s}, MissedSink::Why::waited);
  const auto samples = taken(ring);
  ASSERT_EQ(samples.size(), 2u);
  EXPECT_EQ(samples[0].result.unit.arrival, 3u);
  EXPECT_EQ(samples[0].ending, Ending::timed_out);
  EXPECT_EQ(samples[1].result.unit.arrival, 4u);
  EXPECT_EQ(samples[1].result.unit.due, Instant{5s});
  EXPECT_EQ(samples[1].ending, Ending::missed_waited);
  EXPECT_TRUE(taken(ring).empty());
}

TEST(SampleRing, AFullRingDropsAndCounts) {
  SampleRing ring(1, 7, 4);
  for (std::uint64_t n = 0; n < 7; ++n) ring.finished(result_of(n));
  EXPECT_EQ(ring.dropped(), 3u);
  EXPECT_EQ(taken(ring).size(), 4u);
  ring.finished(result_of(7));
  EXPECT_EQ(ring.dropped(), 3u);
  EXPECT_EQ(taken(ring).at(0).result.unit.arrival, 7u);
}

TEST(SampleRing, OneOfNIsTheSameForAnyNumberOfLoopsAndFairToEach) {
  constexpr std::uint64_t kArrivals = 80'000;
  const auto chosen = [](std::uint64_t loops, std::uint64_t seed) {
    std::set<std::uint64_t> arrivals;
    for (std::uint64_t loop = 0; loop < loops; ++loop) {
      SampleRing ring(8, seed, 1 << 15);
      for (std::uint64_t n = loop; n < kArrivals; n += loops) ring.finished(result_of(n));
      const auto samples = taken(ring);
      const double expected = static_cast<double>(kArrivals) / 8 / static_cast<double>(loops);
      EXPECT_NEAR(static_cast<double>(samples.size()), expected, expected / 10);
      for (const LoggedSample& sample : samples) arrivals.insert(sample.result.unit.arrival);
    }
    return arrivals;
  };
  EXPECT_EQ(chosen(1, 3), chosen(8, 3));
  EXPECT_NE(chosen(1, 3), chosen(1, 4));
}

TEST(SampleRing, TwoThreadsLoseNothingThatIsNotCounted) {
  SampleRing ring(1, 7, 256);
  constexpr std::uint64_t kArrivals = 200'000;
  std::thread writer([&] {
    for (std::uint64_t n = 0; n < kArrivals; ++n) ring.finished(result_of(n));
  });
  std::vector<LoggedSample> samples;
  while (samples.size() + ring.dropped() < kArrivals) ring.take(samples);
  writer.join();
  EXPECT_EQ(samples.size() + ring.dropped(), kArrivals);
  for (std::size_t i = 1; i < samples.size(); ++i)
    ASSERT_LT(samples[i - 1].result.unit.arrival, samples[i].result.unit.arrival);
}

}  // namespace
}  // namespace onbeat::run
