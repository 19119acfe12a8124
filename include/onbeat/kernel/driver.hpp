// The driver pairs due arrivals with workers. Passive and deterministic: it never reads a clock,
// sleeps or locks; whoever owns it (an event loop, a thread, a test) tells it the time.
//
//   advance(now)       takes up everything due by now; returns when to call again
//   take(now, unit)    the next unit for a free worker
//   finish(result)     a unit has ended
//   end_issue(now)     the issue window is over: what still waits for a worker is missed
//
// It keeps, at every instant:  planned = started + missed + saturated + waiting,  started = ended +
// in flight.
#pragma once

#include <onbeat/kernel/clock.hpp>
#include <onbeat/kernel/live_rate.hpp>
#include <onbeat/kernel/recorder.hpp>
#include <onbeat/kernel/result.hpp>
#include <onbeat/kernel/schedule.hpp>

#include <atomic>
#include <cstdint>
#include <memory>
#include <vector>

namespace onbeat::kernel {

/// closed: each worker starts its next unit when the last one is done, no schedule.
/// paced:  a closed loop at a rate: workers take the next arrival of the schedule.
/// open:   arrivals happen whether a worker is free or not.
enum class Model : std::uint8_t { closed, paced, open };
/// What happens to an arrival whose lag exceeds late_after. catch_up: it goes out at once (when
/// older than catch_up_limit it is missed). skip: it is missed. burst: it goes out, however old, as
/// a token bucket of depth `burst` that refills at R(t) allows; while behind, all that is due waits
/// for the bucket.
enum class OnLate : std::uint8_t { catch_up, skip, burst };
/// Open loop, no worker free: drop counts the arrival as saturated; queue lets it wait.
enum class OnSaturation : std::uint8_t { drop, queue };

struct DriverOptions {
  Model model = Model::open;
  /// This loop's share of the workers: how many units may be in flight.
  std::uint32_t workers = 10;
  OnLate on_late = OnLate::catch_up;
  /// 0: the larger of 1 ms and one mean gap (of the whole schedule at its rate at that instant).
  Duration late_after{};
  Duration catch_up_limit = std::chrono::seconds(1);
  std::uint32_t burst = 1;
  OnSaturation on_saturation = OnSaturation::drop;
  Duration max_wait = kNoTime;
  std::uint64_t queue_limit = UINT64_MAX;
};

/// Closed loop with a fixed number of requests: loops take blocks from it. Shared by the loops of a
/// run.
class RequestBudget {
 public:
  explicit RequestBudget(std::uint64_t requests) : left_(requests) {}
  /// Up to 256, fewer towards the end so that no loop is left with a long tail; 0 when used up.
  std::uint64_t take_block(unsigned loops) noexcept;
  /// Gives back what a loop has not started.
  void give_back(std::uint64_t count) noexcept;
  [[nodiscard]] std::uint64_t left() const noexcept {
    return left_.load(std::memory_order_relaxed);
  }

 private:
  std::atomic<std::uint64_t> left_;
};

/// Told of arrivals that never start; only the embedded kernel's result stream uses it. Off the hot
/// path.
class MissedSink {
 public:
  enum class Why : std::uint8_t { late, waited, at_end, saturated };
  virtual ~MissedSink() = default;
  virtual void missed(std::uint64_t arrival, Instant due, Instant now, Why why) = 0;
};

class Driver {
 public:
  /// `recorder`, `live`, `budget` and `sink` are borrowed; the last three may be null. With `live`,
  /// its profile replaces the plan's.
  Driver(DriverOptions options, SchedulePlan plan, Recorder& recorder, LiveRate* live = nullptr,
         RequestBudget* budget = nullptr, MissedSink* sink = nullptr);
  ~Driver();
  Driver(const Driver&) = delete;
  Driver& operator=(const Driver&) = delete;

  /// Sets t0. Due times are relative to it.
  void begin(Instant t0) noexcept;

  /// Takes up every arrival due by `now`. Returns the next instant at which something happens
  /// without a finish(): an arrival falls due, or a waiting one has waited too long; kNever when
  /// there is none. `now` never goes back (an earlier one counts as the latest).
  Instant advance(Instant now) noexcept;

  /// Gives the next unit to a free worker, started at `now`. False when nothing is due, no worker
  /// is free (in flight == workers), or the issue window is over. Of a closed loop: at once, until
  /// duration or budget end. An arrival that had a free worker from the moment it was released is
  /// stamped released = started: the time spent starting those before it is the generator's (lag),
  /// not a want of workers (wait).
  [[nodiscard]] bool take(Instant now, Unit& unit) noexcept;

  /// Ends a started unit. Outcome::in_flight for what is cut off at the end of the drain.
  void finish(const Result& result) noexcept;

