#include "document/row_shape.hpp"

#include "document/delimited.hpp"

namespace onbeat::document {
namespace {

std::size_t blank_lines(std::string_view text, bool last) noexcept {
  std::size_t begin = 0;
  while (true) {
    const std::size_t at = text.find_first_not_of(" \t\r", begin);
    if (at == std::string_view::npos) return last ? text.size() : begin;
    if (text[at] != '\n') return begin;
    begin = at + 1;
  }
}

}  // namespace

std::size_t RowShape::leading(std::string_view text, bool last) const noexcept {
  return format == DataFormat::ndjson ? blank_lines(text, last) : skipped_lines(text, last);
}

std::size_t RowShape::length(std::string_view text, bool last) const noexcept {
  const std::size_t line = text.find('\n');
  if (format == DataFormat::ndjson || !multi_line || !text.substr(0, line).contains('"')) {
    if (line != std::string_view::npos) return line + 1;
    return last ? text.size() : std::string_view::npos;
  }
  Field field;
  do {
    field = next_field(text, field.next, delimiter);
  } while (!field.ends_row);
  return field.has_break || last ? field.next : std::string_view::npos;
}

}  // namespace onbeat::document
