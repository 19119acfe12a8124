#include "run/run.hpp"

#include "net/epoll_loop.hpp"
#include "run/figures.hpp"
#include "run/plan.hpp"
#include "run/series.hpp"
#include <onbeat/kernel/random.hpp>

#include <malloc.h>
#include <pthread.h>
#include <sched.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <algorithm>
#include <cmath>
#include <condition_variable>
#include <ctime>
#include <mutex>
#include <system_error>
#include <thread>
#include <utility>

namespace onbeat::run {
namespace {

using kernel::Interval;
using kernel::Model;
using kernel::Monotonic;
using Stage = Observer::Stage;

constexpr Duration kProgressEvery = std::chrono::milliseconds(100);
/// A difference of the two clocks beyond what reading them one after the other explains.
constexpr Duration kSuspension = std::chrono::milliseconds(100);
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

/// A loop, its thread and its part of the work.
class LoopThread {
 public:
  LoopThread(std::uint32_t index, const RunPlan& plan, const WorkloadSpec& spec)
      : loop_({.spin = plan.spin}), load_(loop_, index), workload_(spec.make(load_)) {
    load_.set_workload(*workload_);
    thread_ =
        std::thread([this, cpu = plan.cpus.empty() ? -1 : plan.cpus[index % plan.cpus.size()]] {
          if (cpu >= 0) {
            cpu_set_t set;
            CPU_ZERO(&set);
            CPU_SET(cpu, &set);
            pthread_setaffinity_np(pthread_self(), sizeof set, &set);
          }
          loop_.run();
        });
  }
  ~LoopThread() {
    loop_.post([this] { load_.close(); });
    loop_.stop();
    thread_.join();
  }
  LoopThread(const LoopThread&) = delete;
  LoopThread& operator=(const LoopThread&) = delete;

  net::Loop& loop() noexcept { return loop_; }
  LoadLoop& load() noexcept { return load_; }

 private:
  net::EpollLoop loop_;
  LoadLoop load_;
  std::unique_ptr<Workload> workload_;
  std::thread thread_;
};

/// Counts loops down to "all have".
class Latch {
 public:
  void reset(std::size_t count) {
    const std::lock_guard lock(mutex_);
    left_ = count;
  }
  void arrive() {
    const std::lock_guard lock(mutex_);
    if (--left_ == 0) all_.notify_all();
  }
  /// True when all have arrived; waits until then, or for so long.
  bool wait_for(Duration duration) {
    std::unique_lock lock(mutex_);
    return all_.wait_for(lock, duration, [this] { return left_ == 0; });
  }

 private:
  std::mutex mutex_;
  std::condition_variable all_;
  std::size_t left_ = 0;
};

/// Mean and standard error of the in-flight count, sampled at random instants. Neighbouring samples
/// hang together, so the error is that of the means of batches of consecutive samples.
class InFlightSampler {
 public:
  void add(std::uint64_t in_flight) {
    ++count_;
    sum_ += static_cast<double>(in_flight);
    batch_ += static_cast<double>(in_flight);
    if (count_ % kBatch != 0) return;
    const double mean = std::exchange(batch_, 0) / kBatch;
    ++batches_;
    batch_sum_ += mean;
    batch_squares_ += mean * mean;
  }
  [[nodiscard]] std::uint64_t count() const { return count_; }
  [[nodiscard]] std::optional<double> mean() const {
    return count_ == 0 ? std::nullopt : std::optional(sum_ / static_cast<double>(count_));
  }
  [[nodiscard]] std::optional<double> error() const {
    if (batches_ < 2) return std::nullopt;
    const double n = static_cast<double>(batches_);
    const double mean = batch_sum_ / n;
    const double variance = std::max(batch_squares_ / n - mean * mean, 0.0) * n / (n - 1);
    return std::sqrt(variance / n);
  }

 private:
  static constexpr std::uint64_t kBatch = 50;
  std::uint64_t count_ = 0, batches_ = 0;
  double sum_ = 0, batch_ = 0, batch_sum_ = 0, batch_squares_ = 0;
};

class Execution {
 public:
  Execution(const RunPlan& plan, const WorkloadSpec& spec, const Host& host,
            std::vector<AbortWatch>& aborts, const std::vector<Observer*>& observers,
            const StopFlag& stop)
      : plan_(plan),
        spec_(spec),
        host_(host),
        aborts_(aborts),
        observers_(observers),
        stop_(stop) {}

  Report run();

