#include <onbeat/kernel/rolling_stats.hpp>

#include <gtest/gtest.h>

#include <stdexcept>

namespace onbeat::kernel {
namespace {

using namespace std::chrono_literals;

class RollingStatsTest : public testing::Test {
 protected:
  /// One ok unit of 1 ms that ends now.
  void unit(Duration latency = 1ms) {
    Sample sample;
    sample.done = clock_.now();
    sample.started = sample.due = *sample.done - latency;
    sample.bytes = 10;
    stats_.record(sample);
  }
  ManualClock clock_{Instant{} + 1h};
  RollingStats stats_{{.window = 10s, .buckets = 5, .clock = &clock_}};
};

TEST_F(RollingStatsTest, DividesByTheTimeActuallyCovered) {
  EXPECT_FALSE(stats_.window().rps);  // no time yet
  for (int i = 0; i < 30; ++i) {
    clock_.advance(100ms);
    unit();
  }
  EXPECT_EQ(stats_.covered(), 3s);
  EXPECT_DOUBLE_EQ(*stats_.window().rps, 10);
  EXPECT_DOUBLE_EQ(*stats_.window().throughput, 100);
  EXPECT_DOUBLE_EQ(*stats_.window().offered_rps, 10);
}

TEST_F(RollingStatsTest, NeverReachesBackFurtherThanTheWindow) {
  for (int i = 0; i < 1000; ++i) {
    clock_.advance(100ms);
    unit();
    const Snapshot window = stats_.window();
    ASSERT_LE(stats_.covered(), 10s);
    ASSERT_NEAR(*window.rps, 10, 1.3) << i;  // a unit more or less on each edge of 8 s
    if (i > 100) {
      ASSERT_GE(stats_.covered(), 8s);
    }
  }
  EXPECT_EQ(stats_.snapshot().count, 1000U);
}

TEST_F(RollingStatsTest, ADeadTargetReadsZero) {
  for (int i = 0; i < 50; ++i) {
    clock_.advance(100ms);
    unit();
  }
  clock_.advance(4s);
  EXPECT_EQ(stats_.window().count, 50U);
  clock_.advance(20s);
  const Snapshot window = stats_.window();  // nothing was recorded: reading alone moved it on
  EXPECT_EQ(window.count, 0U);
  EXPECT_EQ(window.rps, 0.0);
  EXPECT_EQ(window.ok_rps, 0.0);
  EXPECT_FALSE(window.latency.p99);
  EXPECT_FALSE(window.error_rate);
  EXPECT_EQ(stats_.snapshot().count, 50U);
}

TEST_F(RollingStatsTest, OldBucketsLeaveOneByOne) {
  unit(1s);
  clock_.advance(2s);
  unit(1ms);
  clock_.advance(7999ms);
  EXPECT_EQ(stats_.window().latency.max, 1s);
  clock_.advance(1ms);
  EXPECT_EQ(stats_.window().latency.max, 1ms);
  EXPECT_EQ(stats_.window().count, 1U);
  clock_.advance(2s);
  EXPECT_EQ(stats_.window().count, 0U);
}

TEST_F(RollingStatsTest, WritingAfterALongPauseForgetsTheOld) {
  unit(1s);
  clock_.advance(1h);
  unit(1ms);
  EXPECT_EQ(stats_.window().count, 1U);
  EXPECT_EQ(stats_.window().latency.max, 1ms);
}

TEST(RollingStats, RefusesAWindowWithoutTime) {
  EXPECT_THROW(RollingStats({.buckets = 0}), std::invalid_argument);
  EXPECT_THROW(RollingStats({.window = 3ns, .buckets = 4}), std::invalid_argument);
}

}  // namespace
}  // namespace onbeat::kernel
