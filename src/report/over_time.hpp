// The intervals of a run for charts: at most so many spans, each one interval or several in a row.
#pragma once

#include "run/report.hpp"

#include <string_view>
#include <vector>

namespace onbeat::report {

/// The counts of a span are sums, its latencies, lag and units in flight the highest of its
/// intervals, its CPU the mean.
struct Span {
  kernel::Duration from{}, to{};  // since t0
  run::SeriesRow row;
  std::size_t intervals = 0;
};

/// In the order of time; `most` > 0. An interval much shorter than the others, as the last one is
/// when the drain is short, goes with the one before it.
[[nodiscard]] std::vector<Span> spans(const run::Report& report, std::size_t most);

/// Whether a figure ("p99", "max") of a row is a lower bound.
[[nodiscard]] bool is_lower_bound(const run::SeriesRow& row, std::string_view figure);

}  // namespace onbeat::report
