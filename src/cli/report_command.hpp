// onbeat report RUN: a run that was kept, written again in any format.
#pragma once

#include "options/settings.hpp"

#include <string>
#include <vector>

namespace onbeat::cli {

/// The exit code: 0 when everything was written, else 2; what the run's own was stands in the
/// report.
[[nodiscard]] int report_command(const options::Settings& settings,
                                 const std::vector<std::string>& positionals);

}  // namespace onbeat::cli
