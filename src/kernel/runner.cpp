#include <onbeat/kernel/mix.hpp>
#include <onbeat/kernel/recorder.hpp>
#include <onbeat/kernel/runner.hpp>

#include <cxxabi.h>

#include <algorithm>
#include <condition_variable>
#include <cstdlib>
#include <deque>
#include <exception>
#include <limits>
#include <mutex>
#include <stdexcept>
#include <thread>
#include <typeinfo>
#include <utility>

namespace onbeat::kernel {
namespace {

constexpr int kDefaultWorkers = 10;
constexpr std::size_t kDefaultBuffer = 1024;
// Finished samples that may stand behind the buffer before their workers wait for the consumer.
constexpr std::size_t kBehindBuffer = 64;

std::string readable(const char* mangled) {
  int status = 0;
  const std::unique_ptr<char, void (*)(void*)> name(
      abi::__cxa_demangle(mangled, nullptr, nullptr, &status), &std::free);
  return status == 0 ? name.get() : mangled;
}

/// What the exception that is being handled says. This platform keeps no stack of where it was
/// thrown.
SampleError describe_exception() {
  const std::type_info* const type = abi::__cxa_current_exception_type();
  SampleError error{
      .type = type == nullptr ? "unknown" : readable(type->name()), .message = {}, .stack = {}};
  try {
    throw;
  } catch (const std::exception& thrown) {
    error.message = thrown.what();
  } catch (const std::string& thrown) {
    error.message = thrown;
  } catch (const char* thrown) {
    error.message = thrown;
  } catch (...) {
    error.message = "threw a value that is no std::exception";
  }
  return error;
}

/// An exception that unwinds a thread (pthread_cancel, pthread_exit) goes on.
WorkResult call(const Work& work, const WorkContext& context) {
  try {
    return work(context);
  } catch (const abi::__forced_unwind&) {
    throw;
  } catch (...) {
    WorkResult result;
    result.outcome = Outcome::failed;
    result.error = describe_exception();
    return result;
  }
}

Ending ending_of(Outcome outcome) {
  switch (outcome) {
    case Outcome::ok:
      return Ending::ok;
    case Outcome::failed:
      return Ending::failed;
    case Outcome::timed_out:
      return Ending::timed_out;
    case Outcome::cancelled:
      return Ending::cancelled;
    case Outcome::in_flight:
      return Ending::in_flight;
  }
  return Ending::failed;
}

Sample missed_sample(std::uint64_t arrival, Instant due, MissedSink::Why why) {
  Sample sample;
  sample.arrival = arrival;
  sample.due = due;
  switch (why) {
    case MissedSink::Why::saturated:
      sample.ending = Ending::saturated;
      sample.error = {"saturated", "no worker was free when it was due", {}};
      break;
    case MissedSink::Why::late:
      sample.ending = Ending::missed_late;
      sample.error = {"missed_late", "the generator was too late", {}};
      break;
    case MissedSink::Why::waited:
      sample.ending = Ending::missed_waited;
      sample.error = {"missed_waited", "it waited too long for a worker", {}};
      break;
    case MissedSink::Why::at_end:
      sample.ending = Ending::missed_at_end;
      sample.error = {"missed_at_end", "it still waited for a worker when the run ended", {}};
      break;
  }
  return sample;
}

Instant later_by(Instant instant, Duration duration) {
  return duration < kNever - instant ? instant + duration : kNever;
}

RateProfile profile_of(const RunOptions& options) {
  if (const auto* live = std::get_if<std::shared_ptr<LiveRate>>(&options.rate)) {
    return (*live)->profile();
  }
  return std::get<RateProfile>(options.rate);
}

DriverOptions driver_options(const RunOptions& options) {
  return {.model = options.pacing == Pacing::open ? Model::open : Model::paced,
          .workers = static_cast<std::uint32_t>(options.workers),
          .on_late = options.on_late,
          .late_after = options.late_after,
          .catch_up_limit = options.catch_up_limit,
          .burst = static_cast<std::uint32_t>(std::max(options.burst, 1)),
          .on_saturation = options.on_saturation,
          .max_wait = options.max_wait,
          .queue_limit = options.queue_limit};
}

SchedulePlan measured_plan(const RunOptions& options) {
  return {.profile = profile_of(options),
          .arrivals = options.arrivals,
          .seed = options.seed,
          .max_arrivals = options.max_requests > 0
                              ? static_cast<std::uint64_t>(options.max_requests)
                              : UINT64_MAX,
          .length = options.duration};
}

SchedulePlan warmup_plan(const RunOptions& options) {
  return {.profile = RateProfile::constant(profile_of(options).rate_at({})),
          .seed = options.seed,
          .max_arrivals = options.warmup_requests > 0 ? options.warmup_requests : UINT64_MAX,
          .length = options.warmup > Duration{} ? options.warmup : kNoTime};
}

bool has_warmup(const RunOptions& options) {
  return options.warmup > Duration{} || options.warmup_requests > 0;
}

RunOptions checked(RunOptions options) {
  if (!options.work) throw std::invalid_argument("RunOptions::work is empty");
  const auto* live = std::get_if<std::shared_ptr<LiveRate>>(&options.rate);
  if (std::holds_alternative<std::monostate>(options.rate) || (live != nullptr && !*live)) {
    throw std::invalid_argument("RunOptions::rate is empty");
  }
  if (options.workers <= 0) options.workers = kDefaultWorkers;
  return options;
}

}  // namespace

Work mix(std::vector<WeightedWork> works, std::uint64_t seed) {
  std::vector<std::int64_t> weights;
  for (const WeightedWork& one : works) {
    if (!one.work) throw std::invalid_argument("an empty work in a mix");
    weights.push_back(one.weight);
  }
  struct Mixed {
    Mix mix;
    std::vector<WeightedWork> works;
    std::mutex mutex{};
    Mix::Cache cache{};
  };
  auto mixed = std::make_shared<Mixed>(Mix(weights, seed), std::move(works));
  return [mixed](const WorkContext& context) {
    std::uint32_t item = 0;
    {
      std::lock_guard lock(mixed->mutex);
      item = mixed->mix.item(context.arrival, mixed->cache);
    }
    return mixed->works[item].work(context);
  };
}

/// One driver, shared by all workers under one mutex. The scheduling thread takes up what falls due
/// and wakes workers; each worker takes its units from the driver itself.
struct Runner::Impl final : private MissedSink {
  struct Phase {
    Phase(const RunOptions& options, SchedulePlan plan, LiveRate* live, MissedSink* sink)
        : length(plan.length),
          most(plan.max_arrivals),
          recorder({}),
          driver(driver_options(options), std::move(plan), recorder, live, nullptr, sink) {}
    Duration length;
    std::uint64_t most;
    Recorder recorder;
    Driver driver;
    Instant t0{};
    std::stop_source stop;
    std::optional<Instant> cut;  // the end of the drain, once it has passed
  };

