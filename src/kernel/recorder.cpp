#include <onbeat/kernel/recorder.hpp>

#include <algorithm>
#include <cstdlib>
#include <new>
#include <utility>

namespace onbeat::kernel {

namespace {

/// Codes and errors have this much room from the start; a run with more ids than NameTable gives
/// grows it.
constexpr std::size_t kNames = 256;

constexpr int kVerdicts = 3;

void bump(std::vector<std::uint64_t>& counts, std::uint16_t id) {
  if (id >= counts.size()) [[unlikely]]
    counts.resize(id + std::size_t{1});
  ++counts[id];
}

/// Moves counts into `into` and `also`, as long as needed.
void drain(std::vector<std::uint64_t>& from, std::vector<std::uint64_t>& into,
           std::vector<std::uint64_t>& also) {
  std::size_t used = from.size();
  while (used > 0 && from[used - 1] == 0) --used;
  if (into.size() < used) into.resize(used);
  if (also.size() < used) also.resize(used);
  for (std::size_t i = 0; i < used; ++i) {
    into[i] += from[i];
    also[i] += from[i];
    from[i] = 0;
  }
}

}  // namespace

void IntervalHistogram::Free::operator()(std::uint32_t* counts) const noexcept {
  std::free(counts);
}

IntervalHistogram::IntervalHistogram()
    : counts_(static_cast<std::uint32_t*>(
          std::calloc(detail::kDefaultBuckets, sizeof(std::uint32_t)))) {
  if (!counts_) throw std::bad_alloc();
}

namespace {

constexpr std::uint32_t default_index(std::int64_t value) {
  return detail::bucket_of(std::clamp<std::int64_t>(value, 0, detail::kHighestNs), 0,
                           detail::kHalfMagnitude);
}

}  // namespace

void IntervalHistogram::add_to(Histogram& into) const {
  if (empty()) return;
  const std::uint32_t first = default_index(min_);
  const std::uint32_t last = default_index(max_);
  into.cover(first, last);
  std::uint64_t* const counts = into.counts_.data() + (first - into.first_);
  std::uint64_t samples = 0;
  for (std::uint32_t i = first; i <= last; ++i) {
    counts[i - first] += counts_[i];
    samples += counts_[i];
  }
  into.count_ += samples;
  into.censored_ += censored_;
  into.clamped_ += clamped_;
  into.sum_ += earlier_sum_ + sum_;
  into.min_ = std::min(into.min_, min_);
  into.max_ = std::max(into.max_, max_);
  into.smallest_censored_ = std::min(into.smallest_censored_, smallest_censored_);
}

void IntervalHistogram::clear() noexcept {
  if (empty()) return;
  std::fill(counts_.get() + default_index(min_), counts_.get() + default_index(max_) + 1, 0U);
  min_ = INT64_MAX;
  max_ = INT64_MIN;
  sum_ = 0;
  earlier_sum_ = 0;
  censored_ = clamped_ = 0;
  smallest_censored_ = INT64_MAX;
}

/// Its own cache lines, as a sheet.
struct alignas(64) Recorder::Endpoint {
  std::uint64_t outcomes[kOutcomes] = {};
  std::uint64_t verdicts[kVerdicts] = {};
  std::uint64_t untimed = 0;
  bool part = false;
  std::uint64_t bytes_sent = 0, bytes_received = 0;
  IntervalHistogram response, service, failed;
  std::vector<std::uint64_t> codes = std::vector<std::uint64_t>(kNames);
  std::vector<std::uint64_t> errors = std::vector<std::uint64_t>(kNames);
  /// What few runs have, made when first met.
  std::unique_ptr<IntervalHistogram> gap;
  struct Alone {
    IntervalHistogram response, service;
  };
  std::unique_ptr<Alone> alone;  // Timing::endpoint_only

  void record_alone(std::int64_t response_ns, std::int64_t service_ns, bool open) {
    if (!alone) [[unlikely]]
      alone = std::make_unique<Alone>();
    alone->service.record(service_ns);
    if (open) alone->response.record(response_ns);
  }
};

/// What is written between two hand-overs. Its own cache lines: the other sheet belongs to another
/// thread.
struct alignas(64) Recorder::Sheet {
  Counts counts;  // all but what endpoints count
  std::vector<std::unique_ptr<Endpoint>> endpoints;
  IntervalHistogram wait, lag;
  IntervalHistogram unstarted;  // since due, of arrivals that never started
  std::vector<IntervalHistogram> extra;
  std::vector<std::uint64_t> counters;
  LoopUsage usage;
  std::uint64_t in_flight = 0, in_flight_max = 0;
  Duration start{}, end{};

