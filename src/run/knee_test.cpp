#include "run/knee.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <vector>

namespace onbeat::run {
namespace {

/// Steps of 5 s of evenly spaced arrivals at a single server with a fixed service time.
std::vector<CurvePoint> single_server(double capacity, const std::vector<double>& rates) {
  std::vector<CurvePoint> points;
  for (const double rate : rates) {
    constexpr double kLength = 5;
    const auto planned = static_cast<int>(rate * kLength);
    double free = 0, sum = 0;
    int completed = 0;
    for (int n = 0; n < planned; ++n) {
      const double due = n / rate;
      free = std::max(free, due) + 1 / capacity;
      sum += free - due;
      if (free <= kLength) ++completed;
    }
    points.push_back({.rate = rate, .completed = completed / kLength, .mean = sum / planned * 1e9});
  }
  return points;
}

std::vector<double> spread(double low, double high, int steps) {
  std::vector<double> rates;
  for (int i = 0; i < steps; ++i)
    rates.push_back(low * std::pow(high / low, static_cast<double>(i) / (steps - 1)));
  return rates;
}

TEST(Knee, IsTheLastStepWithinTheCapacityOfASingleServer) {
  for (const double capacity : {333.0, 1000.0, 1015.0, 4800.0}) {
    for (const int steps : {4, 8, 20, 60}) {
      const std::vector<double> rates = spread(capacity / 7, capacity * 3, steps);
      const Knee knee = find_knee(single_server(capacity, rates));
      ASSERT_TRUE(knee.rate) << knee.why_not;
      EXPECT_LE(*knee.rate, capacity) << steps;
      const auto next = std::ranges::upper_bound(rates, *knee.rate);
      ASSERT_NE(next, rates.end());
      EXPECT_GT(*next, capacity) << steps;
    }
  }
}

TEST(Knee, OfAnMM1QueueIsHalfOfItsCapacity) {
  std::vector<CurvePoint> points;
  for (double rate = 100; rate < 1000; rate += 100)
    points.push_back({.rate = rate, .completed = rate, .mean = 1e9 / (1000 - rate)});
  EXPECT_EQ(*find_knee(points).rate, 500);
}

TEST(Knee, IsNoneWithinARangeThatDoesNotReachIt) {
  const Knee below = find_knee(single_server(1000, spread(10, 900, 8)));
  EXPECT_FALSE(below.rate);
  EXPECT_EQ(below.why_not, "no knee up to 900/s: there, too, more load brought more than it cost");
  const Knee above = find_knee(single_server(1000, spread(1200, 9000, 8)));
  EXPECT_FALSE(above.rate);
  EXPECT_EQ(above.why_not,
            "no knee from 1,200/s on: already there, more load cost more than it brought");
}

TEST(Knee, OfAGeneratorAtItsLimitIsNotTheTargets) {
  std::vector<CurvePoint> points = single_server(1000, {200, 400, 800, 1600, 3200});
  points[3].generator = points[4].generator = "The generator was late";
  EXPECT_EQ(find_knee(points).why_not,
            "no knee up to 800/s; beyond, the generator was the limit: The generator was late");
  EXPECT_FALSE(find_knee(points).rate);
  points[3].generator.clear();
  EXPECT_EQ(*find_knee(points).rate, 800) << "a knee before that is one";
  for (CurvePoint& point : points) point.generator = "late";
  EXPECT_EQ(find_knee(points).why_not, "the generator was the limit: late");
}

TEST(Knee, IsNoneWhereNothingAnswers) {
  EXPECT_EQ(find_knee({}).why_not, "no step has an answer");
  const std::vector<CurvePoint> silent{{.rate = 1}, {.rate = 2}, {.rate = 3}};
  EXPECT_EQ(find_knee(silent).why_not, "no step has an answer");
  std::vector<CurvePoint> once{{.rate = 1}, {.rate = 2, .completed = 2, .mean = 5}, {.rate = 3}};
  EXPECT_EQ(*find_knee(once).rate, 2) << "what answers no more is beyond it";
}

}  // namespace
}  // namespace onbeat::run
