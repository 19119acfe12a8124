// What a cache counts. Counts only grow; clear() and close() leave them.
#pragma once

#include <cstdint>

namespace onbeat::cache {

/// Why a set() stored nothing.
struct Rejections {
  std::uint64_t key_size = 0;    ///< longer than Config::max_key_size
  std::uint64_t value_size = 0;  ///< longer than Config::max_value_size
  std::uint64_t too_large = 0;   ///< key and value alone exceed Config::max_bytes
  std::uint64_t admission = 0;
  std::uint64_t closed = 0;
  [[nodiscard]] std::uint64_t total() const noexcept {
    return key_size + value_size + too_large + admission + closed;
  }
  bool operator==(const Rejections&) const = default;
};

/// Of one shard or of all. At any instant, for each shard:
///   entries = inserts - evictions - expirations - erases
struct Stats {
  std::uint64_t hits = 0;
  std::uint64_t misses = 0;  ///< expired entries that were asked for are among them
  std::uint64_t inserts = 0;
  std::uint64_t updates = 0;
  std::uint64_t evictions = 0;
  std::uint64_t expirations = 0;
  std::uint64_t erases = 0;  ///< by erase(), clear() and close()
  Rejections rejections;
  std::uint64_t entries = 0;
  std::uint64_t bytes = 0;               ///< of keys and of values as stored
  std::uint64_t bytes_uncompressed = 0;  ///< of keys and of values as set

  /// Of all that was asked for, in [0, 1]; 0 when nothing was.
  [[nodiscard]] double hit_ratio() const noexcept {
    const std::uint64_t asked = hits + misses;
    return asked == 0 ? 0 : static_cast<double>(hits) / static_cast<double>(asked);
  }
  Stats& operator+=(const Stats& other) noexcept;
  bool operator==(const Stats&) const = default;
};

}  // namespace onbeat::cache
