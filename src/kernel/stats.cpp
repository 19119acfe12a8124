#include <onbeat/kernel/stats.hpp>

#include <algorithm>
#include <cstdio>

namespace onbeat::kernel {

namespace {

using Seconds = std::chrono::duration<double>;

std::optional<double> share(std::uint64_t part, std::uint64_t whole) {
  if (whole == 0) return std::nullopt;
  return static_cast<double>(part) / static_cast<double>(whole);
}

/// A number with up to nine decimals, without trailing zeros.
std::string decimal(std::int64_t units, std::int64_t per_one, int decimals) {
  std::string text = std::to_string(units / per_one);
  if (units % per_one == 0) return text;
  std::string fraction = std::to_string(units % per_one);
  fraction.insert(0, static_cast<std::size_t>(decimals) - fraction.size(), '0');
  fraction.erase(fraction.find_last_not_of('0') + 1);
  return text + "." + fraction;
}

/// "85ns", "1.2ms", "10.007ms", "1m30s", "0s".
std::string short_form(Duration duration) {
  std::int64_t ns = duration.count();
  if (ns == 0) return "0s";
  std::string text = ns < 0 ? "-" : "";
  ns = ns == INT64_MIN ? INT64_MAX : std::abs(ns);
  if (ns < 1'000) return text + std::to_string(ns) + "ns";
  if (ns < 1'000'000) return text + decimal(ns, 1'000, 3) + "µs";
  if (ns < 1'000'000'000) return text + decimal(ns, 1'000'000, 6) + "ms";
  const std::int64_t minutes = ns / 60'000'000'000;
  if (minutes >= 60) text += std::to_string(minutes / 60) + "h";
  if (minutes > 0) text += std::to_string(minutes % 60) + "m";
  return text + decimal(ns % 60'000'000'000, 1'000'000'000, 9) + "s";
}

std::string figure(const std::optional<Duration>& value, const LatencySummary& of) {
  if (!value) return "n/a";
  return (of.is_lower_bound(*value) ? "≥" : "") + short_form(*value);
}

std::string figure(const std::optional<double>& value, int decimals, const char* unit) {
  if (!value) return "n/a";
  char text[64];
  std::snprintf(text, sizeof text, "%.*f%s", decimals, *value, unit);
  return text;
}

}  // namespace

LatencySummary summarize(const Histogram& histogram) {
  LatencySummary summary;
  if (histogram.empty()) return summary;
  summary.count = histogram.count();
  summary.censored = histogram.censored();
  summary.clamped = histogram.clamped();
  summary.min = histogram.min();
  summary.p50 = histogram.percentile(50);
  summary.p90 = histogram.percentile(90);
  summary.p95 = histogram.percentile(95);
  summary.p99 = histogram.percentile(99);
  summary.p999 = histogram.percentile(99.9);
  summary.max = histogram.max();
  summary.mean = histogram.mean();
  if (histogram.censored() != 0) summary.at_least_from = histogram.smallest_censored();
  return summary;
}

std::string to_string(const Snapshot& snapshot) {
  std::optional<double> error_percent = snapshot.error_rate;
  if (error_percent) *error_percent *= 100;
  const LatencySummary& raw = snapshot.latency;
  const LatencySummary& corrected = snapshot.corrected;
  return std::to_string(snapshot.count) + " req, " + figure(snapshot.rps, 1, "") + " rps, " +
         figure(error_percent, 2, "%") + " err (" + std::to_string(snapshot.saturated) +
         " saturated), p50/p95/p99 " + figure(raw.p50, raw) + "/" + figure(raw.p95, raw) + "/" +
         figure(raw.p99, raw) + ", corrected p95/p99 " + figure(corrected.p95, corrected) + "/" +
         figure(corrected.p99, corrected) + ", behind schedule " +
         figure(snapshot.max_schedule_lag, {});
}

void Tally::Span::add(Instant instant) noexcept {
  ++count;
  first = std::min(first, instant);
  last = std::max(last, instant);
}

void Tally::Span::merge(const Span& other) noexcept {
  count += other.count;
  first = std::min(first, other.first);
  last = std::max(last, other.last);
}

std::optional<double> Tally::Span::rate() const noexcept {
  if (count < 2 || last <= first) return std::nullopt;
  return static_cast<double>(count - 1) / Seconds(last - first).count();
}

Tally::Tally(const StatsOptions& options)
    : max_codes_(options.max_codes),
      latency_(options.layout),
      corrected_(options.layout),
      failed_(options.layout) {}

void Tally::record(const Sample& sample) {
  ++endings_[static_cast<std::size_t>(sample.ending)];
  bytes_ += sample.bytes;
  if (!sample.code.empty()) count_code(sample.code, 1);
  if (sample.due) due_.add(*sample.due);
  if (sample.was_started() && sample.started) {
    started_.add(*sample.started);
    if (const auto behind = sample.behind_schedule()) {
      max_behind_ = std::max({max_behind_.value_or(Duration{0}), *behind, Duration{0}});
    }
  }
  record_latency(sample);
}

void Tally::record_latency(const Sample& sample) {
  if (!sample.done) return;
  if (!sample.was_started()) {
    // It waited in vain: at least so long would its response have taken. Saturated and late ones
    // did not wait.
    const bool waited =
        sample.ending == Ending::missed_waited || sample.ending == Ending::missed_at_end;
    if (waited && sample.due) corrected_.record_censored(*sample.done - *sample.due);
    return;
  }
  if (!sample.started) return;
  const Duration raw = *sample.done - *sample.started;
  const Duration corrected =
      *sample.done - std::min(*sample.started, sample.due.value_or(*sample.started));
  if (sample.ending == Ending::failed) {
    failed_.record(corrected);
  } else if (sample.censored()) {
    latency_.record_censored(raw);
    if (sample.due) corrected_.record_censored(corrected);
  } else {
    latency_.record(raw);
    if (sample.due) corrected_.record(corrected);
  }
}

void Tally::count_code(std::string_view code, std::uint64_t by) {
  auto found = codes_.find(code);
  if (found == codes_.end()) {
    const bool full = codes_.size() - codes_.count(kOverflowName) >= max_codes_;
    found = codes_.try_emplace(std::string(full ? kOverflowName : code)).first;
  }
  found->second += by;
}

void Tally::merge(const Tally& other) {
  latency_.merge(other.latency_);
  corrected_.merge(other.corrected_);
  failed_.merge(other.failed_);
  for (std::size_t i = 0; i < kEndings; ++i) endings_[i] += other.endings_[i];
  due_.merge(other.due_);
  started_.merge(other.started_);
  bytes_ += other.bytes_;
  if (other.max_behind_) {
    max_behind_ = std::max(max_behind_.value_or(Duration{0}), *other.max_behind_);
  }
  for (const auto& [code, count] : other.codes_) count_code(code, count);
}

void Tally::clear() { *this = Tally({.layout = latency_.layout(), .max_codes = max_codes_}); }

/// Rates of parts, from the rate of what was started.
void Tally::share_rate(Snapshot& snapshot) {
  if (!snapshot.rps || snapshot.started == 0) return;
  const double per_started = *snapshot.rps / static_cast<double>(snapshot.started);
  snapshot.ok_rps = per_started * static_cast<double>(snapshot.ok);
  snapshot.failed_rps = per_started * static_cast<double>(snapshot.failed);
  snapshot.throughput = per_started * static_cast<double>(snapshot.bytes);
}

Snapshot Tally::without_rates() const {
  const auto ended = [this](Ending ending) { return endings_[static_cast<std::size_t>(ending)]; };
  Snapshot snapshot;
  for (const auto count : endings_) snapshot.count += count;
  snapshot.ok = ended(Ending::ok);
  snapshot.failed = ended(Ending::failed);
  snapshot.timed_out = ended(Ending::timed_out);
  snapshot.cancelled = ended(Ending::cancelled);
  snapshot.in_flight = ended(Ending::in_flight);
  snapshot.saturated = ended(Ending::saturated);
  snapshot.missed_late = ended(Ending::missed_late);
  snapshot.missed_waited = ended(Ending::missed_waited);
  snapshot.missed_at_end = ended(Ending::missed_at_end);
  snapshot.started =
      snapshot.ok + snapshot.failed + snapshot.timed_out + snapshot.cancelled + snapshot.in_flight;
  snapshot.errors = snapshot.count - snapshot.ok;
  snapshot.error_rate = share(snapshot.errors, snapshot.count);
  snapshot.target_error_rate = share(snapshot.started - snapshot.ok, snapshot.started);
  snapshot.bytes = bytes_;
  snapshot.latency = summarize(latency_);
  snapshot.corrected = summarize(corrected_);
  snapshot.failed_latency = summarize(failed_);
  snapshot.max_schedule_lag = max_behind_;
  snapshot.codes = codes_;
  return snapshot;
}

Snapshot Tally::snapshot() const {
  Snapshot snapshot = without_rates();
  snapshot.offered_rps = due_.rate();
  snapshot.rps = started_.rate();
  share_rate(snapshot);
  return snapshot;
}

Snapshot Tally::snapshot_over(Duration covered) const {
  Snapshot snapshot = without_rates();
  if (covered <= Duration{0}) return snapshot;
  const double seconds = Seconds(covered).count();
  snapshot.offered_rps = static_cast<double>(due_.count) / seconds;
  snapshot.rps = static_cast<double>(snapshot.started) / seconds;
  snapshot.ok_rps = static_cast<double>(snapshot.ok) / seconds;
  snapshot.failed_rps = static_cast<double>(snapshot.failed) / seconds;
  snapshot.throughput = static_cast<double>(snapshot.bytes) / seconds;
  return snapshot;
}

void Stats::record(const Sample& sample) {
  const std::lock_guard lock(mutex_);
  tally_.record(sample);
}

void Stats::merge(const Stats& other) {
  // A copy, so that never two locks are held.
  const Tally copy = other.tally();
  const std::lock_guard lock(mutex_);
  tally_.merge(copy);
}

Snapshot Stats::snapshot() const { return tally().snapshot(); }

Tally Stats::tally() const {
  const std::lock_guard lock(mutex_);
  return tally_;
}

}  // namespace onbeat::kernel
