// What the report keeps of an interval: one row of its series.
#pragma once

#include "run/report.hpp"
#include <onbeat/kernel/interval.hpp>
#include <onbeat/kernel/result.hpp>

namespace onbeat::run {

/// The names of the ids that count, with their counts.
[[nodiscard]] NamedCounts named_counts(const std::vector<std::uint64_t>& by_id,
                                       const kernel::NameTable& names);

/// The latency is that of the headline: response when `open`, else service.
[[nodiscard]] SeriesRow series_row(const kernel::Interval& interval, bool open,
                                   const kernel::NameTable& errors);

}  // namespace onbeat::run
