// A sweep: complete runs one after another, each with another number of workers, and one report of
// them all.
#pragma once

#include "run/run.hpp"

#include <cstdint>
#include <optional>
#include <vector>

namespace onbeat::run {

struct Levels {
  std::vector<std::uint32_t> concurrency;
  std::optional<Duration> duration;  // of each; empty: the plan's
};

/// Runs the levels in their order, each with its own warm-up, connections at most as many as its
/// workers. The report's figures are the sums over all levels (percentiles of all samples),
/// Report::levels has those of each. A level that cannot begin, an abort and an interrupt end the
/// sweep.
[[nodiscard]] Report execute_levels(const RunPlan& plan, const Levels& levels,
                                    const WorkloadSpec& spec, const Host& host,
                                    std::vector<AbortWatch>& aborts,
                                    const std::vector<Observer*>& observers, const StopFlag& stop);

}  // namespace onbeat::run
