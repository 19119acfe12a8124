// A small queue (a tenth) that new entries pass through, a main queue for those that were used
// there more than once, and the ghosts: hashes of what left the small queue unused, which go to the
// main queue at once when they come back.
#include "cache/ghosts.hpp"
#include "cache/policy.hpp"

#include <algorithm>

namespace onbeat::cache {
namespace {

class S3Fifo final : public Policy {
 public:
  void inserted(Slot slot, std::uint64_t hash) override {
    reach(links_, slot);
    if (slot >= hashes_.size()) hashes_.resize(slot + std::size_t{1});
    hashes_[slot] = hash;
    links_[slot].uses = 0;
    enter(ghosts_.take(hash, main_.size()) ? kMain : kSmall, slot);
  }

  void used(Slot slot) noexcept override {
    if (links_[slot].uses < kMostUses) ++links_[slot].uses;
  }

  void removed(Slot slot) noexcept override { queue_of(slot).remove(links_, slot); }

  Slot victim() noexcept override {
    for (;;) {
      const std::uint32_t small_share = std::max(1U, (small_.size() + main_.size()) / 10);
      if (small_.size() < small_share && !main_.empty()) {
        if (const Slot slot = main_.oldest(); !second_chance(slot)) return slot;
        continue;
      }
      const Slot slot = small_.oldest();
      if (links_[slot].uses <= 1) {
        ghosts_.add(hashes_[slot]);
        return slot;
      }
      small_.remove(links_, slot);
      links_[slot].uses = 0;
      enter(kMain, slot);
    }
  }

 private:
  static constexpr std::uint8_t kSmall = 0, kMain = 1;
  static constexpr std::uint8_t kMostUses = 3;

  SlotList& queue_of(Slot slot) noexcept { return links_[slot].queue == kMain ? main_ : small_; }
  void enter(std::uint8_t queue, Slot slot) noexcept {
    links_[slot].queue = queue;
    queue_of(slot).push(links_, slot);
  }
  bool second_chance(Slot slot) noexcept {
    if (links_[slot].uses == 0) return false;
    --links_[slot].uses;
    main_.renew(links_, slot);
    return true;
  }

  Links links_;
  std::vector<std::uint64_t> hashes_;
  SlotList small_;
  SlotList main_;
  Ghosts ghosts_;
};

}  // namespace

std::unique_ptr<Policy> make_s3fifo() { return std::make_unique<S3Fifo>(); }

}  // namespace onbeat::cache
