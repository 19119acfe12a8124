// The hashes of the latest entries that went, without their values: a ring, and an index into it.
#pragma once

#include "cache/index.hpp"

#include <cstdint>
#include <vector>

namespace onbeat::cache {

class Ghosts {
 public:
  /// Remembers `hash` as the latest to go.
  void add(std::uint64_t hash);
  /// Whether `hash` is among the latest `reach` that went, and has not been taken since. Forgets
  /// it, and whatever is older than `reach`.
  bool take(std::uint64_t hash, std::uint32_t reach) noexcept;

 private:
  [[nodiscard]] std::size_t place(std::uint64_t number) const noexcept {
    return number & (ring_.size() - 1);
  }
  void forget_before(std::uint64_t number) noexcept;
  void grow();

  struct Ghost {
    std::uint64_t hash = 0;
    bool present = false;
  };
  std::vector<Ghost> ring_ = std::vector<Ghost>(8);  // 2^n; the ghost of number n is at place(n)
  Index index_;
  std::uint64_t oldest_ = 0;
  std::uint64_t next_ = 0;
};

}  // namespace onbeat::cache
