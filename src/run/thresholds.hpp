// Judging thresholds on a finished report, and --abort-on on a running one. Pure: no I/O, no clock.
#pragma once

#include "options/threshold.hpp"
#include "run/audit.hpp"
#include "run/report.hpp"
#include <onbeat/kernel/interval.hpp>

#include <cstdint>
#include <deque>
#include <optional>
#include <string>
#include <vector>

namespace onbeat::run {

/// Judges one threshold. It fails, with the reason, when it has no value, when it rests on a lower
/// bound that leaves it open, or on a figure that report.verdict calls untrusted. Too few samples
/// are only noted: it is judged as it stands.
[[nodiscard]] ThresholdResult judge(const options::Threshold& threshold, const Report& report);

struct ExitInputs {
  bool usage = false;  // wrong usage or configuration: nothing was sent
  bool scenario_failed = false;
  bool interrupted = false;
  bool aborted = false;      // --abort-on
  bool unreachable = false;  // target unreachable, or nothing succeeded
  Status verdict = Status::valid;
  bool threshold_failed = false;
  bool strict = false;         // degraded counts as not to be trusted
  bool allow_invalid = false;  // invalid does not
};
/// The first that applies of 2, 5, 130, 6, 4, 3, 1; else 0.
[[nodiscard]] ExitCode resolve_exit(const ExitInputs& inputs);

struct Judging {
  std::vector<options::Threshold> thresholds;
  AuditLimits limits;
  bool strict = false, allow_invalid = false;
};
/// Completes a report whose figures are all there: verdict, thresholds, generator_limited, exit
/// code. A report with an error keeps the exit code that came with it.
void judge(Report& report, const Judging& judging);

/// Watches a run for one --abort-on rule over its sliding window. Feed it every interval, in order.
class AbortWatch {
 public:
  /// `names` turns the ids of an interval into names; it must outlive the watch.
  AbortWatch(options::AbortRule rule, bool open, kernel::Names& names);
  /// Why the run must end, once the rule held over a whole window; nothing before a window is full,
  /// nor while the metric has no value.
  [[nodiscard]] std::optional<std::string> feed(const kernel::Interval& interval);

 private:
  options::AbortRule rule_;
  bool open_;
  kernel::Names& names_;
  std::deque<kernel::Interval> window_;
};

}  // namespace onbeat::run
