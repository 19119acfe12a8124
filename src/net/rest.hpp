// A wait that can be cut short.
#pragma once

#include "net/timers.hpp"

#include <coroutine>
#include <utility>

namespace onbeat::net {

/// Awaited by one coroutine at a time; cancel() resumes it at once. Belongs to its loop's thread.
class Rest final : public Timer {
 public:
  explicit Rest(Timers& timers) noexcept : timers_(timers) {}

  struct Awaiter {
    Rest& rest;
    Instant until;
    [[nodiscard]] bool await_ready() const noexcept { return false; }
    void await_suspend(std::coroutine_handle<> waiting) noexcept {
      rest.waiting_ = waiting;
      rest.timers_.arm(rest, until);
    }
    void await_resume() const noexcept {}
  };
  [[nodiscard]] Awaiter until(Instant when) noexcept { return {*this, when}; }
  void cancel() noexcept {
    timers_.disarm(*this);
    if (waiting_) std::exchange(waiting_, nullptr).resume();
  }

 private:
  void on_timer(Instant) noexcept override { std::exchange(waiting_, nullptr).resume(); }

  Timers& timers_;
  std::coroutine_handle<> waiting_;
};

}  // namespace onbeat::net
