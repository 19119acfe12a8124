#include "document/gctf.hpp"

#include <fmt/format.h>

#include <algorithm>

namespace onbeat::document {

bool has_errors(const std::vector<Diagnostic>& diagnostics) noexcept {
  return std::ranges::any_of(diagnostics, [](const Diagnostic& diagnostic) {
    return diagnostic.severity == Diagnostic::Severity::error;
  });
}

options::Problem problem_of(const std::string& path, const Diagnostic& diagnostic) {
  return {
      .where = fmt::format("{}:{}:{}", path, diagnostic.at.line, diagnostic.at.column),
      .message = diagnostic.message,
      .hint = diagnostic.hint,
      .text = {},
  };
}

Position Chain::position(std::uint32_t offset) const {
  const auto line = std::ranges::upper_bound(line_begins, offset);
  if (line == line_begins.begin()) return {1, offset + 1};
  return {static_cast<std::uint32_t>(line - line_begins.begin()), offset - *std::prev(line) + 1};
}

}  // namespace onbeat::document
