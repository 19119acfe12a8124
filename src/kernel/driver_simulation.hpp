// For tests: a driver with simulated workers, in simulated time. No threads, no clock: time jumps
// to the next instant at which something happens.
#pragma once

#include <onbeat/kernel/driver.hpp>

#include <algorithm>
#include <functional>
#include <map>
#include <vector>

namespace onbeat::kernel {

class DriverSimulation : private MissedSink {
 public:
  struct Missed {
    std::uint64_t arrival;
    Duration due;
    Duration at;
    Why why;
  };
  /// How long a unit takes that starts at `started` (since the run's start).
  using Service = std::function<Duration(std::uint64_t arrival, Duration started)>;

  DriverSimulation(DriverOptions options, SchedulePlan plan, Service service,
                   LiveRate* live = nullptr, RequestBudget* budget = nullptr)
      : recorder_(shape(options.model)),
        driver_(options, std::move(plan), recorder_, live, budget, this),
        service_(std::move(service)) {
    driver_.begin(kStart);
  }

  /// Runs until `until` (since the start), turn by turn.
  void run(Duration until) {
    for (;;) {
      turn();
      const Instant next = std::min(wake_, ends_.empty() ? kNever : ends_.begin()->first);
      if (next > kStart + until || next == kNever) break;
      now_ = std::max(now_, next);
    }
    now_ = std::max(now_, kStart + until);
    turn();
  }

  /// The generator stands still until `until`: it comes back to everything that happened meanwhile.
  void stall(Duration until) { now_ = kStart + until; }

  void end_issue(Duration at) {
    now_ = std::max(now_, kStart + at);
    driver_.end_issue(now_);
  }

  /// Ends what is in flight: each unit at its own time when that is by `at`, else as in flight.
  void drain(Duration at) {
    while (!ends_.empty()) {
      auto [done, unit] = *ends_.begin();
      const bool in_time = done <= kStart + at;
      finish(unit, std::min(done, kStart + at), in_time ? Outcome::ok : Outcome::in_flight);
      ends_.erase(ends_.begin());
    }
  }

  /// Everything recorded since the last call.
  Interval interval() {
    Interval interval;
    recorder_.hand_over(now_ - kStart);
    recorder_.collect(interval);
    return interval;
  }

  [[nodiscard]] std::vector<Duration> dues() const {
    std::vector<Duration> dues;
    for (const Result& result : results) dues.push_back(result.unit.due - kStart);
    std::ranges::sort(dues);
    return dues;
  }
  [[nodiscard]] Duration worst_lag() const {
    Duration worst{};
    for (const Result& result : results) worst = std::max(worst, result.lag());
    return worst;
  }
  [[nodiscard]] Duration now() const { return now_ - kStart; }
  Driver& driver() { return driver_; }
  [[nodiscard]] const Counts& counts() const { return driver_.counts(); }

  static constexpr Instant kStart{std::chrono::hours(1)};
  std::vector<Result> results;
  std::vector<Missed> missed_arrivals;
  std::uint32_t most_in_flight = 0;

 private:
  static RecorderShape shape(Model model) {
    RecorderShape shape;
    shape.open = model != Model::closed;
    return shape;
  }

  void missed(std::uint64_t arrival, Instant due, Instant now, Why why) override {
    missed_arrivals.push_back({arrival, due - kStart, now - kStart, why});
  }

  void turn() {
    while (!ends_.empty() && ends_.begin()->first <= now_) {
      const auto [done, unit] = *ends_.begin();
      ends_.erase(ends_.begin());
      finish(unit, done, Outcome::ok);
    }
    wake_ = driver_.advance(now_);
    Unit unit;
    while (driver_.take(now_, unit)) {
      ends_.emplace(now_ + service_(unit.arrival, now_ - kStart), unit);
      most_in_flight = std::max(most_in_flight, driver_.in_flight());
    }
  }

  void finish(const Unit& unit, Instant done, Outcome outcome) {
    const Result result{.unit = unit, .done = done, .outcome = outcome};
    driver_.finish(result);
    results.push_back(result);
  }

  Recorder recorder_;
  Driver driver_;
  Service service_;
  std::multimap<Instant, Unit> ends_;
  Instant now_ = kStart;
  Instant wake_ = kStart;
};

}  // namespace onbeat::kernel
