#include "net/sim.hpp"

#include "net/sim_connection.hpp"

#include <algorithm>
#include <cerrno>
#include <ostream>
#include <stdexcept>

namespace onbeat::net {
namespace {

constexpr std::size_t kScratchBytes = 64 * 1024;
constexpr std::uint16_t kFirstPort = 32'768;
constexpr std::uint64_t kStepsAtOnce = 200'000;

class Call final : public SimEvent {
 public:
  explicit Call(std::function<void()> work) : work_(std::move(work)) {}
  void happen(int) override { work_(); }

 private:
  std::function<void()> work_;
};

Duration up_to(Duration most, kernel::Random& random) {
  return Duration(static_cast<std::int64_t>(
      random.below(static_cast<std::uint64_t>(std::max<std::int64_t>(most.count(), 0)) + 1)));
}

SimDirection draw(const SimFaults& faults, Instant now, kernel::Random& random) {
  SimDirection direction;
  direction.latency = faults.latency_min + up_to(faults.latency_max - faults.latency_min, random);
  direction.jitter = faults.jitter;
  if (random.uniform() < faults.split) direction.split = SimSplit::random;
  if (random.uniform() < faults.one_byte) direction.split = SimSplit::bytes;
  if (random.uniform() < faults.small_buffer)
    direction.buffer = 1 + static_cast<std::size_t>(random.below(faults.small_buffer_bytes));
  if (random.uniform() < faults.stall) {
    const Instant from = now + up_to(faults.stall_within, random);
    direction.stalls.push_back({from, from + up_to(faults.stall_for, random)});
  }
  return direction;
}

}  // namespace

void SimPlan::never_answer() {
  connect_error = ETIMEDOUT;
  connect_delay = std::chrono::seconds(127);
}

SimWorld::SimWorld(std::uint64_t seed, Instant start) : seed_(seed), now_(start) {}
SimWorld::~SimWorld() = default;

Instant SimWorld::time() const noexcept { return current_ != nullptr ? current_->local_ : now_; }

void SimWorld::set_accept_limit(const Address& at, std::size_t limit) {
  std::erase_if(accept_limits_, [&](const auto& each) { return each.first == at; });
  accept_limits_.emplace_back(at, limit);
}

std::size_t SimWorld::accept_limit(const Address& at) const noexcept {
  for (const auto& [address, limit] : accept_limits_)
    if (address == at) return limit;
  return std::numeric_limits<std::size_t>::max();
}

void SimWorld::at(Instant when, std::function<void()> work) {
  schedule(when, std::make_shared<Call>(std::move(work)), 0);
}

void SimWorld::freeze(SimLoop& loop, Instant from, Instant to) {
  loop.freezes_.push_back({from, to});
  std::ranges::sort(loop.freezes_, {}, &SimStall::from);
}

void SimWorld::schedule(Instant when, std::shared_ptr<SimEvent> event, int what) {
  queue_.push({std::max(when, time()), sequence_++, std::move(event), what});
}

SimPlan SimWorld::plan(const Address& to) {
  SimPlan plan;
  plan.number = connects_++;
  plan.to = to;
  kernel::Random random(kernel::splitmix64(seed_, plan.number));
  plan.to_server = draw(faults_, time(), random);
  plan.to_client = draw(faults_, time(), random);
  if (random.uniform() < faults_.slow_connect)
    plan.connect_delay = up_to(faults_.connect_delay, random);
  if (random.uniform() < faults_.refused) plan.connect_error = ECONNREFUSED;
  if (random.uniform() < faults_.unanswered) plan.never_answer();
  if (random.uniform() < faults_.cut) {
    if (random.below(2) == 0)
      plan.cut_at = time() + up_to(faults_.cut_within, random);
    else
      plan.to_client.cut_after = random.below(faults_.cut_bytes + 1);
  }
  if (planner_) planner_(plan);
  return plan;
}

SimListener* SimWorld::find_listener(const Address& at, std::uint64_t connection) const {
  std::vector<SimListener*> found;
  for (SimListener* each : listeners_)
    if (each->address() == at) found.push_back(each);
  if (found.empty()) return nullptr;
  // As SO_REUSEPORT spreads them.
  return found[kernel::splitmix64(~seed_, connection) % found.size()];
}

SimListener* SimWorld::find_listener(std::uint64_t id) const noexcept {
  for (SimListener* each : listeners_)
    if (each->id() == id) return each;
  return nullptr;
}

std::uint16_t SimWorld::next_port() noexcept {
  port_ = port_ < kFirstPort ? kFirstPort : static_cast<std::uint16_t>(port_ + 1);
  return port_;
}

bool SimWorld::step(Instant limit) {
  SimLoop* next = nullptr;
  Instant when = kNever;
  for (SimLoop* loop : loops_) {
    const Instant at = loop->next_turn();
    if (at < when) {
      when = at;
      next = loop;
    }
  }
  // What arrives at the instant of a turn is there when the turn begins.
  const bool event = !queue_.empty() && queue_.top().at <= when;
  if (event) when = queue_.top().at;
  if (when == kNever || when > limit) return false;
  advance(when);
  if (event) {
    const Entry entry = queue_.top();
    queue_.pop();
    entry.event->happen(entry.what);
  } else {
    next->turn();
  }
  return true;
}

void SimWorld::advance(Instant to) {
  if (to > now_) {
    now_ = to;
    steps_at_once_ = 0;
  } else if (++steps_at_once_ == kStepsAtOnce) {
    throw std::logic_error("simulated time stands still: a loop never sleeps");
  }
}

void SimWorld::run_until(Instant until) {
  while (step(until)) {
  }
  now_ = std::max(now_, until);
}

bool SimWorld::run_until_idle(Instant limit) {
  while (step(limit)) {
  }
  return queue_.empty() &&
         std::ranges::all_of(loops_, [](SimLoop* each) { return each->next_turn() == kNever; });
}

void SimWorld::record(std::string_view kind, std::uint64_t who, std::uint64_t bytes,
                      std::uint64_t content) {
  const auto at = static_cast<std::uint64_t>(time().time_since_epoch().count());
  for (const std::uint64_t each :
       {at, static_cast<std::uint64_t>(std::hash<std::string_view>{}(kind)), who, bytes, content})
    trace_ = kernel::splitmix64(trace_ ^ each, 0);
  if (trace_text_ != nullptr)
    *trace_text_ << at << ' ' << kind << ' ' << who << ' ' << bytes << ' ' << trace_ << '\n';
}

// What is posted to a loop by another reaches it at the other's time.
class SimLoop::Posted final : public SimEvent {
 public:
  Posted(SimWorld& world, SimLoop& loop, std::function<void()> work)
      : world_(world), loop_(&loop), work_(std::move(work)) {}
  void happen(int) override {
    if (std::ranges::find(world_.loops_, loop_) != world_.loops_.end())
      loop_->posted_.push_back(std::move(work_));
  }

