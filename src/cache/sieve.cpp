// Like the clock, but what the hand passes stays where it is, so that new entries are sieved by
// themselves.
#include "cache/policy.hpp"

namespace onbeat::cache {
namespace {

class Sieve final : public Policy {
 public:
  void inserted(Slot slot, std::uint64_t) override {
    reach(links_, slot);
    links_[slot].uses = 0;
    queue_.push(links_, slot);
  }
  void used(Slot slot) noexcept override { links_[slot].uses = 1; }
  void removed(Slot slot) noexcept override {
    if (hand_ == slot) hand_ = links_[slot].newer;
    queue_.remove(links_, slot);
  }
  Slot victim() noexcept override {
    if (hand_ == kNoSlot) hand_ = queue_.oldest();
    while (links_[hand_].uses != 0) {
      links_[hand_].uses = 0;
      hand_ = links_[hand_].newer;
      if (hand_ == kNoSlot) hand_ = queue_.oldest();
    }
    return hand_;
  }

 private:
  Links links_;
  SlotList queue_;
  Slot hand_ = kNoSlot;  // kNoSlot: at the oldest
};

}  // namespace

std::unique_ptr<Policy> make_sieve() { return std::make_unique<Sieve>(); }

}  // namespace onbeat::cache
