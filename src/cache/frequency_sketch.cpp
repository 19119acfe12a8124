#include "cache/frequency_sketch.hpp"

#include <onbeat/kernel/random.hpp>

#include <algorithm>
#include <bit>

namespace onbeat::cache {
namespace {

constexpr std::uint64_t kUsesPerEntry = 10;
constexpr std::uint64_t kHighest = 15;

}  // namespace

void FrequencySketch::fit(std::uint64_t entries) {
  entries_ = std::max<std::uint64_t>(entries, 1);
  const std::uint64_t words = std::max<std::uint64_t>(std::bit_ceil(entries_), 8);
  if (words <= words_.size()) return;
  words_.assign(words, 0);
  block_mask_ = words / 8 - 1;
  recorded_ = 0;
}

// Row r has words 2r and 2r + 1 of the block: 32 counters, of which five bits of the hash choose.
FrequencySketch::Place FrequencySketch::place(std::uint64_t mixed, unsigned row) const noexcept {
  const auto bits = static_cast<unsigned>(mixed >> (row * 5));
  return {.word = (mixed >> 32 & block_mask_) * 8 + row * 2 + (bits & 1),
          .shift = (bits >> 1 & 15) * 4};
}

void FrequencySketch::record(std::uint64_t hash) noexcept {
  const std::uint64_t mixed = kernel::splitmix64(hash, 0);
  bool added = false;
  for (unsigned row = 0; row < 4; ++row) {
    const Place at = place(mixed, row);
    if ((words_[at.word] >> at.shift & 15) == kHighest) continue;
    words_[at.word] += std::uint64_t{1} << at.shift;
    added = true;
  }
  if (added && ++recorded_ >= kUsesPerEntry * entries_) halve();
}

unsigned FrequencySketch::frequency(std::uint64_t hash) const noexcept {
  const std::uint64_t mixed = kernel::splitmix64(hash, 0);
  std::uint64_t least = kHighest;
  for (unsigned row = 0; row < 4; ++row) {
    const Place at = place(mixed, row);
    least = std::min(least, words_[at.word] >> at.shift & 15);
  }
  return static_cast<unsigned>(least);
}

void FrequencySketch::halve() noexcept {
  for (std::uint64_t& word : words_) word = word >> 1 & 0x7777777777777777;
  recorded_ /= 2;
}

}  // namespace onbeat::cache
