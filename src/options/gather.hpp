// All that sets options of one invocation: flags, ONBEAT_* variables, the configuration file, the
// profile. Precedence is decided by resolve() alone.
#pragma once

#include "options/arguments.hpp"
#include "options/settings.hpp"
#include "options/surroundings.hpp"

#include <string>
#include <vector>

namespace onbeat::options {

struct Gathered {
  Settings settings;
  std::vector<Problem> errors, warnings;  // beside those of `arguments`
};

/// Positionals become settings of Command::fills, --curl becomes the settings it stands for.
/// `section`: what a BENCH section sets; may be null.
Gathered gather_settings(const Command& command, const Arguments& arguments,
                         const Surroundings& surroundings, const Vocabulary& vocabulary = {},
                         const Layer* section = nullptr);

/// What `onbeat profiles` prints, or why not.
std::expected<std::string, std::vector<Problem>> profiles_report(const Settings& settings,
                                                                 const Surroundings& surroundings);

}  // namespace onbeat::options
