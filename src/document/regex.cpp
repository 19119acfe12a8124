#include "document/regex.hpp"

#include <fmt/format.h>
#include <re2/re2.h>

namespace onbeat::document {
namespace {

/// Without blanks and comments, except in classes and behind a backslash.
std::string compact(std::string_view pattern) {
  std::string out;
  bool in_class = false;
  for (std::size_t i = 0; i < pattern.size(); ++i) {
    const char c = pattern[i];
    if (c == '\\' && i + 1 < pattern.size()) {
      out += c;
      out += pattern[++i];
    } else if (in_class) {
      in_class = c != ']';
      out += c;
    } else if (c == '#') {
      while (i + 1 < pattern.size() && pattern[i + 1] != '\n') ++i;
    } else if (c != ' ' && c != '\t' && c != '\n') {
      in_class = c == '[';
      out += c;
    }
  }
  return out;
}

}  // namespace

std::expected<Regex, std::string> Regex::compile(std::string_view pattern, std::string_view flags) {
  std::string inline_flags;
  std::string text(pattern);
  for (const char flag : flags) {
    if (flag == 'i' || flag == 'm' || flag == 's' || flag == 'U') {
      inline_flags += flag;
    } else if (flag == 'x') {
      text = compact(pattern);
    } else if (flag != 'u') {
      return std::unexpected(fmt::format("unknown flag {} of a regular expression", flag));
    }
  }
  if (!inline_flags.empty()) text = fmt::format("(?{}){}", inline_flags, text);
  RE2::Options options;
  options.set_log_errors(false);
  Regex regex;
  const auto compiled = std::make_shared<const RE2>(text, options);
  if (!compiled->ok()) {
    return std::unexpected(
        fmt::format("the regular expression is malformed: {}", compiled->error()));
  }
  regex.compiled_ = compiled;
  return regex;
}

bool Regex::found_in(std::string_view text) const {
  return RE2::PartialMatch(re2::StringPiece(text.data(), text.size()), *compiled_);
}

}  // namespace onbeat::document
