// The rows that `onbeat curve` has for itself; the others are those of `onbeat http`.
#include "options/rate_list.hpp"
#include "options/table_rows.hpp"

#include <algorithm>
#include <array>

namespace onbeat::options {
namespace {

/// Of `http` what a curve decides by itself, or what makes no sense of several rates.
constexpr std::array<std::string_view, 10> kNotOfCurves{
    "rate", "mode",       "max-rate",  "duration", "requests",
    "once", "print-curl", "threshold", "profile",  "profile-file"};

}  // namespace

bool is_of_curves(const Option& option) {
  return (option.commands & kHttp) != 0 && option.group != Group::schedule &&
         std::ranges::find(kNotOfCurves, option.name) == kNotOfCurves.end();
}

std::vector<Option> curve_rows() {
  return {
      {.name = "rates",
       .value = "RATES",
       .kind = Kind::rate_list,
       .standard = "none: they must be given",
       .help = "The rates to try, rising: a range, 1k..20k, or a list, 1k,2k,5k",
       .group = Group::load,
       .commands = kCurve},
      {.name = "steps",
       .value = "N",
       .kind = Kind::count,
       .standard = "8",
       .help = "How many rates a range is cut into, each the same multiple of the one before",
       .group = Group::load,
       .commands = kCurve,
       .lowest = 2,
       .highest = kMostCurveRates},
      {.name = "duration",
       .letter = 'd',
       .value = "TIME",
       .kind = Kind::duration,
       .standard = "5s",
       .help = "How long each step lasts, before what is in flight may end",
       .group = Group::load,
       .commands = kCurve,
       .family = "length"},
  };
}

}  // namespace onbeat::options
