// In what runs differ beside their figures, so that nobody compares what is not alike.
#pragma once

#include "compare/comparison.hpp"

#include <string>
#include <vector>

namespace onbeat::compare {

/// A sentence for each difference in load, options, host or version, between the sides and within
/// one, and for each run that did not end as planned or is degraded.
[[nodiscard]] std::vector<std::string> what_differs(const std::vector<Run>& base,
                                                    const std::vector<Run>& next);

/// ": message; message" of the verdict's reasons of that status; empty without one.
[[nodiscard]] std::string reasons_of(const run::Report& report, run::Status status);

}  // namespace onbeat::compare
