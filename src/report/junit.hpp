// The report as JUnit XML, which every CI system shows: a case for the run, for each threshold, for
// each check of the verdict. Something fails in it exactly when the exit code is not 0.
#pragma once

#include "run/report.hpp"

#include <string>

namespace onbeat::report {

/// The figures are properties of the first suite. Times are in seconds.
[[nodiscard]] std::string to_junit(const run::Report& report);

}  // namespace onbeat::report
