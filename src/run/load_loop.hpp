// One loop of a run: pairs the driver's due arrivals with workers, on one thread.
//
// A worker is a coroutine of the workload:
//
//   while (co_await load.next(worker)) {      // a unit is due: worker.unit
//     ... the protocol ...
//     load.finish(result);
//   }
//
// Belongs to its loop's thread, except what says otherwise and the recorder's collect().
#pragma once

#include "net/loop.hpp"
#include "options/duration_stop.hpp"
#include "run/sample_ring.hpp"
#include <onbeat/kernel/driver.hpp>

#include <atomic>
#include <coroutine>
#include <cstdint>
#include <functional>
#include <memory>
#include <vector>

namespace onbeat::run {

using kernel::Duration;
using kernel::Instant;
using kernel::kNever;
using kernel::kNoTime;

class LoadLoop;

/// The part of a worker that the load loop knows.
class Worker {
 public:
  kernel::Unit unit;

 protected:
  ~Worker() = default;
  /// Ends what the worker is doing now (its operation resumes with an error), busy or not.
  virtual void cancel() noexcept = 0;

 private:
  friend class LoadLoop;
  Worker* next_idle_ = nullptr;
  std::coroutine_handle<> waiting_;
  bool has_unit_ = false;
};

/// A protocol under load, as one loop sees it: the maker and owner of its workers.
class Workload {
 public:
  virtual ~Workload() = default;
  /// Makes one more worker and starts it: it calls next() at once, or, with `connect`, opens its
  /// connection first and calls LoadLoop::connected() when that has succeeded or failed.
  virtual Worker& add_worker(bool connect) = 0;
  /// Before intervals and at the end: writes what the protocol counts itself to the recorder.
  virtual void flush(kernel::Recorder& recorder) = 0;
};

/// One phase of the run (warm-up, measure) on this loop.
struct Phase {
  kernel::DriverOptions driver;
  kernel::SchedulePlan plan;
  kernel::RecorderShape shape;
  kernel::RequestBudget* budget = nullptr;
  SampleRing* samples = nullptr;  // where each unit is logged; null: nowhere
  /// The issue window; kNoTime when only the number of arrivals ends it.
  Duration length = kNoTime;
  /// The number of arrivals ends the issue window before its length does.
  bool ends_by_count = false;
  Duration drain_limit = std::chrono::seconds(10);
  /// Of what is in flight when `length` is over.
  options::DurationStop at_end = options::DurationStop::wait;
  Duration interval = std::chrono::seconds(1);
};

/// The extra histograms and counters that every load loop records, by position in RecorderShape; a
/// workload's own follow.
inline constexpr std::size_t kTurnHistogram = 0;
inline constexpr std::size_t kConnectHistogram = 1;

class LoadLoop final : private net::TurnHook {
 public:
  LoadLoop(net::Loop& loop, std::uint32_t index);
  ~LoadLoop();
  LoadLoop(const LoadLoop&) = delete;
  LoadLoop& operator=(const LoadLoop&) = delete;

  /// Before anything else; borrowed.
  void set_workload(Workload& workload) noexcept { workload_ = &workload; }

  // --- phases; `done` is called on the loop's thread ---
  /// Adds `count` workers with a connection each; done when all are up or have failed.
  void connect(std::uint32_t count, std::function<void()> done);
  /// Runs a phase from t0 on. Its driver and recorder stay valid until the second begin() after
  /// this one.
  void begin(const Phase& phase, Instant t0, std::function<void()> done);
  /// Ends the issue window of the present phase now; the drain takes at most `drain_limit`.
  void end_issue(Duration drain_limit);
  /// No more phases: every worker ends.
  void close();

  // --- for workers ---
  class Next {
   public:
    Next(LoadLoop& load, Worker& worker) noexcept : load_(load), worker_(worker) {}
    [[nodiscard]] bool await_ready() noexcept { return load_.try_next(worker_); }
    void await_suspend(std::coroutine_handle<> waiting) noexcept { load_.wait(worker_, waiting); }
    /// False: the run is over.
    [[nodiscard]] bool await_resume() const noexcept { return worker_.has_unit_; }

