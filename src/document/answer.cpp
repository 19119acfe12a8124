#include "document/answer.hpp"

#include <algorithm>

namespace onbeat::document {

Variables::Variables(std::size_t row_slots, std::size_t bound)
    : row_slots_(row_slots),
      values_(row_slots + 2 * bound),
      trees_(bound),
      texts_(bound),
      jsons_(bound) {}

void Variables::begin(std::span<const std::string_view> row) {
  std::ranges::fill(values_, std::string_view());
  std::ranges::copy(row.first(std::min(row.size(), row_slots_)), values_.begin());
  for (JsonTree& tree : trees_) tree.clear();
}

JsonTree& Variables::to_bind(std::size_t n) {
  trees_[n].clear();
  return trees_[n];
}

void Variables::bound(std::size_t n) {
  texts_[n].clear();
  jsons_[n].clear();
  append_plain(trees_[n].root(), texts_[n]);
  append_json(trees_[n].root(), jsons_[n]);
  values_[row_slots_ + 2 * n] = texts_[n];
  values_[row_slots_ + 2 * n + 1] = jsons_[n];
}

}  // namespace onbeat::document
