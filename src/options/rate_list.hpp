// The rates of a latency curve (onbeat curve --rates): "1k..20k", a range, or "1k,2k,5k", a list.
#pragma once

#include "options/grammar.hpp"

#include <string_view>
#include <vector>

namespace onbeat::options {

struct RateList {
  std::vector<double> rates;  // per second, above 0, rising; at least two
  bool range = false;         // the first and the last of rates that are still to be chosen
};

/// A curve takes at most so many rates.
inline constexpr std::size_t kMostCurveRates = 100;

Parsing<RateList> parse_rate_list(std::string_view text);

/// A list as it is; of a range `steps` (from 2 on) rates, each the same multiple of the one before,
/// as latency changes with the share of the capacity that is used. They are rounded to three
/// digits, the ends excepted, unless the range is too narrow for that.
[[nodiscard]] std::vector<double> spread(const RateList& list, std::size_t steps);

}  // namespace onbeat::options
