// A comparison as rows of plain text, which text, HTML and Markdown share. Private to the writers.
#pragma once

#include "compare/comparison.hpp"

#include <string>
#include <vector>

namespace onbeat::compare {

struct Cells {
  std::string metric, base, next, change, interval, p, verdict;
};

/// One a metric; gated ones are marked with an asterisk.
[[nodiscard]] std::vector<Cells> cells_of(const Comparison& comparison);
/// "5 runs of http://127.0.0.1:8080/".
[[nodiscard]] std::string side_text(std::size_t runs, const std::string& name);
/// What the columns mean and when something is a regression, in sentences.
[[nodiscard]] std::string how_judged(const Comparison& comparison);

}  // namespace onbeat::compare
