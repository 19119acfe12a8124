#include <onbeat/kernel/clock.hpp>

#include <gtest/gtest.h>

#include <chrono>
#include <mutex>
#include <stop_token>
#include <thread>
#include <utility>
#include <vector>

namespace onbeat::kernel {
namespace {

using namespace std::chrono_literals;

Instant at(Duration since_zero) { return Instant(since_zero); }

TEST(ManualClock, Case99_AdvanceMovesNow) {
  ManualClock clock(at(5s));
  clock.advance(2s);
  EXPECT_EQ(clock.now(), at(7s));
}

TEST(ManualClock, AdvanceByNothingOrLessDoesNothing) {
  ManualClock clock(at(5s));
  clock.advance(0s);
  clock.advance(-3s);
  EXPECT_EQ(clock.now(), at(5s));
}

TEST(SystemClock, Case100_NowLiesBetweenTwoReadsOfSteadyTime) {
  const auto steady = [] { return std::chrono::steady_clock::now().time_since_epoch(); };
  SystemClock clock;
  const auto before = steady();
  const Instant now = clock.now();
  const auto after = steady();
  EXPECT_LE(before, now.time_since_epoch());
  EXPECT_LE(now.time_since_epoch(), after);
}

TEST(SystemClock, M12_TimeNeverGoesBack) {
  Instant last = Monotonic::now();
  for (int i = 0; i < 100'000; ++i) {
    const Instant now = Monotonic::now();
    ASSERT_LE(last, now);
    last = now;
  }
}

TEST(SystemClock, Case101_SleepLastsAtLeastItsLength) {
  SystemClock clock;
  const Instant start = clock.now();
  EXPECT_TRUE(clock.sleep_for(50ms));
  EXPECT_GE(clock.now() - start, 50ms);
}

TEST(SystemClock, Case102_StopEndsALongSleep) {
  for (const Instant until : {Monotonic::now() + 1h, kNever}) {
    SystemClock clock;
    std::stop_source stop;
    std::thread stopper([&] { stop.request_stop(); });
    EXPECT_FALSE(clock.sleep_until(until, stop.get_token()));
    stopper.join();
  }
}

TEST(BothClocks, Case103_NothingToSleepReturnsAtOnce) {
  SystemClock system;
  ManualClock manual(at(1h));
  std::stop_source stopped;
  stopped.request_stop();
  for (Clock* clock : {static_cast<Clock*>(&system), static_cast<Clock*>(&manual)}) {
    EXPECT_TRUE(clock->sleep_for(0s));
    EXPECT_TRUE(clock->sleep_for(-1s));
    EXPECT_FALSE(clock->sleep_for(0s, stopped.get_token()));
    EXPECT_FALSE(clock->sleep_for(1h, stopped.get_token()));
  }
}

TEST(ManualClock, Case104_AdvanceWakesThoseDueAndTheyReadTheFinalTime) {
  ManualClock clock(at(0s));
  std::mutex mutex;
  std::vector<std::pair<int, Instant>> woken;
  const auto sleeper = [&](int name, Duration length) {
    return std::thread([&, name, length] {
      EXPECT_TRUE(clock.sleep_for(length));
      std::lock_guard lock(mutex);
      woken.emplace_back(name, clock.now());
    });
  };
  std::thread first = sleeper(1, 100ms);
  std::thread second = sleeper(2, 300ms);
  clock.block_until_sleepers(2);

  clock.advance(100ms);
  first.join();
  EXPECT_EQ(clock.sleepers(), 1U);
  clock.advance(250ms);
  second.join();
  EXPECT_EQ(clock.sleepers(), 0U);
  const std::vector<std::pair<int, Instant>> expected = {{1, at(100ms)}, {2, at(350ms)}};
  EXPECT_EQ(woken, expected);
}

TEST(ManualClock, OneAdvanceWakesEverybodyWhoIsDue) {
  ManualClock clock;
  std::vector<std::thread> sleepers;
  for (int i = 0; i < 8; ++i) {
    sleepers.emplace_back([&, i] { EXPECT_TRUE(clock.sleep_for(1ms * (8 - i))); });
  }
  clock.block_until_sleepers(8);
  clock.advance(1s);
  for (std::thread& sleeper : sleepers) sleeper.join();
  EXPECT_EQ(clock.sleepers(), 0U);
}

TEST(ManualClock, ThoseWhomAnAdvanceWokeCountAsSleepersNoMore) {
  ManualClock clock;
  std::thread first([&] { clock.sleep_for(1ms); });
  clock.block_until_sleepers(1);
  clock.advance(1ms);
  std::thread second([&] { clock.sleep_for(1ms); });
  // Whether or not the first has run yet, only the second sleeps: advancing now must wake it.
  clock.block_until_sleepers(1);
  clock.advance(1ms);
  first.join();
  second.join();
  EXPECT_EQ(clock.sleepers(), 0U);
}

TEST(ManualClock, Case105_CancelledSleeperLeavesNothingBehind) {
  ManualClock clock;
  std::stop_source stop;
  std::thread sleeper([&] { EXPECT_FALSE(clock.sleep_for(10s, stop.get_token())); });
  clock.block_until_sleepers(1);
  stop.request_stop();
  sleeper.join();
  EXPECT_EQ(clock.sleepers(), 0U);
  clock.advance(1h);
  EXPECT_EQ(clock.now(), at(1h));
}

}  // namespace
}  // namespace onbeat::kernel
