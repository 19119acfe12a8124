// A cache in memory: string keys, byte values, limits on entries and bytes, a choice of policies.
//
//   Cache cache({.max_entries = 10'000, .eviction = Eviction::sieve});
//   cache.set("user:1", bytes);
//   if (Found found = cache.find("user:1")) use(found.value());
//
// Every method may be called by any thread. A key belongs to one shard, and each method on a key
// holds that shard's lock alone: two threads on one key see one order of their calls, and a value
// is seen whole or not at all. An entry may go at any time, for want of room.
#pragma once

#include <onbeat/cache/config.hpp>
#include <onbeat/cache/stats.hpp>
#include <onbeat/kernel/clock.hpp>

#include <cstdint>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace onbeat::cache {

class Limits;
class Shard;

/// What became of a set().
enum class Stored : std::uint8_t {
  inserted,
  updated,
  key_size,  ///< the rejections, as in Rejections
  value_size,
  too_large,
  admission,
  closed,
};
[[nodiscard]] constexpr bool is_stored(Stored stored) noexcept { return stored <= Stored::updated; }

/// A value where it lies, for as long as this lives. It holds the lock of a shard: keep it short,
/// and call nothing of the cache in the same thread meanwhile.
class [[nodiscard]] Found {
 public:
  Found() = default;
  Found(std::unique_lock<std::mutex> lock, std::string_view value) noexcept
      : lock_(std::move(lock)), value_(value) {}
  explicit operator bool() const noexcept { return lock_.owns_lock(); }
  [[nodiscard]] std::string_view value() const noexcept { return value_; }

 private:
  std::unique_lock<std::mutex> lock_;
  std::string_view value_;
};

class Cache {
 public:
  /// Throws std::invalid_argument with all errors of advise() when there are any.
  explicit Cache(const Config& config);
  ~Cache();
  Cache(const Cache&) = delete;
  Cache& operator=(const Cache&) = delete;

  /// Inserts or replaces; the time to live begins anew. `ttl` instead of the configuration's; 0:
  /// for ever. Copies both. An update to a longer value may, under a limit of bytes, be the one
  /// that has to go. Allocates unless the entry that makes room has a block that fits.
  Stored set(std::string_view key, std::string_view value) { return set(key, value, config_.ttl); }
  Stored set(std::string_view key, std::string_view value, kernel::Duration ttl);

  /// False for what is not there, or no longer.
  [[nodiscard]] Found find(std::string_view key);
  /// Replaces `value` by a copy, so that its memory can be used again; untouched when not found.
  [[nodiscard]] bool get(std::string_view key, std::string& value);
  [[nodiscard]] std::optional<std::string> get(std::string_view key);

  /// Whether it was there.
  bool erase(std::string_view key);
  void clear();
  /// Removes what has expired and nobody asked for; returns how many. The cache has no thread of
  /// its own: call this now and then where expired entries must not keep room.
  std::uint64_t erase_expired();
  /// Frees all entries for good: from now on nothing is stored or found. Idempotent.
  void close();

  /// Each shard at one instant, one after another.
  [[nodiscard]] Stats stats() const;
  [[nodiscard]] std::vector<Stats> shard_stats() const;
  [[nodiscard]] std::uint64_t size() const { return stats().entries; }
  /// With what was put right: shards.
  [[nodiscard]] const Config& config() const noexcept { return config_; }

 private:
  [[nodiscard]] Shard& shard_of(std::uint64_t hash) const noexcept;
  void make_room_elsewhere(const Shard& not_this);

  Config config_;
  std::unique_ptr<kernel::Clock> own_clock_;
  std::unique_ptr<Limits> limits_;
  std::vector<std::unique_ptr<Shard>> shards_;
};

}  // namespace onbeat::cache
