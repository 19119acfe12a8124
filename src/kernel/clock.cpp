#include <onbeat/kernel/clock.hpp>

#include <algorithm>
#include <atomic>
#include <condition_variable>
#include <list>
#include <mutex>
#include <thread>
#include <vector>

namespace onbeat::kernel {

// On Linux steady_clock is CLOCK_MONOTONIC, in ns.
Instant Monotonic::now() noexcept {
  return Instant(
      std::chrono::duration_cast<Duration>(std::chrono::steady_clock::now().time_since_epoch()));
}

bool SystemClock::sleep_until(Instant when, std::stop_token stop) {
  if (stop.stop_requested()) return false;
  if (when <= Monotonic::now()) return true;
  std::mutex mutex;
  std::condition_variable_any changed;
  std::unique_lock lock(mutex);
  const auto never = [] { return false; };
  if (when == kNever) {
    changed.wait(lock, stop, never);
  } else {
    const auto until = std::chrono::steady_clock::time_point(
        std::chrono::duration_cast<std::chrono::steady_clock::duration>(when.time_since_epoch()));
    changed.wait_until(lock, stop, until, never);
  }
  return !stop.stop_requested();
}

namespace {

struct Sleeper {
  Instant when;
  std::condition_variable_any due;
};

}  // namespace

struct ManualClock::State {
  explicit State(Instant start) : now(start) {}

  std::atomic<Instant> now;
  std::mutex mutex;
  std::condition_variable joined;
  // By instant, then by the order of arrival. Each sleeper owns its entry.
  std::list<Sleeper*> sleepers;
};

ManualClock::ManualClock(Instant start) : state_(std::make_unique<State>(start)) {}
ManualClock::~ManualClock() = default;

Instant ManualClock::now() const noexcept { return state_->now.load(); }

bool ManualClock::sleep_until(Instant when, std::stop_token stop) {
  std::unique_lock lock(state_->mutex);
  if (stop.stop_requested()) return false;
  if (when <= state_->now.load()) return true;

  Sleeper self{.when = when, .due = {}};
  auto& sleepers = state_->sleepers;
  const auto later = std::find_if(sleepers.begin(), sleepers.end(),
                                  [&](const Sleeper* other) { return other->when > when; });
  const auto place = sleepers.insert(later, &self);
  state_->joined.notify_all();
  self.due.wait(lock, stop, [&] { return state_->now.load() >= when; });
  sleepers.erase(place);
  return !stop.stop_requested();
}

void ManualClock::advance(Duration duration) {
  if (duration <= Duration::zero()) return;
  std::lock_guard lock(state_->mutex);
  const Instant now = state_->now.load() + duration;
  state_->now.store(now);
  for (Sleeper* sleeper : state_->sleepers) {
    if (sleeper->when > now) break;
    sleeper->due.notify_one();
  }
}

void ManualClock::block_until_sleepers(std::size_t count) {
  std::unique_lock lock(state_->mutex);
  state_->joined.wait(lock, [&] {
    const auto& sleepers = state_->sleepers;
    const auto asleep = std::count_if(sleepers.begin(), sleepers.end(), [&](const Sleeper* one) {
      return one->when > state_->now.load();
    });
    return static_cast<std::size_t>(asleep) >= count;
  });
}

std::size_t ManualClock::sleepers() const {
  std::lock_guard lock(state_->mutex);
  return state_->sleepers.size();
}

}  // namespace onbeat::kernel
