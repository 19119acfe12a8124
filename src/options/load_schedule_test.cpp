#include "options/load_schedule.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <functional>
#include <numbers>

namespace onbeat::options {
namespace {

using namespace std::chrono_literals;
using Schedule = LoadShape::Schedule;

RateSpec made(const LoadShape& shape, ShapeWindow window) {
  auto spec = make_rate(shape, window);
  EXPECT_TRUE(spec) << (spec ? "" : spec.error());
  return spec.value_or(RateSpec{});
}

double at(const RateSpec& spec, double seconds) {
  return spec.profile.rate_at(Duration(std::llround(seconds * 1e9)));
}

/// The area under `rate` up to `seconds`, by brute force.
double area(const std::function<double(double)>& rate, double seconds) {
  constexpr int kParts = 400'000;
  double sum = 0;
  for (int i = 0; i < kParts; ++i) sum += std::max(rate((i + 0.5) * seconds / kParts), 0.0);
  return sum * seconds / kParts;
}

void expect_area(const RateSpec& spec, const std::function<double(double)>& rate, double seconds) {
  for (const double part : {0.1, 0.35, 0.5, 0.8, 1.0}) {
    const Duration t(std::llround(seconds * part * 1e9));
    EXPECT_NEAR(spec.profile.arrivals_by(t), area(rate, seconds * part), 0.2) << spec.text << part;
  }
}

TEST(LoadSchedule, Steps) {
  const RateSpec spec =
      made({.schedule = Schedule::step, .start = 50, .end = 150, .step = 10, .step_duration = 5s},
           {.duration = 60s});
  EXPECT_DOUBLE_EQ(at(spec, 0), 50);
  EXPECT_DOUBLE_EQ(at(spec, 4.999), 50);
  EXPECT_DOUBLE_EQ(at(spec, 5), 60);
  EXPECT_DOUBLE_EQ(at(spec, 50), 150);
  EXPECT_DOUBLE_EQ(at(spec, 59), 150);
  EXPECT_DOUBLE_EQ(spec.profile.arrivals_by(10s), 550);
  EXPECT_DOUBLE_EQ(spec.peak, 150);
}

TEST(LoadSchedule, StepsThatFallOrStop) {
  const RateSpec falling =
      made({.schedule = Schedule::step, .start = 30, .step = -20}, {.duration = 10s});
  EXPECT_DOUBLE_EQ(at(falling, 1.5), 10);
  EXPECT_DOUBLE_EQ(at(falling, 5), 0) << "never below 0";
  EXPECT_DOUBLE_EQ(falling.profile.arrivals_by(10s), 40);
  const RateSpec stopped =
      made({.schedule = Schedule::step, .start = 10, .step = 10, .max_duration = 2500ms},
           {.duration = 10s});
  EXPECT_DOUBLE_EQ(at(stopped, 2), 30);
  EXPECT_DOUBLE_EQ(at(stopped, 9), 30) << "k stays at floor(2.5 s / 1 s)";
  const RateSpec counted =
      made({.schedule = Schedule::step, .start = 1, .step = 1}, {.requests = 1000});
  EXPECT_DOUBLE_EQ(at(counted, 40), 41) << "as long as there is something to send";
}

TEST(LoadSchedule, Lines) {
  const RateSpec falling =
      made({.schedule = Schedule::line, .start = 200, .end = 100, .step = -2}, {.duration = 120s});
  EXPECT_DOUBLE_EQ(at(falling, 0), 200);
  EXPECT_DOUBLE_EQ(at(falling, 10), 180);
  EXPECT_DOUBLE_EQ(at(falling, 100), 100);
  EXPECT_DOUBLE_EQ(falling.profile.arrivals_by(100s), 200 * 50 - 50 * 50 + 100 * 50);
  const RateSpec rising =
      made({.schedule = Schedule::line, .max_rps = 10, .step = 5}, {.requests = 1000});
  EXPECT_DOUBLE_EQ(at(rising, 10), 60) << "begins at max_rps";
  EXPECT_GE(rising.profile.arrivals_by(60s), 1000);
  const RateSpec stopped = made(
      {.schedule = Schedule::line, .start = 0, .step = 1, .max_duration = 5s}, {.duration = 20s});
  EXPECT_DOUBLE_EQ(at(stopped, 15), 5);
}

TEST(LoadSchedule, Constant) {
  const RateSpec spec = made({.max_rps = 100}, {.requests = 500});
  EXPECT_TRUE(spec.constant);
  EXPECT_EQ(spec.text, "100");
  EXPECT_DOUBLE_EQ(at(made({.start = 50}, {.duration = 1s}), 0.5), 50);
}

TEST(LoadSchedule, RampUp) {
  const RateSpec spec = made({.max_rps = 100, .ramp_up = 10s}, {.duration = 30s});
  EXPECT_LT(at(spec, 0), 1);
  EXPECT_NEAR(at(spec, 5), 50, 1e-6);
  EXPECT_DOUBLE_EQ(at(spec, 10), 100);
  EXPECT_DOUBLE_EQ(at(spec, 20), 100);
  EXPECT_NEAR(spec.profile.arrivals_by(10s), 500, 1e-6);
}

TEST(LoadSchedule, OverlaysKeepTheArea) {
  expect_area(
      made({.schedule = Schedule::line, .start = 20, .step = 10, .ramp_up = 10s},
           {.duration = 20s}),
      [](double t) { return (20 + 10 * t) * std::min(t / 10, 1.0); }, 20);
  expect_area(
      made({.schedule = Schedule::step,
            .start = 100,
            .step = 50,
            .step_duration = 3s,
            .ramp_up = 7s},
           {.duration = 20s}),
      [](double t) { return (100 + 50 * std::floor(t / 3)) * std::min(t / 7, 1.0); }, 20);
  const RateSpec cooled = made({.max_rps = 100, .cool_down = 10s}, {.duration = 5s});
  EXPECT_NEAR(cooled.profile.arrivals_by(15s), 1000, 0.01);
  EXPECT_NEAR(at(cooled, 10), 50, 1e-6);
  EXPECT_DOUBLE_EQ(at(cooled, 15), 0);
  expect_area(
      made({.schedule = Schedule::line, .start = 10, .step = 20, .cool_down = 10s},
           {.duration = 5s}),
      [](double t) { return (10 + 20 * t) * (t > 5 ? 1 - (t - 5) / 10 : 1); }, 15);
}

TEST(LoadSchedule, Sines) {
  const RateSpec plain =
      made({.schedule = Schedule::sine, .midpoint = 100, .frequency = 1}, {.duration = 60s});
  expect_area(plain, [](double t) { return 100 + 50 * std::sin(t); }, 60);
  const RateSpec wide =
      made({.schedule = Schedule::sine, .midpoint = 100, .amplitude = 300, .frequency = 2},
           {.duration = 30s});
  expect_area(wide, [](double t) { return 100 + 300 * std::sin(2 * t); }, 30);
  EXPECT_NEAR(wide.peak, 400, 0.1);
  const RateSpec ramped = made(
      {.schedule = Schedule::sine, .max_rps = 100, .amplitude = 50, .frequency = 1, .ramp_up = 5s},
      {.duration = 20s});
  expect_area(ramped, [](double t) { return (100 + 50 * std::sin(t)) * std::min(t / 5, 1.0); }, 20);
}

TEST(LoadSchedule, SpikesAndPoints) {
  const RateSpec spike = made({.schedule = Schedule::spike,
                               .start = 10,
                               .spike_target = 500,
                               .spike_after = 3s,
                               .spike_duration = 2s},
                              {.duration = 10s});
  EXPECT_DOUBLE_EQ(at(spike, 2.9), 10);
  EXPECT_DOUBLE_EQ(at(spike, 3), 500);
  EXPECT_DOUBLE_EQ(at(spike, 5), 10);
  EXPECT_DOUBLE_EQ(spike.profile.arrivals_by(10s), 1080);
  const auto points = parse_load_points("2s:100, 500ms:10, 2:50");
  ASSERT_TRUE(points);
  const RateSpec custom = made({.schedule = Schedule::custom, .points = *points}, {.duration = 9s});
  EXPECT_DOUBLE_EQ(at(custom, 0), 10) << "before the first point";
  EXPECT_DOUBLE_EQ(at(custom, 1.25), 55);
  EXPECT_DOUBLE_EQ(at(custom, 5), 50) << "two points at one time are a jump";
}

TEST(LoadSchedule, WhatCannotBe) {
  EXPECT_FALSE(make_rate({.schedule = Schedule::custom}, {.duration = 1s}));
  EXPECT_FALSE(make_rate({.schedule = Schedule::step, .step_duration = 0s}, {.duration = 1s}));
  EXPECT_FALSE(make_rate({.max_rps = 1, .cool_down = 1s}, {.requests = 5}));
  EXPECT_FALSE(
      make_rate({.schedule = Schedule::sine, .midpoint = 1, .amplitude = 2}, {.requests = 5}));
}

TEST(LoadSchedule, Points) {
  const auto points = parse_load_points("500ms:10, 2s:1_00");
  ASSERT_TRUE(points);
  ASSERT_EQ(points->size(), 2U);
  EXPECT_EQ((*points)[0].at, 500ms);
  EXPECT_DOUBLE_EQ((*points)[0].rate, 10);
  EXPECT_EQ((*points)[1].at, 2s);
  EXPECT_DOUBLE_EQ((*points)[1].rate, 100);
  EXPECT_EQ(parse_load_points("5").error().message, "TIME:RATE is missing");
  EXPECT_EQ(parse_load_points("1s:5, x:5").error().column, 7U);
  EXPECT_FALSE(parse_load_points("1s:5 2s:6"));
  EXPECT_FALSE(parse_load_points("1s:-5"));
}

}  // namespace
}  // namespace onbeat::options
