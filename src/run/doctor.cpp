#include "run/doctor.hpp"

#include "net/epoll_loop.hpp"
#include "run/load_loop.hpp"
#include <onbeat/kernel/random.hpp>
#include <onbeat/kernel/recorder.hpp>
#include <onbeat/kernel/task.hpp>

#include <sys/epoll.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <ctime>
#include <future>
#include <limits>
#include <system_error>

namespace onbeat::run {
namespace {

using kernel::Histogram;
using kernel::IntervalHistogram;
using kernel::Monotonic;

constexpr std::int64_t kSecond = 1'000'000'000;
/// Between the set-up of a slice and its first arrival.
constexpr Duration kHeadStart = std::chrono::milliseconds(1);

std::uint64_t units_in(std::uint64_t rate, Duration slice) {
  return rate * static_cast<std::uint64_t>(slice.count()) / kSecond;
}

/// A worker whose units are over when they begin.
class IdleWorkload final : public Workload {
 public:
  explicit IdleWorkload(LoadLoop& load) : load_(load) {}

  Worker& add_worker(bool connect) override {
    IdleWorker& worker = *workers_.emplace_back(std::make_unique<IdleWorker>(load_));
    worker.start(connect);
    return worker;
  }
  void flush(kernel::Recorder&) override {}

 private:
  class IdleWorker final : public Worker {
   public:
    explicit IdleWorker(LoadLoop& load) : load_(load), life_(live()) {}
    void start(bool connect) {
      connect_ = connect;
      life_.start();
    }

   private:
    kernel::Task<void> live() {
      if (connect_) load_.connected(true);
      while (co_await load_.next(*this)) {
        load_.finish({.unit = unit, .done = load_.loop().now()});
      }
    }
    void cancel() noexcept override {}

    LoadLoop& load_;
    bool connect_ = false;
    kernel::Task<void> life_;
  };

  LoadLoop& load_;
  std::vector<std::unique_ptr<IdleWorker>> workers_;
};

struct Slice {
  kernel::Counts counts;
  Histogram lag;
};

/// One phase of units that do nothing, on this thread.
Slice run_slice(Phase phase, bool spin) {
  phase.shape.histograms = {"turn", "connect"};
  phase.interval = kNoTime;
  net::EpollLoop loop({.spin = spin});
  LoadLoop load(loop, 0);
  IdleWorkload workload(load);
  load.set_workload(workload);
  load.connect(1, [] {});
  load.begin(phase, Monotonic::now() + kHeadStart, [&loop] { loop.stop(); });
  loop.run();
  load.close();
  kernel::Interval interval;
  load.recorder().collect(interval);
  return {load.driver().counts(), std::move(interval.lag)};
}

Slice slice_at(const DoctorPlan::AtRate& at, bool spin) {
  Phase phase;
  // As a run has it: nobody waits for want of a worker, so lateness is all lag.
  phase.driver = {.model = kernel::Model::open,
                  .workers = 10'000,
                  .on_saturation = kernel::OnSaturation::queue};
  phase.plan.profile = kernel::RateProfile::constant(static_cast<double>(at.rate));
  phase.plan.length = phase.length = at.slice;
  return run_slice(phase, spin);
}

/// The least that a loop on epoll can do: one wait for each due instant, and a note of how late it
/// woke.
class BareLoop {
 public:
  explicit BareLoop(bool spin) : epoll_(epoll_create1(EPOLL_CLOEXEC)), spin_(spin) {
    if (epoll_ < 0)
      throw std::system_error(errno, std::generic_category(), "cannot make an event loop");
    prctl(PR_SET_TIMERSLACK, 1);
  }
  ~BareLoop() { ::close(epoll_); }
  BareLoop(const BareLoop&) = delete;
  BareLoop& operator=(const BareLoop&) = delete;

  void run(const DoctorPlan::AtRate& at, IntervalHistogram& lag) {
    const std::uint64_t units = units_in(at.rate, at.slice);
    const auto rate = static_cast<std::int64_t>(at.rate);
    const Instant t0 = Monotonic::now() + kHeadStart;
    const auto due = [&](std::uint64_t unit) {
      return t0 + Duration(static_cast<std::int64_t>(unit) * kSecond / rate);
    };
    for (std::uint64_t unit = 0;;) {
      const Instant now = Monotonic::now();
      for (; unit < units && due(unit) <= now; ++unit) lag.record((now - due(unit)).count());
      if (unit == units) return;
      wait(due(unit) - now);
    }
  }

 private:
  void wait(Duration duration) noexcept {
    if (spin_) duration = {};
    const timespec timeout{duration.count() / kSecond, duration.count() % kSecond};
    epoll_event event{};
    syscall(SYS_epoll_pwait2, epoll_, &event, 1, &timeout, nullptr, 0);
  }

