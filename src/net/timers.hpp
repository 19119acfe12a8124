// One coarse timer wheel per loop, for timeouts: arming and disarming cost O(1) and no allocation;
// a timer fires never early and at most one tick (131 us) after its instant, plus the loop's own
// lateness. After Varghese and Lauck, "Hashed and hierarchical timing wheels" (SOSP 1987),
// scheme 7.
#pragma once

#include <onbeat/kernel/clock.hpp>

#include <array>
#include <cstdint>

namespace onbeat::net {

using kernel::Duration;
using kernel::Instant;
using kernel::kNever;

class Timers;

/// Intrusive: derive from it, or use Deadline. Disarms itself when destroyed. Belongs to its loop's
/// thread.
class Timer {
 public:
  Timer() = default;
  Timer(const Timer&) = delete;
  Timer& operator=(const Timer&) = delete;
  [[nodiscard]] bool armed() const noexcept { return wheel_ != nullptr; }

 protected:
  virtual ~Timer();
  virtual void on_timer(Instant now) noexcept = 0;

 private:
  friend class Timers;
  Timers* wheel_ = nullptr;
  Timer* previous_ = nullptr;
  Timer* next_ = nullptr;
  std::int64_t tick_ = 0;
  std::uint16_t slot_ = 0;
};

class Timers {
 public:
  static constexpr int kTickBits = 17;  // 131 072 ns

  explicit Timers(Instant now) noexcept;
  /// Arms, or moves an armed one. An instant in the past fires one tick from now.
  void arm(Timer& timer, Instant when) noexcept;
  void disarm(Timer& timer) noexcept;
  /// Fires what is due by `now`. A callback may arm and disarm any timer.
  void expire(Instant now) noexcept;
  /// No timer fires before this instant; kNever when none is armed. Not later than the first one's
  /// tick.
  [[nodiscard]] Instant next() const noexcept { return next_; }

 private:
  static constexpr int kLevels = 4, kSlotBits = 8, kSlots = 1 << kSlotBits;

  std::int64_t insert(Timer& timer) noexcept;
  void unlink(Timer& timer) noexcept;
  void cascade(int level) noexcept;
  void find_next() noexcept;
  [[nodiscard]] Instant instant_of(std::int64_t tick) const noexcept;

  Instant origin_;
  std::int64_t tick_ = 0;  // every tick up to and including this one has been expired
  std::uint64_t armed_ = 0;
  Instant next_ = kNever;
  std::array<Timer*, kLevels * kSlots> slots_{};
  std::array<std::uint64_t, kLevels * kSlots / 64> used_{};
};

/// A timeout that is set for every unit and nearly never fires: set() and clear() are plain stores
/// while the wheel holds an earlier instant; when that one comes, the deadline is looked at and the
/// timer re-armed if need be.
template <class Owner, void (Owner::*expired)(Instant) noexcept>
class Deadline final : public Timer {
 public:
  Deadline(Timers& timers, Owner& owner) noexcept : timers_(timers), owner_(owner) {}
  void set(Instant when) noexcept {
    deadline_ = when;
    if (when < armed_for_) arm(when);
  }
  void clear() noexcept { deadline_ = kNever; }

 private:
  void arm(Instant when) noexcept {
    armed_for_ = when;
    timers_.arm(*this, when);
  }
  void on_timer(Instant now) noexcept override {
    armed_for_ = kNever;
    if (deadline_ == kNever) return;
    if (now < deadline_) return arm(deadline_);
    deadline_ = kNever;
    (owner_.*expired)(now);
  }
  Timers& timers_;
  Owner& owner_;
  Instant deadline_ = kNever;
  Instant armed_for_ = kNever;
};

}  // namespace onbeat::net