 private:
  SimWorld& world_;
  SimLoop* loop_;
  std::function<void()> work_;
};

SimLoop::SimLoop(SimWorld& world, Duration reading_cost)
    : world_(world),
      reading_cost_(reading_cost),
      number_(world.loops_.size()),
      local_(world.now_),
      latest_(world.now_),
      timers_(world.now_),
      scratch_(kScratchBytes) {
  world_.loops_.push_back(this);
}

SimLoop::~SimLoop() { std::erase(world_.loops_, this); }

Instant SimLoop::now() noexcept {
  spend(reading_cost_);
  return latest_ = local_;
}

void SimLoop::spend(Duration duration) noexcept {
  local_ = std::max(local_, world_.now_) + duration;
}

std::expected<std::unique_ptr<Transport>, int> SimLoop::connect(const Address& to,
                                                                const ConnectOptions& options) {
  SimPlan plan = world_.plan(to);
  if (plan.fails_at_once != 0) return std::unexpected(plan.fails_at_once);
  const std::uint64_t seed = kernel::splitmix64(world_.seed_ + 1, plan.number);
  const Address client =
      options.source.port() != 0 ? options.source : Address::ipv4_loopback(world_.next_port());
  return std::make_shared<SimConnection>(world_, std::move(plan), seed, client)->begin(*this);
}

std::expected<std::unique_ptr<Listener>, int> SimLoop::listen(const Address& at,
                                                              AcceptHandler& handler) {
  const bool any_port = at.family() == AF_INET && at.port() == 0;
  return std::make_unique<SimListener>(
      *this, any_port ? Address::ipv4_loopback(world_.next_port()) : at, handler);
}

void SimLoop::post(std::function<void()> work) {
  if (world_.current_ == this || world_.current_ == nullptr)
    posted_.push_back(std::move(work));
  else
    world_.schedule(world_.time(), std::make_shared<Posted>(world_, *this, std::move(work)), 0);
}

void SimLoop::set_hook(TurnHook* hook) noexcept {
  hook_ = hook;
  hook_at_ = hook == nullptr ? kNever : Instant::min();
}

void SimLoop::stop() {
  post([this] {
    active_ = false;
    stopped_ = true;
  });
}

void SimLoop::run() {
  if (!stopped_) {
    active_ = true;
    set_hook(hook_);  // to be called at once
    while (!stopped_)
      if (!world_.step(kNever)) throw std::logic_error("nothing is left that could stop this loop");
  }
  stopped_ = false;
}

void SimLoop::mark(SimTarget& target) {
  if (target.marked_) return;
  target.marked_ = true;
  marked_.push_back(&target);
}

void SimLoop::forget(SimTarget& target) noexcept {
  if (target.marked_) std::erase(marked_, &target);
  target.marked_ = false;
  for (std::size_t i = event_; i < events_.size(); ++i)
    if (events_[i] == &target) events_[i] = nullptr;
}

Instant SimLoop::next_turn() const noexcept {
  if (!active_) return kNever;
  Instant at = marked_.empty() && posted_.empty() && !has_later()
                   ? std::min(hook_at_, timers_.next())
                   : local_;
  if (at == kNever) return kNever;
  at = std::max({at, local_, world_.now_});
  for (const SimStall& freeze : freezes_)
    if (at >= freeze.from && at < freeze.to) at = freeze.to;
  return at;
}

void SimLoop::gather() {
  const std::size_t n = std::min(marked_.size(), kEvents);
  events_.assign(marked_.begin(), marked_.begin() + static_cast<std::ptrdiff_t>(n));
  marked_.erase(marked_.begin(), marked_.begin() + static_cast<std::ptrdiff_t>(n));
  for (SimTarget* each : events_) each->marked_ = false;
  event_ = 0;
}

// The turn of EpollLoop, step by step.
void SimLoop::turn() {
  world_.current_ = this;
  const bool hook_woke = posted_.empty() && hook_at_ <= timers_.next();
  gather();
  const Instant woken = now();
  world_.record("turn", number_, events_.size());
  const bool alone = events_.empty() && posted_.empty() && !has_later();
  if (hook_ != nullptr && woken >= hook_at_) {
    if (alone && hook_woke && hook_at_ != Instant::min()) hook_->woke_late(woken - hook_at_);
    call_hook();
    run_later();
    if (events_.empty() && woken < timers_.next() && posted_.empty()) {
      hook_->turn_took(latest_ - woken);
      world_.current_ = nullptr;
      return;
    }
  }
  for (event_ = 0; event_ < events_.size(); ++event_)
    if (events_[event_] != nullptr) events_[event_]->on_events();
  events_.clear();
  event_ = 0;
  if (latest_ >= timers_.next()) timers_.expire(latest_);
  if (!posted_.empty()) run_posted();
  if (hook_ != nullptr) call_hook();
  run_later();
  if (hook_ != nullptr) hook_->turn_took(latest_ - woken);
  world_.current_ = nullptr;
}

void SimLoop::run_posted() {
  std::vector<std::function<void()>> work;
  work.swap(posted_);
  for (auto& each : work) each();
}

}  // namespace onbeat::net
