// From a hash to a slot: an open-addressing table with linear probing, at most three quarters full.
// Removal moves back what follows, so that nothing is left over from what is gone.
#pragma once

#include "cache/slot_list.hpp"

#include <cstdint>
#include <vector>

namespace onbeat::cache {

class Index {
 public:
  /// The slot for which `is_it(slot)` holds among those put in under `hash`; kNoSlot when none.
  template <typename IsIt>
  [[nodiscard]] Slot find(std::uint64_t hash, IsIt is_it) const noexcept {
    const auto tag = static_cast<std::uint32_t>(hash);
    for (std::size_t at = tag & mask_; cells_[at].slot != kNoSlot; at = (at + 1) & mask_) {
      if (cells_[at].tag == tag && is_it(cells_[at].slot)) return cells_[at].slot;
    }
    return kNoSlot;
  }
  /// `slot` must not be in it.
  void insert(std::uint64_t hash, Slot slot);
  /// `slot` must be in it, under `hash`.
  void erase(std::uint64_t hash, Slot slot) noexcept;
  [[nodiscard]] std::size_t size() const noexcept { return size_; }

 private:
  struct Cell {
    std::uint32_t tag = 0;  // the hash's lower half: where it would like to be
    Slot slot = kNoSlot;
  };
  void put(Cell cell) noexcept;
  void grow();

  std::vector<Cell> cells_ = std::vector<Cell>(8);
  std::size_t mask_ = 7;
  std::size_t size_ = 0;
};

}  // namespace onbeat::cache
