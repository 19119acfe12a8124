// Which row an arrival takes: a pure function, so that loops on any number of threads agree on it
// without talking to each other, and two runs with one seed take the same rows.
#pragma once

#include <cstdint>
#include <optional>

namespace onbeat::document {

/// The place of `index` in the shuffle of 0 ... count-1 that `key` names: a bijection, computed
/// without memory (Feistel network over the next power of two, walked until it falls below
/// `count`; Black and Rogaway, "Ciphers with arbitrary finite domains", 2002). index < count.
[[nodiscard]] std::uint64_t shuffled(std::uint64_t index, std::uint64_t count,
                                     std::uint64_t key) noexcept;

/// `random` shuffles: each row once before any comes again, in another order each time.
enum class RowOrder : std::uint8_t { sequential, random };
/// After the last row: begin again, or end the run.
enum class OnEnd : std::uint8_t { loop, stop };

/// Which of `count` rows (at least 1) arrival `n` takes; absent when they have run out.
[[nodiscard]] std::optional<std::uint64_t> row_of(std::uint64_t n, std::uint64_t count,
                                                  RowOrder order, OnEnd on_end,
                                                  std::uint64_t seed) noexcept;

}  // namespace onbeat::document
