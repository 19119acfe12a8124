#include "compare/table.hpp"

#include "options/format.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

namespace onbeat::compare {
namespace {

std::string signed_text(double value, std::string text) {
  return value > 0 ? "+" + std::move(text) : std::move(text);
}

/// A difference of error rates is in points: a share of a share would mislead.
std::string points(double value) { return fmt::format("{:+.3g} points", value); }

std::string percent(double value) { return signed_text(value, fmt::format("{:.1f}%", value)); }

std::string relative(double shift, const Difference& difference) {
  if (difference.metric->unit == Unit::percent) return points(shift);
  if (difference.base.median == 0)
    return signed_text(shift, value_text(shift, difference.metric->unit));
  return percent(100 * shift / difference.base.median);
}

std::string value_cell(const Side& side, const Difference& difference) {
  return (side.lower_bounds != 0 ? ">=" : "") + value_text(side.median, difference.metric->unit);
}

std::string interval_cell(const Difference& difference) {
  const Shift& shift = difference.shift;
  if (!shift.low) return "n/a";
  return relative(*shift.low, difference) + " to " + relative(*shift.high, difference);
}

std::string p_cell(const Difference& difference) {
  const auto& worse = difference.gated ? difference.adjusted : difference.p;
  const auto& better = difference.gated ? difference.adjusted_better : difference.p_better;
  if (!worse) return "n/a";
  return fmt::format("{:.3f}", std::min(*worse, *better));
}

std::string verdict_cell(const Difference& difference) {
  switch (difference.change) {
    case Change::none:
      return difference.gated ? "no change" : "";
    case Change::improved:
      return "better";
    case Change::regressed:
      return "WORSE";
    case Change::undecided:
      return "undecided: " + difference.why_undecided;
  }
  return "";
}

}  // namespace

std::vector<Cells> cells_of(const Comparison& comparison) {
  std::vector<Cells> rows;
  for (const Difference& difference : comparison.differences)
    rows.push_back({.metric = difference.metric->name + (difference.gated ? " *" : ""),
                    .base = value_cell(difference.base, difference),
                    .next = value_cell(difference.next, difference),
                    .change = relative(difference.shift.estimate, difference),
                    .interval = interval_cell(difference),
                    .p = p_cell(difference),
                    .verdict = verdict_cell(difference)});
  return rows;
}

std::string side_text(std::size_t runs, const std::string& name) {
  return fmt::format("{} run{} of {}", runs, runs == 1 ? "" : "s", name);
}

std::string how_judged(const Comparison& comparison) {
  return fmt::format(
      "Values are medians over the runs; change and its 95% interval are those of the Mann-Whitney "
      "test. * gated: a regression is worse by more than {} with a one-sided p, adjusted by Holm, "
      "below {:g}. p is that of the direction in which the metric moved.",
      options::format_percent(comparison.settings.min_effect), comparison.settings.significance);
}

}  // namespace onbeat::compare
