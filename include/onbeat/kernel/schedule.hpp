// The schedule: when arrival n is due. A pure function of (profile, arrivals, seed), the same for
// any number of loops, threads, processes and hosts. Loop k of L takes the arrivals n with n mod L
// = k.
#pragma once

#include <onbeat/kernel/clock.hpp>
#include <onbeat/kernel/random.hpp>
#include <onbeat/kernel/rate.hpp>

#include <cstdint>

namespace onbeat::kernel {

/// even: arrival n is due where I(t) passes n. poisson: where I(t) passes the n-th point of a
/// Poisson process of rate 1, which is the sum of n + 1 unit exponentials.
enum class Arrivals : std::uint8_t { even, poisson };

struct SchedulePlan {
  RateProfile profile;
  Arrivals arrivals = Arrivals::even;
  std::uint64_t seed = 1;
  /// This loop's share: arrivals n with n mod of == share.
  std::uint32_t share = 0;
  std::uint32_t of = 1;
  /// The schedule ends at this arrival number (of all loops together).
  std::uint64_t max_arrivals = UINT64_MAX;
  /// Arrivals due at or after this time since the start do not exist.
  Duration length = kNoTime;
};

/// Arrivals planned in [0, plan.length) over all shares, at most max_arrivals. O(log) when even;
/// walks the arrivals when Poisson.
[[nodiscard]] std::uint64_t planned_arrivals(const SchedulePlan& plan);

/// A walk along one share's arrivals in order. Copyable (the driver keeps one cursor for what is
/// released next and one for what is started next). No allocation, no lock: the plan is borrowed
/// and must outlive the cursor; after the profile was appended to, call refresh().
class ScheduleCursor {
 public:
  explicit ScheduleCursor(const SchedulePlan& plan);

  /// The arrival at the cursor.
  [[nodiscard]] std::uint64_t number() const noexcept { return number_; }
  /// Its due time since the run's start; kNoTime when there is none (any more, or for now: a pause
  /// without an end; a later append() can make it finite).
  [[nodiscard]] Duration due() const noexcept { return due_; }
  /// What I(t) passes when it is due: its number when even.
  [[nodiscard]] double position() const noexcept { return x_; }
  /// To the next arrival of this share.
  void next() noexcept;
  /// Recomputes due() from the (changed) profile.
  void refresh() noexcept;

 private:
  void step_poisson(std::uint64_t from, std::uint64_t to) noexcept;

  const SchedulePlan* plan_;
  std::uint64_t seed_;  // of the stream of exponentials
  std::uint64_t number_;
  double x_ = 0;          // the value that I(t) passes when arrival number_ is due
  std::size_t hint_ = 0;  // the profile's segment last used
  Duration due_{};
};

}  // namespace onbeat::kernel
