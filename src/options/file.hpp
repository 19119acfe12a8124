// Reading a file that an option names.
#pragma once

#include <expected>
#include <string>

namespace onbeat::options {

/// All of a file, pipe or, with "-", standard input, at most `largest` bytes; or why not, in words
/// ("No such file or directory").
std::expected<std::string, std::string> read_file(const std::string& path, std::size_t largest);

}  // namespace onbeat::options
