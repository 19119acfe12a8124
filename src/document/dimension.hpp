// A data file joined to the rows of another by a key: an index of 16 bytes a row, and the rows
// themselves in memory if the budget allows, else read from the file as they are wanted.
#pragma once

#include "document/data.hpp"
#include "document/source_list.hpp"

#include <expected>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace onbeat::document {

/// Immutable; any thread may read it.
class Dimension {
 public:
  /// Reads the file twice at most. Blocks. `budget`: bytes, unless the description has its own.
  [[nodiscard]] static std::expected<std::unique_ptr<const Dimension>,
                                     std::vector<options::Problem>>
  open(const SourceDescription& description, std::uint64_t budget);

  [[nodiscard]] const DataSource& source() const noexcept { return *source_; }
  [[nodiscard]] const SourceDescription& description() const noexcept { return description_; }
  /// Rows that its filters accept.
  [[nodiscard]] std::uint64_t rows() const noexcept { return entries_.size(); }
  [[nodiscard]] bool in_memory() const noexcept { return !cells_.empty(); }

 private:
  friend class DimensionReader;
  struct Entry {
    std::uint64_t hash = 0;
    std::uint64_t row = 0;  // of the file
  };
  Dimension(SourceDescription description, std::unique_ptr<const DataSource> source)
      : description_(std::move(description)), source_(std::move(source)) {}
  [[nodiscard]] std::optional<options::Problem> build(std::uint64_t budget);
  [[nodiscard]] std::optional<options::Problem> problem(std::string message,
                                                        std::string hint = {}) const;
  [[nodiscard]] std::uint64_t hash(std::span<const std::string_view> values) const noexcept;
  void keep(std::span<const std::string_view> values);

  SourceDescription description_;
  std::unique_ptr<const DataSource> source_;
  std::vector<std::uint32_t> keys_;   // columns
  std::vector<Entry> entries_;        // by hash, then row; of a cross join by row
  std::vector<std::uint64_t> cells_;  // in memory: where each value of each accepted row ends
  std::vector<std::uint64_t> rows_in_memory_;  // file rows in the order of cells_
  std::string texts_;
};

/// One a loop. A value that is returned is valid until the next call.
class DimensionReader {
 public:
  explicit DimensionReader(const Dimension& dimension);

  using Values = std::span<const std::string_view>;
  /// The values of the first row whose key columns are `key`; nothing when there is none.
  [[nodiscard]] std::expected<std::optional<Values>, DataFault> find(Values key);
  /// Of the n-th row that the filters accept; n < rows().
  [[nodiscard]] std::expected<Values, DataFault> at(std::uint64_t n);
  /// Whether find() would give a row.
  [[nodiscard]] std::expected<bool, DataFault> has(Values key);

 private:
  [[nodiscard]] std::expected<Values, DataFault> read(std::uint64_t row);

  const Dimension& dimension_;
  std::optional<DataReader> file_;
  std::vector<std::string_view> values_;
};

}  // namespace onbeat::document
