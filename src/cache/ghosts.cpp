#include "cache/ghosts.hpp"

#include <utility>

namespace onbeat::cache {

void Ghosts::add(std::uint64_t hash) {
  const Slot known = index_.find(hash, [&](Slot at) { return ring_[at].hash == hash; });
  if (known != kNoSlot) {
    index_.erase(hash, known);
    ring_[known].present = false;
  }
  if (next_ - oldest_ == ring_.size()) grow();
  const auto at = static_cast<Slot>(place(next_++));
  ring_[at] = {.hash = hash, .present = true};
  index_.insert(hash, at);
}

bool Ghosts::take(std::uint64_t hash, std::uint32_t reach) noexcept {
  if (next_ - oldest_ > reach) forget_before(next_ - reach);
  const Slot at = index_.find(hash, [&](Slot ghost) { return ring_[ghost].hash == hash; });
  if (at == kNoSlot) return false;
  index_.erase(hash, at);
  ring_[at].present = false;
  return true;
}

void Ghosts::forget_before(std::uint64_t number) noexcept {
  for (; oldest_ < number; ++oldest_) {
    const auto at = static_cast<Slot>(place(oldest_));
    if (ring_[at].present) index_.erase(ring_[at].hash, at);
    ring_[at].present = false;
  }
}

void Ghosts::grow() {
  const std::vector<Ghost> old = std::exchange(ring_, std::vector<Ghost>(ring_.size() * 2));
  index_ = Index{};
  for (std::uint64_t number = oldest_; number < next_; ++number) {
    const auto at = static_cast<Slot>(place(number));
    ring_[at] = old[number & (old.size() - 1)];
    if (ring_[at].present) index_.insert(ring_[at].hash, at);
  }
}

}  // namespace onbeat::cache
