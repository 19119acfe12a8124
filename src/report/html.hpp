// The report as one HTML file that needs no network: verdict, summary, latencies, rate and p99 over
// time.
#pragma once

#include "run/report.hpp"

#include <string>

namespace onbeat::report {

/// Text from outside is escaped; there is no script in the page.
[[nodiscard]] std::string to_html(const run::Report& report);

}  // namespace onbeat::report
