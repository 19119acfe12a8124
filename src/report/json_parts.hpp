// The parts that the report and the interval stream share. Private to JSON writers: it pulls in the
// JSON library.
#pragma once

#include "run/report.hpp"

#include <nlohmann/json.hpp>

namespace onbeat::report {

using Json = nlohmann::ordered_json;

/// "50", "99.9": the key of a percentile.
[[nodiscard]] std::string percentile_key(double p);
[[nodiscard]] Json counts_json(const run::NamedCounts& counts);
/// The whole book-keeping of a run.
[[nodiscard]] Json counts_json(const kernel::Counts& counts);
/// A distribution: count, censored, exact figures, percentiles, at_least, and the HDR payload.
[[nodiscard]] Json distribution_json(const kernel::Histogram& histogram,
                                     const std::vector<double>& percentiles, double tail_samples);
/// The exact sum; beyond 64 bits the nearest double.
[[nodiscard]] Json sum_json(const kernel::Histogram& histogram);
[[nodiscard]] Json smallest_censored_json(const kernel::Histogram& histogram);
[[nodiscard]] Json loops_json(const std::vector<kernel::LoopUsage>& loops);
[[nodiscard]] Json report_json(const run::Report& report);
/// A number, or null where there is none or it is not finite.
[[nodiscard]] Json number_json(std::optional<double> number);
/// Text on one line (indent < 0) or indented; bytes that are not UTF-8 are replaced.
[[nodiscard]] std::string dump(const Json& json, int indent);

}  // namespace onbeat::report