 private:
  [[nodiscard]] std::uint32_t workers_to_connect(std::uint32_t k, std::uint32_t connections) const;
  bool connect();
  void warm_up();
  void measure();
  Phase phase(std::uint32_t k, const RunPlan& plan, kernel::RequestBudget* budget,
              bool ends_by_count) const;
  void begin(const RunPlan& plan, kernel::RequestBudget* budget);
  void end_issue(Duration drain_limit);
  void poll(Stage stage, Duration length);
  void collect(bool last);
  void emit(const Interval& interval);
  void pass_samples();
  void show(Stage stage, Duration length);
  void fill();
  void fill_names();
  void fill_cost();
  [[nodiscard]] std::uint64_t in_flight() const;
  [[nodiscard]] bool interrupted() const { return stop_.load(std::memory_order_relaxed) != 0; }

  const RunPlan& plan_;
  const WorkloadSpec& spec_;
  const Host& host_;
  std::vector<AbortWatch>& aborts_;
  const std::vector<Observer*>& observers_;
  const StopFlag& stop_;

  std::vector<std::unique_ptr<SampleRing>> rings_;  // outlive the loops
  std::vector<LoggedSample> samples_;
  std::vector<std::unique_ptr<LoopThread>> loops_;
  Latch latch_;
  Report report_;
  Instant t0_{};
  bool measuring_ = false;
  bool ending_ = false;
  InFlightSampler sampler_;
  Duration sample_every_{};
  kernel::Random random_{0};
  Instant shown_{}, polled_{};
  Duration suspended_before_{};
  Observer::Progress progress_;
  std::vector<Interval> pending_;  // what each loop has handed over since the last whole interval
  std::vector<bool> covered_;
  Instant boundary_{};
  std::uint64_t index_ = 0;
  Interval warmup_;
  ProcessUsage usage_before_, usage_after_;
  CpuTimes cpu_before_, cpu_after_;
  Duration wall_before_{};
};

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
    if (!interrupted()) measure();
    fill();
  }
  loops_.clear();
  fill_names();
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
  phase.samples = measuring_ && !rings_.empty() ? rings_[k].get() : nullptr;
  phase.length = plan.length;
  phase.ends_by_count = ends_by_count;
  phase.drain_limit = plan.drain_limit;
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
  index_ = 0;
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
  measuring_ = false;
  begin(plan, nullptr);
  do {
    poll(Stage::warming_up, plan_.warmup);
  } while (!latch_.wait_for(std::chrono::milliseconds(5)));
  collect(true);
  report_.warmup_excluded = warmup_.counts.planned;
}

void Execution::measure() {
  kernel::RequestBudget budget(plan_.max_requests);
  measuring_ = true;
  if (plan_.sample_one_of != 0) {
    report_.samples = Report::Samples{.one_of = plan_.sample_one_of};
    for (std::uint32_t k = 0; k < plan_.threads; ++k)
      rings_.push_back(std::make_unique<SampleRing>(plan_.sample_one_of, plan_.seed));
  }
  // More than 1 000 samples in an open run of known length. How many are in flight in a closed one
  // is known beforehand: it is not to be disturbed for it.
  const Duration shortest = std::chrono::milliseconds(plan_.model == Model::closed ? 10 : 1);
  const Duration wanted =
      plan_.length == kNoTime ? Duration(std::chrono::milliseconds(5)) : plan_.length / 1500;
  sample_every_ = std::clamp(wanted, shortest, Duration(std::chrono::milliseconds(20)));
  suspended_before_ = suspended();
  usage_before_ = process_usage();
  cpu_before_ = read_cpu_times(host_.affinity);
  begin(plan_,
        plan_.model == Model::closed && plan_.max_requests != UINT64_MAX ? &budget : nullptr);
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
    if (now >= t0_ && !over && !ending_) sampler_.add(in_flight());
    poll(ending_ ? Stage::draining : Stage::measuring, plan_.length);
  }
  usage_after_ = process_usage();
  cpu_after_ = read_cpu_times(host_.affinity);
  setpriority(PRIO_PROCESS, static_cast<id_t>(syscall(SYS_gettid)), old_nice);
  collect(true);
  pass_samples();
  for (const auto& ring : rings_) report_.samples->dropped += ring->dropped();
}

void Execution::end_issue(Duration drain_limit) {
  ending_ = true;
  for (const auto& each : loops_)
    each->loop().post([&load = each->load(), drain_limit] { load.end_issue(drain_limit); });
}

