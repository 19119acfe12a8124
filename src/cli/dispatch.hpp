// From the words of the command line to a command.
#pragma once

#include <string_view>
#include <vector>

namespace onbeat::cli {

/// Runs what `args` (without the program's name) asks for; returns the exit code
/// (docs/exit_codes.md). The report goes to stdout, everything else to stderr.
int dispatch(const std::vector<std::string_view>& args);

}  // namespace onbeat::cli
