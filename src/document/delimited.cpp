#include "document/delimited.hpp"

#include <algorithm>
#include <cstring>

namespace onbeat::document {
namespace {

/// Sets what depends on where the field ended: at a delimiter, a line break or the end.
void end_field(Field& field, std::string_view text, std::size_t at) noexcept {
  field.ends_row = at == text.size() || text[at] == '\n';
  field.has_break = at < text.size() && text[at] == '\n';
  field.next = std::min(at + 1, text.size());
}

std::size_t find_end(std::string_view text, std::size_t at, char delimiter) noexcept {
  while (at < text.size() && text[at] != delimiter && text[at] != '\n') ++at;
  return at;
}

Field quoted_field(std::string_view text, std::size_t open, char delimiter) noexcept {
  Field field{.quoted = true};
  std::size_t close = open + 1;
  while (true) {
    close = text.find('"', close);
    if (close == std::string_view::npos) {
      field.text = text.substr(open + 1);
      field.fault = FieldFault::open_quote;
      field.fault_at = open;
      end_field(field, text, text.size());
      return field;
    }
    if (close + 1 == text.size() || text[close + 1] != '"') break;
    field.doubled = true;
    close += 2;
  }
  field.text = text.substr(open + 1, close - open - 1);
  std::size_t end = find_end(text, close + 1, delimiter);
  const std::string_view rest = text.substr(close + 1, end - close - 1);
  const bool only_break = rest == "\r" && (end == text.size() || text[end] == '\n');
  if (!rest.empty() && !only_break) {
    field.fault = FieldFault::text_after_quote;
    field.fault_at = close + 1;
  }
  end_field(field, text, end);
  return field;
}

}  // namespace

Field next_field(std::string_view text, std::size_t at, char delimiter) noexcept {
  if (at < text.size() && text[at] == '"') return quoted_field(text, at, delimiter);
  Field field;
  const std::size_t end = find_end(text, at, delimiter);
  end_field(field, text, end);
  field.text = text.substr(at, end - at);
  if (field.has_break && field.text.ends_with('\r')) field.text.remove_suffix(1);
  return field;
}

std::size_t skipped_lines(std::string_view text, bool last) noexcept {
  std::size_t at = 0;
  while (at < text.size()) {
    if (text[at] == '\n') {
      ++at;
    } else if (text.substr(at).starts_with("\r\n")) {
      at += 2;
    } else if (text[at] == '#') {
      const std::size_t end = text.find('\n', at);
      if (end == std::string_view::npos) return last ? text.size() : at;
      at = end + 1;
    } else {
      break;
    }
  }
  return at;
}

void append_value(const Field& field, std::string& out) {
  if (!field.doubled) {
    out += field.text;
    return;
  }
  for (std::size_t i = 0; i < field.text.size(); ++i) {
    out += field.text[i];
    if (field.text[i] == '"') ++i;
  }
}

}  // namespace onbeat::document
