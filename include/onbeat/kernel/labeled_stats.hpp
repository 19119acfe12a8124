// Statistics broken down by the value of one label, for example "endpoint".
#pragma once

#include <onbeat/kernel/stats.hpp>

#include <cstdint>
#include <functional>
#include <map>
#include <mutex>
#include <string>
#include <string_view>

namespace onbeat::kernel {

/// The series of samples that do not carry the label, or carry it empty.
inline constexpr std::string_view kNoLabel = "__none__";

struct LabeledSnapshot {
  Snapshot total;
  std::map<std::string, Snapshot, std::less<>> series;
};

/// Every sample is in the total and in exactly one series, so the counts of the series sum to those
/// of the total. Thread-safe; one lock.
class LabeledStats final : public SampleSink {
 public:
  /// Values met when there are `max_series` already share the series kOverflowName, which comes on
  /// top.
  explicit LabeledStats(std::string key, const StatsOptions& options = {},
                        std::size_t max_series = 100);
  void record(const Sample& sample) override;
  /// Adds what another has recorded. Throws std::invalid_argument for another key or layout.
  void merge(const LabeledStats& other);
  [[nodiscard]] LabeledSnapshot snapshot() const;
  [[nodiscard]] const std::string& key() const noexcept { return key_; }

 private:
  using Series = std::map<std::string, Tally, std::less<>>;
  Tally& series_of(std::string_view value);

  const std::string key_;
  const StatsOptions options_;
  const std::size_t max_series_;
  mutable std::mutex mutex_;
  Tally total_;
  Series series_;
};

}  // namespace onbeat::kernel
