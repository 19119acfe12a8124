// The search for the highest rate that keeps the thresholds (--mode adaptive), as a state machine:
// what a step showed goes in, the next step comes out. It does no I/O, reads no clock and knows no
// protocol.
//
//   probe    from the first rate on doubled until a step does not hold, or halved until one does
//   bisect   the geometric middle of the highest rate that held and the lowest that did not, until
//            they are within `width` of each other
//   hold     the rate found, again and longer, three times in a row. When one of them does not
//            hold, the rate is lowered and the three begin anew.
//
// A step during which the generator itself was late says nothing about the target: it is repeated.
#pragma once

#include <onbeat/kernel/clock.hpp>

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace onbeat::run {

using kernel::Duration;

struct AdaptiveOptions {
  double first = 1000;                         // the first rate, per second
  double highest = 1e9;                        // no step is faster
  Duration budget = std::chrono::seconds(60);  // of the whole search
  /// What the strictest percentile of the thresholds needs in each step.
  std::uint64_t samples = 1;
  Duration shortest_step = std::chrono::seconds(1);
  Duration shortest_hold = std::chrono::seconds(3);
  unsigned holds = 3;
  double width = 0.05;      // of the bisection, relative to the lower rate
  double completed = 0.98;  // the share of a step's arrivals that must end within it
};

/// The first rate where none is asked for: the samples in one second, but 100 to 1,000 per second.
[[nodiscard]] double first_rate(std::uint64_t samples);

enum class StepKind : std::uint8_t { probe, bisect, hold };
[[nodiscard]] std::string_view to_string(StepKind kind) noexcept;

/// What is to be done next.
struct SearchStep {
  StepKind kind = StepKind::probe;
  double rate = 0;
  Duration length{};
};

/// What it showed.
struct StepOutcome {
  std::uint64_t planned = 0;
  std::uint64_t unfinished = 0;  // of these, not ended when the last one was due
  Duration typical{};            // the median response time
  /// Why a threshold does not hold; empty: all of them do.
  std::string failed_threshold;
  /// Why the step says nothing about the target: the generator was the limit. Else empty.
  std::string generator;
};

/// Why a step does not count as completed: more than 1 - `share` of its arrivals had not ended when
/// the last one was due. Empty when it does. What is in flight for as long as an answer normally
/// takes is no backlog; normal is `quickest`, the least typical response time of all steps, for a
/// step that starts with an idle target and overloads it has a queue in its own median.
[[nodiscard]] std::string why_incomplete(const StepOutcome& outcome, const SearchStep& step,
                                         Duration quickest, double share = 0.98);

/// A step that has been tried.
struct TriedStep {
  SearchStep step;
  bool held = false;
  bool disturbed = false;  // it did not hold, but because of the generator
  std::string reason;      // why it did not hold
};

class AdaptiveSearch {
 public:
  explicit AdaptiveSearch(const AdaptiveOptions& options);

  /// The next step, `elapsed` after the search began; nothing when it is over. Each step is
  /// answered by one add().
  [[nodiscard]] std::optional<SearchStep> next(Duration elapsed);
  void add(const StepOutcome& outcome);

  [[nodiscard]] const std::vector<TriedStep>& tried() const noexcept { return tried_; }
  /// Of tried(), those that the report's figures come from: the holds of the rate found; without a
  /// whole set of them the fastest step that held; without one, the slowest that did not.
  [[nodiscard]] std::vector<std::size_t> evidence() const;
  /// The holds have confirmed a rate that is within `width` of one that did not hold (or is the
  /// highest allowed).
  [[nodiscard]] bool converged() const noexcept { return confirmed_ && narrow_; }
  /// The rate found, confirmed or not; nothing when no step held.
  [[nodiscard]] std::optional<double> rate() const;
  /// When no higher rate could be tried because of the generator: why. Else empty.
  [[nodiscard]] std::string generator_limit() const;
  /// Why the search has not converged, in one sentence without a full stop; empty when it has.
  [[nodiscard]] std::string shortfall() const;

 private:
  [[nodiscard]] std::optional<SearchStep> choose(Duration left);
  [[nodiscard]] SearchStep step(StepKind kind, double rate) const;
  [[nodiscard]] std::optional<double> wider() const;
  std::optional<SearchStep> hold(Duration left);
  void lower();

  AdaptiveOptions options_;
  std::vector<TriedStep> tried_;
  std::optional<SearchStep> present_;    // without an outcome yet
  std::vector<std::size_t> confirming_;  // holds of tried_
  std::optional<double> held_, failed_;  // the highest that held, the lowest that did not
  std::optional<double> holding_;        // the rate of the present holds
  unsigned lowered_ = 0;                 // how often a hold has failed
  unsigned repeats_ = 0;                 // of the present step
  std::optional<SearchStep> again_;
  Duration quickest_ = Duration::max();  // the least typical response time of any step
  bool narrow_ = false, confirmed_ = false;
  bool over_ = false;
};

}  // namespace onbeat::run
