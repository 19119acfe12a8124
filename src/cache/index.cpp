#include "cache/index.hpp"

#include <utility>

namespace onbeat::cache {

void Index::insert(std::uint64_t hash, Slot slot) {
  if (4 * (size_ + 1) > 3 * cells_.size()) grow();
  put({static_cast<std::uint32_t>(hash), slot});
  ++size_;
}

void Index::put(Cell cell) noexcept {
  std::size_t at = cell.tag & mask_;
  while (cells_[at].slot != kNoSlot) at = (at + 1) & mask_;
  cells_[at] = cell;
}

void Index::grow() {
  const std::vector<Cell> old = std::exchange(cells_, std::vector<Cell>(cells_.size() * 2));
  mask_ = cells_.size() - 1;
  for (const Cell& cell : old) {
    if (cell.slot != kNoSlot) put(cell);
  }
}

void Index::erase(std::uint64_t hash, Slot slot) noexcept {
  std::size_t hole = static_cast<std::uint32_t>(hash) & mask_;
  while (cells_[hole].slot != slot) hole = (hole + 1) & mask_;
  for (std::size_t at = (hole + 1) & mask_; cells_[at].slot != kNoSlot; at = (at + 1) & mask_) {
    // What lies as far from its home as the hole is, or farther, may move into it.
    const std::size_t from_home = (at - cells_[at].tag) & mask_;
    const std::size_t from_hole = (at - hole) & mask_;
    if (from_home < from_hole) continue;
    cells_[hole] = cells_[at];
    hole = at;
  }
  cells_[hole] = Cell{};
  --size_;
}

}  // namespace onbeat::cache
