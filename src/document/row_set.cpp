#include "document/row_set.hpp"

#include "document/gctf_entries.hpp"
#include "document/row_order.hpp"
#include "options/nearest.hpp"

#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <limits>

namespace onbeat::document {

std::uint64_t default_memory_budget(std::optional<std::string_view> text) {
  constexpr std::uint64_t kLeast = std::uint64_t{32} << 20;
  constexpr std::uint64_t kMost = std::uint64_t{512} << 20;
  if (text) {
    if (const auto size = parse_binary_size(*text)) return *size;
  }
  const auto pages = static_cast<std::uint64_t>(std::max(0L, ::sysconf(_SC_AVPHYS_PAGES)));
  const auto page = static_cast<std::uint64_t>(std::max(0L, ::sysconf(_SC_PAGESIZE)));
  return std::clamp(pages * page / 2, kLeast, kMost);
}

class RowSetBuilder {
 public:
  RowSetBuilder(const std::vector<SourceDescription>& sources, const RowSetOptions& options)
      : sources_(sources), options_(options) {}

  std::expected<std::unique_ptr<const RowSet>, std::vector<options::Problem>> build() {
    set_->description_ = sources_.front();
    set_->seed_ = options_.seed;
    open_primary();
    for (std::size_t i = 1; i < sources_.size(); ++i) open_dimension(sources_[i]);
    if (problems_.empty()) count_rows();
    if (!problems_.empty()) return std::unexpected(std::move(problems_));
    return std::move(set_);
  }

 private:
  void problem(std::string where, std::string message, std::string hint = {}) {
    problems_.push_back({.where = std::move(where),
                         .message = std::move(message),
                         .hint = std::move(hint),
                         .text = {}});
  }
  void take(std::vector<options::Problem> problems) {
    for (options::Problem& one : problems) problems_.push_back(std::move(one));
  }

  void open_primary() {
    DataOptions data = sources_.front().data;
    data.order = RowOrder::sequential;  // the order is that of the accepted rows
    data.on_end = OnEnd::loop;
    auto source = DataSource::open(data);
    if (!source) return take(std::move(source.error()));
    set_->primary_ = std::move(*source);
    auto filters = RowFilters::make(sources_.front().filters, set_->primary_->columns());
    if (!filters) return problem(data.path, filters.error());
    set_->filters_ = std::move(*filters);
    set_->selective_ = !sources_.front().filters.empty();
  }

  void open_dimension(const SourceDescription& description) {
    auto dimension = Dimension::open(description, options_.memory_budget);
    if (!dimension) return take(std::move(dimension.error()));
    std::vector<std::uint32_t> keys;
    if (description.join == JoinType::cross) {
      multiply(**dimension);
    } else if (set_->primary_) {
      keys = keys_of(description);
      set_->selective_ = set_->selective_ || description.join == JoinType::inner;
    }
    set_->dimensions_.push_back(std::move(*dimension));
    set_->keys_.push_back(std::move(keys));
  }

  void multiply(const Dimension& dimension) {
    const std::uint64_t rows = dimension.rows();
    if (rows == 0) return problem(dimension.description().data.path, "no row passes its filters");
    if (set_->combinations_ > std::numeric_limits<std::uint32_t>::max() / rows) {
      return problem(dimension.description().data.path, "too many combinations");
    }
    set_->combinations_ *= rows;
  }

  std::vector<std::uint32_t> keys_of(const SourceDescription& description) {
    const std::vector<std::string>& columns = set_->primary_->columns();
    std::vector<std::uint32_t> keys;
    for (const std::string& name : description.indexed_by) {
      const auto found = std::ranges::find(columns, name);
      if (found == columns.end()) {
        const std::vector<std::string_view> known(columns.begin(), columns.end());
        const auto nearest = options::nearest(name, known);
        problem(set_->description_.data.path,
                fmt::format("there is no column {} to join {} by", name, description.data.name),
                nearest ? fmt::format("did you mean {}?", *nearest) : std::string());
        return {};
      }
      keys.push_back(static_cast<std::uint32_t>(found - columns.begin()));
    }
    return keys;
  }

  void count_rows() {
    set_->accepted_ = set_->primary_->rows();
    if (!set_->selective_) return;
    RowReader reader(*set_, {});
    set_->accepted_ = 0;
    for (std::uint64_t row = 0; row < set_->primary_->rows(); ++row) {
      const auto values = reader.primary_.row(row);
      const auto accepted = values ? reader.accepts(*values) : std::unexpected(values.error());
      if (!accepted)
        return problem(set_->description_.data.path, "the file changed while it was read");
      if (*accepted) set_->index_.add(row);
    }
    set_->accepted_ = set_->index_.rows();
    if (set_->accepted_ == 0) {
      problem(set_->description_.data.path,
              "no row passes the filters and has a match in each inner join");
    }
  }

