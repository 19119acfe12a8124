// What a cache is told when it is made, and a check of it that names every fault at once.
#pragma once

#include <onbeat/kernel/clock.hpp>

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace onbeat::cache {

/// Which entry goes when there is no room.
///   lru       the one that was used longest ago
///   wtinylfu  W-TinyLFU (Einziger, Friedman, Manes: "TinyLFU: A Highly Efficient Cache Admission
///             Policy", ACM TOS 2017): a window of 1 %, a main part in two segments, and an aged
///             count-min sketch that decides which of two entries stays
///   s3fifo    S3-FIFO (Yang et al.: "FIFO queues are all you need for cache eviction", SOSP 2023)
///   sieve     SIEVE (Zhang et al., NSDI 2024)
///   fifo      the one that came first
///   clock     fifo with a second chance (Corbato 1968)
enum class Eviction : std::uint8_t { lru, wtinylfu, s3fifo, sieve, fifo, clock };

/// Whether a key that the cache does not hold may come in. What it holds may always be updated.
///   probabilistic  with Config::admission_probability, drawn from Config::seed
///   tinylfu        when there is room, or when it was set or found more often of late than the
///                  first entry that would have to go
enum class Admission : std::uint8_t { always, never, probabilistic, tinylfu };

enum class Compression : std::uint8_t { off, zstd, lz4 };

struct Config {
  /// Limits; 0: none. Bytes are those of keys and of values as they are stored (compressed or not);
  /// the book-keeping of an entry (about 80 bytes) is not in it. Never exceeded, at any instant.
  std::uint64_t max_entries = 100'000;
  std::uint64_t max_bytes = 0;
  /// Of one key and one value (before compression), inclusive; 0: none but 2^32 - 1.
  std::uint32_t max_key_size = 0;
  std::uint32_t max_value_size = 0;
  /// How many parts with a lock each. The limits above are those of all together, so that a shard
  /// that more keys fall into takes more of them. At most max_entries.
  std::uint32_t shards = 64;
  Eviction eviction = Eviction::wtinylfu;
  Admission admission = Admission::always;
  /// <= 0: nothing comes in, >= 1: everything.
  double admission_probability = 0.5;
  /// How long an entry lives after it was set; 0: for ever.
  kernel::Duration ttl{};
  /// Values of compress_from bytes and more are compressed, and stored so when that is smaller.
  Compression compression = Compression::off;
  std::uint32_t compress_from = 64;
  /// For what is drawn at random.
  std::uint64_t seed = 1;
  /// Borrowed for the cache's life; null: the system's. Read only where an entry has a time to
  /// live.
  const kernel::Clock* clock = nullptr;
};

/// Nothing when the word is none of them: there is no silent fallback.
[[nodiscard]] std::optional<Eviction> eviction_of(std::string_view word) noexcept;
[[nodiscard]] std::optional<Admission> admission_of(std::string_view word) noexcept;
[[nodiscard]] std::optional<Compression> compression_of(std::string_view word) noexcept;
[[nodiscard]] std::string_view to_string(Eviction eviction) noexcept;
[[nodiscard]] std::string_view to_string(Admission admission) noexcept;
[[nodiscard]] std::string_view to_string(Compression compression) noexcept;

/// What is to be said of a configuration before it is used.
struct Advice {
  std::vector<std::string> errors;       ///< a Cache refuses it
  std::vector<std::string> warnings;     ///< it works, and may not be what was meant
  std::vector<std::string> suggestions;  ///< it works, and something else would do better
  /// Roughly, when full: max_entries of max_value_size + 50 bytes, or of 200 bytes where
  /// max_value_size is 0 or 1000 and more (few values are as long as they may be).
  std::uint64_t estimated_bytes = 0;
};
/// `cores`: of the host that it shall run on.
[[nodiscard]] Advice advise(const Config& config, unsigned cores);

}  // namespace onbeat::cache
