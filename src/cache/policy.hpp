// The order in which entries go. A policy knows slots and hashes, no keys, values or limits; its
// shard calls it under the shard's lock.
#pragma once

#include "cache/slot_list.hpp"
#include <onbeat/cache/config.hpp>

#include <cstdint>
#include <memory>

namespace onbeat::cache {

class Policy {
 public:
  virtual ~Policy() = default;
  /// A new entry has come into `slot`.
  virtual void inserted(Slot slot, std::uint64_t hash) = 0;
  /// The entry was found or updated.
  virtual void used(Slot slot) noexcept = 0;
  /// The entry goes, for whatever reason.
  virtual void removed(Slot slot) noexcept = 0;
  /// Which entry is to go next; there is at least one. It stays until removed(). What is decided on
  /// the way (a second chance given, a promotion) stands, even when the entry stays after all.
  [[nodiscard]] virtual Slot victim() noexcept = 0;
};

/// `entries`: how many the shard will hold, about; 0 when not known (policies grow with what
/// comes).
[[nodiscard]] std::unique_ptr<Policy> make_policy(Eviction eviction, std::uint64_t entries);

[[nodiscard]] std::unique_ptr<Policy> make_lru();
[[nodiscard]] std::unique_ptr<Policy> make_fifo();
[[nodiscard]] std::unique_ptr<Policy> make_clock();
[[nodiscard]] std::unique_ptr<Policy> make_sieve();
[[nodiscard]] std::unique_ptr<Policy> make_s3fifo();
[[nodiscard]] std::unique_ptr<Policy> make_wtinylfu(std::uint64_t entries);

}  // namespace onbeat::cache
