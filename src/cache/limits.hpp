// The limits that all shards share. Room is taken before an entry comes in, so that they hold at
// every instant. Any thread; an update that keeps its size and an insert that replaces its like
// touch nothing here.
#pragma once

#include <atomic>
#include <cstdint>

namespace onbeat::cache {

/// Room for entries and their bytes. Negative: too much was taken.
struct Room {
  std::int64_t entries = 0;
  std::int64_t bytes = 0;
};

class Limits {
 public:
  /// 0: none.
  Limits(std::uint64_t max_entries, std::uint64_t max_bytes)
      : entries_{.limit = max_entries}, bytes_{.limit = max_bytes} {}

  /// Takes what it can of `wanted`, which then says what is still missing (a part is taken as a
  /// whole or not at all; a negative part is given back). True when nothing is missing.
  bool take(Room& wanted) noexcept {
    const bool entries = entries_.take(wanted.entries);
    const bool bytes = bytes_.take(wanted.bytes);
    return entries && bytes;
  }
  void give_back(Room room) noexcept {
    entries_.used.fetch_sub(room.entries, std::memory_order_relaxed);
    bytes_.used.fetch_sub(room.bytes, std::memory_order_relaxed);
  }
  [[nodiscard]] bool fits_alone(std::uint64_t bytes) const noexcept {
    return bytes_.limit == 0 || bytes <= bytes_.limit;
  }

 private:
  struct alignas(64) Part {
    std::uint64_t limit;
    std::atomic<std::int64_t> used{0};

    bool take(std::int64_t& wanted) noexcept {
      if (wanted == 0) return true;
      if (wanted < 0 || limit == 0) {
        used.fetch_add(wanted, std::memory_order_relaxed);
      } else {
        std::int64_t before = used.load(std::memory_order_relaxed);
        do {
          if (static_cast<std::uint64_t>(before + wanted) > limit) return false;
        } while (!used.compare_exchange_weak(before, before + wanted, std::memory_order_relaxed));
      }
      wanted = 0;
      return true;
    }
  };
  Part entries_;
  Part bytes_;
};

}  // namespace onbeat::cache
