// A run under way. Private to run.cpp (the phases), search.cpp and curve.cpp (the phases of an
// adaptive search and of a latency curve) and run_report.cpp (what the report says of them).
//
// A run measures parts, each a phase of all loops with its own t0: one, or the steps of a search or
// a curve. The report's figures are those of the parts that count, one after another.
#pragma once

#include "run/loop_thread.hpp"
#include "run/run.hpp"
#include "run/sample_ring.hpp"
#include <onbeat/kernel/random.hpp>

#include <cmath>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace onbeat::run {

/// Mean and standard error of the in-flight count, sampled at random instants. Neighbouring samples
/// hang together, so the error is that of the means of batches of consecutive samples.
class InFlightSampler {
 public:
  void add(std::uint64_t in_flight) {
    ++count_;
    sum_ += static_cast<double>(in_flight);
    batch_ += static_cast<double>(in_flight);
    if (count_ % kBatch != 0) return;
    const double mean = std::exchange(batch_, 0) / kBatch;
    ++batches_;
    batch_sum_ += mean;
    batch_squares_ += mean * mean;
  }
  void add(const InFlightSampler& other) {
    count_ += other.count_;
    batches_ += other.batches_;
    sum_ += other.sum_;
    batch_sum_ += other.batch_sum_;
    batch_squares_ += other.batch_squares_;
  }
  [[nodiscard]] std::uint64_t count() const { return count_; }
  [[nodiscard]] std::optional<double> mean() const {
    return count_ == 0 ? std::nullopt : std::optional(sum_ / static_cast<double>(count_));
  }
  [[nodiscard]] std::optional<double> error() const {
    if (batches_ < 2) return std::nullopt;
    const double n = static_cast<double>(batches_);
    const double mean = batch_sum_ / n;
    const double variance = std::max(batch_squares_ / n - mean * mean, 0.0) * n / (n - 1);
    return std::sqrt(variance / n);
  }

 private:
  static constexpr std::uint64_t kBatch = 50;
  std::uint64_t count_ = 0, batches_ = 0;
  double sum_ = 0, batch_ = 0, batch_sum_ = 0, batch_squares_ = 0;
};

/// What this process and the host have spent; a sum of differences.
struct Spent {
  Duration cpu{};
  Duration suspended{};
  CpuTimes host;
  std::uint64_t peak_rss_bytes = 0;
};

/// What one measured phase gave.
struct Part {
  kernel::Interval total;
  std::vector<SeriesRow> series;
  Duration issue{}, drained{};  // ends of the issue window and of the drain, since its t0
  std::uint64_t left_to_drain = 0;
  InFlightSampler in_flight;
  Spent spent;

  /// Adds a part that came later, as if it had followed at once.
  void append(const Part& next);
  /// Its figures as those of a step, whose rate and judgement are the caller's.
  [[nodiscard]] StepReport step_report() const;
};

class Execution {
  using Interval = kernel::Interval;
  using Stage = Observer::Stage;

 public:
  Execution(const RunPlan& plan, const WorkloadSpec& spec, const Host& host,
            std::vector<AbortWatch>& aborts, const std::vector<Observer*>& observers,
            const StopFlag& stop)
      : plan_(plan),
        spec_(spec),
        host_(host),
        aborts_(aborts),
        observers_(observers),
        stop_(stop) {}

  Report run();

 private:
  [[nodiscard]] std::uint32_t workers_to_connect(std::uint32_t k, std::uint32_t connections) const;
  bool connect();
  void warm_up();
  Part measure(const RunPlan& plan);
  void search();
  void curve();
  [[nodiscard]] RunPlan step_plan(double rate, Duration length) const;
  void announce_step(std::string_view kind, double rate);
  [[nodiscard]] StepOutcome judge_step(const RunPlan& plan, const Part& part,
                                       const Judging& judging) const;
  void end_of_windows(const RunPlan& plan, Part& part) const;
  Phase phase(std::uint32_t k, const RunPlan& plan, kernel::RequestBudget* budget,
              bool ends_by_count) const;
  void begin(const RunPlan& plan, kernel::RequestBudget* budget);
  void end_issue(Duration drain_limit);
  void poll(Stage stage, const RunPlan& plan);
  void collect(bool last);
  void emit(Interval& interval);
  void pass_samples();
  void show(Stage stage, Duration length);
  /// Everything that was measured but connections, which belong to the whole run.
  void fill(Report& report, const RunPlan& plan, const Part& part) const;
  void fill_observed(Report& report, const Part& part) const;
  void fill_connections();
  [[nodiscard]] std::uint64_t in_flight() const;
  [[nodiscard]] bool interrupted() const { return stop_.load(std::memory_order_relaxed) != 0; }

  const RunPlan& plan_;
  const WorkloadSpec& spec_;
  const Host& host_;
  std::vector<AbortWatch>& aborts_;
  const std::vector<Observer*>& observers_;
  const StopFlag& stop_;

  std::vector<std::unique_ptr<SampleRing>> rings_;  // outlive the loops
  std::vector<LoggedSample> samples_;
  std::vector<std::unique_ptr<LoopThread>> loops_;
  Latch latch_;
  Report report_;
  Instant t0_{};
  Instant first_t0_{};    // of the measured phases
  Part* part_ = nullptr;  // that is being measured; null in the warm-up
  bool ending_ = false;
  Duration sample_every_{};
  kernel::Random random_{0};
  Instant shown_{}, polled_{};
  Observer::Progress progress_;
  std::vector<Interval> pending_;  // what each loop has handed over since the last whole interval
  std::vector<bool> covered_;
  Instant boundary_{};
  std::uint64_t index_ = 0;  // of the next measured interval
  Interval warmup_;
  Interval uncounted_;      // of a search: the steps that do not count
  std::string step_event_;  // for the next interval
  Duration wall_before_{};
};

}  // namespace onbeat::run
