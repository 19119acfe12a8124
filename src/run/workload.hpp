// What every protocol tells the run beside its units.
#pragma once

#include "net/error.hpp"

#include <array>
#include <atomic>
#include <cstdint>
#include <map>
#include <mutex>
#include <string>
#include <string_view>

namespace onbeat::run {

/// Counters that a workload over connections writes, by position: what became of the connections.
/// open_peak: how many could be counted on at once, as seen at the ends of intervals; of each loop,
/// so their sum is at least the peak of all.
inline constexpr std::array<std::string_view, 7> kConnectionCounters{
    "opened", "open_peak", "reused", "reopened", "failed", "closed_by_peer", "reset"};
inline constexpr std::size_t kCounters = 0;  // the position of the first of them
/// Then one for each address: how many connections were opened to it.
inline constexpr std::string_view kAddressCounterPrefix = "address ";
/// And what data sources have to tell: Report::sources.
inline constexpr std::string_view kSourceCounterPrefix = "source ";

/// One message of each class of error, the first. Any thread; wants() is one relaxed load.
class ErrorSamples {
 public:
  [[nodiscard]] bool wants(net::NetError error) const noexcept {
    return !have_[static_cast<std::size_t>(error)].load(std::memory_order_relaxed);
  }
  void keep(net::NetError error, std::string message) {
    const std::lock_guard lock(mutex_);
    if (have_[static_cast<std::size_t>(error)].exchange(true)) return;
    samples_.emplace(net::to_string(error), std::move(message));
  }
  [[nodiscard]] std::map<std::string, std::string> samples() const {
    const std::lock_guard lock(mutex_);
    return samples_;
  }

 private:
  mutable std::mutex mutex_;
  std::array<std::atomic<bool>, net::kNetErrors> have_{};
  std::map<std::string, std::string> samples_;
};

}  // namespace onbeat::run