  Impl(RunOptions run_options, bool with_stream)
      : options(checked(std::move(run_options))),
        clock(options.clock != nullptr ? *options.clock : system_clock),
        stream(with_stream),
        buffer(options.result_buffer == 0
                   ? kDefaultBuffer
                   : static_cast<std::size_t>(std::max(options.result_buffer, 0))),
        measured(options, measured_plan(options), live(), with_stream ? this : nullptr) {
    if (has_warmup(options)) warmup.emplace(options, warmup_plan(options), nullptr, nullptr);
    if (live() != nullptr) live()->on_change([this] { interrupt(); });
    try {
      for (int i = 0; i < options.workers; ++i) threads.emplace_back([this] { run_worker(); });
      threads.emplace_back([this] { run_schedule(); });
    } catch (...) {
      close();
      if (live() != nullptr) live()->end();
      throw;
    }
    on_stop.emplace(options.stop, [this] { cancel(); });
  }

  ~Impl() override {
    on_stop.reset();
    cancel();
    for (auto& thread : threads) thread.join();
  }

  [[nodiscard]] LiveRate* live() const {
    const auto* shared = std::get_if<std::shared_ptr<LiveRate>>(&options.rate);
    return shared == nullptr ? nullptr : shared->get();
  }

  void cancel() {
    {
      std::lock_guard lock(mutex);
      cancelled = true;
      interrupt_locked();
      room.notify_all();
      progress.notify_all();
    }
    // What is registered on these tokens runs here, and may call the run.
    if (warmup) warmup->stop.request_stop();
    measured.stop.request_stop();
  }

  /// Makes the scheduling thread look again.
  void interrupt() {
    std::lock_guard lock(mutex);
    interrupt_locked();
  }
  void interrupt_locked() {
    interrupted = true;
    alarm.request_stop();
  }

  void close() {
    std::lock_guard lock(mutex);
    closing = true;
    idle.notify_all();
  }

  // --- the scheduling thread ---

  void run_schedule() {
    if (warmup) run_phase(*warmup);
    run_phase(measured);
    if (live() != nullptr) live()->end();
    close();
    std::lock_guard lock(mutex);
    finished = true;
    ready.notify_all();
  }

