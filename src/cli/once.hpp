// --once: one request, shown whole.
#pragma once

#include "bench/http_plan.hpp"
#include <onbeat/kernel/clock.hpp>

namespace onbeat::cli {

/// Sends the first URL's request once and prints what went each way, with timings, on stdout.
/// Values of secret headers are replaced by "***". 0 when the answer is a success, else 4.
int once(const bench::HttpTarget& target, kernel::Duration timeout);

}  // namespace onbeat::cli
