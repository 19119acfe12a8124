#pragma once

#include "options/settings.hpp"
#include "options/table.hpp"

namespace onbeat::cli {

/// `onbeat target http` and `onbeat target grpc`: the built-in server, until SIGINT or SIGTERM.
int target_command(options::CommandSet kind, const options::Settings& settings);

}  // namespace onbeat::cli