  const std::vector<SourceDescription>& sources_;
  const RowSetOptions& options_;
  std::unique_ptr<RowSet> set_{new RowSet};
  std::vector<options::Problem> problems_;
};

std::expected<std::unique_ptr<const RowSet>, std::vector<options::Problem>> RowSet::open(
    const std::vector<SourceDescription>& sources, const RowSetOptions& options) {
  return RowSetBuilder(sources, options).build();
}

std::vector<std::string> RowSet::variables() const {
  std::vector<std::string> names = primary_->variables();
  for (const auto& dimension : dimensions_) {
    for (std::string& name : dimension->source().variables()) names.push_back(std::move(name));
  }
  return names;
}

namespace {

/// What is asked for, and what filters and joins look at.
std::vector<std::uint32_t> columns_of(std::size_t count, std::span<const std::uint32_t> asked,
                                      const RowFilters& filters,
                                      const std::vector<std::vector<std::uint32_t>>& keys) {
  std::vector<std::uint32_t> columns;
  for (const std::uint32_t column : asked) {
    if (column < count) columns.push_back(column);
  }
  const auto used = filters.columns();
  columns.insert(columns.end(), used.begin(), used.end());
  for (const auto& key : keys) columns.insert(columns.end(), key.begin(), key.end());
  std::ranges::sort(columns);
  columns.erase(std::ranges::unique(columns).begin(), columns.end());
  return columns;
}

}  // namespace

RowReader::RowReader(const RowSet& rows, std::span<const std::uint32_t> columns)
    : rows_(rows),
      primary_(*rows.primary_,
               columns_of(rows.primary_->columns().size(), columns, rows.filters_, rows.keys_),
               rows.description_.data.order) {
  std::size_t count = rows.primary_->columns().size();
  for (const auto& dimension : rows.dimensions_) {
    dimensions_.emplace_back(*dimension);
    count += dimension->source().columns().size();
  }
  values_.resize(count);
}

RowReader::Values RowReader::key_of(std::size_t dimension, Values primary) {
  key_.clear();
  for (const std::uint32_t column : rows_.keys_[dimension]) key_.push_back(primary[column]);
  return key_;
}

/// Whether a row of the primary passes its filters and has a match in each inner join.
std::expected<bool, DataFault> RowReader::accepts(Values primary) {
  if (!rows_.filters_.accept(primary)) return false;
  for (std::size_t i = 0; i < dimensions_.size(); ++i) {
    if (rows_.dimensions_[i]->description().join != JoinType::inner) continue;
    const auto found = dimensions_[i].has(key_of(i, primary));
    if (!found || !*found) return found;
  }
  return true;
}

std::expected<RowReader::Values, DataFault> RowReader::primary_row(std::uint64_t accepted) {
  if (!rows_.selective_) return primary_.row(accepted);
  const RowIndex::Entry known = rows_.index_.before(accepted);
  if (accepted < ordinal_ || known.row > ordinal_) {
    ordinal_ = known.row;
    next_ = known.offset;
  }
  while (true) {
    const auto values = primary_.row(next_++);
    if (!values) return values;
    const auto wanted = accepts(*values);
    if (!wanted) return std::unexpected(wanted.error());
    if (*wanted && ordinal_++ == accepted) return values;
    if (next_ >= rows_.primary_->rows()) return std::unexpected(DataFault::changed);
  }
}

std::expected<void, DataFault> RowReader::join(Values primary, std::uint64_t combination) {
  auto out = std::ranges::copy(primary, values_.begin()).out;
  for (std::size_t i = 0; i < dimensions_.size(); ++i) {
    const Dimension& dimension = *rows_.dimensions_[i];
    const auto count = static_cast<std::ptrdiff_t>(dimension.source().columns().size());
    std::optional<Values> found;
    if (dimension.description().join == JoinType::cross) {
      const auto values = dimensions_[i].at(combination % dimension.rows());
      combination /= dimension.rows();
      if (!values) return std::unexpected(values.error());
      found = *values;
    } else {
      const auto values = dimensions_[i].find(key_of(i, primary));
      if (!values) return std::unexpected(values.error());
      found = *values;
    }
    ++counts_.lookups;
    counts_.hits += found ? 1 : 0;
    counts_.in_memory += dimension.in_memory() ? 1 : 0;
    if (found) {
      std::ranges::copy(*found, out);
    } else {
      std::fill_n(out, count, std::string_view(""));
    }
    out += count;
  }
  return {};
}

std::expected<std::span<const std::string_view>, DataFault> RowReader::row(std::uint64_t n) {
  const DataOptions& data = rows_.description_.data;
  const auto index = row_of(n, rows_.rows(), data.order, data.on_end, rows_.seed_);
  if (!index) return std::unexpected(DataFault::ended);
  const auto primary = primary_row(*index / rows_.combinations_);
  if (!primary || dimensions_.empty()) return primary;
  if (const auto joined = join(*primary, *index % rows_.combinations_); !joined) {
    return std::unexpected(joined.error());
  }
  return Values(values_);
}

}  // namespace onbeat::document
