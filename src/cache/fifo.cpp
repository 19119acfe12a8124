#include "cache/policy.hpp"

namespace onbeat::cache {
namespace {

class Fifo final : public Policy {
 public:
  void inserted(Slot slot, std::uint64_t) override {
    reach(links_, slot);
    queue_.push(links_, slot);
  }
  void used(Slot) noexcept override {}
  void removed(Slot slot) noexcept override { queue_.remove(links_, slot); }
  Slot victim() noexcept override { return queue_.oldest(); }

 private:
  Links links_;
  SlotList queue_;
};

}  // namespace

std::unique_ptr<Policy> make_fifo() { return std::make_unique<Fifo>(); }

}  // namespace onbeat::cache
