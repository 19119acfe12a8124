// A queue of slots, linked through an array that several queues share: a slot is in one of them at
// a time. What a policy needs for its order; no allocation but the array's growth.
#pragma once

#include <cstdint>
#include <vector>

namespace onbeat::cache {

/// The place of an entry in its shard, from 0 without gaps.
using Slot = std::uint32_t;
inline constexpr Slot kNoSlot = UINT32_MAX;

struct Link {
  Slot newer = kNoSlot;
  Slot older = kNoSlot;
  std::uint8_t queue = 0;  ///< the policy's own: which queue the slot is in
  std::uint8_t uses = 0;   ///< the policy's own: how often it was used of late
};
using Links = std::vector<Link>;

/// Makes sure that there is a link for `slot`.
inline void reach(Links& links, Slot slot) {
  if (slot >= links.size()) links.resize(slot + std::size_t{1});
}

class SlotList {
 public:
  [[nodiscard]] Slot newest() const noexcept { return newest_; }
  [[nodiscard]] Slot oldest() const noexcept { return oldest_; }
  [[nodiscard]] std::uint32_t size() const noexcept { return size_; }
  [[nodiscard]] bool empty() const noexcept { return size_ == 0; }

  void push(Links& links, Slot slot) noexcept {
    links[slot].newer = kNoSlot;
    links[slot].older = newest_;
    (newest_ == kNoSlot ? oldest_ : links[newest_].newer) = slot;
    newest_ = slot;
    ++size_;
  }
  void remove(Links& links, Slot slot) noexcept {
    const Link& link = links[slot];
    (link.newer == kNoSlot ? newest_ : links[link.newer].older) = link.older;
    (link.older == kNoSlot ? oldest_ : links[link.older].newer) = link.newer;
    --size_;
  }
  void renew(Links& links, Slot slot) noexcept {
    if (slot == newest_) return;
    remove(links, slot);
    push(links, slot);
  }

 private:
  Slot newest_ = kNoSlot;
  Slot oldest_ = kNoSlot;
  std::uint32_t size_ = 0;
};

}  // namespace onbeat::cache
