#include "run/run.hpp"

#include "run/execution.hpp"
#include "run/plan.hpp"
#include "run/series.hpp"

#include <malloc.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <algorithm>
#include <cmath>
#include <ctime>
#include <system_error>
#include <utility>

namespace onbeat::run {
namespace {

using kernel::Interval;
using kernel::Model;
using kernel::Monotonic;

constexpr Duration kProgressEvery = std::chrono::milliseconds(100);
/// After an interrupt the user waits: what is in flight gets this long.
constexpr Duration kInterruptedDrain = std::chrono::seconds(1);

/// Loop k's part of a total that is spread evenly.
std::uint32_t share(std::uint32_t total, std::uint32_t k, std::uint32_t of) {
  return total / of + (k < total % of ? 1 : 0);
}

Duration wall_minus_monotonic() {
  timespec wall{};
  clock_gettime(CLOCK_REALTIME, &wall);
  return std::chrono::seconds(wall.tv_sec) + Duration(wall.tv_nsec) -
         Monotonic::now().time_since_epoch();
}

/// What to look at when no connection comes about.
std::string connect_hint(const std::string& klass) {
  if (klass == "tls") return "see --cacert, --server-name and --insecure";
  if (klass == "proxy") return "see the proxy's address and credentials";
  if (klass == "local_fds" || klass == "local_ports") return "use fewer connections";
  return "see that the server runs and listens on that address";
}

/// How long the host has been suspended since boot: CLOCK_BOOTTIME runs on, CLOCK_MONOTONIC does
/// not.
Duration suspended() {
  timespec boot{};
  clock_gettime(CLOCK_BOOTTIME, &boot);
  return std::chrono::seconds(boot.tv_sec) + Duration(boot.tv_nsec) -
         Monotonic::now().time_since_epoch();
}

/// What has been spent until now.
struct Meter {
  Duration suspended_ = suspended();
  ProcessUsage usage = process_usage();
  CpuTimes cpu;
  explicit Meter(const Host& host) : cpu(read_cpu_times(host.affinity)) {}

