#include "run/load_loop.hpp"

#include <algorithm>
#include <ctime>
#include <utility>

namespace onbeat::run {
namespace {

constexpr Duration kStall = std::chrono::milliseconds(10);

Duration thread_cpu() noexcept {
  timespec time{};
  clock_gettime(CLOCK_THREAD_CPUTIME_ID, &time);
  return std::chrono::seconds(time.tv_sec) + Duration(time.tv_nsec);
}

Instant after(Instant start, Duration length) noexcept {
  return length >= kNever - start ? kNever : start + length;
}

}  // namespace

LoadLoop::LoadLoop(net::Loop& loop, std::uint32_t index) : loop_(loop), index_(index) {}

LoadLoop::~LoadLoop() { loop_.set_hook(nullptr); }

void LoadLoop::connect(std::uint32_t count, std::function<void()> done) {
  connect_done_ = std::move(done);
  // One more than there are workers, so that the last one cannot end it before all have begun.
  connecting_ = count + 1;
  for (std::uint32_t i = 0; i < count; ++i) workers_.push_back(&workload_->add_worker(true));
  connected(false);
}

void LoadLoop::connected(bool up) noexcept {
  connections_up_ += up ? 1 : 0;
  if (--connecting_ == 0) std::exchange(connect_done_, nullptr)();
}

void LoadLoop::begin(const Phase& phase, Instant t0, std::function<void()> done) {
  phase_ = phase;
  done_ = std::move(done);
  recorders_.push_back(std::make_unique<kernel::Recorder>(phase.shape));
  recorder_ = recorders_.back().get();
  drivers_.push_back(std::make_unique<kernel::Driver>(phase.driver, phase.plan, *recorder_, nullptr,
                                                      phase.budget, phase.samples));
  driver_ = drivers_.back().get();
  driver_->begin(t0);
  shown_.store(driver_, std::memory_order_release);
  shown_recorder_.store(recorder_, std::memory_order_release);
  // Another thread may still look at those before these, but no longer at older ones.
  if (drivers_.size() > 2) {
    drivers_.erase(drivers_.begin());
    recorders_.erase(recorders_.begin());
  }
  closed_model_ = phase.driver.model == kernel::Model::closed;
  t0_ = last_done_ = t0;
  issue_end_ = after(t0, phase.length);
  next_interval_ = after(t0, phase.interval);
  drain_end_ = kNever;
  next_due_ = t0;
  usage_ = {};
  usage_since_ = t0;
  cpu_since_ = thread_cpu();
  over_.store(false, std::memory_order_relaxed);
  discarding_ = false;
  state_ = State::issuing;
  loop_.set_hook(this);
}

Instant LoadLoop::on_turn(Instant now) noexcept {
  if (state_ == State::idle || state_ == State::done) return kNever;
  if (now < t0_) return t0_;
  if (state_ == State::issuing) {
    // Also at the end: what fell due since the last turn has not been missed.
    if (now >= next_due_) next_due_ = driver_->advance(now);
    if (now < issue_end_ || !closed_model_) start_waiting(now);
    if (now >= issue_end_ || (phase_.ends_by_count && driver_->exhausted())) end_issue_at(now);
  }
  if (now >= next_interval_) hand_over(now);
  if (state_ == State::draining) {
    if (now >= drain_end_) cut_off_all();
    if (driver_->in_flight() == 0) {
      end_phase(loop_.now());
      return kNever;
    }
  }
  return std::min({next_due_, issue_end_, drain_end_, next_interval_});
}

// Gives what is due to free workers. The first unit starts at `now`; each further one has its own
// reading.
void LoadLoop::start_waiting(Instant now) noexcept {
  while (closed_model_ ? idle_ != nullptr : driver_->waiting() != 0) {
    Worker* worker = free_worker();
    if (worker == nullptr) return;
    if (!driver_->take(now, worker->unit)) {
      worker->next_idle_ = std::exchange(idle_, worker);
      return;
    }
    worker->has_unit_ = true;
    resume(*worker);
    now = loop_.now();
  }
}

Worker* LoadLoop::free_worker() noexcept {
  if (idle_ == nullptr && !closed_model_ && workers_.size() < phase_.driver.workers) {
    adding_ = true;  // it enters next(), and so the idle list
    workers_.push_back(&workload_->add_worker(false));
    adding_ = false;
  }
  if (idle_ == nullptr) return nullptr;
  return std::exchange(idle_, idle_->next_idle_);
}

void LoadLoop::resume(Worker& worker) noexcept { std::exchange(worker.waiting_, nullptr).resume(); }

bool LoadLoop::try_next(Worker& worker) noexcept {
  worker.has_unit_ = false;
  if (closing_) return true;
  if (state_ != State::issuing || adding_) return false;
  if (closed_model_) {
    worker.has_unit_ = driver_->take(last_done_, worker.unit);
    return worker.has_unit_;
  }
  if (last_done_ >= next_due_) next_due_ = driver_->advance(last_done_);
  worker.has_unit_ = driver_->waiting() != 0 && driver_->take(last_done_, worker.unit);
  return worker.has_unit_;
}

void LoadLoop::wait(Worker& worker, std::coroutine_handle<> waiting) noexcept {
  worker.waiting_ = waiting;
  worker.next_idle_ = std::exchange(idle_, &worker);
}

void LoadLoop::finish(const kernel::Result& result) noexcept {
  last_done_ = result.done;
  if (!discarding_) [[likely]]
    return record(result);
  kernel::Result discarded = result;
  discarded.outcome = kernel::Outcome::cancelled;
  discarded.verdict = kernel::Verdict::not_judged;
  discarded.timing = kernel::Timing::nowhere;
  discarded.code = discarded.error = kernel::kNoName;
  record(discarded);
}

void LoadLoop::record(const kernel::Result& result) noexcept {
  driver_->finish(result);
  if (phase_.samples != nullptr) phase_.samples->finished(result);
}

void LoadLoop::end_issue(Duration drain_limit) {
  if (state_ != State::issuing) return;
  phase_.drain_limit = std::min(phase_.drain_limit, drain_limit);
  end_issue_at(std::max(loop_.now(), t0_));
}

void LoadLoop::end_issue_at(Instant now) noexcept {
  driver_->end_issue(now);
  issue_ended_ = std::min(now - t0_, phase_.length);
  left_to_drain_ = driver_->in_flight();
  const bool time_is_over = now >= issue_end_;
  discarding_ = time_is_over && phase_.at_end != options::DurationStop::wait;
  const bool cut = time_is_over && phase_.at_end == options::DurationStop::close;
  state_ = State::draining;
  next_due_ = issue_end_ = kNever;
  drain_end_ = after(now, cut ? Duration{} : phase_.drain_limit);
}

void LoadLoop::cut_off_all() noexcept {
  drain_end_ = kNever;
  for (Worker* worker : workers_)
    if (worker->has_unit_) worker->cancel();
}

void LoadLoop::end_phase(Instant now) noexcept {
  drain_ended_ = now - t0_;
  state_ = State::done;
  hand_over(now);
  over_.store(true, std::memory_order_release);
  std::exchange(done_, nullptr)();
}

void LoadLoop::hand_over(Instant now) noexcept {
  workload_->flush(*recorder_);
  note_usage(now);
  recorder_->hand_over(now - t0_);
  while (next_interval_ <= now) next_interval_ += phase_.interval;
  if (state_ == State::done) next_interval_ = kNever;
}

void LoadLoop::note_usage(Instant now) noexcept {
  const Duration cpu = thread_cpu();
  usage_.wall = now - usage_since_;
  usage_.cpu = cpu - cpu_since_;
  recorder_->usage(usage_);
  usage_ = {};
  usage_since_ = now;
  cpu_since_ = cpu;
}

void LoadLoop::turn_took(Duration duration) noexcept {
  if (state_ != State::issuing && state_ != State::draining) return;
  ++usage_.turns;
  recorder_->record(kTurnHistogram, duration);
  if (duration > kStall) {
    ++usage_.stalls;
    usage_.stalled += duration;
  }
}

void LoadLoop::woke_late(Duration by) noexcept {
  if (by <= kStall || state_ != State::issuing) return;
  ++usage_.stalls;
  usage_.stalled += by;
}

void LoadLoop::close() {
  closing_ = true;
  while (idle_ != nullptr) {
    Worker& worker = *std::exchange(idle_, idle_->next_idle_);
    worker.has_unit_ = false;
    resume(worker);
  }
  // What is not idle sleeps between units (a back-off), or is cut off in the middle of one.
  for (Worker* worker : workers_) worker->cancel();
}

}  // namespace onbeat::run
