// What the report says of the parts that a run has measured.
#include "run/execution.hpp"
#include "run/figures.hpp"

#include <algorithm>

namespace onbeat::run {
namespace {

/// A difference of the two clocks beyond what reading them one after the other explains.
constexpr Duration kSuspension = std::chrono::milliseconds(100);

void fill_cost(Report& report, const Spent& spent, double host_cores) {
  ClientCost& cost = report.cost;
  const double wall = std::chrono::duration<double>(report.issue + report.drain).count();
  const kernel::Counts& counts = report.total.counts;
  cost.cpu_seconds = std::chrono::duration<double>(spent.cpu).count();
  const std::uint64_t ended = counts.ok + counts.failed + counts.timed_out;
  if (ended != 0) cost.cpu_us_per_request = cost.cpu_seconds * 1e6 / static_cast<double>(ended);
  if (wall > 0) cost.cores_used = cost.cpu_seconds / wall;
  cost.host_cores = host_cores;
  if (cost.cpu_seconds > 0) cost.rps_per_core = static_cast<double>(ended) / cost.cpu_seconds;
  cost.peak_rss_bytes = spent.peak_rss_bytes;
}

}  // namespace

void Part::append(const Part& next) {
  kernel::Interval later = next.total;
  later.start += drained;
  later.end += drained;
  total.merge_next(later);
  for (SeriesRow row : next.series) {
    row.t += drained;
    series.push_back(std::move(row));
  }
  issue += next.issue;
  drained += next.drained;
  left_to_drain += next.left_to_drain;
  in_flight.add(next.in_flight);
  spent.cpu += next.spent.cpu;
  spent.suspended += next.spent.suspended;
  spent.host.busy += next.spent.host.busy;
  spent.host.steal += next.spent.host.steal;
  spent.host.total += next.spent.host.total;
  spent.peak_rss_bytes = std::max(spent.peak_rss_bytes, next.spent.peak_rss_bytes);
}

void Execution::fill(Report& report, const RunPlan& plan, const Part& part) const {
  report.total = part.total;
  report.series = part.series;
  report.issue = part.issue;
  report.drain = std::max(part.drained - part.issue, Duration{});
  fill_observed(report, part);
  name_figures(report, *spec_.names, recorder_shape(plan, spec_).histograms);
  fill_cost(report, part.spent, host_.cores);
}

void Execution::fill_observed(Report& report, const Part& part) const {
  auto& observed = report.observed;
  observed.in_flight_mean = part.in_flight.mean();
  observed.in_flight_samples = part.in_flight.count();
  observed.in_flight_error = part.in_flight.error();
  observed.in_flight_peak = report.total.in_flight_max;
  observed.busiest_loop = busiest_loop(report.total.loops);
  const Spent& spent = part.spent;
  if (spent.host.total > 0) {
    observed.steal_share = spent.host.steal / spent.host.total;
    observed.other_load_share =
        std::max(spent.host.busy - std::chrono::duration<double>(spent.cpu).count(), 0.0) /
        spent.host.total;
  }
  // What a target of this host costs is part of the others' load.
  observed.target_on_same_cores = spec_.local_target && observed.other_load_share > 0.1;
  if (spent.suspended > kSuspension) observed.clock_stepped = true;
}

// The connections that were opened for the warm-up, or for steps that do not count, are those of
// the run.
void Execution::fill_connections() {
  Interval before = warmup_;
  if (plan_.adaptive) before.merge_next(uncounted_);
  report_.connections = connections_of(spec_.counters, report_.total, before);
  report_.sources = sources_of(spec_.counters, report_.total);
  if (spec_.counters.size() >= kConnectionCounters.size())
    report_.connections.asked = plan_.connections;
}

}  // namespace onbeat::run
