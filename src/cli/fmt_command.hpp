#pragma once

#include "options/settings.hpp"

#include <string>
#include <vector>

namespace onbeat::cli {

/// `onbeat fmt`: the canonical form on stdout, or in the files (--write), or which files differ
/// from it (--check, then 1). 2 when a file has errors; the others are still dealt with.
int fmt_command(const std::vector<std::string>& files, const options::Settings& settings);

}  // namespace onbeat::cli
