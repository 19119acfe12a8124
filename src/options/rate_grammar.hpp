// How people write a rate that changes with time:
//
//   5000                               constant
//   100..500 over 30s                  a ramp
//   0..500 over 1m, 500 for 5m, 0 over 30s
//                                      stages: "A..B over D" ramps from A to B, "X over D" ramps
//                                      from where the stage before ended, "X for D" holds X
//   sine(mean=500, amplitude=200, period=60s)    or sine(500, 200, 60s)
//   spike(base=100, peak=1000, at=10s, for=5s)   or spike(100, 1000, 10s, 5s)
#pragma once

#include "options/grammar.hpp"
#include <onbeat/kernel/rate.hpp>

#include <string>
#include <string_view>

namespace onbeat::options {

struct RateSpec {
  kernel::RateProfile profile;
  /// The same profile written in one way only, rates per second: parsing it gives this text again.
  std::string text;
  /// Where the shape ends and its last rate holds: all of a ramp, stages or a spike; 0 for a
  /// constant and for a sine, which has no end.
  Duration length{};
  /// The highest rate at any time, per second. 0: nothing would ever be sent.
  double peak = 0;
  /// One rate from beginning to end: only then is "at 5,000/s" the whole truth.
  bool constant = false;
};

Parsing<RateSpec> parse_rate_profile(std::string_view text);

}  // namespace onbeat::options
