// A rate that is changed while the run goes on (kernel semantics 0.3).
//
// set_rate(r) appends the segment (tau, r) to the profile, tau being the caller's instant (one loop, or a manual
// clock) or that instant + 2 ms (several loops). A loop releases no arrival due at or after the last boundary that
// it has not read: it first reads its clock, then calls behind(); when that says so, it calls read().
#pragma once

#include <atomic>
#include <functional>
#include <mutex>
#include <vector>

#include <onbeat/kernel/clock.hpp>
#include <onbeat/kernel/rate.hpp>

namespace onbeat::kernel {

/// Thread-safe. The loops register a wake-up each; set_rate() calls them all.
class LiveRate {
 public:
  explicit LiveRate(RateProfile profile);

  /// Before the run: its start, and over how many loops it runs (tau is `now + 2 ms` for more than one).
  void begin(Instant start, unsigned loops);
  /// Any thread. `clock_now` is called after the change was announced.
  void set_rate(double rate, const std::function<Instant()>& clock_now = &Monotonic::now);
  /// Called by a loop with the due time of what it released last, so that a change never rewrites the past.
  void released_up_to(Duration due) noexcept;

  /// Whether a change has been announced that the holder of `version` has not read. One atomic load.
  [[nodiscard]] bool behind(std::uint64_t version) const noexcept {
    return version_.load(std::memory_order_seq_cst) != version;
  }
  /// Copies the segments into `profile` and returns the version they belong to. Waits for a change under way.
  std::uint64_t read(RateProfile& profile) const;

  void on_change(std::function<void()> wake);
  [[nodiscard]] RateProfile profile() const;

 private:
  mutable std::mutex mutex_;
  RateProfile profile_;
  std::vector<std::function<void()>> wakes_;
  Instant start_{};
  unsigned loops_ = 1;
  std::atomic<std::uint64_t> version_{0};  // odd while a change is being made
  std::atomic<std::int64_t> released_{-1};
};

}  // namespace onbeat::kernel
