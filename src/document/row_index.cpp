#include "document/row_index.hpp"

namespace onbeat::document {

void RowIndex::add(std::uint64_t offset) {
  if ((rows_ & (stride() - 1)) == 0) {
    if (offsets_.size() == kEntries) {
      for (std::size_t i = 0; i < kEntries / 2; ++i) offsets_[i] = offsets_[2 * i];
      offsets_.resize(kEntries / 2);
      ++stride_bits_;
    }
    offsets_.push_back(offset);
  }
  ++rows_;
}

}  // namespace onbeat::document
