// Thresholds: `[scope.]metric OP number unit`, one grammar everywhere.
//
//   p(99) < 25ms      p99.9 < 1s       wait.max < 5ms      endpoint("login").service.p95 < 80ms
//   error_rate < 1%   rate >= 4950/s   count > 10k         code(503) == 0      error(timeout) <
//   0.1% and, for --abort-on, with a window:   error_rate > 20% over 5s
//
// A threshold says what must hold; --abort-on says what must not.
#pragma once

#include "options/grammar.hpp"

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>

namespace onbeat::options {

/// Which time a latency metric is about. headline: response when open, service when closed. all:
/// that of failures, too (BENCH sections).
enum class Latency : std::uint8_t { headline, response, service, wait, lag, all };

enum class Measure : std::uint8_t {
  percentile,  // of a latency: ns
  min,
  mean,
  max,
  total,       // the sum (BENCH sections)
  rate,        // started units over the issue window: per second
  ok_rate,     // successes: per second, or percent of the started, as the unit says
  error_rate,  // failures and timeouts: likewise
  count,       // started units
  code,        // answers with that code: a number, or percent of the started
  error,       // errors of that class: likewise
  named,       // what a protocol or a user's metric adds: a number, or percent
};

enum class Compare : std::uint8_t { less, less_equal, greater, greater_equal, equal, not_equal };

enum class ThresholdUnit : std::uint8_t { nanoseconds, per_second, percent, plain };

struct Threshold {
  std::string text;       // as written, without spaces around
  std::string metric;     // the part before the operator, as written
  std::string endpoint;   // scope endpoint("..."); empty: all
  std::string operation;  // scope of an operation ("get"); empty: all
  Latency latency = Latency::headline;
  Measure measure = Measure::percentile;
  double percentile = 0;  // 0 < percentile < 100, for Measure::percentile
  std::string name;       // the code, the class of error, the named metric
  Compare compare = Compare::less;
  double value = 0;  // in `unit`
  ThresholdUnit unit = ThresholdUnit::plain;
  /// The unit as written ("ms") and its size in `unit`: what the report shows the actual value in.
  std::string shown_unit;
  double shown_size = 1;

  [[nodiscard]] bool is_latency() const { return measure <= Measure::total; }
  /// Whether it judges how the target copes, so that it may hold at one rate and fail at a higher
  /// one; otherwise it is about the rate or the number of units itself.
  [[nodiscard]] bool limits_rate() const {
    return is_latency() || unit == ThresholdUnit::percent ||
           (unit == ThresholdUnit::plain &&
            (measure == Measure::code || measure == Measure::error));
  }
  /// Whether `actual` (in `unit`) satisfies the comparison. NaN never does.
  [[nodiscard]] bool holds(double actual) const;
};

struct AbortRule {
  Threshold threshold;  // true means: end the run
  Duration window{};
};

/// What a workload adds to the grammar.
struct Vocabulary {
  std::span<const std::string_view> metrics;     // "hit_ratio", "passed"
  std::span<const std::string_view> operations;  // "get", "set"
  std::span<const std::string_view> errors;      // classes; empty: any is accepted
  bool user_metrics = false;                     // "a title" in quotes is a metric
};

Parsing<Threshold> parse_threshold(std::string_view text, const Vocabulary& vocabulary = {});
/// `over D` is required, at least 1 s: intervals are seconds.
Parsing<AbortRule> parse_abort(std::string_view text, const Vocabulary& vocabulary = {});

/// "<", "<=", ...
std::string_view to_string(Compare compare);

}  // namespace onbeat::options
