// Help, written from the table.
#pragma once

#include "options/table.hpp"

#include <string>

namespace onbeat::options {

/// `width`: of the terminal in columns; 0: not known, then 100. Lines are wrapped to it, from 60 to
/// 120.
std::string help_text(const Command& command, unsigned width = 0);
/// `onbeat --help`: the commands.
std::string overview_text(unsigned width = 0);

}  // namespace onbeat::options
