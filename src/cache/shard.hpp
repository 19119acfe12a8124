// A part of the cache: the entries of the keys whose hashes fall to it, their order, and one lock
// for all. Every method wants the lock held (lock()).
#pragma once

#include "cache/admission.hpp"
#include "cache/index.hpp"
#include "cache/limits.hpp"
#include "cache/policy.hpp"
#include <onbeat/cache/cache.hpp>

#include <cstdint>
#include <memory>
#include <mutex>
#include <string>
#include <string_view>
#include <vector>

namespace onbeat::cache {

/// A value on its way in or out.
struct Value {
  std::string_view stored;
  std::uint32_t size = 0;  ///< uncompressed
  bool compressed = false;
};

class alignas(64) Shard {
 public:
  Shard(const Config& config, Limits& limits, std::uint64_t entries, std::uint64_t seed);

  [[nodiscard]] std::unique_lock<std::mutex> lock() { return std::unique_lock(mutex_); }

  /// What a set() came to; no_room: nothing is left here that could go, and some other shard must
  /// give room before it is tried again.
  struct Attempt {
    Stored stored{};
    bool no_room = false;
  };
  /// `admitted`: an earlier attempt of the same set() came to no_room, so that nobody is asked
  /// again.
  Attempt set(std::uint64_t hash, std::string_view key, const Value& value, kernel::Duration ttl,
              bool admitted);
  /// Null when it is not there or has expired. Valid while the lock is held.
  [[nodiscard]] const Value* find(std::uint64_t hash, std::string_view key);
  bool erase(std::uint64_t hash, std::string_view key);
  void clear();
  void close();
  std::uint64_t erase_expired();
  /// Lets the policy's choice go, for room elsewhere; false when the shard is empty.
  bool evict_one();
  Stored reject(Stored why);
  [[nodiscard]] const Stats& stats() const noexcept { return stats_; }
  /// Working memory for a value that must be decompressed.
  [[nodiscard]] std::string& scratch() noexcept { return scratch_; }

 private:
  /// Key and stored value, one after the other.
  struct Block {
    std::unique_ptr<char[]> bytes;
    std::uint64_t capacity = 0;
  };
  struct Entry {
    std::uint64_t hash = 0;
    kernel::Instant expires = kernel::kNever;
    Block block;
    std::uint32_t key_size = 0;
    std::uint32_t stored_size = 0;
    std::uint32_t value_size = 0;
    bool compressed = false;
    bool present = false;

    [[nodiscard]] std::string_view key() const noexcept { return {block.bytes.get(), key_size}; }
    [[nodiscard]] std::string_view stored() const noexcept {
      return {block.bytes.get() + key_size, stored_size};
    }
    [[nodiscard]] std::int64_t bytes() const noexcept {
      return std::int64_t{key_size} + stored_size;
    }
  };

  [[nodiscard]] Slot slot_of(std::uint64_t hash, std::string_view key) const noexcept;
  [[nodiscard]] bool has_expired(const Entry& entry) const noexcept {
    return entry.expires != kernel::kNever && entry.expires <= clock_.now();
  }
  [[nodiscard]] Attempt insert(std::uint64_t hash, std::string_view key, const Value& value,
                               kernel::Instant expires, bool admitted);
  [[nodiscard]] Attempt update(Slot slot, std::string_view key, const Value& value,
                               kernel::Instant expires);
  [[nodiscard]] Slot free_slot();
  void write(Entry& entry, std::string_view key, const Value& value, kernel::Instant expires);
  Room take_out(Slot slot, std::uint64_t& counter);
  void remove(Slot slot, std::uint64_t& counter);

  std::mutex mutex_;
  const kernel::Clock& clock_;
  Limits& limits_;
  Index index_;
  std::vector<Entry> entries_;
  std::vector<Slot> free_;
  std::unique_ptr<Policy> policy_;
  std::unique_ptr<AdmissionPolicy> admission_;
  Block spare_;  // of the latest entry that went, for the next one that comes
  Value found_;
  std::string scratch_;
  Stats stats_;
  bool closed_ = false;
};

}  // namespace onbeat::cache
