// What options read from outside: environment, files, standard input.
#pragma once

#include "options/grammar.hpp"

#include <cstddef>
#include <expected>
#include <functional>
#include <optional>
#include <string>
#include <vector>

namespace onbeat::options {

struct Surroundings {
  std::function<std::optional<std::string>(const std::string& name)> environment;
  /// The names of all variables.
  std::function<std::vector<std::string>()> variables;
  /// All of a file, at most `largest` bytes, or why not; "-" is standard input, which can be read
  /// once.
  std::function<std::expected<std::string, std::string>(const std::string& path,
                                                        std::size_t largest)>
      read_file;

  [[nodiscard]] HeaderSources header_sources() const;
};

/// The process's own.
Surroundings system_surroundings();

}  // namespace onbeat::options