  explicit Sheet(const RecorderShape& shape)
      : extra(shape.histograms.size()), counters(shape.counters.size()) {
    for (EndpointId id = 0; id < shape.endpoints; ++id) endpoint(id);
  }

  Endpoint& endpoint(EndpointId id) {
    if (id >= endpoints.size() || !endpoints[id]) [[unlikely]]
      make_endpoint(id);
    return *endpoints[id];
  }

  [[gnu::noinline, gnu::cold]] void make_endpoint(EndpointId id) {
    if (id >= endpoints.size()) endpoints.resize(id + std::size_t{1});
    endpoints[id] = std::make_unique<Endpoint>();
  }
};

Recorder::Recorder(RecorderShape shape)
    : shape_(std::move(shape)),
      sheets_{std::make_unique<Sheet>(shape_), std::make_unique<Sheet>(shape_)},
      active_(sheets_[0].get()),
      clean_(sheets_[1].get()) {}

Recorder::~Recorder() = default;

void Recorder::finished(const Result& result) noexcept {
  Sheet& sheet = *active_;
  record_end(sheet.endpoint(result.endpoint), result);
  if (shape_.open) {
    sheet.wait.record(result.wait().count());
    sheet.lag.record(result.lag().count());
  }
}

void Recorder::part_finished(const Result& result) noexcept {
  Endpoint& endpoint = active_->endpoint(result.endpoint);
  endpoint.part = true;
  record_end(endpoint, result);
}

void Recorder::message_gap(EndpointId id, Duration gap) noexcept {
  Endpoint& endpoint = active_->endpoint(id);
  if (!endpoint.gap) [[unlikely]]
    endpoint.gap = std::make_unique<IntervalHistogram>();
  endpoint.gap->record(gap.count());
}

void Recorder::record_end(Endpoint& endpoint, const Result& result) noexcept {
  ++endpoint.outcomes[static_cast<int>(result.outcome)];
  ++endpoint.verdicts[static_cast<int>(result.verdict)];
  endpoint.bytes_sent += result.bytes_sent;
  endpoint.bytes_received += result.bytes_received;
  if (result.code != kNoName) bump(endpoint.codes, result.code);
  if (result.error != kNoName) bump(endpoint.errors, result.error);

  const std::int64_t response = result.response().count();
  const std::int64_t service = result.service().count();
  Timing timing = result.timing;
  if (timing == Timing::by_outcome) [[likely]] {
    if (result.outcome == Outcome::ok) timing = Timing::headline;
    if (result.outcome == Outcome::failed) timing = Timing::failures;
  }
  switch (timing) {
    [[likely]] case Timing::headline:
      endpoint.service.record(service);
      if (shape_.open) endpoint.response.record(response);
      break;
    case Timing::failures:
      endpoint.failed.record(response);
      break;
    case Timing::by_outcome:  // no outcome yet: a lower bound
      endpoint.service.record_censored(service);
      if (shape_.open) endpoint.response.record_censored(response);
      break;
    case Timing::endpoint_only:
      ++endpoint.untimed;
      endpoint.record_alone(response, service, shape_.open);
      break;
    case Timing::nowhere:
      ++endpoint.untimed;
      break;
  }
}

void Recorder::missed_waited(Duration elapsed) noexcept {
  ++counts_.missed_waited;
  active_->unstarted.record_censored(elapsed.count());
}

void Recorder::missed_at_end(Duration elapsed) noexcept {
  ++counts_.missed_at_end;
  active_->unstarted.record_censored(elapsed.count());
}

void Recorder::record(std::size_t histogram, Duration value) noexcept {
  active_->extra[histogram].record(value.count());
}

void Recorder::count(std::size_t counter, std::uint64_t by) noexcept {
  active_->counters[counter] += by;
}

void Recorder::usage(const LoopUsage& delta) noexcept { active_->usage += delta; }

bool Recorder::hand_over(Duration t) noexcept {
  Sheet* const next = clean_.exchange(nullptr, std::memory_order_acquire);
  if (next == nullptr) return false;
  Sheet* const full = active_;
  full->counts = std::exchange(counts_, {});
  full->in_flight = in_flight_;
  full->in_flight_max = std::exchange(in_flight_max_, in_flight_);  // what is in flight goes on
  full->end = t;
  next->start = t;
  active_ = next;
  // A clean sheet means that the collector holds none and none waits for it.
  handed_.store(full, std::memory_order_release);
  return true;
}

/// One endpoint's share of a sheet, into the endpoint and into the sums of all endpoints.
void Recorder::collect_endpoint(Endpoint& from, Interval& into, EndpointInterval& endpoint) const {
  Counts counts;
  counts.ok = from.outcomes[static_cast<int>(Outcome::ok)];
  counts.failed = from.outcomes[static_cast<int>(Outcome::failed)];
  counts.timed_out = from.outcomes[static_cast<int>(Outcome::timed_out)];
  counts.cancelled = from.outcomes[static_cast<int>(Outcome::cancelled)];
  counts.in_flight_at_end = from.outcomes[static_cast<int>(Outcome::in_flight)];
  counts.bytes_sent = from.bytes_sent;
  counts.bytes_received = from.bytes_received;
  counts.passed = from.verdicts[static_cast<int>(Verdict::passed)];
  counts.not_passed = from.verdicts[static_cast<int>(Verdict::not_passed)];
  counts.untimed = from.untimed;
  const bool part = endpoint.part = from.part || endpoint.part;
  if (!part) into.counts += counts;
  // A start is counted when it happens, for all; an endpoint is known when the unit has ended.
  counts.started = counts.ended();
  endpoint.counts += counts;
  std::fill(std::begin(from.outcomes), std::end(from.outcomes), 0U);
  std::fill(std::begin(from.verdicts), std::end(from.verdicts), 0U);
  from.untimed = 0;
  from.bytes_sent = from.bytes_received = 0;

  // Of a closed loop response is service.
  const IntervalHistogram& response = shape_.open ? from.response : from.service;
  response.add_to(endpoint.response);
  from.service.add_to(endpoint.service);
  from.failed.add_to(endpoint.failed);
  if (!part) {
    response.add_to(into.response);
    from.service.add_to(into.service);
    from.failed.add_to(into.failed);
  }
  if (from.alone) {
    (shape_.open ? from.alone->response : from.alone->service).add_to(endpoint.response);
    from.alone->service.drain_into(endpoint.service);
    from.alone->response.clear();
  }
  if (from.gap) from.gap->drain_into(endpoint.message_gap);
  from.response.clear();
  from.service.clear();
  from.failed.clear();
  std::vector<std::uint64_t> of_part;
  drain(from.codes, part ? of_part : into.codes, endpoint.codes);
  drain(from.errors, part ? of_part : into.errors, endpoint.errors);
}

bool Recorder::collect(Interval& into) {
  Sheet* const sheet = handed_.exchange(nullptr, std::memory_order_acquire);
  if (sheet == nullptr) return false;
  into.widen(sheet->start, sheet->end);
  into.counts += std::exchange(sheet->counts, {});
  if (into.endpoints.size() < sheet->endpoints.size()) {
    into.endpoints.resize(sheet->endpoints.size());
  }
  for (std::size_t i = 0; i < sheet->endpoints.size(); ++i) {
    if (sheet->endpoints[i]) collect_endpoint(*sheet->endpoints[i], into, into.endpoints[i]);
  }
  if (!sheet->lag.empty()) into.lag_max = std::max(into.lag_max, Duration{sheet->lag.max()});
  sheet->wait.drain_into(into.wait);
  sheet->lag.drain_into(into.lag);
  sheet->unstarted.drain_into(into.response);
  if (into.extra.size() < sheet->extra.size()) into.extra.resize(sheet->extra.size());
  for (std::size_t i = 0; i < sheet->extra.size(); ++i) sheet->extra[i].drain_into(into.extra[i]);
  if (into.counters.size() < sheet->counters.size()) into.counters.resize(sheet->counters.size());
  for (std::size_t i = 0; i < sheet->counters.size(); ++i) {
    into.counters[i] += std::exchange(sheet->counters[i], 0);
  }
  if (into.loops.size() <= shape_.loop) into.loops.resize(shape_.loop + std::size_t{1});
  into.loops[shape_.loop] += std::exchange(sheet->usage, {});
  into.in_flight += sheet->in_flight;
  into.in_flight_max += sheet->in_flight_max;
  clean_.store(sheet, std::memory_order_release);
  return true;
}

}  // namespace onbeat::kernel
