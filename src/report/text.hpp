// The final report on a terminal: one screen of 80 columns, read top down. docs/measuring.md says
// what each line means.
#pragma once

#include "run/report.hpp"

#include <string>

namespace onbeat::report {

struct TextStyle {
  bool color = false;
  std::size_t width = 80;  // at least 60
};

/// Ends with a newline. Text from outside is made harmless to the terminal.
[[nodiscard]] std::string to_text(const run::Report& report, const TextStyle& style = {});

}  // namespace onbeat::report