  void run_phase(Phase& phase) {
    std::unique_lock lock(mutex);
    // Time begins when every worker is there: starting threads is nobody's lag.
    progress.wait(lock, [&] { return static_cast<int>(idle_workers) == options.workers; });
    current = &phase;
    phase.t0 = clock.now();
    if (&phase == &measured && live() != nullptr) live()->begin(phase.t0, 1);
    phase.driver.begin(phase.t0);
    issue(phase, lock);
    phase.driver.end_issue(clock.now());
    drain(phase, lock);
    phase.recorder.hand_over(clock.now() - phase.t0);
    current = nullptr;
  }

  void issue(Phase& phase, std::unique_lock<std::mutex>& lock) {
    const Instant end = later_by(phase.t0, phase.length);
    for (;;) {
      room.wait(lock, [&] { return cancelled || has_room(); });
      const Instant now = clock.now();
      const Instant next = phase.driver.advance(now);
      wake_workers(phase);
      // Workers stamp their start themselves; time (a manual clock's above all) goes on when they
      // have.
      progress.wait(lock,
                    [&] { return cancelled || phase.driver.waiting() == 0 || idle_workers == 0; });
      if (cancelled || now >= end || is_over(phase)) return;
      sleep(std::min(next, end), lock);
    }
  }

  void wake_workers(Phase& phase) {
    if (phase.driver.unlimited_now()) {
      idle.notify_all();
      return;
    }
    const std::uint64_t wanted = std::min<std::uint64_t>(phase.driver.waiting(), idle_workers);
    for (std::uint64_t i = 0; i < wanted; ++i) idle.notify_one();
  }

  /// Whether nothing can start any more, whatever the time.
  [[nodiscard]] bool is_over(const Phase& phase) const {
    if (phase.driver.waiting() != 0) return false;
    return phase.driver.counts().planned >= phase.most ||
           (phase.length == kNoTime && phase.driver.exhausted());
  }

  /// Until every started unit has ended and its sample is delivered.
  void drain(Phase& phase, std::unique_lock<std::mutex>& lock) {
    const Instant limit = later_by(clock.now(), options.drain);
    draining = true;
    while (phase.driver.in_flight() != 0 && clock.now() < limit) sleep(limit, lock);
    if (phase.driver.in_flight() != 0) {
      phase.cut = limit;
      lock.unlock();
      phase.stop.request_stop();
      lock.lock();
    }
    progress.wait(lock, [&] { return phase.driver.in_flight() == 0 && busy_workers == 0; });
    draining = false;
  }

  /// Until `when` or an interrupt.
  void sleep(Instant when, std::unique_lock<std::mutex>& lock) {
    if (!interrupted) {
      if (alarm.stop_requested()) alarm = std::stop_source();
      const std::stop_token token = alarm.get_token();
      lock.unlock();
      clock.sleep_until(when, token);
      lock.lock();
    }
    interrupted = false;
  }

  // --- the workers ---

  void run_worker() {
    std::unique_lock lock(mutex);
    Unit unit;
    while (!closing) {
      if (current != nullptr && !cancelled && current->driver.take(clock.now(), unit)) {
        progress.notify_all();
        if (is_over(*current)) interrupt_locked();
        ++busy_workers;
        run_unit(*current, unit, lock);
        --busy_workers;
        if (draining) progress.notify_all();
      } else {
        ++idle_workers;
        progress.notify_all();
        idle.wait(lock);
        --idle_workers;
      }
    }
  }

  void run_unit(Phase& phase, const Unit& unit, std::unique_lock<std::mutex>& lock) {
    lock.unlock();
    WorkResult told = call(options.work, {.stop = phase.stop.get_token(), .arrival = unit.arrival});
    Result result{.unit = unit, .done = clock.now(), .outcome = told.outcome};
    result.bytes_received = static_cast<std::uint32_t>(
        std::min<std::uint64_t>(told.bytes, std::numeric_limits<std::uint32_t>::max()));
    if (!told.code.empty()) result.code = names.codes.id(told.code);
    if (told.error) result.error = names.errors.id(told.error->type);
    lock.lock();
    if (phase.cut && result.done > *phase.cut) {
      result.done = std::max(*phase.cut, unit.started);
      result.outcome = Outcome::in_flight;
    }
    phase.driver.finish(result);
    if (draining && phase.driver.in_flight() == 0) interrupt_locked();
    // Only now, with the worker's place in the driver free again, may a slow consumer hold it up.
    if (stream && &phase == &measured) deliver(result, std::move(told), lock);
  }

  // --- the stream ---

