// The `sources` of a BENCH section: data files whose rows fill in the placeholders of documents.
// The first one is the primary, whose rows are dealt to iterations; the others are dimensions,
// joined to it.
#pragma once

#include "document/data.hpp"
#include "document/gctf.hpp"

#include <expected>
#include <optional>
#include <span>
#include <string>
#include <vector>

namespace onbeat::document {

/// All conditions of all filters must hold; a field that is missing fits none.
struct RowFilter {
  enum class Kind : std::uint8_t { equals, contains, at_least, below, one_of };
  Kind kind = Kind::equals;
  std::string field;
  std::vector<std::string> values;  // one, or several of one_of
  [[nodiscard]] bool accepts(std::string_view value) const noexcept;
};

/// Filters bound to the columns of a source. Immutable.
class RowFilters {
 public:
  /// Or which field is no column.
  [[nodiscard]] static std::expected<RowFilters, std::string> make(
      std::vector<RowFilter> filters, const std::vector<std::string>& columns);
  [[nodiscard]] bool accept(std::span<const std::string_view> values) const noexcept;
  [[nodiscard]] const std::vector<std::uint32_t>& columns() const noexcept { return columns_; }

 private:
  std::vector<RowFilter> filters_;
  std::vector<std::uint32_t> columns_;  // of each filter
};

enum class JoinType : std::uint8_t {
  left,   // without a match the dimension's variables are empty texts
  inner,  // a row of the primary without a match is skipped
  cross,  // an iteration for each combination
};

struct SourceDescription {
  DataOptions data;                            // its path resolved against the document's folder
  std::vector<std::string> indexed_by;         // columns of the dimension and of the primary
  std::optional<std::uint64_t> memory_budget;  // bytes
  std::vector<RowFilter> filters;
  JoinType join = JoinType::left;
  Position at;
};

/// "64mb", "1g": units of 1024, as documented for budgets.
[[nodiscard]] std::optional<std::uint64_t> parse_binary_size(std::string_view text);

/// Of the chain's BENCH section; empty when it has none. Appends what is wrong to `diagnostics`.
[[nodiscard]] std::vector<SourceDescription> read_sources(const Chain& chain,
                                                          std::vector<Diagnostic>& diagnostics);

}  // namespace onbeat::document
