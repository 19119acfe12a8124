#include "document/data.hpp"
#include "document/delimited.hpp"
#include "document/json_line.hpp"

#include <algorithm>

namespace onbeat::document {
namespace {

/// Rows in order are read in large pieces; in random order most of a piece would be for nothing,
/// but the next known beginning may be a stride away.
std::size_t block_of(RowOrder order, const FileState& state, const RowIndex& index) {
  constexpr std::uint64_t kLargest = 1 << 16;
  constexpr std::uint64_t kSmallest = 1 << 9;
  if (order == RowOrder::sequential) return kLargest;
  return std::clamp(2 * (state.size / index.rows() + 1) * index.stride(), kSmallest, kLargest);
}

DataFault fault_of(ReadFault fault) {
  return fault == ReadFault::changed ? DataFault::changed : DataFault::unreadable;
}

}  // namespace

DataReader::DataReader(const DataSource& source, std::vector<std::uint32_t> columns,
                       std::optional<RowOrder> access)
    : source_(source),
      columns_(std::move(columns)),
      values_(source.columns_.size()),
      block_(block_of(access.value_or(source.options_.order), source.state_, source.index_)),
      window_(source.descriptor_, source.state_,
              std::min<std::size_t>(source.state_.size, source.longest_row_ + block_)) {
  // What is unescaped never grows, so that it fits and values_ may point into it.
  scratch_.reserve(source.longest_row_);
  window_.move_to(source.index_.before(0).offset);
}

std::expected<std::span<const std::string_view>, DataFault> DataReader::row(std::uint64_t n) {
  const auto row = source_.row_of(n);
  if (!row) return std::unexpected(DataFault::ended);
  if (const auto found = go_to(*row); !found) return std::unexpected(found.error());
  scratch_.clear();
  const std::string_view text = window_.text().substr(0, length_);
  const bool sound =
      source_.format() == DataFormat::ndjson ? split_json(text) : split_delimited(text);
  if (!sound) return std::unexpected(DataFault::changed);
  return values_;
}

std::expected<void, DataFault> DataReader::go_to(std::uint64_t row) {
  const RowIndex::Entry known = source_.index_.before(row);
  if (row < row_ || known.row > row_) {
    window_.move_to(known.offset);
    row_ = known.row;
    length_ = 0;
  }
  for (auto found = find_row(); row_ < row; found = find_row()) {
    if (!found) return found;
    window_.skip(length_);
    ++row_;
    length_ = 0;
  }
  return find_row();
}

std::expected<void, DataFault> DataReader::find_row() {
  if (length_ != 0) return {};
  while (true) {
    window_.skip(source_.shape_.leading(window_.text(), window_.last()));
    const std::size_t length = source_.shape_.length(window_.text(), window_.last());
    if (length != std::string_view::npos && length != 0 && length <= source_.longest_row_) {
      length_ = length;
      return {};
    }
    // The check saw a row here, and none that is longer: this is not what was checked.
    if (window_.last() || window_.text().size() > source_.longest_row_)
      return std::unexpected(DataFault::changed);
    if (const auto read = window_.extend(block_); !read) {
      return std::unexpected(fault_of(read.error()));
    }
  }
}

bool DataReader::split_delimited(std::string_view row) {
  Field field;
  std::uint32_t at = 0;
  for (const std::uint32_t column : columns_) {
    for (; at <= column; ++at) {
      if (field.ends_row) return false;
      field = next_field(row, field.next, source_.shape_.delimiter);
    }
    values_[column] = field.text;
    if (field.doubled) {
      const std::size_t begin = scratch_.size();
      append_value(field, scratch_);
      values_[column] = std::string_view(scratch_).substr(begin);
    }
  }
  return true;
}

bool DataReader::split_json(std::string_view row) {
  while (row.ends_with('\n') || row.ends_with('\r')) row.remove_suffix(1);
  for (const std::uint32_t column : columns_) values_[column] = std::string_view("");
  JsonWalk walk(row);
  JsonMember member;
  while (walk.next(member)) {
    const std::string_view key = member.key_escaped ? unescaped(member.key) : member.key;
    const auto column = std::ranges::find_if(
        columns_, [&](std::uint32_t wanted) { return source_.columns_[wanted] == key; });
    if (column == columns_.end()) continue;
    if (member.escaped) {
      values_[*column] = unescaped(member.value);
    } else if (member.is_text || member.value != "null") {
      values_[*column] = member.value;
    } else {
      values_[*column] = std::string_view("");
    }
  }
  return walk.fault().empty();
}

std::string_view DataReader::unescaped(std::string_view text) {
  const std::size_t begin = scratch_.size();
  append_unescaped(text, scratch_);
  return std::string_view(scratch_).substr(begin);
}

}  // namespace onbeat::document
