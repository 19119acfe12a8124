// parse_header.
#include "options/grammar.hpp"
#include "options/http_grammar.hpp"
#include "options/scan.hpp"

#include <fmt/format.h>

namespace onbeat::options {
namespace {

constexpr std::string_view kHeaderHint = "for example -H 'Accept: text/html', or -H @file";

std::string_view trimmed(std::string_view text) {
  const auto first = text.find_first_not_of(" \t");
  if (first == std::string_view::npos) return {};
  return text.substr(first, text.find_last_not_of(" \t") - first + 1);
}

/// Splits at the first colon. Columns are those of `line`.
Parsing<Header> split_header(std::string_view line) {
  std::size_t colon = 0;
  while (colon < line.size() && is_token(line[colon])) ++colon;
  if (colon == line.size()) {
    return Scanner::fail_at(colon, "the colon after the header's name is missing",
                            std::string(kHeaderHint));
  }
  if (line[colon] != ':' || colon == 0) {
    return Scanner::fail_at(colon, "not the name of a header", std::string(kHeaderHint));
  }
  const std::string_view value = trimmed(line.substr(colon + 1));
  for (const char& c : value) {
    const auto byte = static_cast<unsigned char>(c);
    if ((byte < 0x20 && c != '\t') || byte == 0x7f) {
      return Scanner::fail_at(static_cast<std::size_t>(&c - line.data()),
                              "a control character in the header's value");
    }
  }
  return Header{std::string(line.substr(0, colon)), std::string(value)};
}

Parsing<std::string> substitute(std::string_view value, const HeaderSources& sources) {
  std::string result;
  Scanner scan(value);
  while (!scan.at_end()) {
    if (!scan.take("$")) {
      result += scan.peek();
      scan.skip(1);
      continue;
    }
    const std::size_t start = scan.at();
    if (scan.take("$")) {
      result += '$';
      continue;
    }
    const bool braces = scan.take("{");
    const std::string name(scan.name());
    if (name.empty() || (braces && !scan.take("}"))) {
      scan.back_to(start);
      result += '$';
      continue;
    }
    const auto found = sources.environment(name);
    if (!found) {
      return Scanner::fail_at(0, fmt::format("the environment has no {}", name),
                              "a dollar sign itself is written $$");
    }
    result += *found;
  }
  return result;
}

Parsing<std::vector<Header>> read_headers(const std::string& path, const HeaderSources& sources) {
  const auto text = sources.read_file(path);
  if (!text) return Scanner::fail_at(1, fmt::format("cannot read {}: {}", path, text.error()));
  std::vector<Header> headers;
  std::size_t line_number = 0;
  for (std::string_view rest = *text; !rest.empty();) {
    ++line_number;
    const std::size_t newline = std::min(rest.find('\n'), rest.size());
    std::string_view line = rest.substr(0, newline);
    rest.remove_prefix(std::min(newline + 1, rest.size()));
    if (line.ends_with('\r')) line.remove_suffix(1);
    if (trimmed(line).empty()) continue;
    auto header = split_header(line);
    if (!header) {
      return Scanner::fail_at(1, fmt::format("{}:{}:{}: {}", path, line_number,
                                             header.error().column, header.error().message));
    }
    headers.push_back(std::move(*header));
  }
  if (headers.empty()) return Scanner::fail_at(1, fmt::format("{} has no header", path));
  return headers;
}

}  // namespace

Parsing<std::vector<Header>> parse_header(std::string_view text, const HeaderSources& sources) {
  if (text.starts_with('@')) return read_headers(std::string(text.substr(1)), sources);
  auto header = split_header(text);
  if (!header) return std::unexpected(header.error());
  auto value = substitute(header->value, sources);
  if (!value) {
    value.error().column += text.find(':') + 1;
    return std::unexpected(value.error());
  }
  for (const char c : *value) {
    if (c == '\r' || c == '\n' || c == '\0') {
      return Scanner::fail_at(text.find(':') + 1, "a line break comes in from the environment");
    }
  }
  header->value = std::move(*value);
  return std::vector{std::move(*header)};
}

}  // namespace onbeat::options
