#pragma once

#include "options/settings.hpp"

#include <string>
#include <vector>

namespace onbeat::cli {

/// `onbeat check`: every problem of each file, with its place; 2 when there is an error.
int check_command(const std::vector<std::string>& files, const options::Settings& settings);

}  // namespace onbeat::cli
