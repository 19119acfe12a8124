// Help, written from the table.
#pragma once

#include "options/table.hpp"

#include <string>
#include <string_view>

namespace onbeat::options {

/// `width`: of the terminal in columns; 0: not known, then 100. Lines are wrapped to it, from 60 to
/// 120.
std::string help_text(const Command& command, unsigned width = 0);
/// What an option does and what holds without it, as help says it; without a full stop.
std::string description(const Option& option);
/// A name and what it is, in two columns; and running text. Both wrapped likewise.
std::string entry_text(std::string_view name, std::string_view what, unsigned width = 0);
std::string paragraph_text(std::string_view text, unsigned width = 0);
/// `onbeat --help`: the commands.
std::string overview_text(unsigned width = 0);

}  // namespace onbeat::options
