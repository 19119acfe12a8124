// Which item (URL, document, arm of a mix) arrival n gets: a function of (seed, n) alone. Within
// each block of as many arrivals as the total weight, the items appear exactly by weight, in a
// seeded permutation.
#pragma once

#include <cstdint>
#include <vector>

namespace onbeat::kernel {

class Mix {
 public:
  /// Throws std::invalid_argument when empty, when a weight is negative, when all are 0, or when
  /// the sum exceeds 1'000'000 (divide by the greatest common divisor first; this does so itself).
  /// Copies the weights.
  explicit Mix(const std::vector<std::int64_t>& weights, std::uint64_t seed = 1);

  /// The item of arrival n. Any thread, each with its own cache (of this mix alone). The first
  /// arrival of a block costs a shuffle of it, the others a look-up.
  struct Cache {
    std::uint64_t block = UINT64_MAX;
    std::vector<std::uint32_t> items;
  };
  [[nodiscard]] std::uint32_t item(std::uint64_t n, Cache& cache) const;
  [[nodiscard]] std::size_t size() const noexcept { return size_; }

 private:
  std::vector<std::uint32_t> block_;  // one block, in order
  std::size_t size_ = 0;
  std::uint64_t seed_;  // of the stream of permutations
};

}  // namespace onbeat::kernel
