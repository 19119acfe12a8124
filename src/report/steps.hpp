// The steps of an adaptive search or a latency curve: what was found, latency and completed
// requests by rate as charts, and each step as a row.
#pragma once

#include "report/page.hpp"
#include "run/report.hpp"

#include <string>

namespace onbeat::report {

/// "1,000/s kept the thresholds, confirmed", "the knee is at 800/s", or why there is none; empty
/// without steps. Plain text.
[[nodiscard]] std::string found_text(const run::Report& report);
/// "6 steps in 17 s".
[[nodiscard]] std::string steps_count(const run::Report& report);
/// A percentile of a step's response time: "4.2 ms", ">= 2 s" for a lower bound, "-" with too few
/// samples, "n/a" without any.
[[nodiscard]] std::string step_time(const run::StepReport& step, double p, double tail_samples);
/// A row for each step in the order in which they were tried. No rows without steps.
[[nodiscard]] Table steps_table(const run::Report& report);
/// Sentence, charts and table; empty text without steps. Steps at one rate are one point.
[[nodiscard]] std::string steps_html(const run::Report& report);

}  // namespace onbeat::report
