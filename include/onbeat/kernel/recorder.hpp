// Recording on the hot path: plain increments in memory that belongs to one thread. No lock, no
// allocation once warm, no shared cache line.
//
// A recorder has two sheets. Its thread writes on one; hand_over() passes it to the collector and
// takes the clean one. When the collector has not cleaned the other yet, hand_over() does nothing
// and the interval grows: nothing is ever lost.
#pragma once

#include <onbeat/kernel/histogram.hpp>
#include <onbeat/kernel/interval.hpp>
#include <onbeat/kernel/result.hpp>

#include <atomic>
#include <cstdint>
#include <memory>
#include <string>
#include <vector>

namespace onbeat::kernel {

/// What a run records beyond the fixed kinds: further histograms and counters, by name.
struct RecorderShape {
  /// Open loop: lag and wait are recorded. Closed: response is service.
  bool open = true;
  /// Which loop of its process this is: the place of its usage in Interval::loops.
  std::uint16_t loop = 0;
  /// Endpoints that exist from the start (their memory is made at once); more are made when first
  /// met.
  std::uint16_t endpoints = 1;
  std::vector<std::string> histograms{};
  std::vector<std::string> counters{};
};

/// The default layout with 32-bit counts, all buckets addressable, pages touched on use. One thread
/// at a time. Between two clear()s a bucket holds at most 2^32 - 1 samples.
class IntervalHistogram {
 public:
  IntervalHistogram();
  void record(std::int64_t value) noexcept {
    ++counts_[bucket(value)];
    std::int64_t sum = 0;
    if (__builtin_add_overflow(sum_, value, &sum)) [[unlikely]] {
      earlier_sum_ += sum_;
      sum = value;
    }
    sum_ = sum;
    if (value < min_) min_ = value;
    if (value > max_) max_ = value;
  }
  void record_censored(std::int64_t value) noexcept {
    record(value);
    ++censored_;
    if (value < smallest_censored_) smallest_censored_ = value;
  }
  [[nodiscard]] bool empty() const noexcept { return min_ > max_; }
  /// INT64_MIN when empty.
  [[nodiscard]] std::int64_t max() const noexcept { return max_; }

  /// Adds everything to a histogram of the default layout.
  void add_to(Histogram& into) const;
  void clear() noexcept;
  /// Both.
  void drain_into(Histogram& into) {
    add_to(into);
    clear();
  }

 private:
  struct Free {
    void operator()(std::uint32_t* counts) const noexcept;
  };
  [[nodiscard]] std::uint32_t bucket(std::int64_t value) noexcept {
    if (static_cast<std::uint64_t>(value) > static_cast<std::uint64_t>(detail::kHighestNs))
        [[unlikely]] {
      ++clamped_;
      value = value < 0 ? 0 : detail::kHighestNs;
    }
    return detail::bucket_of(value, 0, detail::kHalfMagnitude);
  }

  std::unique_ptr<std::uint32_t[], Free>
      counts_;  // from calloc: the kernel gives zero pages on first touch
  // The buckets in use follow from min and max, the number of samples from the buckets.
  std::int64_t min_ = INT64_MAX, max_ = INT64_MIN;
  std::int64_t sum_ = 0;
  detail::WideSum earlier_sum_ = 0;  // what no longer fitted into sum_
  std::uint64_t censored_ = 0, clamped_ = 0;
  std::int64_t smallest_censored_ = INT64_MAX;
};

/// One a loop (thread). Every method but collect() belongs to that thread.
class Recorder {
 public:
  explicit Recorder(RecorderShape shape);
  ~Recorder();

  // --- the hot path ---
  /// A unit was started / has ended (its four instants, outcome, code, error, bytes).
  void started() noexcept { ++counts_.started; }
  void finished(const Result& result) noexcept;
  /// `count` arrivals of the schedule have fallen due.
  void planned(std::uint64_t count) noexcept { counts_.planned += count; }
  void missed_late(std::uint64_t count) noexcept { counts_.missed_late += count; }
  void saturated(std::uint64_t count) noexcept { counts_.saturated += count; }
  /// A due arrival that will never start: `elapsed` since it was due enters the response histogram,
  /// censored.
  void missed_waited(Duration elapsed) noexcept;
  void missed_at_end(Duration elapsed) noexcept;
  /// A step of a unit has ended (a call of a chain): recorded under its endpoint alone, which must
  /// be none that whole units are recorded under.
  void part_finished(const Result& result) noexcept;
  /// The time between two messages of a stream.
  void message_gap(EndpointId endpoint, Duration gap) noexcept;
  /// The number in flight, after it changed or once a turn.
  void in_flight(std::uint64_t now_in_flight) noexcept {
    in_flight_ = now_in_flight;
    if (now_in_flight > in_flight_max_) in_flight_max_ = now_in_flight;
  }
  /// The shape's histograms and counters, by position.
  void record(std::size_t histogram, Duration value) noexcept;
  void count(std::size_t counter, std::uint64_t by = 1) noexcept;
  /// Adds what this loop spent since the last call.
  void usage(const LoopUsage& delta) noexcept;

  /// At an interval's end (t since t0). True when the sheet was passed on.
  bool hand_over(Duration t) noexcept;

  // --- the collector's thread ---
  /// Adds everything handed over (at most one sheet) to `into`, as another loop's share of the same
  /// time (see Interval::merge_parallel; usage goes to loops[shape.loop]); false when there was
  /// none. Cleans the sheet.
  bool collect(Interval& into);

 private:
  struct Endpoint;
  struct Sheet;
  void record_end(Endpoint& endpoint, const Result& result) noexcept;
  void collect_endpoint(Endpoint& from, Interval& into, EndpointInterval& endpoint) const;

  RecorderShape shape_;
  std::unique_ptr<Sheet> sheets_[2];
  Sheet* active_;
  // What one addition records is kept here, inline, and put on the sheet when it is handed over.
  Counts counts_;
  std::uint64_t in_flight_ = 0, in_flight_max_ = 0;
  // On their own cache line, because the collector writes them.
  alignas(64) std::atomic<Sheet*> handed_{nullptr};  // full, waiting for the collector
  std::atomic<Sheet*> clean_{nullptr};               // empty, waiting for the thread
};

}  // namespace onbeat::kernel