  /// The end of the issue window: plans what was due before `now` and plan.length, misses what
  /// waits, and starts nothing more.
  void end_issue(Instant now) noexcept;

  /// Whether every planned arrival has been taken up and nothing waits (max_requests or length
  /// reached): no further unit will ever start. Closed: budget used up, or end_issue() called.
  [[nodiscard]] bool exhausted() const noexcept;
  [[nodiscard]] std::uint64_t waiting() const noexcept;
  /// Whether the rate is infinite now: take() gives a unit whenever a worker is free.
  [[nodiscard]] bool unlimited_now() const noexcept;
  /// May be read by any thread.
  [[nodiscard]] std::uint32_t in_flight() const noexcept {
    return in_flight_.load(std::memory_order_relaxed);
  }
  /// Sums since begin(), for checks; the recorder's intervals add up to the same.
  [[nodiscard]] const Counts& counts() const noexcept { return counts_; }

 private:
  /// Arrivals released together: a range of arrival numbers, after `skip` numbers that were never
  /// queued. The arrival due at d was released at min(max(first, d + lag), last): exactly, for what
  /// was released at one instant (first == last); for batches that were merged, never earlier than
  /// it was.
  struct Batch {
    std::uint64_t skip = 0;
    std::uint64_t count = 0;
    std::uint64_t immediate = 0;  // the first so many had a free worker when they were released
    Instant first{};
    Instant last{};
    Duration lag{};
  };

  [[nodiscard]] Duration elapsed() const noexcept { return now_ - t0_; }
  [[nodiscard]] std::uint32_t free_workers() const noexcept;
  [[nodiscard]] bool unlimited_at(Duration t) const noexcept { return t >= unlimited_from_; }
  [[nodiscard]] bool is_late(Duration lag, Duration due) const noexcept;
  [[nodiscard]] bool is_missed(Duration lag, Duration due) const noexcept;
  void follow_live_rate() noexcept;
  void find_unlimited() noexcept;
  void release_due() noexcept;
  [[nodiscard]] bool may_catch_up(Duration lag, Duration due) noexcept;
  void refill_tokens() noexcept;
  [[nodiscard]] bool enqueue(Duration lag) noexcept;
  [[nodiscard]] bool open_batch(Duration lag) noexcept;
  void pass_over(MissedSink::Why why) noexcept;
  void miss_overdue() noexcept;
  [[nodiscard]] bool take_closed(Instant now, Unit& unit) noexcept;
  void take_unlimited(Instant now, Unit& unit) noexcept;
  void count_start(std::uint32_t in_flight) noexcept;
  [[nodiscard]] Instant head_due() noexcept;
  [[nodiscard]] Instant head_released(Instant due) const noexcept;
  /// The i-th oldest.
  [[nodiscard]] Batch& batch(std::size_t i) noexcept {
    return batches_[(head_ + i) & (batches_.size() - 1)];
  }
  void pop_head() noexcept;
  [[nodiscard]] Instant next_instant() noexcept;
  void plan_unseen(Duration end) noexcept;
  void tell(std::uint64_t arrival, Instant due, MissedSink::Why why) noexcept;

  DriverOptions options_;
  std::uint64_t live_version_ = 0;
  SchedulePlan plan_;
  Recorder& recorder_;
  LiveRate* live_;
  RequestBudget* budget_;
  MissedSink* sink_;

  Instant t0_{};
  Instant now_{};
  Duration unlimited_from_ =
      kNoTime;              // from here on the rate is infinite: an arrival for every free worker
  ScheduleCursor release_;  // the next arrival to take up
  ScheduleCursor start_;    // the next arrival to start, while something waits
  std::vector<Batch> batches_;  // a ring (2^n): what was released and waits
  std::size_t head_ = 0;
  std::size_t batch_count_ = 0;
  std::uint64_t waiting_ = 0;
  std::uint64_t passed_over_ =
      0;  // arrivals between the newest batch and release_ that were never queued
  bool batch_open_ = false;  // the newest batch belongs to the advance() under way

  bool catching_up_ = false;  // OnLate::burst: behind, so that releases need tokens
  double tokens_ = 0;
  double tokens_at_ = 0;  // I(t) of the last refill

  std::vector<Instant>
      ready_;  // paced, a ring: since when each free worker has been free, oldest first
  std::size_t ready_head_ = 0;
  std::size_t ready_count_ = 0;

  std::uint64_t next_closed_;  // closed: the next number of this loop
  std::uint64_t block_ = 0;    // closed: what is left of the block taken from the budget
  bool ended_ = false;

  Counts counts_;
  std::atomic<std::uint32_t> in_flight_{0};
};

}  // namespace onbeat::kernel
