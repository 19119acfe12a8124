// The report in InfluxDB's line protocol, timestamps in ns: a point for the run, one for each
// interval, endpoint, code and class of error. docs/formats.md lists measurements and fields.
#pragma once

#include "run/report.hpp"

#include <string>

namespace onbeat::report {

/// Every point has the tags run, workload, name (when there is one) and those of --tag. What the
/// protocol cannot hold in a tag (line breaks and other controls, a backslash) is replaced.
[[nodiscard]] std::string to_influx(const run::Report& report);

}  // namespace onbeat::report
