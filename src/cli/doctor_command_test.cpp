#include "cli/doctor_command.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

namespace onbeat::cli {
namespace {

using std::chrono::microseconds;
using testing::EndsWith;
using testing::HasSubstr;

run::DoctorReport::AtRate at_rate(std::uint64_t rate, std::uint64_t achieved, microseconds lag) {
  run::DoctorReport::AtRate at{
      .rate = rate, .offered = 10'000, .achieved = achieved, .lag = {}, .floor_lag = {}};
  at.lag.record(lag, 90);
  at.lag.record(2 * lag, 10);
  at.floor_lag.record(lag / 2, 100);
  return at;
}

run::DoctorReport a_report() {
  run::DoctorReport report;
  report.clock_ns = 21.25;
  report.closed_ns_per_unit = 38.5;
  report.open_ns_per_unit = 82;
  report.record_ns = 2.25;
  report.rates = {at_rate(10, 10'000, microseconds(60)),
                  at_rate(1'000'000, 9'990, microseconds(20))};
  report.host.cores = 1.5;
  report.host.online_cores = 4;
  report.host.quota = 1.5;
  report.host.cpu = "Z80";
  report.host.kernel = "Linux 6.1.0";
  report.host.memory_bytes = 1 << 30;
  report.host.clock_source = "tsc";
  report.host.descriptors = 20'000;
  report.host.local_ports = 28'232;
  return report;
}

TEST(DoctorText, Golden) {
  EXPECT_EQ(doctor_text(a_report()), R"(cores         1.5 of 4, quota 1.5
cpu           Z80
kernel        Linux 6.1.0
memory        1 GiB
open files    20,000
local ports   28,232
clock source  tsc

clock         21.2 ns     one reading
closed unit   38.5 ns     the kernel's part of it, with one reading
open unit     82.0 ns     the same at a due time, with two readings
record        2.2 ns      one value into one histogram

                        lag of Onbeat           lag of a bare loop
rate          achieved  p50         p99         p50         p99
10/s          1.000     60 us       120 us      30 us       30 us
1,000,000/s   0.999     20 us       40 us       10 us       10 us

This host keeps rates up to 10/s on one core; latencies below 120 us are noise.
)");
}

TEST(DoctorText, TheConclusionHoldsUpToTheFirstRateThatIsNotKept) {
  run::DoctorReport report = a_report();
  report.rates[1].achieved = 10'000;
  report.rates[1].lag.record(microseconds(500), 90);
  EXPECT_THAT(doctor_text(report),
              EndsWith("keeps rates up to 1,000,000/s on one core; latencies below 500 us are "
                       "noise.\n"));
  report.rates[0].achieved = 9000;
  EXPECT_THAT(doctor_text(report), HasSubstr("This host keeps no rate:"));
}

TEST(DoctorJson, HasTheseKeysInThisOrder) {
  const auto json = nlohmann::ordered_json::parse(doctor_json(a_report()));
  std::vector<std::string> keys;
  for (const auto& [key, value] : json.items()) keys.push_back(key);
  EXPECT_THAT(keys, testing::ElementsAre("clock_ns", "closed_ns_per_unit", "open_ns_per_unit",
                                         "record_ns", "adherence", "lag_p50_ns", "lag_p99_ns",
                                         "floor_lag_p50_ns", "floor_lag_p99_ns", "limits"));
  EXPECT_EQ(json["clock_ns"], 21.25);
  EXPECT_EQ(json["closed_ns_per_unit"], 38.5);
  EXPECT_EQ(json["open_ns_per_unit"], 82.0);
  EXPECT_EQ(json["record_ns"], 2.25);
  EXPECT_EQ(nlohmann::json(json["adherence"]),
            nlohmann::json::parse(R"({"10": 1.0, "1000000": 0.999})"));
  const auto exactly = [&](const char* key, const char* rate) {
    return json[key][rate].get<std::int64_t>() / 1000;
  };
  EXPECT_EQ(exactly("lag_p50_ns", "10"), 60);
  EXPECT_EQ(exactly("lag_p99_ns", "10"), 120);
  EXPECT_EQ(exactly("floor_lag_p50_ns", "1000000"), 10);
  EXPECT_EQ(exactly("floor_lag_p99_ns", "10"), 30);
  EXPECT_EQ(nlohmann::json(json["limits"]),
            nlohmann::json::parse(R"({"cores": 1.5, "online_cores": 4, "quota": 1.5,
              "clock_source": "tsc", "descriptors": 20000, "local_ports": 28232,
              "memory_bytes": 1073741824})"));
}

TEST(DoctorJson, WhatIsNotThereIsNull) {
  run::DoctorReport report = a_report();
  report.host.quota = 0;
  report.rates = {{.rate = 10, .offered = 1, .achieved = 0, .lag = {}, .floor_lag = {}}};
  const auto json = nlohmann::json::parse(doctor_json(report));
  EXPECT_TRUE(json["limits"]["quota"].is_null());
  EXPECT_TRUE(json["lag_p99_ns"]["10"].is_null());
  EXPECT_EQ(json["adherence"]["10"], 0.0);
}

}  // namespace
}  // namespace onbeat::cli
