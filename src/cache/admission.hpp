// Whether a key that is not in the cache may come in. One a shard, called under its lock.
#pragma once

#include <onbeat/cache/config.hpp>

#include <cstdint>
#include <memory>

namespace onbeat::cache {

class AdmissionPolicy {
 public:
  virtual ~AdmissionPolicy() = default;
  /// A key was found, or set (before it is known whether it may come in).
  virtual void used(std::uint64_t) noexcept {}
  /// Whether the key may come in at all.
  [[nodiscard]] virtual bool admits() noexcept { return true; }
  /// Whether it may when `victim` must go for it.
  [[nodiscard]] virtual bool admits_instead(std::uint64_t /*hash*/,
                                            std::uint64_t /*victim*/) noexcept {
    return true;
  }
};

/// `seed`: the shard's own.
[[nodiscard]] std::unique_ptr<AdmissionPolicy> make_admission(const Config& config,
                                                              std::uint64_t entries,
                                                              std::uint64_t seed);

}  // namespace onbeat::cache
