// The figures of a report that follow from the sum of its intervals. Pure.
#pragma once

#include "run/report.hpp"
#include <onbeat/kernel/interval.hpp>
#include <onbeat/kernel/result.hpp>

#include <string>
#include <vector>

namespace onbeat::run {

/// Codes, errors, endpoints and the breakdown of report.total by their names; `histograms` are
/// those of the recorders' shape. What was there is replaced, but parts of the breakdown that no
/// recorder keeps.
void name_figures(Report& report, const kernel::Names& names,
                  const std::vector<std::string>& histograms);

/// From the counters of the recorders' shape, `counters`. What was opened before t0 is in `before`:
/// those are the connections of the run.
[[nodiscard]] Connections connections_of(const std::vector<std::string>& counters,
                                         const kernel::Interval& total,
                                         const kernel::Interval& before);

/// "7 of 10": the most that were open, of those asked for; "4 (2 for each host)" when there are
/// several hosts, for connections are asked for at each; "31" when they open as needed.
[[nodiscard]] std::string connections_text(const Connections& connections);

/// What a workload that reads data has counted.
[[nodiscard]] NamedCounts sources_of(const std::vector<std::string>& counters,
                                     const kernel::Interval& total);
/// The highest CPU share of a core that a loop had; 0 when no loop has run.
[[nodiscard]] double busiest_loop(const std::vector<kernel::LoopUsage>& loops);

}  // namespace onbeat::run
