// The charts of a run's report.
#pragma once

#include "run/report.hpp"

#include <string>

namespace onbeat::report {

/// Rates, latency, errors, units in flight, lag and CPU over time, and the spectrum of percentiles;
/// what has no data is left out. Of a long run several intervals are one point, and the charts say
/// so.
[[nodiscard]] std::string charts_html(const run::Report& report);

}  // namespace onbeat::report
