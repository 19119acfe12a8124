#include "run/doctor.hpp"

#include "run/report.hpp"

#include <gtest/gtest.h>

namespace onbeat::run {
namespace {

using std::chrono::milliseconds;
using std::chrono::seconds;

TEST(Doctor, EveryFigureIsMeasured) {
  DoctorPlan plan;
  plan.rates = {{100, milliseconds(50), 2}, {10'000, milliseconds(20), 3}};
  plan.cost_slices = 2;
  plan.units = 1000;
  const StopFlag stop{0};
  const DoctorReport report = examine(plan, stop);
  EXPECT_FALSE(report.interrupted);
  EXPECT_GT(report.clock_ns, 1);
  EXPECT_LT(report.clock_ns, 100'000);
  EXPECT_GT(report.record_ns, 0);
  // Each unit reads the clock once at least.
  EXPECT_GT(report.closed_ns_per_unit, report.clock_ns / 2);
  EXPECT_GT(report.open_ns_per_unit, report.clock_ns / 2);
  EXPECT_GE(report.host.online_cores, 1U);
  EXPECT_GT(report.host.descriptors, 0U);
  ASSERT_EQ(report.rates.size(), 2U);
  EXPECT_EQ(report.rates[0].rate, 100U);
  EXPECT_EQ(report.rates[0].offered, 10U);
  EXPECT_EQ(report.rates[1].offered, 600U);
  for (const DoctorReport::AtRate& at : report.rates) {
    EXPECT_EQ(at.floor_lag.count(), at.offered) << "the bare loop wakes for each";
    EXPECT_EQ(at.lag.count(), at.achieved);
    EXPECT_LE(at.achieved, at.offered);
    EXPECT_GT(at.achieved, 0U);
    EXPECT_GE(at.lag.min().count(), 0);
    EXPECT_GE(at.floor_lag.min().count(), 0);
  }
}

TEST(Doctor, AnInterruptEndsItBeforeTheNextSlice) {
  const StopFlag stop{1};
  DoctorPlan plan = doctor_plan(false);
  const DoctorReport report = examine(plan, stop);
  EXPECT_TRUE(report.interrupted);
  for (const DoctorReport::AtRate& at : report.rates) EXPECT_EQ(at.offered, 0U);
}

TEST(Doctor, SlicesHoldWholeNumbersOfUnitsAndFitTheTimeAllowed) {
  for (const bool quick : {true, false}) {
    const DoctorPlan plan = doctor_plan(quick);
    EXPECT_LT(expected_length(plan), quick ? seconds(10) : seconds(40));
    std::vector<std::uint64_t> rates;
    for (const DoctorPlan::AtRate& at : plan.rates) {
      rates.push_back(at.rate);
      EXPECT_EQ(at.rate * static_cast<std::uint64_t>(at.slice.count()) % 1'000'000'000, 0U);
    }
    EXPECT_EQ(rates, (std::vector<std::uint64_t>{10, 100, 1000, 10'000, 100'000, 1'000'000}));
  }
}

TEST(Doctor, KeptMeansOneToThreePlaces) {
  DoctorReport::AtRate at{
      .rate = 1000, .offered = 10'000, .achieved = 9995, .lag = {}, .floor_lag = {}};
  EXPECT_TRUE(at.kept());
  at.achieved = 9994;
  EXPECT_FALSE(at.kept());
}

/// The goals that these figures miss: what was measured over the limit.
std::map<std::string, double> missed_goals(const DoctorReport& report) {
  std::map<std::string, double> missed;
  const auto goal = [&missed](const std::string& name, double value, double limit) {
    if (value > limit) missed[name] = value / limit;
  };
  goal("closed unit", report.closed_ns_per_unit, report.clock_ns + 20);
  goal("open unit", report.open_ns_per_unit, 2 * report.clock_ns + 60);
  goal("record", report.record_ns, 10);
  for (const DoctorReport::AtRate& at : report.rates) {
    const std::string rate = std::to_string(at.rate) + "/s ";
    const auto lag = [&at](double p) { return static_cast<double>(at.lag.percentile(p).count()); };
    const auto floor = [&at](double p) {
      return static_cast<double>(at.floor_lag.percentile(p).count());
    };
    if (!at.kept()) missed[rate + "achieved"] = at.adherence();
    goal(rate + "lag p50", lag(50), 1.5 * floor(50));
    // Of fewer samples it would be little else than their maximum.
    if (at.lag.count() >= samples_needed(99)) goal(rate + "lag p99", lag(99), 2 * floor(99));
  }
  return missed;
}

// Each goal within three examinations: the machine is not always the test's own.
TEST(MeasuredDoctor, TheGoalsHold) {
#ifndef NDEBUG
  GTEST_SKIP() << "speed is that of a release build";
#endif
  const StopFlag stop{0};
  auto missed = missed_goals(examine(doctor_plan(false), stop));
  for (int again = 0; again < 2 && !missed.empty(); ++again) {
    const auto now = missed_goals(examine(doctor_plan(false), stop));
    std::erase_if(missed, [&](const auto& goal) { return !now.contains(goal.first); });
  }
  EXPECT_EQ(missed, (std::map<std::string, double>{}));
}

TEST(MeasuredDoctor, SpinningIsWithinTenMicrosecondsOfDue) {
#ifndef NDEBUG
  GTEST_SKIP() << "speed is that of a release build";
#endif
  const StopFlag stop{0};
  DoctorPlan plan;
  plan.spin = true;
  for (const std::uint64_t rate : {1000, 10'000, 100'000})
    plan.rates.push_back({rate, milliseconds(250), 4});
  // Less what a bare loop that spins beside it sees.
  const auto missed = [&] {
    std::string text;
    for (const DoctorReport::AtRate& at : examine(plan, stop).rates)
      if (at.lag.percentile(99) >
          std::max<Duration>(std::chrono::microseconds(10), 2 * at.floor_lag.percentile(99)))
        text += std::to_string(at.rate) + "/s: " + std::to_string(at.lag.percentile(99).count()) +
                " ns\n";
    return text;
  };
  std::string text = missed();
  if (!text.empty()) text = missed();
  EXPECT_EQ(text, "");
}

}  // namespace
}  // namespace onbeat::run
