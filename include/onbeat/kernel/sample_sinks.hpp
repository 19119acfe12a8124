// Sinks that pass samples on: to several, to none but some, or only after a warm-up.
//
//   Stats stats;
//   After measured(std::chrono::seconds(5), stats);
//   drain(run, measured);
//   ... measured.skipped() units were the warm-up
//
// They borrow the sinks behind them, which must outlive them, and are as thread-safe as these. A
// warm-up of zero skips nothing.
#pragma once

#include <onbeat/kernel/clock.hpp>
#include <onbeat/kernel/sample.hpp>

#include <atomic>
#include <cstdint>
#include <functional>
#include <mutex>
#include <optional>
#include <vector>

namespace onbeat::kernel {

/// Passes each sample to every sink, in their order.
class Multi final : public SampleSink {
 public:
  explicit Multi(std::vector<std::reference_wrapper<SampleSink>> sinks);
  void record(const Sample& sample) override;

 private:
  std::vector<std::reference_wrapper<SampleSink>> sinks_;
};

/// Passes on what `accepts` says yes to, and counts the rest.
class Filter : public SampleSink {
 public:
  /// `accepts` may be called by several threads at once.
  Filter(std::function<bool(const Sample&)> accepts, SampleSink& next);
  void record(const Sample& sample) final;
  [[nodiscard]] std::uint64_t skipped() const noexcept {
    return skipped_.load(std::memory_order_relaxed);
  }

 private:
  std::function<bool(const Sample&)> accepts_;
  SampleSink& next_;
  std::atomic<std::uint64_t> skipped_{0};
};

/// Skips what was due (without a schedule: started) before an instant. Samples without either pass.
class AfterTime final : public Filter {
 public:
  AfterTime(Instant from, SampleSink& next);
};

/// Skips what was due (without a schedule: started) before `warmup` has passed since the first
/// sample's due instant. "First" is the first to be recorded, so samples that were due before it
/// are skipped as well.
class After final : public SampleSink {
 public:
  After(Duration warmup, SampleSink& next);
  void record(const Sample& sample) override;
  [[nodiscard]] std::uint64_t skipped() const noexcept {
    return skipped_.load(std::memory_order_relaxed);
  }

 private:
  const Duration warmup_;
  SampleSink& next_;
  std::mutex mutex_;
  std::optional<Instant> from_;
  std::atomic<std::uint64_t> skipped_{0};
};

/// Skips the first samples by number.
class AfterN final : public SampleSink {
 public:
  AfterN(std::uint64_t count, SampleSink& next);
  void record(const Sample& sample) override;
  [[nodiscard]] std::uint64_t skipped() const noexcept;

 private:
  const std::uint64_t count_;
  SampleSink& next_;
  std::atomic<std::uint64_t> seen_{0};
};

}  // namespace onbeat::kernel
