// The report of a bench in the form that users of .gctf documents know: JSON of the schema
// bench_report_schema_v1, and text for Prometheus under the names grpctestify_bench_*.
//
// `ok` and `errors` are by status, `passed` and `failed` by the documents' verdict. Latencies are
// those of the headline (from when due when open, from when sent when closed); average, fastest,
// slowest and total are of all that came back, failures too.
#pragma once

#include "run/report.hpp"

#include <string>

namespace onbeat::report {

[[nodiscard]] std::string to_gctf_json(const run::Report& report);
[[nodiscard]] std::string to_gctf_prometheus(const run::Report& report);

}  // namespace onbeat::report
