#include "run/series.hpp"

#include <gtest/gtest.h>

#include <chrono>

namespace onbeat::run {
namespace {

using namespace std::chrono_literals;

class SeriesRows : public ::testing::Test {
 protected:
  SeriesRows() {
    interval_.start = 1s;
    interval_.end = 2s;
    interval_.in_flight = 3;
    interval_.in_flight_max = 9;
    interval_.lag_max = 70us;
    interval_.events = {"rate 5/s"};
  }

  kernel::NameTable errors_;
  kernel::Interval interval_;
};

TEST_F(SeriesRows, WithoutSamplesHaveNoLatency) {
  const SeriesRow row = series_row(interval_, true, errors_);
  EXPECT_EQ(row.t, 2s);
  EXPECT_FALSE(row.p50 || row.p90 || row.p99 || row.max);
  EXPECT_TRUE(row.at_least.empty());
  EXPECT_TRUE(row.errors.empty());
  EXPECT_EQ(row.cpu_cores, 0);
  EXPECT_EQ(row.in_flight, 3);
  EXPECT_EQ(row.in_flight_max, 9);
  EXPECT_EQ(row.lag_max, 70us);
  EXPECT_EQ(row.events, std::vector<std::string>{"rate 5/s"});
}

TEST_F(SeriesRows, TellLowerBoundsFromValues) {
  interval_.response.record(5ms, 95);
  interval_.response.record_censored(2s, 5);
  interval_.service.record(1ms, 100);
  const SeriesRow open = series_row(interval_, true, errors_);
  EXPECT_NEAR(static_cast<double>(open.p90->count()), 5e6, 5e3);
  EXPECT_EQ(open.max, 2s);
  EXPECT_EQ(open.at_least, (std::vector<std::string>{"p99", "max"}));
  const SeriesRow closed = series_row(interval_, false, errors_);
  EXPECT_EQ(closed.max, 1ms);
  EXPECT_TRUE(closed.at_least.empty());
}

TEST_F(SeriesRows, NameErrorsThatCame) {
  static_cast<void>(errors_.id("reset"));
  static_cast<void>(errors_.id("status"));
  static_cast<void>(errors_.id("timeout"));
  interval_.errors = {4, 0, 2};
  EXPECT_EQ(series_row(interval_, true, errors_).errors,
            (NamedCounts{{"reset", 4}, {"timeout", 2}}));
}

TEST_F(SeriesRows, SumTheCoresOfTheLoops) {
  interval_.loops = {{.wall = 1s, .cpu = 500ms}, {.wall = 2s, .cpu = 500ms}, {}};
  EXPECT_EQ(series_row(interval_, true, errors_).cpu_cores, 0.75);
}

}  // namespace
}  // namespace onbeat::run
