// Recording on the hot path: plain increments in memory that belongs to one thread. No lock, no allocation once
// warm, no shared cache line.
//
// A recorder has two sheets. Its thread writes on one; hand_over() passes it to the collector and takes the clean
// one. When the collector has not cleaned the other yet, hand_over() does nothing and the interval grows: nothing
// is ever lost.
#pragma once

#include <atomic>
#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include <onbeat/kernel/histogram.hpp>
#include <onbeat/kernel/interval.hpp>
#include <onbeat/kernel/result.hpp>

namespace onbeat::kernel {

/// What a run records beyond the fixed kinds: further histograms and counters, by name.
struct RecorderShape {
  /// Open loop: lag and wait are recorded. Closed: response is service.
  bool open = true;
  /// Endpoints that exist from the start (their memory is made at once); more are made when first met.
  std::uint16_t endpoints = 1;
  std::vector<std::string> histograms;
  std::vector<std::string> counters;
};

/// The default layout with 32-bit counts, all buckets addressable, pages touched on use, a dirty range.
class IntervalHistogram {
 public:
  IntervalHistogram();
  void record(std::int64_t value) noexcept;
  void record_censored(std::int64_t value) noexcept;
  /// Adds everything to `into` and clears this.
  void drain_into(Histogram& into);
  [[nodiscard]] std::int64_t max() const noexcept { return max_; }

 private:
  struct Free {
    void operator()(std::uint32_t* counts) const noexcept;
  };
  std::unique_ptr<std::uint32_t[], Free> counts_;  // from calloc: the kernel gives zero pages on first touch
  std::uint32_t first_, last_;
  std::uint32_t count_ = 0, censored_ = 0;
  std::int64_t min_, max_, smallest_censored_;
  std::int64_t sum_ = 0;
};

/// One a loop (thread). Every method but collect() belongs to that thread.
class Recorder {
 public:
  explicit Recorder(RecorderShape shape);
  ~Recorder();

  // --- the hot path ---
  /// A unit was started / has ended (its four instants, outcome, code, error, bytes).
  void started() noexcept;
  void finished(const Result& result) noexcept;
  /// `count` arrivals of the schedule have fallen due.
  void planned(std::uint64_t count) noexcept;
  void missed_late(std::uint64_t count) noexcept;
  void saturated(std::uint64_t count) noexcept;
  /// A due arrival that will never start: `elapsed` since it was due enters the response histogram, censored.
  void missed_waited(Duration elapsed) noexcept;
  void missed_at_end(Duration elapsed) noexcept;
  /// The verdict of a document on a unit.
  void judged(bool passed) noexcept;
  void in_flight(std::uint64_t now_in_flight) noexcept;
  /// The shape's histograms and counters, by position.
  void record(std::size_t histogram, Duration value) noexcept;
  void count(std::size_t counter, std::uint64_t by = 1) noexcept;
  /// Adds what this loop spent since the last call.
  void usage(const LoopUsage& delta) noexcept;

  /// At an interval's end (t since t0). True when the sheet was passed on.
  bool hand_over(Duration t) noexcept;

  // --- the collector's thread ---
  /// Adds everything handed over (at most one sheet) to `into`; false when there was none. Cleans the sheet.
  bool collect(Interval& into);

 private:
  struct Sheet;
  RecorderShape shape_;
  Sheet* active_;
  std::unique_ptr<Sheet> sheets_[2];
  std::atomic<Sheet*> handed_{nullptr};  // full, waiting for the collector
  std::atomic<Sheet*> clean_{nullptr};   // empty, waiting for the thread
};

}  // namespace onbeat::kernel
