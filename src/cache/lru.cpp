#include "cache/policy.hpp"

namespace onbeat::cache {
namespace {

class Lru final : public Policy {
 public:
  void inserted(Slot slot, std::uint64_t) override {
    reach(links_, slot);
    queue_.push(links_, slot);
  }
  void used(Slot slot) noexcept override { queue_.renew(links_, slot); }
  void removed(Slot slot) noexcept override { queue_.remove(links_, slot); }
  Slot victim() noexcept override { return queue_.oldest(); }

 private:
  Links links_;
  SlotList queue_;
};

}  // namespace

std::unique_ptr<Policy> make_lru() { return std::make_unique<Lru>(); }

}  // namespace onbeat::cache
