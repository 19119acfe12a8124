// Rows of comma- or tab-separated text (RFC 4180). No I/O; used by the check of a whole file at
// set-up and by the reader on the hot path, so that both see the same fields.
//
// A field that begins with a double quote ends with the next one that is not doubled, and may hold
// delimiters and line breaks. A quote elsewhere in a field stands for itself. A row ends with LF
// or CRLF.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

namespace onbeat::document {

enum class FieldFault : std::uint8_t { none, open_quote, text_after_quote };

struct Field {
  std::string_view text;  // without its outer quotes; inner ones still doubled
  bool quoted = false;
  bool doubled = false;    // `text` holds doubled quotes
  bool ends_row = false;   // the last field of its row
  bool has_break = false;  // ... and a line break follows it, rather than the end of the text
  FieldFault fault = FieldFault::none;
  std::size_t fault_at = 0;  // in the text
  std::size_t next = 0;      // in the text: the next field, or the next row
};

/// The field at `at` (at most text.size()).
[[nodiscard]] Field next_field(std::string_view text, std::size_t at, char delimiter) noexcept;

/// The length of the blank and '#' comment lines at the beginning of `text`. A line that `text`
/// does not hold with its line break is left, unless it is `last`: the end of the file.
[[nodiscard]] std::size_t skipped_lines(std::string_view text, bool last) noexcept;

/// Appends the field's value.
void append_value(const Field& field, std::string& out);

}  // namespace onbeat::document
