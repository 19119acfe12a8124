// The verdict on the measurement itself: every check that says whether the figures of a run can be
// trusted. A pure function of the report; it does no I/O and reads no clock. The checks are those
// of docs/measuring.md ("Verdict").
#pragma once

#include "run/report.hpp"

#include <string>
#include <string_view>
#include <vector>

namespace onbeat::options {
class Limits;
}

namespace onbeat::run {

/// Where the checks begin to speak. A check fires when its figure is beyond the limit, not when it
/// is equal to it. Shares are of 1. Where a duration and a share stand together, both must be
/// exceeded.
struct AuditLimits {
  double lag_note_share = 0.10;  // of the response p99
  Duration lag_degraded = std::chrono::milliseconds(1);
  double lag_degraded_share = 0.10;
  Duration lag_invalid = std::chrono::milliseconds(10);
  double lag_invalid_share = 0.50;
  double missed_late_degraded = 0.001;  // of the planned arrivals
  double missed_late_invalid = 0.01;
  double held_back_share =
      0.001;  // missed for want of a worker and saturated, of the planned arrivals
  Duration wait_degraded = std::chrono::milliseconds(1);  // p99
  double wait_degraded_share = 0.10;                      // of the response p99
  double busiest_loop = 0.80;                             // of a core
  Duration loop_turn = std::chrono::microseconds(100);    // p99
  double loop_turn_share = 0.10;                          // of the service p50
  double stalls = 0.01;                                   // of the loops' time
  double tail_samples = 10;           // a percentile p needs this many / (1 - p/100) samples
  double connections = 1.00;          // open of asked; fires below
  double littles_law = 0.05;          // relative difference
  double littles_law_errors = 4;      // and standard errors of the sampled mean
  double littles_law_samples = 1000;  // fewer: not judged
  double other_load = 0.10;           // CPU of others on the cores of this process, of those cores
  double steal_note = 0.01;
  double steal_degraded = 0.05;
  double first_tenth_share = 0.50;  // difference of the median from that of the rest
  Duration first_tenth_floor = std::chrono::microseconds(100);

  /// What --limit has set, over the standards. Every name of options::limits() is one of these.
  [[nodiscard]] static AuditLimits from(const options::Limits& options);
};

/// Judges a report. Reads report.thresholds for the checks about them and report.verdict not at
/// all. Every check is listed, in the order of the table; reasons stand in the order of gravity.
[[nodiscard]] Verdict audit(const Report& report, const AuditLimits& limits = {});

/// The stable codes of the checks, in their order.
[[nodiscard]] std::vector<std::string_view> check_codes();
/// A paragraph about a code: what is measured, why it matters, what to do. Empty for an unknown
/// code.
[[nodiscard]] std::string_view explain(std::string_view code);

}  // namespace onbeat::run
