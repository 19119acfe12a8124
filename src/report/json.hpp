// The report as JSON, schema onbeat.report/1 (docs/report.schema.json). Durations in ns, absent
// values null, never NaN, fixed order of fields; text that is not UTF-8 is replaced, never refused.
#pragma once

#include "run/report.hpp"

#include <string>

namespace onbeat::report {

/// Indented, with a newline at the end.
[[nodiscard]] std::string to_json(const run::Report& report);

}  // namespace onbeat::report
