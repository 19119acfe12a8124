// The figures of a run's report as tables of HTML, beyond its first screen.
#pragma once

#include "run/report.hpp"

#include <string>

namespace onbeat::report {

/// All distributions with all percentiles.
[[nodiscard]] std::string latency_html(const run::Report& report);
/// Books, endpoints, codes, errors, connections, parts of a request, cost, checks, options, host:
/// each to be unfolded, those with news already open.
[[nodiscard]] std::string tables_html(const run::Report& report);

}  // namespace onbeat::report
