// Where rows begin and end in the text of a data file. No I/O.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string_view>

namespace onbeat::document {

enum class DataFormat : std::uint8_t { csv, tsv, ndjson };

struct RowShape {
  DataFormat format = DataFormat::csv;
  char delimiter = ',';    // of CSV and TSV
  bool multi_line = true;  // fields may hold line breaks; false is faster

  /// The length of what precedes the next row in `text`: blank lines and, except in NDJSON, lines
  /// that begin with '#'. `last`: the file ends where `text` ends.
  [[nodiscard]] std::size_t leading(std::string_view text, bool last) const noexcept;
  /// The length of the row, with its line break, at the beginning of `text`; npos when `text` does
  /// not hold it whole.
  [[nodiscard]] std::size_t length(std::string_view text, bool last) const noexcept;
};

}  // namespace onbeat::document
