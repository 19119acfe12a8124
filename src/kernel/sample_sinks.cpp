#include <onbeat/kernel/sample_sinks.hpp>

#include <algorithm>
#include <utility>

namespace onbeat::kernel {

namespace {

/// The instant that says to which phase of a run a sample belongs.
std::optional<Instant> phase_instant(const Sample& sample) {
  return sample.due ? sample.due : sample.started;
}

}  // namespace

Multi::Multi(std::vector<std::reference_wrapper<SampleSink>> sinks) : sinks_(std::move(sinks)) {}

void Multi::record(const Sample& sample) {
  for (SampleSink& sink : sinks_) sink.record(sample);
}

Filter::Filter(std::function<bool(const Sample&)> accepts, SampleSink& next)
    : accepts_(std::move(accepts)), next_(next) {}

void Filter::record(const Sample& sample) {
  if (accepts_(sample)) {
    next_.record(sample);
  } else {
    skipped_.fetch_add(1, std::memory_order_relaxed);
  }
}

AfterTime::AfterTime(Instant from, SampleSink& next)
    : Filter(
          [from](const Sample& sample) {
            const auto instant = phase_instant(sample);
            return from == Instant{} || !instant || *instant >= from;
          },
          next) {}

After::After(Duration warmup, SampleSink& next) : warmup_(warmup), next_(next) {}

void After::record(const Sample& sample) {
  const auto instant = phase_instant(sample);
  if (instant && warmup_ > Duration{0}) {
    const std::lock_guard lock(mutex_);
    if (!from_) from_ = *instant + warmup_;
    if (*instant < *from_) {
      skipped_.fetch_add(1, std::memory_order_relaxed);
      return;
    }
  }
  next_.record(sample);
}

AfterN::AfterN(std::uint64_t count, SampleSink& next) : count_(count), next_(next) {}

void AfterN::record(const Sample& sample) {
  if (seen_.fetch_add(1, std::memory_order_relaxed) >= count_) next_.record(sample);
}

std::uint64_t AfterN::skipped() const noexcept {
  return std::min(seen_.load(std::memory_order_relaxed), count_);
}

}  // namespace onbeat::kernel
