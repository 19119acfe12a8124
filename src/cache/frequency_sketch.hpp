// How often a key was used of late, roughly and in little memory: a count-min sketch of four 4-bit
// counters a key whose counts are all halved at regular intervals ("aging", TinyLFU section 3.3).
// The four counters of a key lie in one cache line.
#pragma once

#include <cstdint>
#include <vector>

namespace onbeat::cache {

class FrequencySketch {
 public:
  explicit FrequencySketch(std::uint64_t entries) { fit(entries); }

  /// For so many entries in the cache: the counts are halved after ten uses each. What was counted
  /// is forgotten when the table must grow (it doubles).
  void fit(std::uint64_t entries);
  [[nodiscard]] std::uint64_t entries() const noexcept { return entries_; }

  void record(std::uint64_t hash) noexcept;
  /// In [0, 15]; too high when keys collide, too low for what was before the latest halvings.
  [[nodiscard]] unsigned frequency(std::uint64_t hash) const noexcept;

 private:
  struct Place {
    std::size_t word;
    unsigned shift;
  };
  [[nodiscard]] Place place(std::uint64_t mixed, unsigned row) const noexcept;
  void halve() noexcept;

  std::vector<std::uint64_t> words_;  // 16 counters each, 8 words a block
  std::uint64_t block_mask_ = 0;
  std::uint64_t entries_ = 0;
  std::uint64_t recorded_ = 0;  // since the last halving, and half of what was before
};

}  // namespace onbeat::cache
