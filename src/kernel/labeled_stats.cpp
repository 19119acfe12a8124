#include <onbeat/kernel/labeled_stats.hpp>

#include <stdexcept>
#include <utility>

namespace onbeat::kernel {

LabeledStats::LabeledStats(std::string key, const StatsOptions& options, std::size_t max_series)
    : key_(std::move(key)), options_(options), max_series_(max_series), total_(options) {}

Tally& LabeledStats::series_of(std::string_view value) {
  auto found = series_.find(value);
  if (found == series_.end()) {
    const std::size_t named = series_.size() - series_.count(kOverflowName);
    const std::string_view name = named < max_series_ ? value : kOverflowName;
    found = series_.try_emplace(std::string(name), options_).first;
  }
  return found->second;
}

void LabeledStats::record(const Sample& sample) {
  const std::string_view value = sample.label(key_);
  const std::lock_guard lock(mutex_);
  total_.record(sample);
  series_of(value.empty() ? kNoLabel : value).record(sample);
}

void LabeledStats::merge(const LabeledStats& other) {
  if (key_ != other.key_ || options_.layout != other.options_.layout) {
    throw std::invalid_argument("labeled stats: only the same label and layout can be merged");
  }
  // A copy, so that never two locks are held.
  const auto [total, series] = [&other] {
    const std::lock_guard lock(other.mutex_);
    return std::pair(other.total_, other.series_);
  }();
  const std::lock_guard lock(mutex_);
  total_.merge(total);
  for (const auto& [value, tally] : series) series_of(value).merge(tally);
}

LabeledSnapshot LabeledStats::snapshot() const {
  const std::lock_guard lock(mutex_);
  LabeledSnapshot snapshot{total_.snapshot(), {}};
  for (const auto& [value, tally] : series_) snapshot.series.emplace(value, tally.snapshot());
  return snapshot;
}

}  // namespace onbeat::kernel
