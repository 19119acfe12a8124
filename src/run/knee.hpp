// The knee of a latency curve: the rate up to which more load brings more than it costs.
//
// It is the rate of the greatest power, completed requests per second over the mean response time
// (L. Kleinrock, "Power and deterministic rules of thumb for probabilistic problems in computer
// communications", ICC 1979). A single server with a fixed service time and even arrivals has it
// at its capacity, an M/M/1 queue at half of it. No constant is to be chosen.
#pragma once

#include <onbeat/kernel/clock.hpp>

#include <optional>
#include <span>
#include <string>

namespace onbeat::run {

struct CurvePoint {
  double rate = 0;             // asked for, per second; rising from point to point
  double completed = 0;        // per second, within the step
  double mean = 0;             // response time in ns; a lower bound will do; 0 without samples
  std::string generator = {};  // why the generator was the limit; else empty
};

struct Knee {
  std::optional<double> rate;
  std::string why_not;  // one sentence without a full stop; empty with a rate
};

/// A knee lies between two other points: at an end of the range nothing is known of what is
/// beyond it. What the generator could not send says nothing of the target, nor do the points
/// after it.
[[nodiscard]] Knee find_knee(std::span<const CurvePoint> points);

}  // namespace onbeat::run