   private:
    LoadLoop& load_;
    Worker& worker_;
  };
  [[nodiscard]] Next next(Worker& worker) noexcept { return {*this, worker}; }
  /// Ends the unit of a worker. Every unit is finished exactly once.
  void finish(const kernel::Result& result) noexcept;
  /// How a unit ends that cancel() has cut off: in flight, when the drain was over.
  [[nodiscard]] kernel::Outcome cut_off() const noexcept {
    return closing_ ? kernel::Outcome::cancelled : kernel::Outcome::in_flight;
  }
  /// A worker that was to connect has done so, or failed.
  void connected(bool up) noexcept;
  /// A worker that has rested since its last unit: its next one starts now, not when that one was
  /// done.
  void rested() noexcept { last_done_ = loop_.now(); }
  [[nodiscard]] bool closing() const noexcept { return closing_; }
  [[nodiscard]] net::Loop& loop() noexcept { return loop_; }
  /// False before the first phase: there is no recorder yet.
  [[nodiscard]] bool recording() const noexcept { return recorder_ != nullptr; }
  [[nodiscard]] kernel::Recorder& recorder() noexcept { return *recorder_; }
  [[nodiscard]] std::uint32_t index() const noexcept { return index_; }

  // --- any thread ---
  [[nodiscard]] std::uint32_t in_flight() const noexcept {
    const kernel::Driver* driver = shown_.load(std::memory_order_acquire);
    return driver == nullptr ? 0 : driver->in_flight();
  }

  /// The present phase's recorder, for its collect(); null before the first phase.
  [[nodiscard]] kernel::Recorder* shown_recorder() const noexcept {
    return shown_recorder_.load(std::memory_order_acquire);
  }

  /// Whether the present phase has ended: nothing more is recorded.
  [[nodiscard]] bool phase_over() const noexcept { return over_.load(std::memory_order_acquire); }

  // --- after `done` ---
  [[nodiscard]] std::uint32_t connections_up() const noexcept { return connections_up_; }
  [[nodiscard]] const kernel::Driver& driver() const noexcept { return *driver_; }
  /// Since t0: the end of the issue window, and of the drain.
  [[nodiscard]] Duration issue_ended() const noexcept { return issue_ended_; }
  [[nodiscard]] Duration drain_ended() const noexcept { return drain_ended_; }
  /// How many were in flight when the issue window ended.
  [[nodiscard]] std::uint64_t left_to_drain() const noexcept { return left_to_drain_; }

 private:
  enum class State : std::uint8_t { idle, issuing, draining, done };

  Instant on_turn(Instant now) noexcept override;
  void turn_took(Duration duration) noexcept override;
  void woke_late(Duration by) noexcept override;

  bool try_next(Worker& worker) noexcept;
  void wait(Worker& worker, std::coroutine_handle<> waiting) noexcept;
  void start_waiting(Instant now) noexcept;
  Worker* free_worker() noexcept;
  void resume(Worker& worker) noexcept;
  void end_issue_at(Instant now) noexcept;
  void cut_off_all() noexcept;
  void end_phase(Instant now) noexcept;
  void hand_over(Instant now) noexcept;
  void record(const kernel::Result& result) noexcept;
  void note_usage(Instant now) noexcept;

  net::Loop& loop_;
  std::uint32_t index_;
  Workload* workload_ = nullptr;
  std::vector<Worker*> workers_;
  Worker* idle_ = nullptr;

  Phase phase_;
  State state_ = State::idle;
  bool closed_model_ = false;
  kernel::Driver* driver_ = nullptr;
  kernel::Recorder* recorder_ = nullptr;
  Instant t0_{};
  Instant next_due_ = kNever;
  Instant issue_end_ = kNever;
  Instant drain_end_ = kNever;
  Instant next_interval_ = kNever;
  Instant last_done_{};
  Duration issue_ended_{}, drain_ended_{};
  std::uint64_t left_to_drain_ = 0;
  std::function<void()> done_;
  bool closing_ = false;
  bool discarding_ = false;  // what ends from now on does not count
  bool adding_ = false;

  std::uint32_t connecting_ = 0, connections_up_ = 0;
  std::function<void()> connect_done_;

  kernel::LoopUsage usage_;
  Instant usage_since_{};
  Duration cpu_since_{};

  std::atomic<const kernel::Driver*> shown_{nullptr};
  std::atomic<kernel::Recorder*> shown_recorder_{nullptr};
  std::atomic<bool> over_{false};
  std::vector<std::unique_ptr<kernel::Driver>> drivers_;
  std::vector<std::unique_ptr<kernel::Recorder>> recorders_;
};

}  // namespace onbeat::run
