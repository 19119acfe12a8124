// Which row an arrival takes: a pure function, so that loops on any number of threads agree on it
// without talking to each other, and two runs with one seed take the same rows.
#pragma once

#include <cstdint>

namespace onbeat::document {

/// The place of `index` in the shuffle of 0 ... count-1 that `key` names: a bijection, computed
/// without memory (Feistel network over the next power of two, walked until it falls below
/// `count`; Black and Rogaway, "Ciphers with arbitrary finite domains", 2002). index < count.
[[nodiscard]] std::uint64_t shuffled(std::uint64_t index, std::uint64_t count,
                                     std::uint64_t key) noexcept;

}  // namespace onbeat::document
