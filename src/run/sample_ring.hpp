// The request log of one loop: a ring between the loop's thread, which writes without lock or
// allocation, and the collector, which reads. When the ring is full a sample is dropped, and
// counted: the load never waits for its log.
#pragma once

#include <onbeat/kernel/driver.hpp>
#include <onbeat/kernel/result.hpp>
#include <onbeat/kernel/sample.hpp>

#include <atomic>
#include <cstdint>
#include <vector>

namespace onbeat::run {

/// One arrival. Of one that was never started only unit.arrival and unit.due mean anything, and
/// `done` is when that was clear.
struct LoggedSample {
  kernel::Result result;
  kernel::Ending ending = kernel::Ending::ok;
};

class SampleRing final : public kernel::MissedSink {
 public:
  /// Keeps one of `one_of` arrivals, chosen by their numbers and the run's seed: the same ones for
  /// any number of loops. `capacity`: a power of two.
  SampleRing(std::uint64_t one_of, std::uint64_t seed, std::size_t capacity = 1U << 15);

  // --- the loop's thread ---
  void finished(const kernel::Result& result) noexcept;
  void missed(std::uint64_t arrival, kernel::Instant due, kernel::Instant now, Why why) override;

  // --- the collector's thread ---
  /// Appends everything that is in the ring.
  void take(std::vector<LoggedSample>& into);
  [[nodiscard]] std::uint64_t dropped() const noexcept {
    return dropped_.load(std::memory_order_relaxed);
  }

 private:
  [[nodiscard]] bool is_chosen(std::uint64_t arrival) const noexcept;
  void put(const LoggedSample& sample) noexcept;

  std::uint64_t one_of_, seed_;
  std::vector<LoggedSample> ring_;
  alignas(64) std::atomic<std::uint64_t> written_{0};
  std::atomic<std::uint64_t> dropped_{0};
  std::uint64_t read_seen_ = 0;  // as the writer has last seen it
  alignas(64) std::atomic<std::uint64_t> read_{0};
};

}  // namespace onbeat::run
