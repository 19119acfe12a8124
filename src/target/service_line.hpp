// A single server with a fixed service time and a queue without limit: a target whose capacity is
// known exactly.
#pragma once

#include <onbeat/kernel/clock.hpp>

#include <algorithm>
#include <atomic>

namespace onbeat::target {

class ServiceLine {
 public:
  /// `service` > 0 for each request.
  explicit ServiceLine(kernel::Duration service) noexcept : service_(service) {}

  /// A request joins the line at `now`: when its service ends. Any thread.
  [[nodiscard]] kernel::Instant serve(kernel::Instant now) noexcept {
    kernel::Duration free = free_at_.load(std::memory_order_relaxed);
    kernel::Duration done{};
    do {
      done = std::max(free, now.time_since_epoch()) + service_;
    } while (!free_at_.compare_exchange_weak(free, done, std::memory_order_relaxed));
    return kernel::Instant(done);
  }

 private:
  kernel::Duration service_;
  std::atomic<kernel::Duration> free_at_{kernel::Duration{}};
};

}  // namespace onbeat::target