  int epoll_;
  bool spin_;
};

double nanoseconds_each(Duration whole, std::uint64_t units) {
  return static_cast<double>(whole.count()) / static_cast<double>(units);
}

double clock_slice(std::uint64_t units) {
  const Instant start = Monotonic::now();
  Instant last = start;
  for (std::uint64_t i = 0; i < units; ++i) last = Monotonic::now();
  return nanoseconds_each(last - start, units);
}

/// The kernel alone: driver and recorder, without a loop or a worker around them. One clock reading
/// a unit, for the end of one is the start of the next.
double closed_slice(std::uint64_t units) {
  kernel::Recorder recorder({.open = false});
  kernel::Driver driver({.model = kernel::Model::closed, .workers = 1}, {}, recorder);
  kernel::Result result;
  const Instant start = Monotonic::now();
  driver.begin(start);
  Instant now = start;
  for (std::uint64_t i = 0; i < units && driver.take(now, result.unit); ++i) {
    result.done = now = Monotonic::now();
    driver.finish(result);
  }
  return nanoseconds_each(now - start, driver.counts().ok);
}

/// Two readings a unit: when it starts and when it is done. The driver is told of a time in which
/// one unit falls due at every turn, whatever the turns take here.
double open_slice(std::uint64_t units) {
  constexpr Duration gap = std::chrono::microseconds(1);
  kernel::Recorder recorder({});
  kernel::Driver driver({.model = kernel::Model::open, .workers = 1},
                        {.profile = kernel::RateProfile::constant(1e6)}, recorder);
  kernel::Result result;
  const Instant start = Monotonic::now();
  driver.begin(start);
  Instant last = start;
  Instant turn = start;
  for (std::uint64_t i = 0; i < units; ++i, turn += gap) {
    last = Monotonic::now();
    driver.advance(turn);
    if (!driver.take(turn, result.unit)) continue;
    const Instant done = Monotonic::now();
    result.done = turn + (done - last);
    last = done;
    driver.finish(result);
  }
  return nanoseconds_each(last - start, driver.counts().ok);
}

/// Values spread over two decades, as latencies are, drawn beforehand.
double record_slice(std::uint64_t units) {
  kernel::Random random(1);
  std::vector<Duration> values(4096);
  for (Duration& value : values)
    value = Duration(static_cast<std::int64_t>(1e5 * (0.1 + random.exponential())));
  kernel::Recorder recorder({.histograms = {"latency"}});
  for (const Duration value : values) recorder.record(0, value);  // its pages are there
  const Instant start = Monotonic::now();
  for (std::uint64_t i = 0; i < units; ++i) recorder.record(0, values[i % values.size()]);
  return nanoseconds_each(Monotonic::now() - start, units);
}

class Examination {
 public:
  Examination(const DoctorPlan& plan, const StopFlag& stop) : plan_(plan), stop_(stop) {}

  DoctorReport run() {
    report_.host = read_host();
    report_.clock_ns = cost(clock_slice);
    report_.record_ns = cost(record_slice);
    report_.closed_ns_per_unit = cost(closed_slice);
    report_.open_ns_per_unit = cost(open_slice);
    for (const DoctorPlan::AtRate& at : plan_.rates) report_.rates.push_back(at_rate(at));
    report_.interrupted = interrupted();
    return std::move(report_);
  }

 private:
  [[nodiscard]] bool interrupted() const { return stop_.load(std::memory_order_relaxed) != 0; }

  [[nodiscard]] double cost(double (*slice)(std::uint64_t)) const {
    double least = std::numeric_limits<double>::infinity();
    for (int i = 0; i < plan_.cost_slices && !interrupted(); ++i)
      least = std::min(least, slice(plan_.units));
    return least;
  }

  [[nodiscard]] DoctorReport::AtRate at_rate(const DoctorPlan::AtRate& at) const {
    DoctorReport::AtRate result{.rate = at.rate, .lag = {}, .floor_lag = {}};
    BareLoop bare(plan_.spin);
    IntervalHistogram bare_lag;
    for (int i = 0; i < at.slices && !interrupted(); ++i) {
      if (i % 2 == 0) bare.run(at, bare_lag);
      const Slice slice = slice_at(at, plan_.spin);
      result.offered += units_in(at.rate, at.slice);
      result.achieved += slice.counts.started;
      result.lag.merge(slice.lag);
      if (i % 2 == 1) bare.run(at, bare_lag);
    }
    bare_lag.add_to(result.floor_lag);
    return result;
  }

  const DoctorPlan& plan_;
  const StopFlag& stop_;
  DoctorReport report_;
};

}  // namespace

DoctorPlan doctor_plan(bool quick) {
  using std::chrono::milliseconds;
  using std::chrono::seconds;
  DoctorPlan plan;
  plan.units = 1 << 18;
  plan.cost_slices = quick ? 8 : 32;
  if (quick) {
    plan.rates = {{10, seconds(1), 1},
                  {100, milliseconds(500), 1},
                  {1000, milliseconds(250), 2},
                  {10'000, milliseconds(250), 2},
                  {100'000, milliseconds(250), 2},
                  {1'000'000, milliseconds(250), 2}};
  } else {
    plan.rates = {{10, seconds(1), 5},
                  {100, milliseconds(500), 8},
                  {1000, milliseconds(250), 10},
                  {10'000, milliseconds(250), 8},
                  {100'000, milliseconds(250), 8},
                  {1'000'000, milliseconds(250), 8}};
  }
  return plan;
}

Duration expected_length(const DoctorPlan& plan) {
  Duration sum = plan.cost_slices * Duration(static_cast<std::int64_t>(plan.units) * 200);
  for (const DoctorPlan::AtRate& at : plan.rates) sum += 2 * at.slices * (at.slice + kHeadStart);
  return sum;
}

DoctorReport examine(const DoctorPlan& plan, const StopFlag& stop) {
  // Its timer slack is no business of the caller's thread.
  return std::async(std::launch::async, [&] { return Examination(plan, stop).run(); }).get();
}

}  // namespace onbeat::run
