#pragma once

#include "options/settings.hpp"
#include "options/table.hpp"

#include <string>
#include <vector>

namespace onbeat::cli {

/// `onbeat http URL...`: load, or --once, or --dry-run.
int http_command(const options::Command& command, const options::Settings& settings,
                 const std::vector<std::string>& urls);

}  // namespace onbeat::cli
