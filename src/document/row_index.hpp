// Where rows begin in a file: the offset of each stride-th row. However many rows there are, it
// holds at most kEntries offsets (1 MiB); it thins out, doubling the stride, as they come.
#pragma once

#include <cstdint>
#include <vector>

namespace onbeat::document {

class RowIndex {
 public:
  static constexpr std::size_t kEntries = std::size_t{1} << 17;

  /// Rows come in order, offsets rising.
  void add(std::uint64_t offset);
  [[nodiscard]] std::uint64_t rows() const noexcept { return rows_; }

  struct Entry {
    std::uint64_t row = 0;
    std::uint64_t offset = 0;
  };
  /// The last known beginning at or before `row` < rows().
  [[nodiscard]] Entry before(std::uint64_t row) const noexcept {
    const std::uint64_t at = row >> stride_bits_;
    return {at << stride_bits_, offsets_[at]};
  }
  [[nodiscard]] std::uint64_t stride() const noexcept { return std::uint64_t{1} << stride_bits_; }

 private:
  std::vector<std::uint64_t> offsets_;
  std::uint64_t rows_ = 0;
  unsigned stride_bits_ = 0;
};

}  // namespace onbeat::document
