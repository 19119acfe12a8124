// The runner: drives blocking work at a controlled rate on threads of its own. This is what a
// program embeds; the command line's protocols use the Driver on event loops instead.
//
//   Runner run({.work = ..., .rate = RateProfile::constant(100)});
//   while (auto sample = run.next()) ...        // the stream: one sample for every planned arrival
//
//   Measurement m = measure({.work = ..., .rate = ...});   // or only the numbers
//
// Threads: `workers` that run the work and one that keeps the schedule. Everything here may be
// called from any thread, but a Runner is destroyed by one only, and not by its own work.
#pragma once

#include <onbeat/kernel/clock.hpp>
#include <onbeat/kernel/driver.hpp>
#include <onbeat/kernel/interval.hpp>
#include <onbeat/kernel/live_rate.hpp>
#include <onbeat/kernel/rate.hpp>
#include <onbeat/kernel/result.hpp>
#include <onbeat/kernel/sample.hpp>
#include <onbeat/kernel/schedule.hpp>

#include <cstdint>
#include <functional>
#include <iterator>
#include <memory>
#include <optional>
#include <stop_token>
#include <string>
#include <variant>
#include <vector>

namespace onbeat::kernel {

/// What a unit of work is told.
struct WorkContext {
  /// Requested when the run is cancelled, and at the end of the drain.
  std::stop_token stop;
  /// The arrival's number: choose data by it and the run can be repeated.
  std::uint64_t arrival = 0;
};

/// What a unit of work tells.
struct WorkResult {
  /// ok, failed, timed_out or cancelled.
  Outcome outcome = Outcome::ok;
  std::string code{};
  std::uint64_t bytes = 0;
  Labels labels{};
  std::optional<SampleError> error{};
};

/// One unit of work, called by several threads at once. What it throws becomes a failed result, and
/// the run goes on.
using Work = std::function<WorkResult(const WorkContext&)>;

struct WeightedWork {
  Work work;
  std::int64_t weight = 1;
};
/// Work that is one of several, by weight: which one is a function of (seed, arrival) alone, and
/// within each block of as many arrivals as the total weight each has exactly its share. Throws
/// std::invalid_argument for an empty work and for weights that Mix refuses.
[[nodiscard]] Work mix(std::vector<WeightedWork> works, std::uint64_t seed = 1);

/// closed: workers take the next arrival of the schedule, so a slow target holds it back. open:
/// arrivals happen whether a worker is free or not.
enum class Pacing : std::uint8_t { closed, open };

struct RunOptions {
  Work work;
  /// A profile, or a rate that is changed while the run goes on ("adaptive"). RateProfile::constant
  /// of +Inf: as fast as the workers can.
  std::variant<std::monostate, RateProfile, std::shared_ptr<LiveRate>> rate{};
  Pacing pacing = Pacing::closed;
  /// <= 0: 10. In an open run the most that may be in flight.
  int workers = 0;
  /// Exactly so many arrivals are planned; <= 0: no limit.
  std::int64_t max_requests = 0;
  /// The issue window; none: until max_requests, cancelled, or nothing can come any more.
  Duration duration = kNoTime;
  Arrivals arrivals = Arrivals::even;
  std::uint64_t seed = 1;
  OnLate on_late = OnLate::catch_up;
  /// Depth of the token bucket of OnLate::burst; <= 0: 1.
  int burst = 1;
  Duration late_after{};
  Duration catch_up_limit = std::chrono::seconds(1);
  OnSaturation on_saturation = OnSaturation::drop;
  Duration max_wait = kNoTime;
  std::uint64_t queue_limit = UINT64_MAX;
  /// Samples kept for the consumer: 0: 1024, negative: handed over one by one. 64 more may stand
  /// behind them before a worker waits, so that a consumer that pauses briefly is not taken for a
  /// slow target.
  int result_buffer = 0;
  /// Work at the rate of time 0 before the measured part: for this long, or this many units,
  /// whichever ends first. It leaves no samples.
  Duration warmup{};
  std::uint64_t warmup_requests = 0;
  /// How long started units may take after the issue window before they are told to stop and count
  /// as in flight at the end.
  Duration drain = std::chrono::seconds(10);
  /// Borrowed; null: the system's.
  Clock* clock = nullptr;
  /// Cancels the run.
  std::stop_token stop{};
};

/// A running load. Constructing starts it; destroying cancels it and waits for its threads (and so
/// for work that does not heed its stop token).
class Runner {
 public:
  /// Throws std::invalid_argument without work or rate, std::system_error without threads.
  explicit Runner(RunOptions options);
  ~Runner();
  Runner(Runner&&) noexcept;
  Runner& operator=(Runner&&) noexcept;

  /// The next sample, in the order in which units ended; waits for it. Empty when the run is over
  /// and all have been delivered.
  std::optional<Sample> next();

  class Iterator {
   public:
    using iterator_concept = std::input_iterator_tag;
    using difference_type = std::ptrdiff_t;
    using value_type = Sample;
    Iterator() = default;
    explicit Iterator(Runner* run) : run_(run), sample_(run->next()) {}
    const Sample& operator*() const { return *sample_; }
    const Sample* operator->() const { return &*sample_; }
    Iterator& operator++() {
      sample_ = run_->next();
      return *this;
    }
    void operator++(int) { ++*this; }
    bool operator==(std::default_sentinel_t) const { return !sample_; }

   private:
    Runner* run_ = nullptr;
    std::optional<Sample> sample_;
  };
  /// for (const Sample& sample : run)
  Iterator begin() { return Iterator(this); }
  std::default_sentinel_t end() { return {}; }

  /// Starts nothing more and asks what runs to stop. What was planned is still delivered.
  void cancel();
  /// Changes the rate of a run that was given a LiveRate; std::logic_error otherwise.
  void set_rate(double rate);

  /// Whether the run is over (samples may still wait to be read).
  [[nodiscard]] bool finished() const;
  void wait();
  /// Samples that wait to be read.
  [[nodiscard]] std::size_t buffered() const;
  /// As it was resolved: 1024 for 0, 0 for a hand-over one by one.
  [[nodiscard]] std::size_t result_buffer() const noexcept;
  [[nodiscard]] int workers() const noexcept;
  [[nodiscard]] std::uint32_t in_flight() const;
  /// The book-keeping so far; it balances when the run is over.
  [[nodiscard]] Counts counts() const;
  /// Units of the warm-up, which are in no figure.
  [[nodiscard]] std::uint64_t warmup_excluded() const;

 private:
  friend struct MeasuringRun;
  struct Impl;
  explicit Runner(std::unique_ptr<Impl> impl);
  std::unique_ptr<Impl> impl_;
};

/// What a measuring run found.
struct Measurement {
  Interval interval;
  /// The names that interval.codes and interval.errors are indexed by.
  std::vector<std::string> codes;
  std::vector<std::string> errors;
  std::uint64_t warmup_excluded = 0;
};

/// Runs to the end without a stream of samples. Throws as Runner does.
[[nodiscard]] Measurement measure(RunOptions options);

}  // namespace onbeat::kernel
