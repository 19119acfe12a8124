// What this host can measure: what a clock reading and a unit that does nothing cost, and how late
// arrivals go out at rates from 10/s to 1 000 000/s, beside a bare epoll loop in the same minute.
//
// The rates go through the loop, driver and recorder of a real run. Slices of ours and of the bare
// loop alternate, so that what else the host does hits both alike.
#pragma once

#include "run/host.hpp"
#include "run/run.hpp"
#include <onbeat/kernel/clock.hpp>
#include <onbeat/kernel/histogram.hpp>

#include <cstdint>
#include <vector>

namespace onbeat::run {

struct DoctorPlan {
  struct AtRate {
    std::uint64_t rate = 0;  // units per second; rate * slice must be whole
    Duration slice{};
    int slices = 1;
  };
  std::vector<AtRate> rates;
  /// How often each cost is measured; the least counts, for what disturbs only adds.
  int cost_slices = 1;
  std::uint64_t units = 1;  // in each of them
  /// Loops that poll instead of sleeping.
  bool spin = false;
};
/// Done within 45 s; quick: within 10 s.
[[nodiscard]] DoctorPlan doctor_plan(bool quick);
/// How long it takes, about.
[[nodiscard]] Duration expected_length(const DoctorPlan& plan);

struct DoctorReport {
  struct AtRate {
    std::uint64_t rate = 0;
    std::uint64_t offered = 0, achieved = 0;  // units, over all slices
    kernel::Histogram lag, floor_lag;

    [[nodiscard]] double adherence() const {
      return static_cast<double>(achieved) / static_cast<double>(offered);
    }
    /// 1.000 to three places.
    [[nodiscard]] bool kept() const { return adherence() >= 0.9995; }
  };
  // What a reading of the clock, the kernel (driver and recorder) with a unit that does nothing,
  // and a value's way into a histogram take.
  double clock_ns = 0;
  double closed_ns_per_unit = 0;  // with one reading of the clock
  double open_ns_per_unit = 0;    // with two
  double record_ns = 0;
  std::vector<AtRate> rates;
  Host host;
  bool interrupted = false;  // the rest is missing
};

/// Measures on a thread of its own, and waits for it. Throws std::system_error when the system
/// refuses a descriptor or a thread.
[[nodiscard]] DoctorReport examine(const DoctorPlan& plan, const StopFlag& stop);

}  // namespace onbeat::run
