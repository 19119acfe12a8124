// Reports from files: one document, or several one after another.
#pragma once

#include "compare/comparison.hpp"

#include <expected>
#include <string>
#include <string_view>
#include <vector>

namespace onbeat::compare {

/// The JSON documents of a text, each from its first brace to its last; what lies between them but
/// space belongs to the next. At least one, if only an empty one.
[[nodiscard]] std::vector<std::string_view> split_documents(std::string_view text);

/// All runs of a file, or what is wrong with it in one sentence.
[[nodiscard]] std::expected<std::vector<Run>, std::string> read_runs(const std::string& path);

}  // namespace onbeat::compare
