#include "document/dimension.hpp"

#include "options/nearest.hpp"
#include <onbeat/kernel/random.hpp>

#include <fmt/format.h>

#include <algorithm>
#include <numeric>

namespace onbeat::document {
namespace {

std::vector<std::uint32_t> all_columns(const DataSource& source) {
  std::vector<std::uint32_t> columns(source.columns().size());
  std::iota(columns.begin(), columns.end(), 0U);
  return columns;
}

std::uint64_t hash_text(std::string_view text, std::uint64_t seed) noexcept {
  // FNV-1a, stirred: keys are compared after it, so that it need only spread.
  std::uint64_t hash = 0xcbf29ce484222325ULL ^ seed;
  for (const char c : text) hash = (hash ^ static_cast<unsigned char>(c)) * 0x100000001b3ULL;
  return kernel::splitmix64(hash, text.size());
}

std::uint64_t hash_key(std::span<const std::string_view> key) noexcept {
  std::uint64_t hash = 0;
  for (const std::string_view part : key) hash = hash_text(part, hash);
  return hash;
}

}  // namespace

std::expected<std::unique_ptr<const Dimension>, std::vector<options::Problem>> Dimension::open(
    const SourceDescription& description, std::uint64_t budget) {
  DataOptions options = description.data;
  options.order = RowOrder::sequential;
  options.on_end = OnEnd::loop;
  auto source = DataSource::open(options);
  if (!source) return std::unexpected(std::move(source.error()));
  std::unique_ptr<Dimension> dimension(new Dimension(description, std::move(*source)));
  const std::uint64_t own = description.memory_budget.value_or(budget);
  if (auto problem = dimension->build(own)) {
    return std::unexpected(std::vector<options::Problem>{std::move(*problem)});
  }
  return dimension;
}

std::optional<options::Problem> Dimension::problem(std::string message, std::string hint) const {
  return options::Problem{.where = description_.data.path,
                          .message = std::move(message),
                          .hint = std::move(hint),
                          .text = {}};
}

std::uint64_t Dimension::hash(std::span<const std::string_view> values) const noexcept {
  std::uint64_t hash = 0;
  for (const std::uint32_t column : keys_) hash = hash_text(values[column], hash);
  return hash;
}

std::optional<options::Problem> Dimension::build(std::uint64_t budget) {
  const std::vector<std::string>& columns = source_->columns();
  if (description_.join == JoinType::cross) description_.indexed_by.clear();
  for (const std::string& name : description_.indexed_by) {
    const auto found = std::ranges::find(columns, name);
    if (found == columns.end()) {
      const std::vector<std::string_view> known(columns.begin(), columns.end());
      const auto nearest = options::nearest(name, known);
      return problem(fmt::format("indexed_by: there is no column {}", name),
                     nearest ? fmt::format("did you mean {}?", *nearest) : std::string());
    }
    keys_.push_back(static_cast<std::uint32_t>(found - columns.begin()));
  }
  const std::uint64_t index_bytes = source_->rows() * sizeof(Entry);
  if (index_bytes > budget) {
    return problem(fmt::format("its index needs {} bytes, the budget is {}", index_bytes, budget),
                   fmt::format("memory_budget: {}mb", (index_bytes >> 20) + 1));
  }
  const std::uint64_t cell_bytes = source_->rows() * (columns.size() + 1) * sizeof(std::uint64_t);
  const bool kept = index_bytes + cell_bytes + source_->bytes() <= budget;
  DataReader reader(*source_, all_columns(*source_), RowOrder::sequential);
  auto accepts = RowFilters::make(description_.filters, columns);
  if (!accepts) return problem(accepts.error());
  for (std::uint64_t row = 0; row < source_->rows(); ++row) {
    const auto values = reader.row(row);
    if (!values) return problem("the file changed while it was read");
    if (!accepts->accept(*values)) continue;
    entries_.push_back({keys_.empty() ? 0 : hash(*values), row});
    if (kept) keep(*values);
  }
  std::ranges::sort(entries_, {},
                    [](const Entry& entry) { return std::pair(entry.hash, entry.row); });
  return std::nullopt;
}

void Dimension::keep(std::span<const std::string_view> values) {
  rows_in_memory_.push_back(entries_.back().row);
  for (const std::string_view value : values) {
    texts_ += value;
    cells_.push_back(texts_.size());
  }
}

DimensionReader::DimensionReader(const Dimension& dimension)
    : dimension_(dimension), values_(dimension.source().columns().size()) {
  if (!dimension.in_memory() && dimension.rows() > 0) {
    file_.emplace(dimension.source(), all_columns(dimension.source()), RowOrder::random);
  }
}

std::expected<DimensionReader::Values, DataFault> DimensionReader::read(std::uint64_t row) {
  if (file_) return file_->row(row);
  const auto found = std::ranges::lower_bound(dimension_.rows_in_memory_, row);
  const auto index = static_cast<std::size_t>(found - dimension_.rows_in_memory_.begin());
  std::size_t cell = index * values_.size();
  std::size_t begin = cell == 0 ? 0 : dimension_.cells_[cell - 1];
  for (std::string_view& value : values_) {
    const std::size_t end = dimension_.cells_[cell++];
    value = std::string_view(dimension_.texts_).substr(begin, end - begin);
    begin = end;
  }
  return Values(values_);
}

std::expected<std::optional<DimensionReader::Values>, DataFault> DimensionReader::find(Values key) {
  const std::uint64_t hash = hash_key(key);
  auto entry = std::ranges::lower_bound(dimension_.entries_, hash, {}, &Dimension::Entry::hash);
  for (; entry != dimension_.entries_.end() && entry->hash == hash; ++entry) {
    const auto values = read(entry->row);
    if (!values) return std::unexpected(values.error());
    bool same = true;
    for (std::size_t i = 0; i < key.size() && same; ++i) {
      same = (*values)[dimension_.keys_[i]] == key[i];
    }
    if (same) return std::optional(*values);
  }
  return std::optional<Values>();
}

std::expected<bool, DataFault> DimensionReader::has(Values key) {
  const auto found = find(key);
  if (!found) return std::unexpected(found.error());
  return found->has_value();
}

std::expected<DimensionReader::Values, DataFault> DimensionReader::at(std::uint64_t n) {
  return read(dimension_.entries_[n].row);
}

}  // namespace onbeat::document
