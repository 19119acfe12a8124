// The commands about the program itself: they send nothing and read no configuration.
#pragma once

#include <span>
#include <string>

namespace onbeat::cli {

/// `onbeat --version`, in one line or as JSON.
[[nodiscard]] int print_version(bool json);
/// `onbeat explain [CODE]...`: all codes in a line each, or some at length.
[[nodiscard]] int explain_command(std::span<const std::string> codes);
/// `onbeat completion SHELL`, `onbeat completion words -- WORDS`.
[[nodiscard]] int completion_command(std::span<const std::string> words);
/// `onbeat man`.
[[nodiscard]] int manual_command();

}  // namespace onbeat::cli