  [[nodiscard]] Spent since(const Meter& before) const {
    return {.cpu = usage.cpu - before.usage.cpu,
            .suspended = suspended_ - before.suspended_,
            .host = {.busy = cpu.busy - before.cpu.busy,
                     .steal = cpu.steal - before.cpu.steal,
                     .total = cpu.total - before.cpu.total},
            .peak_rss_bytes = usage.peak_rss_bytes};
  }
};

}  // namespace

Report Execution::run() {
  report_.started_at = wall_time();
  wall_before_ = wall_minus_monotonic();
  random_ = kernel::Random(plan_.seed);
  try {
    for (std::uint32_t k = 0; k < plan_.threads; ++k)
      loops_.push_back(std::make_unique<LoopThread>(k, plan_, spec_));
  } catch (const std::system_error& error) {
    report_.error =
        ErrorInfo{"local_fds", error.what(), "raise the limit of open files: ulimit -n"};
  }
  if (!report_.error && connect()) {
    if (plan_.warmup > Duration{} && !interrupted()) warm_up();
    if (!interrupted()) {
      if (plan_.adaptive) {
        search();
      } else if (plan_.curve) {
        curve();
      } else {
        const Part part = measure(plan_);
        fill(report_, plan_, part);
        if (report_.end_reason.empty())
          report_.end_reason =
              plan_.length != kNoTime && part.issue >= plan_.length ? "duration" : "requests";
      }
      fill_connections();
    }
  }
  loops_.clear();
  report_.error_samples = spec_.samples->samples();
  report_.observed.wall_minus_monotonic = wall_minus_monotonic() - wall_before_;
  report_.observed.interrupted = interrupted();
  if (report_.observed.interrupted) report_.end_reason = "interrupted";
  report_.ended_at = wall_time();
  return std::move(report_);
}

// How many workers of loop k exist before t0: all of a closed loop, else those of the connections
// asked for.
std::uint32_t Execution::workers_to_connect(std::uint32_t k, std::uint32_t connections) const {
  const std::uint32_t workers = share(plan_.driver.workers, k, plan_.threads);
  if (plan_.model == Model::closed) return workers;
  return std::min(workers, share(connections, k, plan_.threads) * plan_.workers_per_connection);
}

// Opens the connections asked for (an open loop that opens them as needed: one, to see that the
// target is there).
bool Execution::connect() {
  const std::uint32_t asked = plan_.connections != 0 ? plan_.connections : 1;
  latch_.reset(loops_.size());
  for (std::uint32_t k = 0; k < loops_.size(); ++k) {
    LoopThread& each = *loops_[k];
    each.loop().post([this, &each, count = workers_to_connect(k, asked)] {
      each.load().connect(count, [this] { latch_.arrive(); });
    });
  }
  progress_.stage = Stage::connecting;
  const Instant began = Monotonic::now();
  while (!latch_.wait_for(std::chrono::milliseconds(20))) {
    if (interrupted()) return false;
    progress_.elapsed = Monotonic::now() - began;
    show(Stage::connecting, kNoTime);
  }
  std::uint64_t open = 0;
  for (const auto& each : loops_) open += each->load().connections_up();
  // Handshakes leave holes between what the connections keep: 17 KiB for each over TLS.
  malloc_trim(0);
  if (open != 0) return true;
  for (const auto& [klass, message] : spec_.samples->samples()) {
    report_.error =
        ErrorInfo{klass, "no connection to " + spec_.target + ": " + message, connect_hint(klass)};
    break;
  }
  report_.end_reason = "failed";
  report_.exit_code = ExitCode::unreachable;
  return false;
}

Phase Execution::phase(std::uint32_t k, const RunPlan& plan, kernel::RequestBudget* budget,
                       bool ends_by_count) const {
  Phase phase;
  phase.driver = plan.driver;
  phase.driver.model = plan.model;
  phase.driver.workers = share(plan.driver.workers, k, plan.threads);
  if (plan.driver.queue_limit != UINT64_MAX)
    phase.driver.queue_limit = plan.driver.queue_limit / plan.threads;
  phase.plan = {.profile = plan.profile,
                .arrivals = plan.arrivals,
                .seed = plan.seed,
                .share = k,
                .of = plan.threads,
                .max_arrivals = plan.max_requests,
                .length = plan.length};
  phase.shape = recorder_shape(plan, spec_);
  phase.budget = budget;
  phase.samples = part_ != nullptr && !rings_.empty() ? rings_[k].get() : nullptr;
  phase.length = plan.length;
  phase.ends_by_count = ends_by_count;
  phase.drain_limit = plan.drain_limit;
  phase.at_end = plan.at_end;
  phase.interval = plan.interval;
  return phase;
}

void Execution::begin(const RunPlan& plan, kernel::RequestBudget* budget) {
  // One number of arrivals for the whole schedule: each loop sees only its own part.
  const bool ends_by_count =
      plan.max_requests != UINT64_MAX &&
      (plan.model == Model::closed || planned_arrivals(plan) == plan.max_requests);
  latch_.reset(loops_.size());
  ending_ = false;
  pending_.assign(loops_.size(), Interval());
  covered_.assign(loops_.size(), false);
  // Time for every loop to hear of it.
  t0_ = Monotonic::now() + std::chrono::microseconds(loops_.size() > 1 ? 1000 : 200);
  boundary_ = t0_ + plan.interval;
  for (std::uint32_t k = 0; k < loops_.size(); ++k) {
    LoopThread& each = *loops_[k];
    each.loop().post([this, &each, phase = phase(k, plan, budget, ends_by_count)] {
      each.load().begin(phase, t0_, [this] { latch_.arrive(); });
    });
  }
}

void Execution::warm_up() {
  RunPlan plan = plan_;
  plan.length = plan_.warmup;
  plan.max_requests = UINT64_MAX;
  plan.profile = kernel::RateProfile::constant(plan_.profile.rate_at(Duration{}));
  if (plan.model != Model::closed && plan_.profile.rate_at(Duration{}) <= 0) return;
  begin(plan, nullptr);
  do {
    poll(Stage::warming_up, plan);
  } while (!latch_.wait_for(std::chrono::milliseconds(5)));
  collect(true);
  report_.warmup_excluded = warmup_.counts.planned;
  index_ = 0;
}

Part Execution::measure(const RunPlan& plan) {
  kernel::RequestBudget budget(plan.max_requests);
  Part part;
  part_ = &part;
  if (plan.sample_one_of != 0 && rings_.empty()) {
    report_.samples = Report::Samples{.one_of = plan.sample_one_of};
    for (std::uint32_t k = 0; k < plan.threads; ++k)
      rings_.push_back(std::make_unique<SampleRing>(plan.sample_one_of, plan.seed));
  }
  // More than 1 000 samples in an open run of known length. How many are in flight in a closed one
  // is known beforehand: it is not to be disturbed for it.
  const Duration shortest = std::chrono::milliseconds(plan.model == Model::closed ? 10 : 1);
  const Duration wanted =
      plan.length == kNoTime ? Duration(std::chrono::milliseconds(5)) : plan.length / 1500;
  sample_every_ = std::clamp(wanted, shortest, Duration(std::chrono::milliseconds(20)));
  const Meter before(host_);
  begin(plan, plan.model == Model::closed && plan.max_requests != UINT64_MAX ? &budget : nullptr);
  if (first_t0_ == Instant{}) first_t0_ = t0_;
  // The collector must not take the processor from a loop.
  const int old_nice = getpriority(PRIO_PROCESS, 0);
  setpriority(PRIO_PROCESS, static_cast<id_t>(syscall(SYS_gettid)), 10);
  bool over = false;
  while (!over) {
    // Between half and one and a half of the mean: never in step with the schedule.
    over =
        latch_.wait_for(sample_every_ / 2 +
                        Duration(random_.below(static_cast<std::uint64_t>(sample_every_.count()))));
    const Instant now = Monotonic::now();
    if (now >= t0_ && !over && !ending_) part.in_flight.add(in_flight());
    poll(ending_ ? Stage::draining : Stage::measuring, plan);
  }
  part.spent = Meter(host_).since(before);
  setpriority(PRIO_PROCESS, static_cast<id_t>(syscall(SYS_gettid)), old_nice);
  collect(true);
  pass_samples();
  if (report_.samples) report_.samples->dropped = 0;
  for (const auto& ring : rings_) report_.samples->dropped += ring->dropped();
  part_ = nullptr;
  end_of_windows(plan, part);
  return part;
}

// The ends of the issue window and of the drain.
void Execution::end_of_windows(const RunPlan& plan, Part& part) const {
  for (const auto& each : loops_) {
    part.issue = std::max(part.issue, each->load().issue_ended());
    part.drained = std::max(part.drained, each->load().drain_ended());
    part.left_to_drain += each->load().left_to_drain();
  }
  if (plan.max_requests == UINT64_MAX) return;
  if (plan.model == Model::closed) {
    // A fixed number of requests is over when the last one is done.
    if (part.issue < plan.length) part.issue = part.drained;
    return;
  }
  // The N-th arrival's time belongs to the window, though nobody waits for it.
  const Duration whole = plan.profile.time_of(static_cast<double>(plan.max_requests));
  if (part.total.counts.planned == plan.max_requests && whole != kNoTime && whole <= plan.length)
    part.issue = std::max(part.issue, whole);
}

void Execution::end_issue(Duration drain_limit) {
  ending_ = true;
  for (const auto& each : loops_)
    each->loop().post([&load = each->load(), drain_limit] { load.end_issue(drain_limit); });
}

void Execution::poll(Stage stage, const RunPlan& plan) {
  const Instant now = Monotonic::now();
  if (now < polled_) report_.observed.clock_stepped = true;
  polled_ = now;
  if (now < t0_) return;
  if (interrupted() && !ending_) end_issue(kInterruptedDrain);
  if (plan.length != kNoTime && now - t0_ > plan.length) ending_ = true;
  progress_.planned_rate = plan.model == Model::closed ? 0 : plan.profile.rate_at(now - t0_);
  collect(false);
  pass_samples();
  if (plan_.in_steps() && part_ != nullptr) {
    // Steps are one stage to whoever watches.
    progress_.elapsed = now - first_t0_;
    return show(Stage::measuring, plan_.length);
  }
  progress_.elapsed = now - t0_;
  show(stage, plan.length);
}

void Execution::show(Stage stage, Duration length) {
  const Instant now = Monotonic::now();
  if (now - shown_ < kProgressEvery) return;
  shown_ = now;
  progress_.stage = stage;
  progress_.length = length;
  progress_.in_flight = in_flight();
  for (Observer* observer : observers_) observer->on_progress(progress_);
}

std::uint64_t Execution::in_flight() const {
  std::uint64_t sum = 0;
  for (const auto& each : loops_) sum += each->load().in_flight();
  return sum;
}

// Puts together what the loops have handed over. An interval is whole when every loop has passed
// its boundary; at the end, when all loops are still, what is left.
void Execution::collect(bool last) {
  const Duration boundary = boundary_ - t0_;
  for (std::size_t k = 0; k < loops_.size(); ++k) {
    kernel::Recorder* const recorder = loops_[k]->load().shown_recorder();
    if (recorder == nullptr) continue;
    const bool over =
        loops_[k]->load().phase_over();  // before the look: what it handed over last is seen
    const auto take = [&] {
      Interval part;
      if (recorder->collect(part)) pending_[k].merge_next(part);
      covered_[k] = over || pending_[k].end >= boundary;
    };
    take();
    if (!last) continue;
    recorder->hand_over(loops_[k]->load().drain_ended());  // the loop is still: nobody else writes
    take();
  }
  if (!last && !std::ranges::all_of(covered_, [](bool covered) { return covered; })) return;
  Interval whole = std::move(pending_[0]);
  for (std::size_t k = 1; k < pending_.size(); ++k) whole.merge_parallel(pending_[k]);
  pending_.assign(loops_.size(), Interval());
  covered_.assign(loops_.size(), false);
  while (boundary_ - t0_ <= whole.end) boundary_ += plan_.interval;
  if (whole.end == whole.start && whole.counts == kernel::Counts()) return;
  whole.index = index_++;
  emit(whole);
}

void Execution::pass_samples() {
  if (rings_.empty()) return;
  samples_.clear();
  for (const auto& ring : rings_) ring->take(samples_);
  if (samples_.empty()) return;
  report_.samples->kept += samples_.size();
  for (Observer* observer : observers_) observer->on_samples(samples_, first_t0_);
}

void Execution::emit(Interval& interval) {
  if (part_ == nullptr) return warmup_.merge_next(interval);
  if (!step_event_.empty()) interval.events.push_back(std::exchange(step_event_, {}));
  part_->total.merge_next(interval);
  part_->series.push_back(series_row(interval, plan_.model == Model::open, spec_.names->errors));
  // To those who watch, steps are one run.
  interval.start += t0_ - first_t0_;
  interval.end += t0_ - first_t0_;
  for (Observer* observer : observers_) observer->on_interval(interval, progress_);
  for (AbortWatch& watch : aborts_) {
    if (ending_) break;
    if (const auto why = watch.feed(interval)) {
      part_->series.back().events.push_back("abort: " + *why);
      report_.end_reason = "aborted";
      report_.observed.aborted = true;
      end_issue(kInterruptedDrain);
    }
  }
}

std::string wall_time() {
  timespec now{};
  clock_gettime(CLOCK_REALTIME, &now);
  std::tm utc{};
  gmtime_r(&now.tv_sec, &utc);
  char text[40];
  const std::size_t n = std::strftime(text, sizeof text, "%Y-%m-%dT%H:%M:%S", &utc);
  std::snprintf(text + n, sizeof text - n, ".%03ldZ", now.tv_nsec / 1'000'000);
  return text;
}

kernel::RecorderShape recorder_shape(const RunPlan& plan, const WorkloadSpec& spec) {
  kernel::RecorderShape shape;
  shape.open = plan.model != Model::closed;
  shape.endpoints = spec.endpoints;
  shape.histograms = {"turn", "connect"};
  shape.histograms.insert(shape.histograms.end(), spec.histograms.begin(), spec.histograms.end());
  shape.counters = spec.counters;
  return shape;
}

Report execute(const RunPlan& plan, const WorkloadSpec& spec, const Host& host,
               std::vector<AbortWatch>& aborts, const std::vector<Observer*>& observers,
               const StopFlag& stop) {
  return Execution(plan, spec, host, aborts, observers, stop).run();
}

}  // namespace onbeat::run
