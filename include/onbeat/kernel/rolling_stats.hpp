// Statistics of the last while, beside those of the whole run: what a progress line or a controller
// reads.
#pragma once

#include <onbeat/kernel/clock.hpp>
#include <onbeat/kernel/stats.hpp>

#include <cstdint>
#include <mutex>
#include <vector>

namespace onbeat::kernel {

struct RollingOptions {
  /// How far back the window reaches, and in how many steps it moves on.
  Duration window = std::chrono::seconds(10);
  std::uint32_t buckets = 10;
  StatsOptions stats{};
  /// Borrowed; null: the system's.
  const Clock* clock = nullptr;
};

/// Keeps a ring of buckets by the time of recording. Time begins with the construction.
/// Thread-safe; one lock.
class RollingStats final : public SampleSink {
 public:
  /// Throws std::invalid_argument when there is no bucket, or a bucket would be shorter than 1 ns.
  explicit RollingStats(const RollingOptions& options = {});
  void record(const Sample& sample) override;

  /// What was recorded in the trailing window. Its rates are numbers over the time that the window
  /// covers (less than the whole at the start, and while the newest bucket fills), so that a target
  /// that stopped answering reads 0.
  [[nodiscard]] Snapshot window() const;
  /// The time that window() divides by at this moment.
  [[nodiscard]] Duration covered() const;
  /// Since the construction, as Stats.
  [[nodiscard]] Snapshot snapshot() const;

 private:
  /// Moves on to `now`, emptying the buckets that were left behind.
  void rotate(Instant now) const;
  [[nodiscard]] Duration covered_at(Instant now) const noexcept;

  SystemClock system_clock_;
  const Clock& clock_;
  const Duration width_;
  const Instant start_;
  mutable std::mutex mutex_;
  Tally total_;
  // Reading moves the window on, as writing does.
  mutable std::vector<Tally> ring_;
  mutable std::int64_t newest_ = 0;  // number of the bucket that fills, counted from start_
};

}  // namespace onbeat::kernel
