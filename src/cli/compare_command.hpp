// onbeat compare BASE... --to NEW...
#pragma once

#include "options/settings.hpp"

#include <string>
#include <vector>

namespace onbeat::cli {

/// The exit code: 0 no regression, 1 a regression, 2 wrong usage, 3 runs that are not to be
/// trusted.
int compare_command(const options::Settings& settings, const std::vector<std::string>& base);

}  // namespace onbeat::cli
