// A run that was kept, read again: a JSON report, or a stream of intervals (--stream), whole or
// broken off. The way from there to a report is that of the run itself: intervals are merged, the
// same checks judge.
#pragma once

#include "report/run_outputs.hpp"
#include "run/report.hpp"

#include <expected>
#include <string>
#include <vector>

namespace onbeat::report {

/// What is to be another way than it was in the run.
struct Reread {
  /// Leaves out the intervals that begin before it: only a stream has them.
  kernel::Duration cut{};
  std::vector<double> percentiles;  // beside those that the run had
};

struct KeptRun {
  run::Report report;
  std::vector<std::string> notes;  // what is not as it was in the run: sentences
};

/// `outputs` is told of the intervals of a stream that are not left out. What a cut leaves is
/// judged again; what was not kept for each interval (the in-flight samples, CPU of the process)
/// stays that of the whole run or is absent. The error says what is wrong with the file, and where.
[[nodiscard]] std::expected<KeptRun, std::string> read_kept_run(const std::string& path,
                                                                const Reread& reread,
                                                                RunOutputs& outputs);

}  // namespace onbeat::report
