// The clock, as the queue that it is equivalent to: what the hand passes goes to the end.
#include "cache/policy.hpp"

namespace onbeat::cache {
namespace {

class ClockPolicy final : public Policy {
 public:
  void inserted(Slot slot, std::uint64_t) override {
    reach(links_, slot);
    links_[slot].uses = 0;
    queue_.push(links_, slot);
  }
  void used(Slot slot) noexcept override { links_[slot].uses = 1; }
  void removed(Slot slot) noexcept override { queue_.remove(links_, slot); }
  Slot victim() noexcept override {
    while (links_[queue_.oldest()].uses != 0) {
      links_[queue_.oldest()].uses = 0;
      queue_.renew(links_, queue_.oldest());
    }
    return queue_.oldest();
  }

 private:
  Links links_;
  SlotList queue_;
};

}  // namespace

std::unique_ptr<Policy> make_clock() { return std::make_unique<ClockPolicy>(); }

}  // namespace onbeat::cache
