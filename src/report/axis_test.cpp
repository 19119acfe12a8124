#include "report/axis.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>

namespace onbeat::report {
namespace {

using ::testing::Pointwise;

MATCHER(Nearly, "") {
  return std::fabs(std::get<0>(arg) - std::get<1>(arg)) <= 1e-6 * std::fabs(std::get<1>(arg));
}
auto nearly(std::vector<double> values) { return Pointwise(Nearly(), std::move(values)); }

TEST(Axis, LinearEndsAtARoundNumber) {
  EXPECT_THAT(Axis::linear(87).ticks(), nearly({0, 50, 100}));
  EXPECT_THAT(Axis::linear(5000).ticks(), nearly({0, 2000, 4000, 6000}));
  EXPECT_THAT(Axis::linear(4).ticks(), nearly({0, 1, 2, 3, 4}));
  EXPECT_THAT(Axis::linear(0.03).ticks(), nearly({0, 0.01, 0.02, 0.03}));
  EXPECT_DOUBLE_EQ(Axis::linear(87).at(50), 0.5);
  EXPECT_THAT(Axis::linear(0).ticks(), nearly({0, 0.5, 1}));
  EXPECT_THAT(Axis::linear(NAN).ticks(), nearly({0, 0.5, 1}));
}

TEST(Axis, TimeIsMarkedAsClocksAre) {
  EXPECT_THAT(Axis::time(0, 10).ticks(), nearly({0, 2, 4, 6, 8, 10}));
  EXPECT_THAT(Axis::time(0, 3600).ticks(), nearly({0, 600, 1200, 1800, 2400, 3000, 3600}));
  EXPECT_THAT(Axis::time(0, 150).ticks(), nearly({0, 30, 60, 90, 120, 150}));
  EXPECT_THAT(Axis::time(0, 0.5).ticks(), nearly({0, 0.1, 0.2, 0.3, 0.4, 0.5}));
  EXPECT_EQ(Axis::time(0, 3e6).ticks().size(), 6u);
  EXPECT_DOUBLE_EQ(Axis::time(2, 4).at(3), 0.5);
  EXPECT_EQ(Axis::time(0, 0).ticks().front(), 0);
}

TEST(Axis, LogarithmsEndAtOneTwoFive) {
  const Axis axis = Axis::log(4e6, 6e6);
  EXPECT_THAT(axis.ticks(), nearly({2e6, 5e6, 1e7}));
  EXPECT_NEAR(axis.at(2e6), 0, 1e-9);
  EXPECT_NEAR(axis.at(1e7), 1, 1e-9);
  EXPECT_EQ(axis.at(0), 0);
  EXPECT_THAT(Axis::log(1e3, 1e9).ticks(), nearly({1e3, 1e4, 1e5, 1e6, 1e7, 1e8, 1e9}));
  EXPECT_THAT(Axis::log(1, 1e12).ticks(), nearly({1, 100, 1e4, 1e6, 1e8, 1e10, 1e12}));
  for (const Axis& odd : {Axis::log(0, 0), Axis::log(5, 5), Axis::log(0, 100)}) {
    EXPECT_FALSE(odd.ticks().empty());
    EXPECT_TRUE(std::isfinite(odd.at(5)));
  }
  EXPECT_NEAR(axis.value(axis.at(4e6)), 4e6, 1);
}

TEST(Axis, EachNineTakesTheSameSpace) {
  const Axis axis = Axis::percentiles(10'000);
  EXPECT_THAT(axis.ticks(), nearly({0, 50, 90, 99, 99.9, 99.99}));
  EXPECT_NEAR(axis.at(99) - axis.at(90), axis.at(99.9) - axis.at(99), 1e-9);
  EXPECT_EQ(axis.at(0), 0);
  EXPECT_EQ(axis.at(100), 1);
  EXPECT_EQ(axis.value(1), 100);
  EXPECT_NEAR(axis.value(0.5), 99, 1e-9);
  EXPECT_THAT(Axis::percentiles(0).ticks(), nearly({0, 50, 90}));
}

}  // namespace
}  // namespace onbeat::report
