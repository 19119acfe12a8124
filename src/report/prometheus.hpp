// The figures of a run in the text format of Prometheus (0.0.4): for the textfile collector, the
// Pushgateway, and the live endpoint (metrics_endpoint.hpp). The names are a contract:
// docs/formats.md lists them.
#pragma once

#include "run/report.hpp"

#include <string>

namespace onbeat::report {

enum class Progress : std::uint8_t { running, over };

/// While it is running there is no verdict, no threshold and no rate over the whole run yet.
/// Durations in seconds, sizes in bytes; a label that is not UTF-8 is replaced, never refused.
[[nodiscard]] std::string to_prometheus(const run::Report& report,
                                        Progress progress = Progress::over);

}  // namespace onbeat::report
