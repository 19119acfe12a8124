// A command line as a POSIX shell (and bash's $'...') splits it.
#pragma once

#include "options/grammar.hpp"

#include <string>
#include <string_view>
#include <vector>

namespace onbeat::options {

struct ShellWord {
  std::string text;
  std::size_t column = 1;  // where it begins
};

/// '...', "...", $'...', backslashes and continued lines. Refused, because no shell runs here:
/// variables, substitutions, and what would end the command or redirect it.
Parsing<std::vector<ShellWord>> shell_words(std::string_view text);

/// `text` as one word of a shell; it has no NUL.
std::string shell_quoted(std::string_view text);

}  // namespace onbeat::options
