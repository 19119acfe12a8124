// Rows of a data file (CSV, TSV, NDJSON) for the variables of requests.
//
// open() reads the file once (about 3 ns a byte), checks every row and keeps a coarse index of
// where rows begin (at most 1 MiB); rows themselves stay on disk. Each loop owns a DataReader,
// which reads ahead into a buffer of its own: no lock, no allocation once warm, one pread per 64
// KiB of rows (in random order: one per row, about 1.5 us). Memory is the same for any size of
// file. Which row an arrival takes is a pure function of its number.
//
// A DataSource is immutable and may be read from any thread; it must outlive its readers.
#pragma once

#include "document/file_window.hpp"
#include "document/row_index.hpp"
#include "document/row_order.hpp"
#include "document/row_shape.hpp"
#include "options/settings.hpp"

#include <cstdint>
#include <expected>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace onbeat::document {

/// "csv", "tsv", "ndjson" and its other names "json" and "jsonl".
[[nodiscard]] std::optional<DataFormat> data_format(std::string_view name);

struct DataOptions {
  std::string path;
  std::string name;                  // empty: the file's name without folder and extension
  std::optional<DataFormat> format;  // absent: by extension, else by the first line
  std::optional<char> delimiter;     // CSV only; absent: a comma
  bool header = true;                // false: CSV and TSV columns are named "1", "2", ...
  RowOrder order = RowOrder::sequential;
  OnEnd on_end = OnEnd::loop;
  std::uint64_t seed = 1;  // of the run
};

/// Why a row cannot be had during a run.
enum class DataFault : std::uint8_t {
  ended,       // there are no more rows, and OnEnd is stop
  changed,     // the file is no longer what it was when it was checked
  unreadable,  // reading failed
};
/// "data_ended", "data_changed", "data_unreadable": classes of errors.
[[nodiscard]] std::string_view to_string(DataFault fault) noexcept;

class DataSource {
 public:
  /// No row may be longer.
  static constexpr std::size_t kLongestRow = std::size_t{16} << 20;
  /// No more problems are listed.
  static constexpr std::size_t kMostProblems = 20;

  /// Opens and checks the file. Blocks. All problems at once, in the order of the
  /// file; Problem::where is "file:line:column", from 1, columns in bytes.
  [[nodiscard]] static std::expected<std::unique_ptr<const DataSource>,
                                     std::vector<options::Problem>>
  open(const DataOptions& options);

  ~DataSource();
  DataSource(const DataSource&) = delete;
  DataSource& operator=(const DataSource&) = delete;

  [[nodiscard]] const std::string& name() const noexcept { return options_.name; }
  [[nodiscard]] const std::vector<std::string>& columns() const noexcept { return columns_; }
  /// "user.id" for each column, in their order: what templates may name.
  [[nodiscard]] std::vector<std::string> variables() const;
  [[nodiscard]] std::uint64_t bytes() const noexcept { return state_.size; }
  [[nodiscard]] DataFormat format() const noexcept { return *options_.format; }
  /// At least 1.
  [[nodiscard]] std::uint64_t rows() const noexcept { return index_.rows(); }
  /// The row that arrival `n` takes; absent when the rows have run out.
  [[nodiscard]] std::optional<std::uint64_t> row_of(std::uint64_t n) const noexcept;

 private:
  friend class DataReader;
  friend class DataCheck;
  explicit DataSource(DataOptions options) : options_(std::move(options)) {}

  DataOptions options_;  // with every choice made
  int descriptor_ = -1;
  FileState state_;
  std::vector<std::string> columns_;
  RowIndex index_;
  RowShape shape_;
  std::size_t longest_row_ = 0;  // or comment: bytes with the line break
};

class DataReader {
 public:
  /// Reads `columns` (indexes of source.columns(), rising, without repeats) alone. `access`: in
  /// which order rows will be asked for; absent: that of the source's options.
  DataReader(const DataSource& source, std::vector<std::uint32_t> columns,
             std::optional<RowOrder> access = std::nullopt);

  /// The values of arrival n's row, one a column of the source; those that were not asked for
  /// have no data. Valid until the next call. Any order of n; a rising one is fastest.
  [[nodiscard]] std::expected<std::span<const std::string_view>, DataFault> row(std::uint64_t n);

 private:
  [[nodiscard]] std::expected<void, DataFault> go_to(std::uint64_t row);
  [[nodiscard]] std::expected<void, DataFault> find_row();
  bool split_delimited(std::string_view row);
  bool split_json(std::string_view row);
  [[nodiscard]] std::string_view unescaped(std::string_view text);

  const DataSource& source_;
  std::vector<std::uint32_t> columns_;
  std::vector<std::string_view> values_;
  std::string scratch_;  // values that differ from what stands in the file
  std::size_t block_;    // read at once
  FileWindow window_;
  std::uint64_t row_ = 0;   // the row that begins at or after the window's position
  std::size_t length_ = 0;  // of that row when it begins at the position; 0: not known yet
};

}  // namespace onbeat::document
