#include "run/knee.hpp"

#include "options/format.hpp"

#include <algorithm>

namespace onbeat::run {

Knee find_knee(std::span<const CurvePoint> points) {
  const auto limited = std::ranges::find_if(
      points, [](const CurvePoint& point) { return !point.generator.empty(); });
  const std::span known = points.first(static_cast<std::size_t>(limited - points.begin()));
  const auto power = [](const CurvePoint& point) {
    return point.mean > 0 ? point.completed / point.mean : 0;
  };
  const auto best = std::ranges::max_element(known, {}, power);
  if (best == known.end() || power(*best) == 0) {
    return {.rate = {},
            .why_not = limited == points.end()
                           ? "no step has an answer"
                           : "the generator was the limit: " + limited->generator};
  }
  if (best + 1 == known.end()) {
    const std::string up_to = "no knee up to " + options::format_rate(best->rate);
    if (limited != points.end())
      return {.rate = {},
              .why_not = up_to + "; beyond, the generator was the limit: " + limited->generator};
    return {.rate = {}, .why_not = up_to + ": there, too, more load brought more than it cost"};
  }
  if (best == known.begin())
    return {.rate = {},
            .why_not = "no knee from " + options::format_rate(best->rate) +
                       " on: already there, more load cost more than it brought"};
  return {.rate = best->rate, .why_not = {}};
}

}  // namespace onbeat::run
