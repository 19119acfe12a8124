// The rate over time that BENCH keys describe: load_schedule with its load_* keys, ramp_up and
// cool_down. The result is a kernel profile whose area is the one under the documented curve.
//
//   S = load_start, else max_rps, else 0; t in seconds since the start; a rate below 0 is 0
//   const   max_rps, else S
//   step    S + load_step k, k = floor(t / load_step_duration); not beyond load_end, nor after
//           load_max_duration
//   line    S + load_step t; likewise
//   sine    load_midpoint + load_amplitude sin(load_frequency t), the frequency in rad/s
//   spike   load_spike_target for load_spike_duration from load_spike_after on, else S
//   custom  linear between the points of load_profile
//   Then: times t / ramp_up while t < ramp_up; and after the duration, down to 0 over cool_down.
#pragma once

#include "options/rate_grammar.hpp"

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace onbeat::options {

struct LoadShape {
  enum class Schedule : std::uint8_t { constant, step, line, sine, spike, custom };
  Schedule schedule = Schedule::constant;
  // Rates per second.
  std::optional<double> max_rps, start, end, midpoint, spike_target;
  double step = 0;                  // per step, or per second of a line
  std::optional<double> amplitude;  // half the midpoint
  double frequency = 0.1;           // rad/s
  Duration step_duration = std::chrono::seconds(1);
  std::optional<Duration> max_duration;
  Duration spike_after = std::chrono::seconds(30), spike_duration = std::chrono::seconds(10);
  std::vector<kernel::RateProfile::Point> points;
  Duration ramp_up{}, cool_down{};
};

/// "const", "step", ...
std::optional<LoadShape::Schedule> load_schedule_named(std::string_view name);

/// "500ms:10, 2s:100", times also as bare seconds.
Parsing<std::vector<kernel::RateProfile::Point>> parse_load_points(std::string_view text);

/// How long arrivals are issued before the cool-down: so far the profile must reach. Shapes without
/// an end go on for so long.
struct ShapeWindow {
  std::optional<Duration> duration;
  std::optional<std::uint64_t> requests;
};

/// The error: a sentence about what cannot be.
std::expected<RateSpec, std::string> make_rate(const LoadShape& shape, const ShapeWindow& window);

}  // namespace onbeat::options
