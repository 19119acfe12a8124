#include <onbeat/kernel/rolling_stats.hpp>

#include <algorithm>
#include <stdexcept>

namespace onbeat::kernel {

namespace {

Duration width_of(const RollingOptions& options) {
  if (options.buckets == 0) throw std::invalid_argument("rolling stats: at least one bucket");
  const Duration width = options.window / options.buckets;
  if (width <= Duration{0}) {
    throw std::invalid_argument("rolling stats: the window must be at least 1 ns a bucket");
  }
  return width;
}

}  // namespace

RollingStats::RollingStats(const RollingOptions& options)
    : clock_(options.clock != nullptr ? *options.clock : system_clock_),
      width_(width_of(options)),
      start_(clock_.now()),
      total_(options.stats),
      ring_(options.buckets, Tally(options.stats)) {}

void RollingStats::rotate(Instant now) const {
  const std::int64_t bucket = std::max<std::int64_t>(newest_, (now - start_) / width_);
  const auto size = static_cast<std::int64_t>(ring_.size());
  const std::int64_t passed = std::min(bucket - newest_, size);
  for (std::int64_t i = 0; i < passed; ++i) {
    ring_[static_cast<std::size_t>((bucket - i) % size)].clear();
  }
  newest_ = bucket;
}

Duration RollingStats::covered_at(Instant now) const noexcept {
  const std::int64_t full = std::min(newest_, static_cast<std::int64_t>(ring_.size()) - 1);
  return full * width_ + std::max(Duration{0}, now - start_ - newest_ * width_);
}

void RollingStats::record(const Sample& sample) {
  const std::lock_guard lock(mutex_);
  rotate(clock_.now());
  total_.record(sample);
  ring_[static_cast<std::size_t>(newest_) % ring_.size()].record(sample);
}

Snapshot RollingStats::window() const {
  const std::lock_guard lock(mutex_);
  const Instant now = clock_.now();
  rotate(now);
  Tally sum = ring_.front();
  for (std::size_t i = 1; i < ring_.size(); ++i) sum.merge(ring_[i]);
  return sum.snapshot_over(covered_at(now));
}

Duration RollingStats::covered() const {
  const std::lock_guard lock(mutex_);
  const Instant now = clock_.now();
  rotate(now);
  return covered_at(now);
}

Snapshot RollingStats::snapshot() const {
  const std::lock_guard lock(mutex_);
  return total_.snapshot();
}

}  // namespace onbeat::kernel
