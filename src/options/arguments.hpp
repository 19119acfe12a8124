// The command line, read by the table. Our own walk rather than a library's: it finds every problem
// in one go, knows other tools' flags, quotes the value with a caret, and needs no second
// description of the options.
//
//   --flag value   --flag=value   -c 10   -c10   -c=10   --strict   --strict=false   --   (the rest
//   are positionals)
#pragma once

#include "options/settings.hpp"
#include "options/table.hpp"

#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace onbeat::options {

struct Arguments {
  Layer layer{Source::cli, {}};
  std::vector<std::string> positionals;
  std::vector<Problem> problems;
  /// Given anywhere before "--": then nothing else matters.
  bool help = false, version = false;
};

/// `args` without the program and the command; `vocabulary` for thresholds. Where an option is
/// given several times, messages number it: "-H #2".
Arguments parse_arguments(const Command& command, std::span<const std::string_view> args,
                          const Vocabulary& vocabulary = {});

/// What `onbeat ARGS...` asks for.
struct Invocation {
  const Command* command = nullptr;  // null: help, version or a problem
  std::size_t words = 0;             // how many of the arguments name the command
  bool help = false, version = false;
  std::vector<Problem> problems;
};
Invocation find_invocation(std::span<const std::string_view> args);

}  // namespace onbeat::options
