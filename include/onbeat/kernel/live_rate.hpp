// A rate that is changed while the run goes on (kernel semantics 0.3).
//
// set_rate(r) appends the segment (tau, r) to the profile. tau is the caller's instant with one
// loop, that instant
// + 2 ms with several. A loop must release no arrival due at or after a boundary that it has not
// read, so each turn of a loop does, in this order:
//
//   1. now = its clock
//   2. released_up_to(now - start): "I am about to release everything due by now"
//   3. if behind(version): version = read(profile), then refresh the cursors
//   4. release what is due by now
//
// Either step 3 sees the change, or the change sees step 2 and its tau is later (one loop); with
// several loops the 2 ms are what makes it later.
#pragma once

#include <onbeat/kernel/clock.hpp>
#include <onbeat/kernel/rate.hpp>

#include <atomic>
#include <functional>
#include <mutex>
#include <vector>

namespace onbeat::kernel {

/// Thread-safe. The loops register a wake-up each; set_rate() calls them all.
class LiveRate {
 public:
  explicit LiveRate(RateProfile profile);

  /// Before the run: its start, and over how many loops it runs. Changes made before are in the
  /// profile, as if it had been made with the last of them.
  void begin(Instant start, unsigned loops);
  /// Any thread. `clock_now` is called after the change was announced. rate <= 0, NaN, -Inf: a
  /// pause.
  void set_rate(double rate, const std::function<Instant()>& clock_now = &Monotonic::now);
  /// A loop's announcement, before behind(), that it is about to release what is due by `now`, a
  /// time since the start: no later change rewrites what is due by then. One store with one loop,
  /// nothing with several.
  void released_up_to(Duration now) noexcept {
    if (loops_ == 1) released_.store(now.count(), std::memory_order_seq_cst);
  }

  /// Whether a change has been announced that the holder of `version` has not read. One atomic
  /// load.
  [[nodiscard]] bool behind(std::uint64_t version) const noexcept {
    return version_.load(std::memory_order_seq_cst) != version;
  }
  /// Copies the segments into `profile` and returns the version they belong to. Waits for a change
  /// under way.
  std::uint64_t read(RateProfile& profile) const;
  /// The same for a loop whose next arrival is at `position` (ScheduleCursor::position()): when the
  /// rate was +Inf until now, the schedule goes on from there. Exact with one loop; with several,
  /// the first to read decides.
  std::uint64_t read(RateProfile& profile, double position);

  /// Registers a loop's wake-up, called after each change by the thread that made it, until end().
  void on_change(std::function<void()> wake);
  /// After the run: forgets the wake-ups. None runs once it has returned; not to be called by one.
  void end();
  [[nodiscard]] RateProfile profile() const;

 private:
  mutable std::mutex mutex_;
  RateProfile profile_;
  Instant start_{};
  Duration last_change_{};
  bool begun_ = false;
  unsigned loops_ = 1;
  std::atomic<std::uint64_t> version_{0};  // odd while a change is being made
  std::atomic<std::int64_t> released_{-1};
  std::mutex wakes_mutex_;
  std::vector<std::function<void()>> wakes_;
};

}  // namespace onbeat::kernel
