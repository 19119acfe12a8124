// Statistics over samples: what a program that embeds the kernel reads at the end, or at any
// moment.
//
//   Stats stats;
//   while (auto sample = run.next()) stats.record(*sample);
//   std::puts(to_string(stats.snapshot()).c_str());
//
// A figure that nothing was measured for is absent, never 0 or NaN.
#pragma once

#include <onbeat/kernel/clock.hpp>
#include <onbeat/kernel/histogram.hpp>
#include <onbeat/kernel/sample.hpp>

#include <array>
#include <cstdint>
#include <functional>
#include <map>
#include <mutex>
#include <optional>
#include <string>
#include <string_view>

namespace onbeat::kernel {

/// Under this name goes what exceeds a limit on names.
inline constexpr std::string_view kOverflowName = "__overflow__";

struct StatsOptions {
  /// Range and digits of the histograms. Values outside it count as clamped.
  HistogramLayout layout{};
  /// Further codes are counted together under kOverflowName.
  std::size_t max_codes = 200;
};

/// One distribution in figures. Percentiles read the upper edge of their bucket (histogram.hpp).
struct LatencySummary {
  std::uint64_t count = 0;
  std::uint64_t censored = 0;  // of these, lower bounds: timed out, cut off, never started
  std::uint64_t clamped = 0;   // of these, outside the histogram's range
  std::optional<Duration> min{}, p50{}, p90{}, p95{}, p99{}, p999{}, max{};
  std::optional<double> mean{};  // ns
  /// Percentiles at or above this, the mean and the max are lower bounds; absent when nothing is
  /// censored.
  std::optional<Duration> at_least_from{};

  [[nodiscard]] bool is_lower_bound(Duration figure) const noexcept {
    return at_least_from && figure >= *at_least_from;
  }
};
[[nodiscard]] LatencySummary summarize(const Histogram& histogram);

/// Everything that was recorded, at one moment. Rates are per second and share one estimator, so
/// that they can be compared: (N - 1) / (last - first instant), absent for fewer than two instants.
struct Snapshot {
  std::uint64_t count = 0;  // all samples: the following nine
  std::uint64_t ok = 0, failed = 0, timed_out = 0, cancelled = 0, in_flight = 0;
  std::uint64_t saturated = 0, missed_late = 0, missed_waited = 0, missed_at_end = 0;
  std::uint64_t started = 0;           // ok + failed + timed_out + cancelled + in_flight
  std::uint64_t errors = 0;            // count - ok
  std::optional<double> error_rate{};  // errors / count
  std::optional<double>
      target_error_rate{};  // (started - ok) / started: without what never reached the target

  std::optional<double> offered_rps{};  // of due instants
  std::optional<double> rps{};          // of started instants
  std::optional<double> ok_rps{};       // rps * ok / started
  std::optional<double> failed_rps{};   // rps * failed / started
  std::uint64_t bytes = 0;
  std::optional<double> throughput{};  // bytes per second: rps * bytes / started

  /// done - started ("raw"), of what succeeded and what is censored.
  LatencySummary latency;
  /// The same from when each was due, or from its start where that was earlier; only of samples
  /// with a due time.
  LatencySummary corrected;
  /// Of failures that came back: from due where there is one, else from started.
  LatencySummary failed_latency;
  /// The largest started - due, at least 0; absent when no started sample has a due time.
  std::optional<Duration> max_schedule_lag{};
  std::map<std::string, std::uint64_t, std::less<>> codes{};
};

/// One line: "<count> req, <rps> rps, <errors> err (<n> saturated), p50/p95/p99 a/b/c, corrected
/// p95/p99 d/e, behind schedule f". Absent figures read "n/a", lower bounds begin with "≥".
[[nodiscard]] std::string to_string(const Snapshot& snapshot);

/// The sums behind a Snapshot. Not thread-safe: Stats and its relatives guard it.
class Tally {
 public:
  explicit Tally(const StatsOptions& options = {});
  void record(const Sample& sample);
  /// Throws std::invalid_argument for another layout.
  void merge(const Tally& other);
  void clear();
  [[nodiscard]] Snapshot snapshot() const;
  /// With rates as numbers over a given time instead: absent when it is 0.
  [[nodiscard]] Snapshot snapshot_over(Duration covered) const;

  [[nodiscard]] const Histogram& latency() const noexcept { return latency_; }
  [[nodiscard]] const Histogram& corrected() const noexcept { return corrected_; }
  [[nodiscard]] const Histogram& failed() const noexcept { return failed_; }

 private:
  /// How many instants there were, and the first and the last.
  struct Span {
    std::uint64_t count = 0;
    Instant first = Instant::max(), last = Instant::min();
    void add(Instant instant) noexcept;
    void merge(const Span& other) noexcept;
    [[nodiscard]] std::optional<double> rate() const noexcept;
  };
  static constexpr std::size_t kEndings = static_cast<std::size_t>(Ending::missed_at_end) + 1;

  void record_latency(const Sample& sample);
  void count_code(std::string_view code, std::uint64_t by);
  [[nodiscard]] Snapshot without_rates() const;
  static void share_rate(Snapshot& snapshot);

  std::size_t max_codes_;
  std::array<std::uint64_t, kEndings> endings_{};
  Span due_, started_;
  std::uint64_t bytes_ = 0;
  std::optional<Duration> max_behind_;
  Histogram latency_, corrected_, failed_;
  std::map<std::string, std::uint64_t, std::less<>> codes_;
};

/// Thread-safe; one lock. Many threads do better with a Stats each and merge().
class Stats final : public SampleSink {
 public:
  explicit Stats(const StatsOptions& options = {}) : tally_(options) {}
  void record(const Sample& sample) override;
  /// Adds what another has recorded up to now (itself too, which doubles it). Throws
  /// std::invalid_argument for another range or number of digits.
  void merge(const Stats& other);
  [[nodiscard]] Snapshot snapshot() const;
  /// A copy of everything, for other percentiles.
  [[nodiscard]] Tally tally() const;

 private:
  mutable std::mutex mutex_;
  Tally tally_;
};

}  // namespace onbeat::kernel
