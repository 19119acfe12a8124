// Time: the monotonic clock that every measurement uses, and a manual one for tests.
//
// All instants are monotonic nanoseconds. Wall time appears only in labels of a report.
#pragma once

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <stop_token>

namespace onbeat::kernel {

using Duration = std::chrono::nanoseconds;

/// CLOCK_MONOTONIC as a std::chrono clock. Any thread; one vDSO call (about 20 ns).
struct Monotonic {
  using rep = std::int64_t;
  using period = std::nano;
  using duration = Duration;
  using time_point = std::chrono::time_point<Monotonic>;
  static constexpr bool is_steady = true;
  static time_point now() noexcept;
};
using Instant = Monotonic::time_point;

/// "No such instant": later than everything.
inline constexpr Instant kNever = Instant::max();

/// What threads that wait for an instant use, so that a test can move time by hand.
/// Thread-safe. An event loop does not use it: it reads Monotonic (or its simulated time) itself.
class Clock {
 public:
  virtual ~Clock() = default;
  [[nodiscard]] virtual Instant now() const noexcept = 0;

  /// Sleeps until `when`; at once when it has passed. Returns false when `stop` was requested
  /// first.
  virtual bool sleep_until(Instant when, std::stop_token stop) = 0;
  bool sleep_for(Duration duration, std::stop_token stop = {}) {
    return sleep_until(now() + duration, std::move(stop));
  }
};

class SystemClock final : public Clock {
 public:
  [[nodiscard]] Instant now() const noexcept override { return Monotonic::now(); }
  bool sleep_until(Instant when, std::stop_token stop) override;
};

/// Time that moves only when told to. One advance() jumps to its end and then wakes every sleeper
/// that is due, in the order of their instants: all of them read the final time.
class ManualClock final : public Clock {
 public:
  explicit ManualClock(Instant start = Instant{});
  ~ManualClock() override;
  [[nodiscard]] Instant now() const noexcept override;
  bool sleep_until(Instant when, std::stop_token stop) override;

  /// Moves time forward; a negative or zero duration does nothing.
  void advance(Duration duration);
  /// Waits (real time, without limit) until at least `count` threads sleep on this clock: an
  /// advance() before a sleep begins would be lost on it.
  void block_until_sleepers(std::size_t count);
  [[nodiscard]] std::size_t sleepers() const;

 private:
  struct State;
  std::unique_ptr<State> state_;
};

}  // namespace onbeat::kernel
