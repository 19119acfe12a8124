// Thresholds as BENCH sections write them: a key `thresholds.METRIC` and a value `OP NUMBER
// [UNIT]`.
//
//   thresholds.latency_ms.p(95): <25       thresholds.p(99): <25000000       (ns)
//   thresholds.error_rate: <1%             thresholds.rps: >= 500
//
//   count, ok, errors, passed, failed      iterations: all, by status, by the document's verdict
//   error_rate, pass_rate, fail_rate       percent of all; also with _pct
//   rps, rps_observed, throughput          per second
//   average_, avg_, fastest_, min_, slowest_, max_ with ns or ms; total_ns    of all, failures too
//   p(N), pN, latency_ns.p(N)              ns;  latency_ms.p(N) ms: of what passed
//
// A bare number is in the metric's own unit; any unit of its kind converts (<1s of latency_ms is
// 1000 ms), another is an error.
#pragma once

#include "options/threshold.hpp"

#include <string_view>

namespace onbeat::options {

/// "METRIC OP NUMBER [UNIT]", the metric without "thresholds.".
Parsing<Threshold> parse_bench_threshold(std::string_view text);

}  // namespace onbeat::options
