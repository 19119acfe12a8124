#include "net/loop.hpp"

#include <utility>

namespace onbeat::net {

void Loop::forget_later(const Waiter& waiter) noexcept {
  for (Waiter*& each : later_)
    if (each == &waiter) each = nullptr;
}

// What is called may ask for more, of this turn, too.
void Loop::run_later() noexcept {
  for (std::size_t i = 0; i < later_.size(); ++i)
    if (later_[i] != nullptr) std::exchange(later_[i], nullptr)->ready();
  later_.clear();
}

}  // namespace onbeat::net
