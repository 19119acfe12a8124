#pragma once

#include "options/settings.hpp"
#include "options/table.hpp"
#include "options/threshold.hpp"

#include <string>
#include <vector>

namespace onbeat::cli {

/// What thresholds of an HTTP run may name.
options::Vocabulary http_vocabulary();

/// `onbeat http URL...`: load, or --once, or --dry-run.
int http_command(const options::Command& command, const options::Settings& settings);

}  // namespace onbeat::cli
