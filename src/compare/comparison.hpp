// Two sets of runs, metric by metric: by how much they differ, how sure that is, and whether it is
// a regression. Pure: reports in, a comparison out.
//
// A regression is a gated metric that has become worse by more than `min_effect`, where the rank
// test says that chance alone would do so in less than 5 % of all comparisons: its one-sided p,
// adjusted by Holm over the gated metrics, is below 0.05. From four runs a side on; with fewer
// nothing significant can be stated.
#pragma once

#include "compare/metrics.hpp"
#include "compare/statistics.hpp"
#include "run/report.hpp"

#include <cstdint>
#include <string>
#include <vector>

namespace onbeat::compare {

inline constexpr std::size_t kFewestRuns = 4;
/// A difference of error rates below this many percent points is no regression.
inline constexpr double kSmallestErrorEffect = 0.1;

/// A run and where it comes from.
struct Run {
  std::string source;  // "base.json", "base.json, run 2"
  run::Report report;
};

struct Settings {
  double min_effect = 5;  // percent of the base's median
  double significance = 0.05;
  std::vector<std::string> gates;  // empty: kStandardGates
  bool allow_invalid = false;
};
/// Three: with four runs a side no rank test could show more of them at 5 %.
inline constexpr std::string_view kStandardGates[] = {"ok_rate", "error_rate", "p99"};

struct Side {
  std::vector<double> values;  // of the runs that have the metric
  double median = 0, low = 0, high = 0;
  std::size_t lower_bounds = 0;  // how many of the values are
  std::size_t untrusted = 0;     // runs whose verdict does not trust it
};

enum class Change : std::uint8_t {
  none,  // no difference that is significant and large enough
  improved,
  regressed,
  undecided,  // too few runs, or figures that are not to be trusted
};

struct Difference {
  const Metric* metric = nullptr;
  bool gated = false;
  Side base, next;
  Shift shift;                   // next - base, in the metric's unit
  std::optional<double> effect;  // percent of the base's median; empty: that is 0
  std::optional<double> p;       // that it is worse; empty: too few runs
  std::optional<double> p_better;
  std::optional<double> adjusted, adjusted_better;  // of gated metrics, by Holm
  Change change = Change::none;
  std::string why_undecided;
};

struct Comparison {
  std::size_t base_runs = 0, next_runs = 0;
  std::string base_name, next_name;  // the targets
  Settings settings;
  std::vector<Difference> differences;  // of the metrics that both sides have
  std::vector<std::string> warnings;
  /// Why there is nothing to compare, or not to be trusted; the exit code is 3 then.
  std::vector<std::string> refusals;
  bool conclusive = false;  // runs enough for a test

  [[nodiscard]] bool regressed() const;
  [[nodiscard]] run::ExitCode exit_code() const;
  /// "no regression in 3 gated metrics", in one line.
  [[nodiscard]] std::string summary() const;
};

[[nodiscard]] Comparison compare(const std::vector<Run>& base, const std::vector<Run>& next,
                                 const Settings& settings);

[[nodiscard]] std::string_view to_string(Change change) noexcept;

}  // namespace onbeat::compare