  [[nodiscard]] bool has_room() const { return !stream || samples.size() < buffer + kBehindBuffer; }

  void deliver(const Result& result, WorkResult told, std::unique_lock<std::mutex>& lock) {
    Sample sample;
    sample.arrival = result.unit.arrival;
    sample.due = result.unit.due;
    sample.released = result.unit.released;
    sample.started = result.unit.started;
    sample.done = result.done;
    sample.ending = ending_of(result.outcome);
    sample.code = std::move(told.code);
    sample.error = std::move(told.error);
    sample.bytes = told.bytes;
    sample.labels = std::move(told.labels);
    room.wait(lock, [&] { return cancelled || has_room(); });
    samples.push_back(std::move(sample));
    ready.notify_one();
  }

  /// Called by the driver, under the mutex, so it cannot wait for room; the schedule does before it
  /// goes on.
  void missed(std::uint64_t arrival, Instant due, Instant, Why why) override {
    samples.push_back(missed_sample(arrival, due, why));
    ready.notify_one();
  }

  std::optional<Sample> next() {
    std::unique_lock lock(mutex);
    ready.wait(lock, [&] { return finished || !samples.empty(); });
    if (samples.empty()) return std::nullopt;
    std::optional<Sample> sample(std::move(samples.front()));
    samples.pop_front();
    room.notify_all();
    return sample;
  }

  const RunOptions options;
  SystemClock system_clock;
  Clock& clock;
  const bool stream;
  const std::size_t buffer;
  Names names;

  mutable std::mutex mutex;
  std::condition_variable idle;      // workers wait for units
  std::condition_variable progress;  // the schedule waits for workers
  std::condition_variable ready;     // consumers wait for samples, and for the end
  std::condition_variable room;      // workers and the schedule wait for consumers
  std::optional<Phase> warmup;
  Phase measured;
  Phase* current = nullptr;
  std::uint32_t idle_workers = 0;
  std::uint32_t busy_workers = 0;  // from taking a unit to having delivered its sample
  bool draining = false;
  bool cancelled = false;
  bool closing = false;   // workers leave
  bool finished = false;  // nothing is delivered any more
  bool interrupted = false;
  std::stop_source alarm;  // ends the schedule's sleep
  std::deque<Sample> samples;

  std::vector<std::jthread> threads;
  std::optional<std::stop_callback<std::function<void()>>> on_stop;
};

Runner::Runner(RunOptions options) : impl_(std::make_unique<Impl>(std::move(options), true)) {}
Runner::Runner(std::unique_ptr<Impl> impl) : impl_(std::move(impl)) {}
Runner::~Runner() = default;
Runner::Runner(Runner&&) noexcept = default;
Runner& Runner::operator=(Runner&&) noexcept = default;

std::optional<Sample> Runner::next() { return impl_->next(); }
void Runner::cancel() { impl_->cancel(); }

void Runner::set_rate(double rate) {
  LiveRate* const live = impl_->live();
  if (live == nullptr) throw std::logic_error("this run's rate is a profile, not a LiveRate");
  live->set_rate(rate, [this] { return impl_->clock.now(); });
}

bool Runner::finished() const {
  std::lock_guard lock(impl_->mutex);
  return impl_->finished;
}

void Runner::wait() {
  std::unique_lock lock(impl_->mutex);
  impl_->ready.wait(lock, [&] { return impl_->finished; });
}

std::size_t Runner::buffered() const {
  std::lock_guard lock(impl_->mutex);
  return impl_->samples.size();
}

std::size_t Runner::result_buffer() const noexcept { return impl_->buffer; }
int Runner::workers() const noexcept { return impl_->options.workers; }
std::uint32_t Runner::in_flight() const { return impl_->measured.driver.in_flight(); }

Counts Runner::counts() const {
  std::lock_guard lock(impl_->mutex);
  return impl_->measured.driver.counts();
}

std::uint64_t Runner::warmup_excluded() const {
  std::lock_guard lock(impl_->mutex);
  return impl_->warmup ? impl_->warmup->driver.counts().started : 0;
}

struct MeasuringRun {
  static Measurement measure(RunOptions options) {
    Runner run(std::make_unique<Runner::Impl>(std::move(options), false));
    run.wait();
    Measurement measurement;
    run.impl_->measured.recorder.collect(measurement.interval);
    measurement.codes = run.impl_->names.codes.names();
    measurement.errors = run.impl_->names.errors.names();
    measurement.warmup_excluded = run.warmup_excluded();
    return measurement;
  }
};

Measurement measure(RunOptions options) { return MeasuringRun::measure(std::move(options)); }

}  // namespace onbeat::kernel
