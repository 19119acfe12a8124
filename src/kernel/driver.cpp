#include <onbeat/kernel/driver.hpp>

#include <algorithm>
#include <bit>
#include <cmath>

namespace onbeat::kernel {
namespace {

// Batches kept for a queue without a limit; a bounded queue gets one for each place, up to the
// second figure.
constexpr std::uint64_t kBatches = 1024;
constexpr std::uint64_t kMostBatches = 65536;

// A token counts as whole when rounding in I(t) left it this much short.
constexpr double kTokenDust = 1e-9;

std::size_t batches_for(const DriverOptions& options) {
  if (options.model == Model::closed) return 1;
  std::uint64_t places = options.workers;
  if (options.model == Model::paced || options.on_saturation == OnSaturation::queue) {
    if (options.queue_limit > kMostBatches) return kBatches;
    places += options.queue_limit;
  }
  return std::bit_ceil(std::clamp(places, kBatches, kMostBatches));
}

SchedulePlan with_live_profile(SchedulePlan plan, LiveRate* live, std::uint64_t& version) {
  if (live != nullptr) version = live->read(plan.profile);
  return plan;
}

}  // namespace

std::uint64_t RequestBudget::take_block(unsigned loops) noexcept {
  constexpr std::uint64_t kMostInBlock = 256;
  const std::uint64_t parts = 2 * std::uint64_t{std::max(loops, 1U)};
  std::uint64_t left = left_.load(std::memory_order_relaxed);
  while (left != 0) {
    const std::uint64_t block = std::clamp(left / parts, std::uint64_t{1}, kMostInBlock);
    if (left_.compare_exchange_weak(left, left - block, std::memory_order_relaxed)) return block;
  }
  return 0;
}

void RequestBudget::give_back(std::uint64_t count) noexcept {
  left_.fetch_add(count, std::memory_order_relaxed);
}

Driver::Driver(DriverOptions options, SchedulePlan plan, Recorder& recorder, LiveRate* live,
               RequestBudget* budget, MissedSink* sink)
    : options_(options),
      plan_(with_live_profile(std::move(plan), live, live_version_)),
      recorder_(recorder),
      live_(live),
      budget_(budget),
      sink_(sink),
      release_(plan_),
      start_(release_),
      batches_(batches_for(options)),
      next_closed_(plan_.share) {
  if (options_.model == Model::paced) ready_.resize(options_.workers);
  find_unlimited();
}

Driver::~Driver() = default;

void Driver::begin(Instant t0) noexcept {
  t0_ = t0;
  now_ = t0;
  tokens_ = options_.burst;
  std::fill(ready_.begin(), ready_.end(), t0);
  ready_count_ = ready_.size();
}

Instant Driver::advance(Instant now) noexcept {
  now_ = std::max(now_, now);
  if (options_.model == Model::closed || ended_) return kNever;
  if (live_ != nullptr) follow_live_rate();
  if (options_.max_wait != kNoTime) miss_overdue();
  if (release_.due() <= elapsed()) release_due();
  return next_instant();
}

bool Driver::take(Instant now, Unit& unit) noexcept {
  const std::uint32_t busy = in_flight_.load(std::memory_order_relaxed);
  if (ended_ || busy >= options_.workers) return false;
  if (options_.model == Model::closed) return take_closed(now, unit);
  now_ = std::max(now_, now);
  if (options_.max_wait != kNoTime) miss_overdue();
  if (waiting_ == 0) {
    if (!unlimited_now()) return false;
    take_unlimited(now_, unit);
  } else {
    const Instant due = head_due();
    unit.arrival = start_.number();
    unit.due = due;
    unit.started = now_;
    if (options_.model == Model::paced) {
      unit.released = std::clamp(ready_[ready_head_], due, std::max(due, now_));
    } else if (batches_[head_].immediate != 0) {
      unit.released = now_;
    } else {
      unit.released = std::min(head_released(due), now_);
    }
    pop_head();
  }
  if (options_.model == Model::paced) {
    ready_head_ = ready_head_ + 1 == ready_.size() ? 0 : ready_head_ + 1;
    --ready_count_;
  }
  count_start(busy + 1);
  return true;
}

void Driver::finish(const Result& result) noexcept {
  const std::uint32_t busy = in_flight_.load(std::memory_order_relaxed) - 1;
  in_flight_.store(busy, std::memory_order_relaxed);
  switch (result.outcome) {
    case Outcome::ok:
      ++counts_.ok;
      break;
    case Outcome::failed:
      ++counts_.failed;
      break;
    case Outcome::timed_out:
      ++counts_.timed_out;
      break;
    case Outcome::cancelled:
      ++counts_.cancelled;
      break;
    case Outcome::in_flight:
      ++counts_.in_flight_at_end;
      break;
  }
  counts_.bytes_sent += result.bytes_sent;
  counts_.bytes_received += result.bytes_received;
  recorder_.finished(result);
  recorder_.in_flight(busy);
  if (options_.model == Model::paced) {
    const std::size_t tail = ready_head_ + ready_count_;
    ready_[tail >= ready_.size() ? tail - ready_.size() : tail] = result.done;
    ++ready_count_;
  }
}

void Driver::end_issue(Instant now) noexcept {
  if (ended_) return;
  now_ = std::max(now_, now);
  ended_ = true;
  if (options_.model == Model::closed) {
    if (budget_ != nullptr) budget_->give_back(block_);
    block_ = 0;
    return;
  }
  if (live_ != nullptr) follow_live_rate();
  if (options_.max_wait != kNoTime) miss_overdue();
  const Duration end = std::min(plan_.length, elapsed());
  while (waiting_ != 0) {
    const Instant due = head_due();
    ++counts_.missed_at_end;
    recorder_.missed_at_end(std::max(t0_ + end - due, Duration{}));
    tell(start_.number(), due, MissedSink::Why::at_end);
    pop_head();
  }
  plan_unseen(end);
}

bool Driver::exhausted() const noexcept {
  if (ended_) return true;
  if (options_.model == Model::closed) {
    return (budget_ != nullptr && block_ == 0 && budget_->left() == 0) || elapsed() >= plan_.length;
  }
  if (waiting_ != 0) return false;
  if (elapsed() >= plan_.length) {
    return release_.due() == kNoTime || unlimited_at(release_.due());
  }
  // Without a next arrival, only a change of a live rate can bring one.
  return release_.due() == kNoTime && (live_ == nullptr || release_.number() >= plan_.max_arrivals);
}

std::uint64_t Driver::waiting() const noexcept { return waiting_; }

std::uint32_t Driver::free_workers() const noexcept {
  const std::uint32_t busy = in_flight_.load(std::memory_order_relaxed);
  return busy >= options_.workers ? 0 : options_.workers - busy;
}

bool Driver::is_late(Duration lag, Duration due) const noexcept {
  if (options_.late_after > Duration{}) return lag > options_.late_after;
  if (lag <= std::chrono::milliseconds(1)) return false;
  return static_cast<double>(lag.count()) * plan_.profile.rate_at(due) > 1e9;  // over one mean gap
}

/// Whether an arrival with this lag is too old to go out.
bool Driver::is_missed(Duration lag, Duration due) const noexcept {
  switch (options_.on_late) {
    case OnLate::catch_up:
      return lag > options_.catch_up_limit;
    case OnLate::skip:
      return is_late(lag, due);
    case OnLate::burst:
      break;  // the bucket bounds what goes out, not how old it is
  }
  return false;
}

/// In the order that LiveRate demands: a change is either read now or keeps off what is due by now.
void Driver::follow_live_rate() noexcept {
  live_->released_up_to(elapsed());
  if (!live_->behind(live_version_)) return;
  live_version_ = live_->read(plan_.profile, release_.position());
  release_.refresh();  // what waits was due before any change
  find_unlimited();
}

bool Driver::unlimited_now() const noexcept {
  return unlimited_from_ <= elapsed() && elapsed() < plan_.length && release_.due() <= elapsed();
}

void Driver::find_unlimited() noexcept {
  // No finite rate reaches this many arrivals within the range of time.
  constexpr double kEndless = 1e300;
  const Duration t = plan_.profile.time_of(kEndless);
  unlimited_from_ = t != kNoTime && std::isinf(plan_.profile.rate_at(t)) ? t : kNoTime;
}

/// Takes up what is due by now: queues it, or counts it as missed or saturated.
void Driver::release_due() noexcept {
  const std::uint64_t missed_before = counts_.missed_late;
  const std::uint64_t saturated_before = counts_.saturated;
  std::uint64_t planned = 0;
  batch_open_ = false;
  if (options_.on_late == OnLate::burst) refill_tokens();
  for (Duration due = release_.due(); due <= elapsed() && !unlimited_at(due);
       due = release_.due()) {
    const Duration lag = elapsed() - due;
    if (is_missed(lag, due)) {
      ++counts_.missed_late;
      pass_over(MissedSink::Why::late);
    } else {
      if (options_.on_late == OnLate::burst && !may_catch_up(lag, due)) break;
      if (!enqueue(lag)) {
        ++counts_.saturated;
        pass_over(MissedSink::Why::saturated);
      }
    }
    ++planned;
    release_.next();
  }
  if (release_.due() > elapsed()) catching_up_ = false;
  if (planned == 0) return;
  counts_.planned += planned;
  recorder_.planned(planned);
  const std::uint64_t missed = counts_.missed_late - missed_before;
  const std::uint64_t saturated = counts_.saturated - saturated_before;
  if (missed != 0) recorder_.missed_late(missed);
  if (saturated != 0) recorder_.saturated(saturated);
}

/// The token bucket: only what goes out while behind needs a token, so that on-time arrivals that
/// stand close together keep their due times.
bool Driver::may_catch_up(Duration lag, Duration due) noexcept {
  if (!catching_up_ && !is_late(lag, due)) return true;
  catching_up_ = true;
  if (tokens_ < 1 - kTokenDust) return false;
  tokens_ = std::max(tokens_ - 1, 0.0);
  return true;
}

void Driver::refill_tokens() noexcept {
  const double depth = options_.burst;
  const double at = plan_.profile.arrivals_by(elapsed());
  const bool was_unlimited = std::isinf(at) || std::isinf(tokens_at_);
  tokens_ = was_unlimited ? depth : std::min(depth, tokens_ + (at - tokens_at_));
  tokens_at_ = at;
}

/// Queues the arrival at release_; false when there is neither a free worker nor a place.
bool Driver::enqueue(Duration lag) noexcept {
  const std::uint64_t free = free_workers();
  const bool immediate = waiting_ < free;
  if (!immediate) {
    const bool queues =
        options_.model == Model::paced || options_.on_saturation == OnSaturation::queue;
    if (!queues || waiting_ - free >= options_.queue_limit) return false;
  }
  if ((!batch_open_ || passed_over_ != 0) && !open_batch(lag)) return false;
  if (waiting_ == 0) start_ = release_;
  Batch& newest = batch(batch_count_ - 1);
  ++newest.count;
  if (immediate) newest.immediate = newest.count;
  ++waiting_;
  return true;
}

/// Makes room for what is released now. In a full ring it joins the newest batch, unless numbers
/// that were never queued lie between them: false then.
bool Driver::open_batch(Duration lag) noexcept {
  batch_open_ = true;
  if (batch_count_ == batches_.size()) {
    if (passed_over_ != 0) return false;
    Batch& newest = batch(batch_count_ - 1);
    newest.lag = std::max({newest.lag, lag, Duration{}});
    newest.last = now_;
    return true;
  }
  batch(batch_count_) = Batch{
      .skip = passed_over_, .count = 0, .immediate = 0, .first = now_, .last = now_, .lag = {}};
  passed_over_ = 0;
  ++batch_count_;
  return true;
}

/// The arrival at release_ will never start.
void Driver::pass_over(MissedSink::Why why) noexcept {
  if (waiting_ != 0) ++passed_over_;
  tell(release_.number(), t0_ + release_.due(), why);
}

/// Misses what has waited for a worker for max_wait.
void Driver::miss_overdue() noexcept {
  while (waiting_ != 0 && batches_[head_].immediate == 0) {
    const Instant due = head_due();
    if (now_ - head_released(due) < options_.max_wait) return;
    ++counts_.missed_waited;
    recorder_.missed_waited(now_ - due);
    tell(start_.number(), due, MissedSink::Why::waited);
    pop_head();
  }
}

bool Driver::take_closed(Instant now, Unit& unit) noexcept {
  if (now - t0_ >= plan_.length) {
    now_ = std::max(now_, now);
    return false;
  }
  if (budget_ != nullptr) {
    if (block_ == 0) block_ = budget_->take_block(plan_.of);
    if (block_ == 0) return false;
    --block_;
  }
  unit = Unit{.arrival = next_closed_, .due = now, .released = now, .started = now};
  next_closed_ += plan_.of;
  ++counts_.planned;
  recorder_.planned(1);
  count_start(in_flight_.load(std::memory_order_relaxed) + 1);
  return true;
}

void Driver::take_unlimited(Instant now, Unit& unit) noexcept {
  unit = Unit{.arrival = release_.number(), .due = now, .released = now, .started = now};
  release_.next();
  ++counts_.planned;
  recorder_.planned(1);
}

void Driver::count_start(std::uint32_t in_flight) noexcept {
  in_flight_.store(in_flight, std::memory_order_relaxed);
  ++counts_.started;
  recorder_.started();
  recorder_.in_flight(in_flight);
}

Instant Driver::head_due() noexcept {
  for (Batch& head = batches_[head_]; head.skip != 0; --head.skip) start_.next();
  return t0_ + start_.due();
}

Instant Driver::head_released(Instant due) const noexcept {
  const Batch& head = batches_[head_];
  return std::min(std::max(head.first, due + head.lag), head.last);
}

void Driver::pop_head() noexcept {
  Batch& head = batches_[head_];
  if (head.immediate != 0) --head.immediate;
  if (--head.count == 0) {
    head_ = (head_ + 1) & (batches_.size() - 1);
    --batch_count_;
  }
  if (--waiting_ != 0) {
    start_.next();
  } else {
    passed_over_ = 0;
    head_ = 0;  // so that a queue that does not build up stays in one cache line
  }
}

Instant Driver::next_instant() noexcept {
  Instant next = kNever;
  if (const Duration due = release_.due(); due > elapsed()) {
    if (due < kNever - t0_) next = t0_ + due;
  } else if (catching_up_) {
    // time_of() rounds down, to where the token is still short of 1 by less than one ns's worth.
    const Duration t = plan_.profile.time_of(tokens_at_ + 1 - tokens_);
    if (t < kNever - t0_) next = t0_ + std::max(t, elapsed()) + Duration{1};
  }
  if (options_.max_wait != kNoTime && waiting_ != 0 && batches_[head_].immediate == 0) {
    const Instant released = head_released(head_due());
    if (options_.max_wait < kNever - released) next = std::min(next, released + options_.max_wait);
  }
  return next;
}

/// What was due in the issue window and advance() never saw.
void Driver::plan_unseen(Duration end) noexcept {
  std::uint64_t late = 0;
  std::uint64_t planned = 0;
  for (Duration due = release_.due(); due < end && !unlimited_at(due); due = release_.due()) {
    const Duration lag = end - due;
    if (is_missed(lag, due)) {
      ++late;
      tell(release_.number(), t0_ + due, MissedSink::Why::late);
    } else {
      ++counts_.missed_at_end;
      recorder_.missed_at_end(lag);
      tell(release_.number(), t0_ + due, MissedSink::Why::at_end);
    }
    ++planned;
    release_.next();
  }
  counts_.planned += planned;
  counts_.missed_late += late;
  if (planned != 0) recorder_.planned(planned);
  if (late != 0) recorder_.missed_late(late);
}

void Driver::tell(std::uint64_t arrival, Instant due, MissedSink::Why why) noexcept {
  if (sink_ != nullptr) sink_->missed(arrival, due, now_, why);
}

}  // namespace onbeat::kernel
