// The report as one HTML file that needs no network: first whether it was good, what was reached,
// the tail, and whether to trust it; then the charts, and every figure as a table.
#pragma once

#include "run/report.hpp"

#include <string>

namespace onbeat::report {

/// Text from outside is escaped; there is no script in the page.
[[nodiscard]] std::string to_html(const run::Report& report);

}  // namespace onbeat::report