void Execution::poll(Stage stage, Duration length) {
  const Instant now = Monotonic::now();
  if (now < polled_) report_.observed.clock_stepped = true;
  polled_ = now;
  if (now < t0_) return;
  if (interrupted() && !ending_) end_issue(kInterruptedDrain);
  if (length != kNoTime && now - t0_ > length) ending_ = true;
  progress_.elapsed = now - t0_;
  progress_.planned_rate =
      plan_.model == Model::closed ? 0 : plan_.profile.rate_at(progress_.elapsed);
  collect(false);
  pass_samples();
  show(stage, length);
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
    if (!loops_[k]->load().recording()) continue;
    kernel::Recorder& recorder = loops_[k]->load().recorder();
    const bool over =
        loops_[k]->load().phase_over();  // before the look: what it handed over last is seen
    const auto take = [&] {
      Interval part;
      if (recorder.collect(part)) pending_[k].merge_next(part);
      covered_[k] = over || pending_[k].end >= boundary;
    };
    take();
    if (!last) continue;
    recorder.hand_over(loops_[k]->load().drain_ended());  // the loop is still: nobody else writes
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
  for (Observer* observer : observers_) observer->on_samples(samples_, t0_);
}

void Execution::emit(const Interval& interval) {
  if (!measuring_) return warmup_.merge_next(interval);
  report_.total.merge_next(interval);
  report_.series.push_back(series_row(interval, plan_.model == Model::open, spec_.names->errors));
  for (Observer* observer : observers_) observer->on_interval(interval, progress_);
  for (AbortWatch& watch : aborts_) {
    if (ending_) break;
    if (const auto why = watch.feed(interval)) {
      report_.series.back().events.push_back("abort: " + *why);
      report_.end_reason = "aborted";
      report_.observed.aborted = true;
      end_issue(kInterruptedDrain);
    }
  }
}

void Execution::fill() {
  if (!measuring_) return;
  Duration issue{};
  Duration drained{};
  for (const auto& each : loops_) {
    issue = std::max(issue, each->load().issue_ended());
    drained = std::max(drained, each->load().drain_ended());
  }
  if (plan_.model == Model::closed && plan_.max_requests != UINT64_MAX && issue < plan_.length) {
    // A fixed number of requests is over when the last one is done.
    issue = drained;
  } else if (plan_.model != Model::closed && plan_.max_requests != UINT64_MAX) {
    // The N-th arrival's time belongs to the window, though nobody waits for it.
    const Duration whole = plan_.profile.time_of(static_cast<double>(plan_.max_requests));
    if (report_.total.counts.planned == plan_.max_requests && whole != kNoTime &&
        whole <= plan_.length)
      issue = std::max(issue, whole);
  }
  report_.issue = issue;
  report_.drain = std::max(drained - issue, Duration{});
  if (report_.end_reason.empty())
    report_.end_reason = plan_.length != kNoTime && issue >= plan_.length ? "duration" : "requests";
  auto& observed = report_.observed;
  observed.in_flight_mean = sampler_.mean();
  observed.in_flight_samples = sampler_.count();
  observed.in_flight_error = sampler_.error();
  observed.in_flight_peak = report_.total.in_flight_max;
  observed.busiest_loop = busiest_loop(report_.total.loops);
  const double total = cpu_after_.total - cpu_before_.total;
  const Duration own = usage_after_.cpu - usage_before_.cpu;
  if (total > 0) {
    observed.steal_share = (cpu_after_.steal - cpu_before_.steal) / total;
    observed.other_load_share =
        std::max((cpu_after_.busy - cpu_before_.busy) - std::chrono::duration<double>(own).count(),
                 0.0) /
        total;
  }
  // What a target of this host costs is part of the others' load.
  observed.target_on_same_cores = spec_.local_target && observed.other_load_share > 0.1;
  if (suspended() - suspended_before_ > kSuspension) observed.clock_stepped = true;
  observed.wall_minus_monotonic = wall_minus_monotonic() - wall_before_;
  report_.connections = connections_of(spec_.counters, report_.total, warmup_);
  if (spec_.counters.size() >= kConnectionCounters.size())
    report_.connections.asked = plan_.connections;
  fill_cost();
}

void Execution::fill_names() {
  report_.error_samples = spec_.samples->samples();
  if (measuring_) name_figures(report_, *spec_.names, recorder_shape(plan_, spec_).histograms);
}

void Execution::fill_cost() {
  ClientCost& cost = report_.cost;
  const double wall = std::chrono::duration<double>(report_.issue + report_.drain).count();
  const kernel::Counts& counts = report_.total.counts;
  cost.cpu_seconds = std::chrono::duration<double>(usage_after_.cpu - usage_before_.cpu).count();
  const std::uint64_t ended = counts.ok + counts.failed + counts.timed_out;
  if (ended != 0) cost.cpu_us_per_request = cost.cpu_seconds * 1e6 / static_cast<double>(ended);
  if (wall > 0) cost.cores_used = cost.cpu_seconds / wall;
  cost.host_cores = host_.cores;
  if (cost.cpu_seconds > 0) cost.rps_per_core = static_cast<double>(ended) / cost.cpu_seconds;
  cost.peak_rss_bytes = usage_after_.peak_rss_bytes;
}

}  // namespace

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
