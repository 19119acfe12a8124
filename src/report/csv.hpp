// The series as CSV (RFC 4180), one row an interval, then a row of totals and one for each
// endpoint.
#pragma once

#include "run/report.hpp"

#include <string>

namespace onbeat::report {

/// Every row has the same columns; what a row has no value for is empty. Durations in ns. Lines end
/// with CRLF.
[[nodiscard]] std::string to_csv(const run::Report& report);

}  // namespace onbeat::report
