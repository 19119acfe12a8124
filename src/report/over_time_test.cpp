#include "report/over_time.hpp"

#include "run/sample_report.hpp"

#include <gtest/gtest.h>

namespace onbeat::report {
namespace {

using namespace std::chrono_literals;

run::Report with_rows(int rows) {
  run::Report report = run::testing::healthy_open();
  const run::SeriesRow row = report.series.front();
  report.series.assign(static_cast<std::size_t>(rows), row);
  for (int i = 0; i < rows; ++i)
    report.series[static_cast<std::size_t>(i)].t = std::chrono::seconds(i + 1);
  return report;
}

TEST(OverTime, FewIntervalsStayAsTheyAre) {
  const run::Report report = with_rows(5);
  const auto all = spans(report, 180);
  ASSERT_EQ(all.size(), 5U);
  EXPECT_EQ(all[4].from, 4s);
  EXPECT_EQ(all[4].to, 5s);
  EXPECT_EQ(all[4].intervals, 1U);
  EXPECT_TRUE(spans(run::Report{}, 180).empty());
}

TEST(OverTime, ASliverGoesWithTheOneBefore) {
  run::Report report = with_rows(5);
  report.series[4].t = 4s + 6ms;  // a short drain
  const auto all = spans(report, 180);
  ASSERT_EQ(all.size(), 4U);
  EXPECT_EQ(all[3].to, 4s + 6ms);
  EXPECT_EQ(all[3].row.counts.started, 2'000U);
}

TEST(OverTime, ManyAddUpAndLoseNothing) {
  run::Report report = with_rows(3600);
  report.series[1000].max = 9s;
  report.series[1000].at_least = {"max"};
  report.series[1000].errors = {{"reset", 3}};
  report.series[1001].errors = {{"reset", 4}};
  report.series[1001].cpu_cores = 1;
  report.series[1001].in_flight_max = 99;
  report.series[1001].events = {"rate 5/s"};
  const auto all = spans(report, 180);
  ASSERT_EQ(all.size(), 180U);
  std::uint64_t started = 0;
  for (const Span& span : all) started += span.row.counts.started;
  EXPECT_EQ(started, 3'600'000U);
  const run::SeriesRow& row = all[50].row;  // from 1,000 s to 1,020 s
  EXPECT_EQ(row.max, 9s);
  EXPECT_TRUE(is_lower_bound(row, "max"));
  EXPECT_FALSE(is_lower_bound(row, "p99"));
  EXPECT_EQ(row.errors.at("reset"), 7U);
  EXPECT_NEAR(row.cpu_cores, (19 * 0.02 + 1) / 20, 1e-9);
  EXPECT_EQ(row.in_flight_max, 99U);
  EXPECT_EQ(row.events.size(), 1U);
}

TEST(OverTime, AHigherValueReplacesALowerBound) {
  run::Report report = with_rows(400);
  report.series[0].at_least = {"max"};
  report.series[1].max = 7ms;
  EXPECT_FALSE(is_lower_bound(spans(report, 10)[0].row, "max"));
}

}  // namespace
}  // namespace onbeat::report
