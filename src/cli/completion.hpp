// Completion in shells. A shell's script is a few lines that ask the program, which knows its table
// of options: `onbeat completion words -- WORDS`.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace onbeat::cli {

struct Candidate {
  std::string text;         // a whole word
  std::string description;  // may be empty
};

struct Completion {
  std::vector<Candidate> candidates;
  /// Files are candidates too, behind this part of the word: "", "html=", "--config=".
  std::optional<std::string> files_after;
};

/// What the last of the words may become; the others are before it. Without the program's name.
[[nodiscard]] Completion complete(const std::vector<std::string_view>& words);

/// As the scripts read it: a line for each candidate, with its description behind a tab; a last
/// line of '*' and the part before it when files are candidates.
[[nodiscard]] std::string words_text(const Completion& completion);

/// The script of bash, zsh or fish; nothing for another shell.
[[nodiscard]] std::optional<std::string_view> completion_script(std::string_view shell);

}  // namespace onbeat::cli
