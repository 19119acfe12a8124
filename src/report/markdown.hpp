// The report as GitHub-flavoured Markdown: for the job summary of a CI system, a pull request, a
// chat. The verdict first, then thresholds, latency, books, errors.
#pragma once

#include "run/report.hpp"

#include <string>

namespace onbeat::report {

/// Ends with a newline. Labels are text in it, never markup.
[[nodiscard]] std::string to_markdown(const run::Report& report);

}  // namespace onbeat::report
