// How long to wait before the next try of what keeps failing: 10 ms doubling to 1 s, each time
// somewhere in its upper half, so that many do not try at once.
#pragma once

#include <onbeat/kernel/clock.hpp>
#include <onbeat/kernel/random.hpp>

#include <algorithm>

namespace onbeat::net {

class BackOff {
 public:
  static constexpr kernel::Duration kFirst = std::chrono::milliseconds(10);
  static constexpr kernel::Duration kLongest = std::chrono::seconds(1);

  explicit BackOff(std::uint64_t seed) noexcept : random_(seed) {}
  [[nodiscard]] kernel::Duration next() noexcept {
    span_ = std::clamp(2 * span_, kFirst, kLongest);
    return span_ / 2 +
           kernel::Duration(random_.below(static_cast<std::uint64_t>(span_.count()) / 2));
  }
  /// It has succeeded.
  void reset() noexcept { span_ = {}; }

 private:
  kernel::Random random_;
  kernel::Duration span_{};
};

}  // namespace onbeat::net
