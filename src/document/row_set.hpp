// The rows of a run: those of the primary source, filtered, each with what the dimensions have for
// it. Which row an arrival takes is a pure function of its number, as with one file; the primary
// streams, and only what stands in the dimensions' budget is in memory.
//
//   auto rows = RowSet::open(read_sources(chain, diagnostics), {.seed = seed});
//   auto prepared = PreparedChain::prepare(chain, (*rows)->variables(), environment);
//   RowReader reader(**rows, (*prepared)->row_slots());       // one a loop
//   variables.begin(*reader.row(n));
#pragma once

#include "document/data.hpp"
#include "document/dimension.hpp"
#include "document/source_list.hpp"

namespace onbeat::document {

struct RowSetOptions {
  std::uint64_t seed = 1;  // of the run
  /// For each dimension that does not say its own, in bytes.
  std::uint64_t memory_budget = std::uint64_t{512} << 20;
};

/// Half of the memory that is available, between 32 and 512 MiB; or what the text says (the
/// variable GRPCTESTIFY_DIMENSION_MEMORY_BUDGET: "64mb", units of 1024), if it is a size.
[[nodiscard]] std::uint64_t default_memory_budget(std::optional<std::string_view> text);

/// Immutable; any thread may read it; must outlive its readers.
class RowSet {
 public:
  /// `sources`: at least one, the primary first. Opens and checks all files, and goes through the
  /// primary once more when a filter or an inner join may leave rows out. All problems at once.
  [[nodiscard]] static std::expected<std::unique_ptr<const RowSet>, std::vector<options::Problem>>
  open(const std::vector<SourceDescription>& sources, const RowSetOptions& options);

  /// "user.id" for each column of the primary, then of each dimension.
  [[nodiscard]] std::vector<std::string> variables() const;
  /// Rows in one pass: those that are left, times the combinations of cross joins.
  [[nodiscard]] std::uint64_t rows() const noexcept { return accepted_ * combinations_; }
  [[nodiscard]] const DataSource& primary() const noexcept { return *primary_; }
  [[nodiscard]] const std::vector<std::unique_ptr<const Dimension>>& dimensions() const noexcept {
    return dimensions_;
  }

 private:
  friend class RowReader;
  friend class RowSetBuilder;
  RowSet() = default;

  SourceDescription description_;  // of the primary
  std::uint64_t seed_ = 1;
  std::unique_ptr<const DataSource> primary_;
  RowFilters filters_;
  std::vector<std::unique_ptr<const Dimension>> dimensions_;
  std::vector<std::vector<std::uint32_t>> keys_;  // columns of the primary, for each dimension
  bool selective_ = false;                        // some rows of the primary are left out
  std::uint64_t accepted_ = 0;                    // rows of the primary that are left
  std::uint64_t combinations_ = 1;                // of the cross joins
  RowIndex index_;                                // of the accepted rows, as rows of the primary
};

/// Lookups of dimensions, for the report.
struct JoinCounts {
  std::uint64_t lookups = 0, hits = 0, in_memory = 0;
};

/// One a loop; allocates nothing once warm.
class RowReader {
 public:
  /// Reads `columns` (indexes of rows.variables(), rising) of the primary alone; dimensions give
  /// all of theirs.
  RowReader(const RowSet& rows, std::span<const std::uint32_t> columns);

  /// The values of arrival n's row, in the order of rows.variables(). A left join without a match
  /// gives empty texts. Valid until the next call.
  [[nodiscard]] std::expected<std::span<const std::string_view>, DataFault> row(std::uint64_t n);
  [[nodiscard]] const JoinCounts& counts() const noexcept { return counts_; }

 private:
  friend class RowSetBuilder;
  using Values = std::span<const std::string_view>;
  [[nodiscard]] std::expected<Values, DataFault> primary_row(std::uint64_t accepted);
  [[nodiscard]] std::expected<void, DataFault> join(Values primary, std::uint64_t combination);
  [[nodiscard]] Values key_of(std::size_t dimension, Values primary);
  [[nodiscard]] std::expected<bool, DataFault> accepts(Values primary);

  const RowSet& rows_;
  DataReader primary_;
  std::vector<DimensionReader> dimensions_;
  std::vector<std::string_view> values_, key_;
  std::uint64_t ordinal_ = 0;  // of the accepted row that begins at or behind next_
  std::uint64_t next_ = 0;     // row of the primary
  JoinCounts counts_;
};

}  // namespace onbeat::document
