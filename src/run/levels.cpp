#include "run/levels.hpp"

#include <algorithm>
#include <utility>

namespace onbeat::run {
namespace {

/// Passes a level on as the continuation of those before it: time and numbers go on.
class Continued final : public Observer {
 public:
  explicit Continued(const std::vector<Observer*>& observers) : observers_(observers) {}
  void next_level(Duration before) {
    before_ = before;
    first_index_ = next_index_;
  }
  void on_progress(const Progress& progress) override {
    for (Observer* observer : observers_) observer->on_progress(progress);
  }
  void on_interval(const kernel::Interval& interval, const Progress& progress) override {
    kernel::Interval shifted = interval;
    shifted.index += first_index_;
    shifted.start += before_;
    shifted.end += before_;
    next_index_ = shifted.index + 1;
    for (Observer* observer : observers_) observer->on_interval(shifted, progress);
  }
  void on_samples(const std::vector<LoggedSample>& samples, Instant t0) override {
    for (Observer* observer : observers_) observer->on_samples(samples, t0 - before_);
  }

 private:
  const std::vector<Observer*>& observers_;
  Duration before_{};
  std::uint64_t first_index_ = 0, next_index_ = 0;
};

/// The next level's figures behind those of the levels before it.
void append(Report& all, Report next) {
  const Duration before = all.issue + all.drain;
  for (SeriesRow& row : next.series) {
    row.t += before;
    all.series.push_back(std::move(row));
  }
  next.total.start += before;
  next.total.end += before;
  all.total.merge_next(next.total);
  all.issue += next.issue;
  all.drain += next.drain;
  all.warmup_excluded += next.warmup_excluded;
  for (auto& [name, histogram] : next.breakdown) all.breakdown[name].merge(histogram);
  for (const auto& [code, count] : next.codes) all.codes[code] += count;
  for (const auto& [error, count] : next.errors) all.errors[error] += count;
  all.error_samples.insert(next.error_samples.begin(), next.error_samples.end());
  for (Endpoint& endpoint : next.endpoints) {
    const auto known = std::ranges::find(all.endpoints, endpoint.name, &Endpoint::name);
    if (known == all.endpoints.end()) {
      all.endpoints.push_back(std::move(endpoint));
      continue;
    }
    known->counts += endpoint.counts;
    known->response.merge(endpoint.response);
    known->service.merge(endpoint.service);
    known->failed.merge(endpoint.failed);
    known->message_gap.merge(endpoint.message_gap);
    for (const auto& [code, count] : endpoint.codes) known->codes[code] += count;
    for (const auto& [error, count] : endpoint.errors) known->errors[error] += count;
  }
  for (const auto& [name, count] : next.sources) all.sources[name] += count;
  Connections& sum = all.connections;
  const Connections& more = next.connections;
  sum.asked = std::max(sum.asked, more.asked);
  sum.open_peak = std::max(sum.open_peak, more.open_peak);
  sum.opened += more.opened;
  sum.reused += more.reused;
  sum.reopened += more.reopened;
  sum.closed_by_peer += more.closed_by_peer;
  sum.reset += more.reset;
  sum.failed += more.failed;
  for (const auto& [address, count] : more.by_address) sum.by_address[address] += count;
  all.cost.cpu_seconds += next.cost.cpu_seconds;
  all.cost.peak_rss_bytes = std::max(all.cost.peak_rss_bytes, next.cost.peak_rss_bytes);
  auto& observed = all.observed;
  observed.in_flight_peak = std::max(observed.in_flight_peak, next.observed.in_flight_peak);
  observed.busiest_loop = std::max(observed.busiest_loop, next.observed.busiest_loop);
  observed.clock_stepped = observed.clock_stepped || next.observed.clock_stepped;
  observed.aborted = observed.aborted || next.observed.aborted;
  observed.interrupted = observed.interrupted || next.observed.interrupted;
  // Little's law holds within a level, not across them.
  observed.in_flight_mean.reset();
  observed.in_flight_error.reset();
  all.end_reason = next.end_reason;
  all.ended_at = next.ended_at;
  if (next.error) all.error = next.error;
  if (next.exit_code != ExitCode::passed) all.exit_code = next.exit_code;
}

void complete_cost(Report& all) {
  ClientCost& cost = all.cost;
  const double wall = std::chrono::duration<double>(all.issue + all.drain).count();
  const kernel::Counts& counts = all.total.counts;
  const std::uint64_t ended = counts.ok + counts.failed + counts.timed_out;
  if (ended != 0) cost.cpu_us_per_request = cost.cpu_seconds * 1e6 / static_cast<double>(ended);
  if (wall > 0) cost.cores_used = cost.cpu_seconds / wall;
  if (cost.cpu_seconds > 0) cost.rps_per_core = static_cast<double>(ended) / cost.cpu_seconds;
}

}  // namespace

Report execute_levels(const RunPlan& plan, const Levels& levels, const WorkloadSpec& spec,
                      const Host& host, std::vector<AbortWatch>& aborts,
                      const std::vector<Observer*>& observers, const StopFlag& stop) {
  Report all;
  bool first = true;
  Continued continued(observers);
  const std::vector<Observer*> watching{&continued};
  for (const std::uint32_t workers : levels.concurrency) {
    RunPlan level = plan;
    level.driver.workers = workers;
    level.threads = std::min(plan.threads, workers);
    if (level.connections != 0) {
      level.connections = std::min(plan.connections, workers);
      level.threads = std::min(level.threads, level.connections);
    }
    if (levels.duration) level.length = *levels.duration;
    continued.next_level(all.issue + all.drain);
    Report one = execute(level, spec, host, aborts, watching, stop);
    const bool over = one.error.has_value() || one.observed.aborted || one.observed.interrupted;
    all.levels.push_back({.concurrency = workers,
                          .counts = one.total.counts,
                          .issue = one.issue,
                          .drain = one.drain,
                          .response = one.total.response,
                          .service = one.total.service,
                          .failed = one.total.failed,
                          .codes = one.codes});
    if (first) {
      auto own = std::move(all.levels);
      all = std::move(one);
      all.levels = std::move(own);
    } else {
      append(all, std::move(one));
    }
    first = false;
    if (over) break;
  }
  complete_cost(all);
  return all;
}

}  // namespace onbeat::run
