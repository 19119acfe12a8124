#include "document/row_order.hpp"

#include <onbeat/kernel/random.hpp>

#include <bit>

namespace onbeat::document {
namespace {

constexpr std::uint64_t mask(unsigned bits) noexcept { return (std::uint64_t{1} << bits) - 1; }

/// Bijective on [0, 2^bits), 2 <= bits <= 64, with halves that differ by at most one bit.
std::uint64_t permute(std::uint64_t value, unsigned bits, std::uint64_t key) noexcept {
  constexpr unsigned kRounds = 6;
  const unsigned low_bits = bits / 2;
  const unsigned high_bits = bits - low_bits;
  std::uint64_t low = value & mask(low_bits);
  std::uint64_t high = value >> low_bits;
  for (unsigned round = 0; round < kRounds; ++round) {
    if (round % 2 == 0) {
      high ^= kernel::splitmix64(key + round, low) & mask(high_bits);
    } else {
      low ^= kernel::splitmix64(key + round, high) & mask(low_bits);
    }
  }
  return high << low_bits | low;
}

}  // namespace

std::uint64_t shuffled(std::uint64_t index, std::uint64_t count, std::uint64_t key) noexcept {
  if (count < 2) return 0;
  const auto width = static_cast<unsigned>(std::bit_width(count - 1));
  const unsigned bits = width < 2 ? 2 : width;
  std::uint64_t value = index;
  do {
    value = permute(value, bits, key);
  } while (value >= count);
  return value;
}

std::optional<std::uint64_t> row_of(std::uint64_t n, std::uint64_t count, RowOrder order,
                                    OnEnd on_end, std::uint64_t seed) noexcept {
  const std::uint64_t pass = n / count;
  const std::uint64_t index = n % count;
  if (pass > 0 && on_end == OnEnd::stop) return std::nullopt;
  if (order == RowOrder::sequential) return index;
  // Templates draw from the data stream itself; the complement keeps the two apart.
  const std::uint64_t of_rows = ~kernel::stream_seed(seed, kernel::Stream::data);
  return shuffled(index, count, kernel::splitmix64(of_rows, pass));
}

}  // namespace onbeat::document
