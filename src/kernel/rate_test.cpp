#include <onbeat/kernel/random.hpp>
#include <onbeat/kernel/rate.hpp>

#include <gtest/gtest.h>

#include <algorithm>
#include <chrono>
#include <cmath>
#include <cstdint>
#include <limits>
#include <string>
#include <vector>

namespace onbeat::kernel {
namespace {

using namespace std::chrono_literals;
__extension__ using Wide = unsigned __int128;

constexpr double kInfinity = std::numeric_limits<double>::infinity();
constexpr double kNaN = std::numeric_limits<double>::quiet_NaN();

TEST(RateProfile, Case1_Constant) {
  const auto profile = RateProfile::constant(100);
  EXPECT_EQ(profile.rate_at(0s), 100);
  EXPECT_EQ(profile.rate_at(1h), 100);
  EXPECT_EQ(profile.shape_length(), 0s);
}

TEST(RateProfile, Case2_Ramp) {
  const auto profile = RateProfile::ramp(0, 100, 10s);
  EXPECT_EQ(profile.rate_at(-5s), 0);
  EXPECT_EQ(profile.rate_at(0s), 0);
  EXPECT_EQ(profile.rate_at(5s), 50);
  EXPECT_EQ(profile.rate_at(10s), 100);
  EXPECT_EQ(profile.rate_at(20s), 100);
  EXPECT_EQ(profile.shape_length(), 10s);
  EXPECT_EQ(RateProfile::ramp(10, 1000, 0s).rate_at(0s), 1000);
  EXPECT_EQ(RateProfile::ramp(10, 1000, -1s).rate_at(0s), 1000);
}

TEST(RateProfile, Case3_Phased) {
  const auto profile = RateProfile::phased({{2s, 10}, {3s, 50}});
  EXPECT_EQ(profile.rate_at(1s), 10);
  EXPECT_EQ(profile.rate_at(2s - 1ns), 10);
  EXPECT_EQ(profile.rate_at(2s), 50);
  EXPECT_EQ(profile.rate_at(3s), 50);
  EXPECT_EQ(profile.rate_at(10s), 50);
  EXPECT_EQ(profile.shape_length(), 5s);
}

TEST(RateProfile, PhasedSkipsStepsOfNoLength) {
  const auto profile = RateProfile::phased({{0s, 7}, {1s, 10}, {-1s, 9}, {0s, 20}});
  EXPECT_EQ(profile.rate_at(0s), 10);
  EXPECT_EQ(profile.rate_at(1s), 20);
  EXPECT_EQ(profile.arrivals_by(2s), 30);
  EXPECT_EQ(RateProfile::phased({}).rate_at(1s), 0);
  EXPECT_EQ(RateProfile::phased({}).time_of(0), kNoTime);
}

TEST(RateProfile, Case6_SanitisedRates) {
  for (const double rate : {250.0, 0.5, 1e-9, 1e300}) EXPECT_EQ(sanitise_rate(rate), rate);
  for (const double rate : {0.0, -0.0, -17.0, 1e-10, -kInfinity, kNaN}) {
    EXPECT_EQ(sanitise_rate(rate), 0) << rate;
    const auto paused = RateProfile::constant(rate);
    EXPECT_EQ(paused.rate_at(1s), 0);
    EXPECT_EQ(paused.arrivals_by(1h), 0);
    EXPECT_EQ(paused.time_of(0), kNoTime);
  }
  EXPECT_EQ(sanitise_rate(kInfinity), kInfinity);
}

TEST(RateProfile, InfiniteIsDueNow) {
  const auto profile = RateProfile::phased({{2s, 10}, {1s, kInfinity}, {1s, 5}});
  EXPECT_EQ(profile.time_of(19), 1900ms);
  for (const double x : {20.0, 21.0, 1e15}) EXPECT_EQ(profile.time_of(x), 2s);
  EXPECT_EQ(profile.arrivals_by(2s), 20);
  EXPECT_EQ(profile.arrivals_by(2s + 1ns), kInfinity);
  EXPECT_EQ(profile.arrivals_by(1h), kInfinity);
  EXPECT_EQ(RateProfile::ramp(0, kInfinity, 1s).time_of(5), 0s);
}

TEST(RateProfile, ALineBelowZeroIsAPause) {
  const auto rising = RateProfile::ramp(-100, 100, 10s);
  EXPECT_EQ(rising.rate_at(4s), 0);
  EXPECT_EQ(rising.rate_at(5s), 0);
  EXPECT_DOUBLE_EQ(rising.rate_at(7500ms), 50);
  EXPECT_EQ(rising.time_of(0), 5s);
  EXPECT_DOUBLE_EQ(rising.arrivals_by(10s), 250);
  const auto falling = RateProfile::ramp(100, -100, 10s);
  EXPECT_EQ(falling.rate_at(6s), 0);
  EXPECT_DOUBLE_EQ(falling.arrivals_by(1h), 250);
  EXPECT_EQ(falling.time_of(250), kNoTime);
  EXPECT_EQ(RateProfile::ramp(-2, -1, 10s).time_of(0), kNoTime);
}

// floor(n * 1e9 * denominator / numerator): the due time of arrival n at numerator / denominator
// per second.
Duration exact_due(std::uint64_t n, std::uint64_t numerator, std::uint64_t denominator) {
  return Duration(static_cast<std::int64_t>(Wide{n} * 1'000'000'000 * denominator / numerator));
}

struct Fraction {
  std::uint64_t numerator;
  std::uint64_t denominator;
};

class ConstantRate : public testing::TestWithParam<Fraction> {};

TEST_P(ConstantRate, DueTimesAreExactToTheNanosecondForDays) {
  const auto [numerator, denominator] = GetParam();
  const double rate = static_cast<double>(numerator) / static_cast<double>(denominator);
  const bool is_exact =
      std::fma(rate, static_cast<double>(denominator), -static_cast<double>(numerator)) == 0;
  const auto profile = RateProfile::constant(rate);
  const std::uint64_t per_week = 7 * 86'400 * numerator / denominator + 2;
  Random random(numerator);
  for (std::uint64_t i = 0; i < 20'000; ++i) {
    const std::uint64_t n = i < 2000 ? i : random.below(per_week);
    const Duration due = profile.time_of(static_cast<double>(n));
    const Duration exact = exact_due(n, numerator, denominator);
    // The guard, 1/1024 ns and 2^-52 of the time, and 2^-53 of it for a rate that no double is
    // equal to.
    if (due == exact + 1ns) {
      const Wide rest = Wide{n} * 1'000'000'000 * denominator % numerator;
      const double below = 1 - static_cast<double>(rest) / static_cast<double>(numerator);
      const double guard =
          0x1p-10 + (is_exact ? 0x1p-52 : 0x1.8p-52) * static_cast<double>(due.count());
      ASSERT_LE(below, guard * (1 + 1e-9)) << n;
    } else {
      ASSERT_EQ(due, exact) << n;
    }
  }
}

INSTANTIATE_TEST_SUITE_P(Rates, ConstantRate,
                         testing::Values(Fraction{100, 1}, Fraction{3, 1}, Fraction{1, 10},
                                         Fraction{7, 1}, Fraction{1, 3}, Fraction{1'000'000, 1},
                                         Fraction{999'983, 1}, Fraction{3'000'000, 1},
                                         Fraction{123'457, 10}, Fraction{5, 1}, Fraction{300, 60},
                                         Fraction{1'000'000'000, 1}, Fraction{2, 7}),
                         [](const auto& test) {
                           return std::to_string(test.param.numerator) + "_per_" +
                                  std::to_string(test.param.denominator);
                         });

TEST(RateProfile, AMillionPerSecondForTenHoursIsExact) {
  const auto profile = RateProfile::constant(1e6);
  for (std::uint64_t n = 36'000'000'000; n < 36'000'100'000; ++n) {
    ASSERT_EQ(profile.time_of(static_cast<double>(n)),
              Duration(static_cast<std::int64_t>(n * 1000)));
  }
}

TEST(RateProfile, TheGuardIsHalfANanosecondAtMost) {
  // 40 days, when 2^-52 of the time is 0.77 ns: 0.4 ns past a whole one is not the next.
  const auto profile = RateProfile::constant(2.5e9);
  EXPECT_EQ(profile.time_of(8.64e15 + 1), 40 * 24h);
  EXPECT_EQ(profile.time_of(8.64e15 + 2), 40 * 24h + 1ns);
}

TEST(RateProfile, WholeInstantsOfALineAreWhole) {
  // Slopes of sevenths: I(14 k s) = 14 p k^2, with every intermediate result rounded.
  for (int p = 1; p <= 60; ++p) {
    const auto up = RateProfile::ramp(0, 100.0 * p, 700s);
    const auto down = RateProfile::ramp(100.0 * p, 0, 700s);
    for (int k = 0; k < 50; ++k) {
      ASSERT_EQ(up.time_of(14.0 * p * k * k), 14s * k) << p;
      ASSERT_EQ(down.time_of(14.0 * p * (2500 - (50 - k) * (50 - k))), 14s * k) << p << " " << k;
    }
  }
}

TEST(RateProfile, FractionsOfArrivalsAreExactToo) {
  const auto profile = RateProfile::constant(1e6);
  EXPECT_EQ(profile.time_of(0.5), 500ns);
  EXPECT_EQ(profile.time_of(0.0015), 1ns);
  EXPECT_EQ(profile.time_of(1e9 + 0.25), 1000s + 250ns);
  EXPECT_EQ(RateProfile::constant(0.001).time_of(0.123456789), 123s + 456'789us);
}

TEST(RateProfile, RatesAboveOnePerNanosecond) {
  const auto profile = RateProfile::constant(4e9);
  EXPECT_EQ(profile.time_of(3), 0ns);
  EXPECT_EQ(profile.time_of(4), 1ns);
  EXPECT_EQ(profile.time_of(4e9), 1s);
  EXPECT_EQ(RateProfile::constant(1e300).time_of(1e15), 0ns);
}

TEST(RateProfile, FarFutureIsNever) {
  const Duration in_285_years = RateProfile::constant(1e-9).time_of(9);
  EXPECT_LT(std::abs((in_285_years - 9'000'000'000s).count()), 1000);
  EXPECT_EQ(RateProfile::constant(1e-9).time_of(10), kNoTime);
  EXPECT_EQ(RateProfile::constant(1).time_of(1e30), kNoTime);
  EXPECT_EQ(RateProfile::constant(1).time_of(kInfinity), kNoTime);
  // The segment's start and the time within it are each below the limit, their sum is not.
  EXPECT_EQ(RateProfile::phased({{Duration::max() / 2, 0}, {0s, 1}}).time_of(8e9), kNoTime);
}

TEST(RateProfile, RampInClosedForm) {
  // I(t) = 5 t^2.
  const auto up = RateProfile::ramp(0, 100, 10s);
  EXPECT_EQ(up.time_of(0), 0s);
  EXPECT_EQ(up.time_of(5), 1s);
  EXPECT_EQ(up.time_of(20), 2s);
  EXPECT_EQ(up.time_of(500), 10s);
  EXPECT_EQ(up.time_of(600), 11s);
  EXPECT_DOUBLE_EQ(up.arrivals_by(3s), 45);
  // I(t) = 100 t - 5 t^2.
  const auto down = RateProfile::ramp(100, 0, 10s);
  EXPECT_EQ(down.time_of(375), 5s);
  EXPECT_EQ(down.time_of(480), 8s);
  EXPECT_EQ(down.time_of(495), 9s);
  EXPECT_EQ(down.time_of(500), kNoTime);
  EXPECT_DOUBLE_EQ(down.arrivals_by(1h), 500);
}

TEST(RateProfile, SineInClosedForm) {
  const auto profile = RateProfile::sine(100, 50, 10s);
  EXPECT_EQ(profile.rate_at(0s), 100);
  EXPECT_DOUBLE_EQ(profile.rate_at(2500ms), 150);
  EXPECT_NEAR(profile.rate_at(5s), 100, 1e-9);
  EXPECT_DOUBLE_EQ(profile.rate_at(7500ms), 50);
  EXPECT_NEAR(profile.rate_at(5h + 2500ms), 150, 1e-6);
  const double pi = std::acos(-1.0);
  EXPECT_DOUBLE_EQ(profile.arrivals_by(5s), 500 + 2 * 50 * 10 / (2 * pi));
  EXPECT_DOUBLE_EQ(profile.arrivals_by(10s), 1000);
  EXPECT_EQ(profile.time_of(1000), 10s);
  EXPECT_EQ(profile.time_of(360'000), 1h);
  EXPECT_EQ(profile.shape_length(), 0s);
  for (int ms = 0; ms < 20'000; ms += 7) {
    ASSERT_NEAR(profile.rate_at(1ms * ms), 100 + 50 * std::sin(2 * pi * ms / 10'000), 1e-10) << ms;
  }
}

TEST(RateProfile, SineTakesOnlyAmplitudesUpToItsMean) {
  EXPECT_EQ(RateProfile::sine(100, 500, 10s).rate_at(2500ms), 200);
  EXPECT_NEAR(RateProfile::sine(100, 500, 10s).rate_at(7500ms), 0, 1e-9);
  EXPECT_EQ(RateProfile::sine(100, -5, 10s).rate_at(2500ms), 100);
  EXPECT_EQ(RateProfile::sine(100, kNaN, 10s).rate_at(2500ms), 100);
  EXPECT_EQ(RateProfile::sine(100, 50, 0s).rate_at(2500ms), 100);
  EXPECT_EQ(RateProfile::sine(-1, 50, 10s).rate_at(2500ms), 0);
}

TEST(RateProfile, SpikeInClosedForm) {
  const auto profile = RateProfile::spike(10, 1000, 5s, 2s);
  EXPECT_EQ(profile.rate_at(5s - 1ns), 10);
  EXPECT_EQ(profile.rate_at(5s), 1000);
  EXPECT_EQ(profile.rate_at(7s - 1ns), 1000);
  EXPECT_EQ(profile.rate_at(7s), 10);
  EXPECT_EQ(profile.time_of(49), 4900ms);
  EXPECT_EQ(profile.time_of(50), 5s);
  EXPECT_EQ(profile.time_of(1050), 6s);
  EXPECT_EQ(profile.time_of(2050), 7s);
  EXPECT_EQ(profile.time_of(2051), 7100ms);
  EXPECT_EQ(profile.shape_length(), 7s);
  EXPECT_EQ(RateProfile::spike(10, 1000, -1s, 3s).rate_at(1s), 1000);
  EXPECT_EQ(RateProfile::spike(10, 1000, -1s, 3s).rate_at(2s), 10);
}

TEST(RateProfile, PointsAreJoinedByLines) {
  const auto profile = RateProfile::points({{10s, 100}, {5s, 0}, {20s, 100}, {20s, 10}, {30s, 30}});
  EXPECT_EQ(profile.rate_at(0s), 0);
  EXPECT_EQ(profile.rate_at(7500ms), 50);
  EXPECT_EQ(profile.rate_at(15s), 100);
  EXPECT_EQ(profile.rate_at(20s), 10);
  EXPECT_EQ(profile.rate_at(25s), 20);
  EXPECT_EQ(profile.rate_at(1h), 30);
  EXPECT_EQ(profile.time_of(0), 5s);
  EXPECT_DOUBLE_EQ(profile.arrivals_by(30s), 250 + 1000 + 200);
  EXPECT_EQ(profile.shape_length(), 30s);
  const auto late = RateProfile::points({{10s, 7}});
  EXPECT_EQ(late.rate_at(0s), 7);
  EXPECT_EQ(late.rate_at(1h), 7);
  EXPECT_EQ(RateProfile::points({}).time_of(0), kNoTime);
}

TEST(RateProfile, StagesFollowOneAnother) {
  const auto profile =
      RateProfile::stages({{0, 500, 60s}, {500, 500, 300s}, {100, 0, 30s}, {0, 50, 0s}});
  EXPECT_DOUBLE_EQ(profile.rate_at(30s), 250);
  EXPECT_EQ(profile.rate_at(359s), 500);
  EXPECT_EQ(profile.rate_at(360s), 100);
  EXPECT_DOUBLE_EQ(profile.rate_at(375s), 50);
  EXPECT_EQ(profile.rate_at(390s), 50);
  EXPECT_DOUBLE_EQ(profile.arrivals_by(390s), 15'000 + 150'000 + 1500);
  EXPECT_EQ(profile.shape_length(), 390s);
}

TEST(RateProfile, PeakIsTheHighestRateReached) {
  EXPECT_EQ(RateProfile::constant(5).peak(0s), 5);
  EXPECT_DOUBLE_EQ(RateProfile::ramp(0, 100, 10s).peak(4s), 40);
  EXPECT_EQ(RateProfile::ramp(100, 0, 10s).peak(4s), 100);
  EXPECT_EQ(RateProfile::spike(10, 1000, 5s, 2s).peak(5s - 1ns), 10);
  EXPECT_EQ(RateProfile::spike(10, 1000, 5s, 2s).peak(5s), 1000);
  EXPECT_DOUBLE_EQ(RateProfile::sine(100, 50, 10s).peak(1250ms), 100 + 50 * std::sqrt(0.5));
  EXPECT_EQ(RateProfile::sine(100, 50, 10s).peak(1h), 150);
  EXPECT_EQ(RateProfile().peak(1h), 0);
}

struct Shape {
  const char* name;
  RateProfile profile;
};

std::vector<Shape> shapes() {
  auto live = RateProfile::ramp(0, 5000, 10s);
  live.append(3s, 0);
  live.append(4s, 12'345.678);
  live.append(4s + 7ns, 3);
  live.append(12s, 1e5);
  return {
      {"constant", RateProfile::constant(1234.5)},
      {"up", RateProfile::ramp(10, 2000, 30s)},
      {"from zero", RateProfile::ramp(0, 1e6, 3s)},
      {"down", RateProfile::ramp(2000, 10, 30s)},
      {"to zero", RateProfile::stages({{2000, 0, 30s}, {50, 50, 1s}})},
      {"sine", RateProfile::sine(1000, 800, 7s)},
      {"sine touching zero", RateProfile::sine(1000, 1000, 7s)},
      {"spike", RateProfile::spike(10, 5000, 5s, 2s)},
      {"points", RateProfile::points({{1s, 0}, {5s, 500}, {5s, 20}, {9s, 0}, {11s, 300}})},
      {"pauses", RateProfile::phased({{1s, 0}, {2s, 100}, {3s, 0}, {2s, 700}, {1s, 0}, {0s, 9}})},
      {"live", live}};
}

// I just before, at and just after the due time encloses x: due is the floor of inf { t : I(t) > x
// }.
TEST(RateProfile, TimeOfInvertsArrivalsBy) {
  for (const auto& [name, profile] : shapes()) {
    Random random(8);
    const double total = profile.arrivals_by(40s);
    for (int i = 0; i < 20'000; ++i) {
      const double x = i % 2 == 0 ? std::floor(random.uniform() * total) : random.uniform() * total;
      const Duration due = profile.time_of(x);
      const double dust = 1e-14 * total + 2e-12 * profile.peak(40s);
      ASSERT_LE(profile.arrivals_by(due), x + dust) << name << " " << x;
      ASSERT_GE(profile.arrivals_by(due + 2ns), x - dust) << name << " " << x;
      ASSERT_GT(profile.rate_at(due + 1ns) + profile.rate_at(due + 2ns), 0) << name << " " << x;
    }
  }
}

TEST(RateProfile, TimeOfNeverGoesBack) {
  for (const auto& [name, profile] : shapes()) {
    const double total = std::min(profile.arrivals_by(40s), 50'000.0);
    Duration last{};
    for (double x = 0; x < total; x += 1) {
      const Duration due = profile.time_of(x);
      ASSERT_GE(due, last) << name << " " << x;
      last = due;
    }
  }
}

TEST(RateProfile, TheHintChangesNothing) {
  for (const auto& [name, profile] : shapes()) {
    Random random(4);
    for (int i = 0; i < 2000; ++i) {
      const double x = random.uniform() * profile.arrivals_by(40s);
      for (std::size_t guess = 0; guess < 8; ++guess) {
        std::size_t hint = guess;
        ASSERT_EQ(profile.time_of(x, hint), profile.time_of(x)) << name << " " << x << " " << guess;
      }
    }
  }
}

TEST(RateProfile, IntegralIsThatOfTheRate) {
  for (const auto& [name, profile] : shapes()) {
    // The midpoint rule in steps of 1 ms is exact for lines between whole ms, and near for sines.
    double sum = 0;
    for (int ms = 0; ms < 15'000; ++ms) {
      sum += profile.rate_at(1ms * ms + 500us) * 1e-3;
      if (ms % 100 == 99) {
        ASSERT_NEAR(profile.arrivals_by(1ms * (ms + 1)), sum, 0.02) << name << " at " << ms;
      }
    }
  }
}

TEST(RateProfile, D1_APauseIsResumedWhereItStopped) {
  auto profile = RateProfile::constant(100);
  profile.append(1005ms, 0);
  EXPECT_EQ(profile.time_of(100), 1s);
  EXPECT_EQ(profile.time_of(101), kNoTime);
  profile.append(11s, 100);
  EXPECT_EQ(profile.time_of(100), 1s);
  // Half of the gap to arrival 101 had passed.
  EXPECT_EQ(profile.time_of(101), 11s + 5ms);
  EXPECT_EQ(profile.time_of(102), 11s + 15ms);
}

TEST(RateProfile, D6_ALowerRateLeavesNoLag) {
  auto profile = RateProfile::constant(100);
  profile.append(1s, 10);
  EXPECT_EQ(profile.time_of(99), 990ms);
  EXPECT_EQ(profile.time_of(100), 1s);
  EXPECT_EQ(profile.time_of(101), 1100ms);
}

TEST(RateProfile, AppendReplacesWhatWasToCome) {
  auto profile = RateProfile::stages({{0, 100, 10s}, {100, 500, 10s}});
  profile.append(5s, 30);
  EXPECT_EQ(profile.rate_at(4s), 40);
  EXPECT_EQ(profile.rate_at(6s), 30);
  EXPECT_EQ(profile.rate_at(15s), 30);
  EXPECT_EQ(profile.arrivals_by(10s), 125 + 150);
  EXPECT_EQ(profile.last_boundary(), 5s);
  EXPECT_EQ(profile.shape_length(), 5s);
  profile.append(5s, 7);
  EXPECT_EQ(profile.rate_at(5s), 7);
  EXPECT_EQ(profile.arrivals_by(6s), 125 + 7);
}

TEST(RateProfile, AppendToAnEmptyProfileResumesAPause) {
  RateProfile profile;
  profile.append(2s, 10);
  EXPECT_EQ(profile.rate_at(1s), 0);
  EXPECT_EQ(profile.time_of(0), 2s);
  EXPECT_EQ(profile.time_of(1), 2100ms);
}

TEST(RateProfile, AfterAnInfiniteRateItGoesOnWhereItIsTold) {
  auto profile = RateProfile::phased({{2s, 10}, {1s, kInfinity}});
  profile.append(5s, 100);
  profile.append(6s, 50);
  EXPECT_EQ(profile.time_of(1e6), 2s);
  profile.resume_at(1000);
  EXPECT_EQ(profile.time_of(999), 2s);
  EXPECT_EQ(profile.time_of(1000), 5s);
  EXPECT_EQ(profile.time_of(1001), 5010ms);
  EXPECT_EQ(profile.time_of(1100), 6s);
  EXPECT_EQ(profile.time_of(1101), 6020ms);
  EXPECT_EQ(profile.arrivals_by(7s), 1150);
  profile.resume_at(5);
  EXPECT_EQ(profile.time_of(1101), 6020ms);
}

TEST(RateProfile, AppendKeepsWhatWasDueBeforeIt) {
  Random random(77);
  for (int round = 0; round < 3000; ++round) {
    const double rate = 0.1 * std::exp(16 * random.uniform());  // to 900 000; the lower, the finer
    auto profile = RateProfile::constant(rate);
    const double n = static_cast<double>(random.below(1'000'000'000));
    const Duration due = profile.time_of(n);
    // A pause right after the due time, at it, and before it.
    auto after = profile, at = profile;
    after.append(due + 1ns, 0);
    at.append(due, 0);
    ASSERT_EQ(after.time_of(n), due) << rate << " " << n;
    ASSERT_EQ(at.time_of(n), kNoTime) << rate << " " << n;
  }
}

}  // namespace
}  // namespace onbeat::kernel
