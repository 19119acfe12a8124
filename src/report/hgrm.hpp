// A percentile distribution as the text that HdrHistogram's own tools write and plot (".hgrm"):
// values in ms, five steps for each halving of the distance to 100 %.
// Source: org.HdrHistogram, outputPercentileDistribution and PercentileIterator.
#pragma once

#include "run/report.hpp"

#include <string>
#include <utility>
#include <vector>

namespace onbeat::report {

[[nodiscard]] std::string to_hgrm(const kernel::Histogram& histogram);

/// The files for --out hgrm=PATH: the headline at PATH, and of an open run the service time beside
/// it, ".service" before the ending ("run.service.hgrm"): a plot takes one distribution a file.
[[nodiscard]] std::vector<std::pair<std::string, std::string>> hgrm_files(const run::Report& report,
                                                                          const std::string& path);

}  // namespace onbeat::report
