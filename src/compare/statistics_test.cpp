#include "compare/statistics.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <random>

namespace onbeat::compare {
namespace {

using List = std::vector<double>;

double midrank(const List& all, double value) {
  double below = 0, equal = 0;
  for (const double other : all) {
    below += other < value ? 1 : 0;
    equal += other == value ? 1 : 0;
  }
  return below + (equal + 1) / 2;
}

// By trying every way to deal the values out.
Tails by_hand(const List& first, const List& second) {
  List all = first;
  all.insert(all.end(), second.begin(), second.end());
  double observed = 0;
  for (const double value : second) observed += midrank(all, value);
  double larger = 0, smaller = 0, ways = 0;
  for (unsigned mask = 0; mask < 1U << all.size(); ++mask) {
    if (static_cast<std::size_t>(__builtin_popcount(mask)) != second.size()) continue;
    double sum = 0;
    for (std::size_t i = 0; i < all.size(); ++i)
      if ((mask >> i & 1U) != 0) sum += midrank(all, all[i]);
    ways += 1;
    larger += sum >= observed - 1e-9 ? 1 : 0;
    smaller += sum <= observed + 1e-9 ? 1 : 0;
  }
  return {larger / ways, smaller / ways};
}

TEST(MannWhitney, FourAgainstFourApartIsOneOfSeventy) {
  const Tails tails = mann_whitney(List{1, 2, 3, 4}, List{5, 6, 7, 8});
  EXPECT_DOUBLE_EQ(tails.larger, 1.0 / 70);
  EXPECT_DOUBLE_EQ(tails.smaller, 1);
  EXPECT_DOUBLE_EQ(mann_whitney(List{5, 6, 7, 8}, List{1, 2, 3, 4}).smaller, 1.0 / 70);
  EXPECT_DOUBLE_EQ(smallest_p(4, 4), 1.0 / 70);
  EXPECT_DOUBLE_EQ(smallest_p(5, 4), 1.0 / 126);
}

TEST(MannWhitney, IsTheCountOfAllWaysWithAndWithoutTies) {
  std::mt19937_64 random(1);
  for (int round = 0; round < 60; ++round) {
    const int values = round % 2 == 0 ? 5 : 1000;  // many ties, hardly any
    List first(3 + random() % 4), second(3 + random() % 4);
    for (double& value : first) value = static_cast<double>(random() % values);
    for (double& value : second) value = static_cast<double>(random() % values);
    const Tails expected = by_hand(first, second), found = mann_whitney(first, second);
    EXPECT_NEAR(found.larger, expected.larger, 1e-12);
    EXPECT_NEAR(found.smaller, expected.smaller, 1e-12);
  }
}

// So few on one side that all ways can still be tried. Between tied values the sums of ranks are
// not one step apart, so that the half step of the continuity correction fits them less well.
TEST(MannWhitney, NormalBeyondTwentyIsCloseToTheCount) {
  std::mt19937_64 random(2);
  std::normal_distribution<double> draw(0, 1);
  for (const bool ties : {false, true}) {
    const auto value = [&](double shift) {
      const double x = draw(random) * 4 + shift;
      return ties ? std::round(x) : x;
    };
    for (int round = 0; round < 20; ++round) {
      List first(kMostExact + 1), second(3);
      for (double& x : first) x = value(0);
      for (double& x : second) x = value(round % 6);
      const Tails exact = by_hand(first, second), normal = mann_whitney(first, second);
      EXPECT_NEAR(normal.larger, exact.larger, ties ? 0.031 : 0.012);
      EXPECT_NEAR(normal.smaller, exact.smaller, ties ? 0.031 : 0.012);
    }
  }
}

TEST(MannWhitney, NothingIsToBeSaidOfNothing) {
  EXPECT_EQ(mann_whitney({}, List{1}).larger, 1);
  EXPECT_EQ(mann_whitney(List(30, 5.0), List(30, 5.0)).larger, 1) << "all are equal";
  EXPECT_EQ(mann_whitney(List(4, 5.0), List(4, 5.0)).smaller, 1);
}

TEST(Shift, IsTheMedianOfAllDifferencesWithItsInterval) {
  const Shift shift = shift_between(List{1, 2, 3, 4}, List{11, 12, 13, 14});
  EXPECT_EQ(shift.estimate, 10);
  ASSERT_TRUE(shift.low);
  EXPECT_EQ(*shift.low, 7) << "of four a side nothing can be left out";
  EXPECT_EQ(*shift.high, 13);
  EXPECT_NEAR(shift.confidence, 1 - 2.0 / 70, 1e-12);
  EXPECT_FALSE(shift_between(List{1, 2, 3}, List{4, 5, 6}).low) << "90 % at most";
  EXPECT_EQ(shift_between(List{1}, List{6}).estimate, 5);
}

// What is called a 95 % interval must hold the truth that often.
TEST(Shift, TheIntervalHoldsTheTruthAsOftenAsItSays) {
  std::mt19937_64 random(4);
  std::exponential_distribution<double> draw(1);
  for (const std::size_t runs : {4UL, 6UL, 12UL, 25UL}) {
    int held = 0;
    constexpr int kRounds = 1000;
    for (int round = 0; round < kRounds; ++round) {
      List first(runs), second(runs);
      for (std::size_t i = 0; i < runs; ++i) {
        first[i] = draw(random);
        second[i] = draw(random) + 1;
      }
      const Shift shift = shift_between(first, second);
      ASSERT_TRUE(shift.low);
      held += *shift.low <= 1 && 1 <= *shift.high ? 1 : 0;
    }
    EXPECT_GE(held, 0.93 * kRounds) << runs;
    if (runs >= 12) {
      EXPECT_LE(held, 0.975 * kRounds) << "wider than it need be: " << runs;
    }
  }
}

TEST(Holm, StepsDown) {
  const List adjusted = holm(List{0.01, 0.04, 0.03, 0.005});
  EXPECT_NEAR(adjusted[0], 0.03, 1e-12);
  EXPECT_NEAR(adjusted[1], 0.06, 1e-12);
  EXPECT_NEAR(adjusted[2], 0.06, 1e-12);
  EXPECT_NEAR(adjusted[3], 0.02, 1e-12);
  EXPECT_EQ(holm(List{0.9, 0.8})[0], 1);
  EXPECT_TRUE(holm({}).empty());
}

TEST(Median, IsTheMiddle) {
  EXPECT_EQ(median(List{3, 1, 2}), 2);
  EXPECT_EQ(median(List{4, 1, 2, 3}), 2.5);
}

}  // namespace
}  // namespace onbeat::compare
