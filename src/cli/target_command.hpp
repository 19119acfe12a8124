#pragma once

#include "options/settings.hpp"

namespace onbeat::cli {

/// `onbeat target http`: the built-in server, until SIGINT or SIGTERM.
int target_command(const options::Settings& settings);

}  // namespace onbeat::cli
