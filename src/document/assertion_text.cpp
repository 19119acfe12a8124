#include "document/assertion_text.hpp"

#include "document/gctf_sections.hpp"

#include <algorithm>
#include <array>

namespace onbeat::document {
namespace {

bool is_operand(std::string_view text) noexcept {
  constexpr std::array<std::string_view, 4> kWords{"null", "true", "false", "empty"};
  if (text.empty()) return false;
  const char c = text[0];
  if ((c >= '0' && c <= '9') || std::string_view(".$\"'([{@").find(c) != std::string_view::npos) {
    return true;
  }
  return std::ranges::any_of(kWords, [&](std::string_view word) {
    if (!text.starts_with(word)) return false;
    const std::string_view rest = trimmed(text.substr(word.size()));
    return rest.empty() || std::string_view("=!<>|)").find(rest[0]) != std::string_view::npos;
  });
}

/// Whether a regex literal, rather than a division, can begin behind `before`.
bool regex_may_begin(std::string_view before) noexcept {
  before = trimmed(before);
  return before.ends_with("matches") || before.ends_with(',') || before.ends_with('(');
}

/// The offset behind the closing slash; npos: it is not closed.
std::size_t regex_end(std::string_view line, std::size_t at) noexcept {
  for (++at; at < line.size(); ++at) {
    if (line[at] == '\\') {
      ++at;
    } else if (line[at] == '/') {
      return at + 1;
    }
  }
  return std::string_view::npos;
}

}  // namespace

std::string_view without_comment(std::string_view line) noexcept {
  char quote = 0;
  for (std::size_t i = 0; i < line.size(); ++i) {
    const char c = line[i];
    if (quote != 0) {
      if (c == '\\') {
        ++i;
      } else if (c == quote) {
        quote = 0;
      }
    } else if (c == '"' || c == '\'') {
      quote = c;
    } else if (c == '#') {
      return trimmed(line.substr(0, i));
    } else if (c == '/' && line.substr(i, 2) == "//") {
      const bool after_blank = i == 0 || line[i - 1] == ' ' || line[i - 1] == '\t';
      if (after_blank && !is_operand(trimmed(line.substr(i + 2)))) {
        return trimmed(line.substr(0, i));
      }
      ++i;
    } else if (c == '/' && regex_may_begin(line.substr(0, i))) {
      const std::size_t end = regex_end(line, i);
      if (end != std::string_view::npos) i = end - 1;
    }
  }
  return trimmed(line);
}

}  // namespace onbeat::document
