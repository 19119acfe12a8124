// What a recorder hands over each second and at the end: deltas of counts and histograms. Intervals
// merge without loss over threads, processes, hosts and time; terminal, report, store and exporters
// read nothing else.
#pragma once

#include <onbeat/kernel/clock.hpp>
#include <onbeat/kernel/histogram.hpp>
#include <onbeat/kernel/result.hpp>

#include <cstdint>
#include <string>
#include <vector>

namespace onbeat::kernel {

/// The book-keeping. Identities, at the end of a run:
///   planned = started + missed + saturated,  missed = missed_late + missed_waited + missed_at_end
///   started = ok + failed + timed_out + cancelled + in_flight_at_end
struct Counts {
  std::uint64_t planned = 0;  // arrivals of the schedule that fell due (closed loop: = started)
  std::uint64_t started = 0;
  std::uint64_t missed_late =
      0;  // the generator was too late (policy skip, or more than the catch-up limit)
  std::uint64_t missed_waited = 0;  // waited longer than max_wait for a worker
  std::uint64_t missed_at_end = 0;  // still waiting for a worker when the issue window ended
  std::uint64_t saturated = 0;      // no worker free (policy drop), or the queue limit reached
  std::uint64_t ok = 0, failed = 0, timed_out = 0, cancelled = 0, in_flight_at_end = 0;
  std::uint64_t passed = 0, not_passed = 0;  // a verdict beside the protocol's (documents)
  std::uint64_t untimed = 0;  // ended, and left out of the histograms on request (Timing)
  std::uint64_t bytes_sent = 0, bytes_received = 0;

  [[nodiscard]] std::uint64_t missed() const noexcept {
    return missed_late + missed_waited + missed_at_end;
  }
  [[nodiscard]] std::uint64_t ended() const noexcept {
    return ok + failed + timed_out + cancelled + in_flight_at_end;
  }
  /// planned - started - missed - saturated, and started - ended: both 0 when the books balance.
  [[nodiscard]] std::int64_t unaccounted_planned() const noexcept {
    return static_cast<std::int64_t>(planned - started - missed() - saturated);
  }
  [[nodiscard]] std::int64_t unaccounted_started() const noexcept {
    return static_cast<std::int64_t>(started - ended());
  }
  Counts& operator+=(const Counts& other) noexcept;
  bool operator==(const Counts&) const = default;
};

/// One endpoint's part. The vectors are indexed by CodeId and ErrorId and as long as needed.
struct EndpointInterval {
  /// A step of a larger unit (a call of a chain), which is counted under an endpoint of its own:
  /// the totals are the sums of the endpoints that are no parts.
  bool part = false;
  Counts counts;  // planned, missed and saturated stay 0: an arrival that never started has no
                  // endpoint yet
  Histogram response, service, failed;
  Histogram message_gap;  // between the messages of a stream
  std::vector<std::uint64_t> codes, errors;

  void merge(const EndpointInterval& other);
  bool operator==(const EndpointInterval&) const = default;
};

/// What one loop (thread) spent.
struct LoopUsage {
  Duration wall{};
  Duration cpu{};
  Duration stalled{};        // sum of the stalls over 10 ms
  std::uint64_t stalls = 0;  // turns, or late wake-ups, of more than 10 ms
  std::uint64_t turns = 0;

  LoopUsage& operator+=(const LoopUsage& other) noexcept;
  bool operator==(const LoopUsage&) const = default;
};

struct Interval {
  std::uint64_t index = 0;
  Duration start{}, end{};  // since t0
  Counts counts;            // of all endpoints together
  /// All endpoints together. response and service hold what succeeded and what is censored, failed
  /// the response times of failures that came back. Closed loop: response == service, wait and lag
  /// empty.
  Histogram response, service, wait, lag, failed;
  std::vector<EndpointInterval> endpoints;   // by EndpointId
  std::vector<std::uint64_t> codes, errors;  // of all endpoints, by CodeId and ErrorId
  std::vector<Histogram> extra;         // by RecorderShape::histograms ("turn", "connect", ...)
  std::vector<std::uint64_t> counters;  // by RecorderShape::counters
  std::vector<LoopUsage> loops;         // by loop
  std::uint64_t in_flight = 0;          // at the end of the interval
  std::uint64_t in_flight_max = 0;      // sum over loops of each loop's highest
  Duration lag_max{};
  std::vector<std::string> events;  // "abort: ...", "rate 500/s"

  /// Adds what other loops (of other processes or hosts) did in the same time: everything sums,
  /// maxima are taken, start and end widen, `loops` and `events` of the other are appended. Where
  /// both sides hold loops of one process, use Recorder::collect on one Interval instead. An
  /// interval whose start is its end has no time of its own.
  void merge_parallel(const Interval& other);
  /// Adds the interval that follows: as above, but usage adds up loop by loop, in_flight is the
  /// later one's, and in_flight_max the larger one's. Both are associative and keep this interval's
  /// index; Interval{} before the first one changes nothing but the index.
  void merge_next(const Interval& other);
  /// Widens start and end to hold another span of time.
  void widen(Duration other_start, Duration other_end) noexcept;
  bool operator==(const Interval&) const = default;

 private:
  void add_shared(const Interval& other);
};

}  // namespace onbeat::kernel
