#include <onbeat/kernel/random.hpp>

#include <bit>

namespace onbeat::kernel {
namespace {

__extension__ using Wide = unsigned __int128;

constexpr double power_of_two(int exponent) noexcept {
  return std::bit_cast<double>(static_cast<std::uint64_t>(1023 + exponent) << 52);
}

// ln(1 + f) = 2 atanh(s), s = f / (2 + f), for 1 + f in [sqrt(1/2), sqrt(2)]: s^2 <= 0.0295, so the
// first term left out, s^20 / 21, is below half a unit in the last place.
double log_one_plus(double f) noexcept {
  const double s = f / (2 + f);
  const double z = s * s;
  const double z2 = z * z;
  const double z4 = z2 * z2;
  const double low = (1.0 / 3 + z * (1.0 / 5)) + z2 * (1.0 / 7 + z * (1.0 / 9));
  const double high = (1.0 / 11 + z * (1.0 / 13)) + z2 * (1.0 / 15 + z * (1.0 / 17));
  const double tail = low + z4 * (high + z4 * (1.0 / 19));
  return 2 * s + 2 * s * (z * tail);
}

}  // namespace

double unit_exponential(std::uint64_t bits) noexcept {
  constexpr std::uint64_t kSqrtTwo = 0xb504f333f9de6484;  // sqrt(2) * 2^63
  constexpr double kLn2High = 0x1.62e42feep-1;            // few bits: its small multiples are exact
  constexpr double kLn2Low = 0x1.a39ef35793c76p-33;

  // (k + 1/2) * 2^-53 = odd * 2^-54 = (1 + f) * 2^(e - 54), with f exact.
  const std::uint64_t odd = (bits >> 11) * 2 + 1;
  const int zeros = std::countl_zero(odd);
  const int e = 63 - zeros + ((odd << zeros) > kSqrtTwo ? 1 : 0);
  const double f = static_cast<double>(static_cast<std::int64_t>(odd - (std::uint64_t{1} << e))) *
                   power_of_two(-e);
  const double halvings = 54 - e;
  return halvings * kLn2High + (halvings * kLn2Low - log_one_plus(f));
}

double Random::exponential() noexcept { return unit_exponential(next()); }

std::uint64_t Random::below(std::uint64_t bound) noexcept {
  Wide product = Wide{next()} * bound;
  if (static_cast<std::uint64_t>(product) < bound) {
    const std::uint64_t threshold = (0 - bound) % bound;
    while (static_cast<std::uint64_t>(product) < threshold) product = Wide{next()} * bound;
  }
  return static_cast<std::uint64_t>(product >> 64);
}

}  // namespace onbeat::kernel
