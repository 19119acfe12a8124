#include <onbeat/kernel/schedule.hpp>

#include <gtest/gtest.h>

#include <algorithm>
#include <chrono>
#include <cmath>
#include <cstdint>
#include <limits>
#include <utility>
#include <vector>

namespace onbeat::kernel {
namespace {

using namespace std::chrono_literals;

constexpr double kInfinity = std::numeric_limits<double>::infinity();

using Arrival = std::pair<std::uint64_t, Duration>;

// The arrivals of plan's share, up to `limit` of them.
std::vector<Arrival> walk(const SchedulePlan& plan, std::size_t limit = 1'000'000) {
  std::vector<Arrival> arrivals;
  for (ScheduleCursor cursor(plan); cursor.due() != kNoTime && arrivals.size() < limit;
       cursor.next()) {
    arrivals.emplace_back(cursor.number(), cursor.due());
  }
  return arrivals;
}

SchedulePlan even(RateProfile profile, Duration length = kNoTime) {
  return {.profile = std::move(profile), .length = length};
}

SchedulePlan poisson(RateProfile profile, Duration length, std::uint64_t seed = 1) {
  return {
      .profile = std::move(profile), .arrivals = Arrivals::poisson, .seed = seed, .length = length};
}

TEST(Schedule, PlannedAreTheArrivalsDueBeforeTheEnd) {
  const auto planned = [](double rate, Duration length) {
    return planned_arrivals(even(RateProfile::constant(rate), length));
  };
  EXPECT_EQ(planned(100, 10s), 1000U);
  EXPECT_EQ(planned(100, 10s + 1ns), 1001U);
  EXPECT_EQ(planned(100, 10s - 1ns), 1000U);
  EXPECT_EQ(planned(100, 1ns), 1U);
  EXPECT_EQ(planned(100, 0s), 0U);
  EXPECT_EQ(planned(100, -1s), 0U);
  EXPECT_EQ(planned(3, 10s), 30U);
  EXPECT_EQ(planned(3, 100'000s), 300'000U);
  EXPECT_EQ(planned(0.1, 10s), 1U);
  EXPECT_EQ(planned(0.1, 1'000'000s), 100'000U);
  EXPECT_EQ(planned(7, 1s), 7U);
  EXPECT_EQ(planned(7, 3600s), 25'200U);
  EXPECT_EQ(planned(1.0 / 3, 3s), 1U);
  EXPECT_EQ(planned(1.0 / 3, 30'000s), 10'000U);
  EXPECT_EQ(planned(5000.0 / 60, 60s), 5000U);
  EXPECT_EQ(planned(0.3, 10s), 3U);
  EXPECT_EQ(planned(1e6, 10h), 36'000'000'000U);
  EXPECT_EQ(planned(0, 1h), 0U);
  EXPECT_EQ(planned(kInfinity, 1s), UINT64_MAX);
  EXPECT_EQ(planned(1e17, 1s), 100'000'000'000'000'000U);
}

TEST(Schedule, DecimalRatesPlanWhatDecimalsSay) {
  // k tenths a second, and k a minute, over whole multiples of their period.
  for (int k = 1; k <= 2000; ++k) {
    for (const std::int64_t periods : {1, 7, 1000}) {
      EXPECT_EQ(planned_arrivals(even(RateProfile::constant(k / 10.0), 10s * periods)),
                static_cast<std::uint64_t>(k * periods))
          << k << " tenths";
      EXPECT_EQ(planned_arrivals(even(RateProfile::constant(k / 60.0), 60s * periods)),
                static_cast<std::uint64_t>(k * periods))
          << k << " a minute";
    }
  }
}

TEST(Schedule, PlannedIsWhatTheCursorWalks) {
  const std::vector<RateProfile> profiles = {
      RateProfile::constant(123.456),
      RateProfile::ramp(0, 500, 7s),
      RateProfile::ramp(500, 0, 7s),
      RateProfile::sine(100, 100, 3s),
      RateProfile::phased({{1s, 0.1}, {2s, 100}, {1s, 0}, {3s, 333.3}}),
      RateProfile::spike(3, 2000, 2s, 500ms)};
  for (const RateProfile& profile : profiles) {
    for (const Duration length : {Duration(0), Duration(1), Duration(1s), Duration(4s),
                                  Duration(4'123'456'789), Duration(10s)}) {
      for (const std::uint64_t most : {std::uint64_t{5}, UINT64_MAX}) {
        SchedulePlan plan = even(profile, length);
        plan.max_arrivals = most;
        EXPECT_EQ(planned_arrivals(plan), walk(plan).size());
        plan.arrivals = Arrivals::poisson;
        EXPECT_EQ(planned_arrivals(plan), walk(plan).size());
      }
    }
  }
}

TEST(Schedule, PlannedAgreesWithDueTimesToTheNanosecond) {
  Random random(31);
  for (int round = 0; round < 3000; ++round) {
    const auto profile = RateProfile::constant(0.1 * std::exp(16 * random.uniform()));
    const std::uint64_t n = random.below(1'000'000'000);
    const Duration due = profile.time_of(static_cast<double>(n));
    ASSERT_EQ(planned_arrivals(even(profile, due)), n);
    ASSERT_EQ(planned_arrivals(even(profile, due + 1ns)), n + 1);
  }
}

TEST(Schedule, Case8_TenPerSecondStartsAtOnceThenEvery100ms) {
  const SchedulePlan plan = even(RateProfile::constant(10));
  ScheduleCursor cursor(plan);
  for (int n = 0; n < 50; ++n, cursor.next()) {
    EXPECT_EQ(cursor.number(), static_cast<std::uint64_t>(n));
    EXPECT_EQ(cursor.due(), 100ms * n);
  }
}

TEST(Schedule, Case12_Gaps) {
  const auto second = [](double rate) {
    return walk(even(RateProfile::constant(rate)), 2).back().second;
  };
  EXPECT_EQ(second(100), 10ms);
  EXPECT_EQ(second(0.0001), 10'000s);
  EXPECT_EQ(second(kInfinity), 0s);
  EXPECT_TRUE(walk(even(RateProfile::constant(0))).empty());
  EXPECT_TRUE(walk(even(RateProfile::constant(-1))).empty());
}

TEST(Schedule, Case13_ThreePerSecondDoesNotDrift) {
  const SchedulePlan plan = even(RateProfile::constant(3));
  std::uint64_t n = 0;
  for (ScheduleCursor cursor(plan); n < 100'000; cursor.next(), ++n) {
    ASSERT_EQ(cursor.due(), Duration(static_cast<std::int64_t>(n * 1'000'000'000 / 3)));
  }
}

TEST(Schedule, Case14_UnlimitedIsDueFromTheStart) {
  for (const Arrival& arrival : walk(even(RateProfile::constant(kInfinity)), 1000)) {
    ASSERT_EQ(arrival.second, 0s);
  }
}

TEST(Schedule, ARunThatStartsPausedSendsNothing) {
  for (const double rate : {0.0, -1.0, -kInfinity, std::numeric_limits<double>::quiet_NaN()}) {
    for (const Arrivals arrivals : {Arrivals::even, Arrivals::poisson}) {
      SchedulePlan plan = even(RateProfile::constant(rate), 1h);
      plan.arrivals = arrivals;
      EXPECT_EQ(planned_arrivals(plan), 0U);
      EXPECT_EQ(ScheduleCursor(plan).due(), kNoTime);
    }
  }
}

TEST(Schedule, MaxArrivalsEndsIt) {
  SchedulePlan plan = even(RateProfile::constant(1000));
  plan.max_arrivals = 10;
  EXPECT_EQ(walk(plan).size(), 10U);
  plan.of = 3;
  plan.share = 1;
  EXPECT_EQ(walk(plan), (std::vector<Arrival>{{1, 1ms}, {4, 4ms}, {7, 7ms}}));
  plan.share = 0;
  EXPECT_EQ(walk(plan).back(), (Arrival{9, 9ms}));
}

std::vector<RateProfile> varied_profiles() {
  auto live = RateProfile::ramp(10, 900, 3s);
  live.append(1s, 0);
  live.append(1500ms, 777.7);
  live.append(3s + 1ns, 50);
  return {RateProfile::constant(333.3), RateProfile::ramp(0, 2000, 5s),
          RateProfile::ramp(2000, 0, 5s), RateProfile::sine(500, 400, 2s), live};
}

TEST(Schedule, SharesUniteToTheSamePlan) {
  for (const RateProfile& profile : varied_profiles()) {
    for (const Arrivals arrivals : {Arrivals::even, Arrivals::poisson}) {
      for (const std::uint64_t seed : {1U, 2U}) {
        SchedulePlan plan{
            .profile = profile, .arrivals = arrivals, .seed = seed, .length = 5s + 123ns};
        const std::vector<Arrival> whole = walk(plan);
        ASSERT_EQ(whole.size(), planned_arrivals(plan));
        ASSERT_GT(whole.size(), 500U);
        for (std::uint32_t of = 2; of <= 5; ++of) {
          std::vector<Arrival> united;
          for (std::uint32_t share = 0; share < of; ++share) {
            plan.of = of;
            plan.share = share;
            for (const Arrival& arrival : walk(plan)) {
              ASSERT_EQ(arrival.first % of, share);
              united.push_back(arrival);
            }
          }
          std::ranges::sort(united);
          ASSERT_EQ(united, whole) << of;
        }
      }
    }
  }
}

TEST(Schedule, M6_TwoWalksOfOnePlanAreTheSame) {
  for (const RateProfile& profile : varied_profiles()) {
    EXPECT_EQ(walk(poisson(profile, 5s, 9)), walk(poisson(profile, 5s, 9)));
    EXPECT_NE(walk(poisson(profile, 5s, 9)), walk(poisson(profile, 5s, 10)));
    // The seed is of no account to even arrivals.
    SchedulePlan other = even(profile, 5s);
    other.seed = 99;
    EXPECT_EQ(walk(even(profile, 5s)), walk(other));
  }
}

TEST(Schedule, PoissonDueTimesAreTheSameEverywhere) {
  const auto arrivals = walk(poisson(RateProfile::constant(1000), 1h, 42), 1000);
  EXPECT_EQ(arrivals[0].second, Duration(2439584));
  EXPECT_EQ(arrivals[9].second, Duration(11216045));
  EXPECT_EQ(arrivals[999].second, Duration(996899091));
}

double variance_to_mean_per_ms(const std::vector<Arrival>& arrivals, std::size_t milliseconds) {
  std::vector<double> counts(milliseconds);
  for (const Arrival& arrival : arrivals) {
    counts[static_cast<std::size_t>(arrival.second / 1ms)] += 1;
  }
  const auto n = static_cast<double>(milliseconds);
  double mean = 0, variance = 0;
  for (const double count : counts) mean += count / n;
  for (const double count : counts) variance += (count - mean) * (count - mean) / (n - 1);
  return variance / mean;
}

TEST(Schedule, M5_EvenSendsAreNotAligned) {
  for (const double rate : {10'000.0, 10'123.4}) {
    const auto arrivals = walk(even(RateProfile::constant(rate), 10s));
    EXPECT_LT(variance_to_mean_per_ms(arrivals, 10'000), 0.05);
    // Nor within the millisecond: no two are due at one instant.
    for (std::size_t n = 1; n < arrivals.size(); ++n) {
      ASSERT_GE(arrivals[n].second - arrivals[n - 1].second, 98us);
    }
  }
}

TEST(Schedule, M5_PoissonSendsVaryAsTheirMean) {
  for (const std::uint64_t seed : {1U, 2U, 3U}) {
    const auto arrivals = walk(poisson(RateProfile::constant(10'000), 10s, seed));
    // Ten seconds of arrivals: 100 000, give or take five standard deviations.
    EXPECT_NEAR(static_cast<double>(arrivals.size()), 100'000, 5 * std::sqrt(100'000));
    const double ratio = variance_to_mean_per_ms(arrivals, 10'000);
    EXPECT_GT(ratio, 0.9);
    EXPECT_LT(ratio, 1.1);
  }
}

TEST(Schedule, PoissonFollowsTheProfile) {
  const auto arrivals = walk(poisson(RateProfile::ramp(0, 20'000, 10s), 10s, 5));
  for (int second = 0; second < 10; ++second) {
    const auto count = std::ranges::count_if(
        arrivals, [&](const Arrival& arrival) { return arrival.second / 1s == second; });
    const double expected = 2000.0 * second + 1000;
    EXPECT_NEAR(static_cast<double>(count), expected, 5 * std::sqrt(expected)) << second;
  }
}

TEST(Schedule, M7_ARampIsOnItsLineEverySecond) {
  struct Ramp {
    double from, to;
    int seconds;
  };
  for (const auto& [from, to, length] :
       {Ramp{10, 200, 30}, Ramp{200, 10, 30}, Ramp{0, 100, 10}, Ramp{100, 0, 7}}) {
    const auto arrivals = walk(even(RateProfile::ramp(from, to, 1s * length), 1s * length));
    EXPECT_NEAR(static_cast<double>(arrivals.size()), (from + to) * length / 2, 1);
    for (int second = 0; second < length; ++second) {
      const auto count = std::ranges::count_if(
          arrivals, [&](const Arrival& arrival) { return arrival.second / 1s == second; });
      const double middle = from + (to - from) * (second + 0.5) / length;
      EXPECT_NEAR(static_cast<double>(count), middle, 1) << second;
    }
  }
}

TEST(Schedule, M16_FewerArrivalsThanLoopsAreStillEven) {
  std::vector<Arrival> united;
  for (std::uint32_t share = 0; share < 16; ++share) {
    SchedulePlan plan = even(RateProfile::constant(2), 10s);
    plan.share = share;
    plan.of = 16;
    for (const Arrival& arrival : walk(plan)) united.push_back(arrival);
  }
  std::ranges::sort(united);
  ASSERT_EQ(united.size(), 20U);
  for (std::uint64_t n = 0; n < 20; ++n) {
    EXPECT_EQ(united[n], (Arrival{n, 500ms * static_cast<std::int64_t>(n)}));
  }
}

TEST(Schedule, RefreshReadsAChangedProfile) {
  SchedulePlan plan = even(RateProfile::constant(10));
  ScheduleCursor cursor(plan);
  for (int i = 0; i < 5; ++i) cursor.next();
  EXPECT_EQ(cursor.due(), 500ms);
  plan.profile.append(450ms, 0);
  cursor.refresh();
  EXPECT_EQ(cursor.due(), kNoTime);
  EXPECT_EQ(cursor.number(), 5U);
  plan.profile.append(2s, 10);
  cursor.refresh();
  EXPECT_EQ(cursor.due(), 2050ms);
  cursor.next();
  EXPECT_EQ(cursor.due(), 2150ms);
}

TEST(Schedule, RefreshAfterAShorterProfileIsSafe) {
  SchedulePlan plan = even(RateProfile::phased({{1s, 10}, {1s, 20}, {1s, 30}, {1s, 40}}));
  ScheduleCursor cursor(plan);
  while (cursor.number() < 70) cursor.next();
  plan.profile = RateProfile::constant(10);
  cursor.refresh();
  EXPECT_EQ(cursor.due(), 7s);
}

TEST(Schedule, ACopiedCursorWalksOnItsOwn) {
  const SchedulePlan plan = poisson(RateProfile::constant(100), 10s);
  ScheduleCursor ahead(plan);
  ScheduleCursor behind = ahead;
  std::vector<Duration> first, second;
  for (int i = 0; i < 50; ++i, ahead.next()) first.push_back(ahead.due());
  for (int i = 0; i < 50; ++i, behind.next()) second.push_back(behind.due());
  EXPECT_EQ(first, second);
}

TEST(PlannedArrivals, ANumberWithoutALengthIsKnownAtOnce) {
  const RateProfile steady = RateProfile::constant(4'000);
  EXPECT_EQ(planned_arrivals({.profile = steady, .max_arrivals = 20'000}), 20'000u);
  EXPECT_EQ(planned_arrivals({.profile = steady, .max_arrivals = 0}), 0u);
  // The length ends it before the number is reached.
  EXPECT_EQ(planned_arrivals(
                {.profile = steady, .max_arrivals = 20'000, .length = std::chrono::seconds(4)}),
            16'000u);
  // A rate that ends can leave the number out of reach.
  const RateProfile ending =
      RateProfile::phased({{std::chrono::seconds(1), 100}, {std::chrono::seconds(1), 0}});
  EXPECT_EQ(planned_arrivals({.profile = ending, .max_arrivals = 20'000}), 100u);
}

}  // namespace
}  // namespace onbeat::kernel
