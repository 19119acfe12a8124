// The one random number generator of Onbeat: SplitMix64 (Steele, Lea, Flood: "Fast splittable
// pseudorandom number generators", OOPSLA 2014), with our own exponential distribution, so that
// one seed gives the same numbers on every platform and for any number of threads.
#pragma once

#include <cstdint>

namespace onbeat::kernel {

/// The n-th output (n = 0, 1, ...) of the SplitMix64 stream of `seed`: a pure function, so that any
/// thread can ask for any n.
[[nodiscard]] constexpr std::uint64_t splitmix64(std::uint64_t seed, std::uint64_t n) noexcept {
  std::uint64_t z = seed + (n + 1) * 0x9e3779b97f4a7c15ULL;
  z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9ULL;
  z = (z ^ (z >> 27)) * 0x94d049bb133111ebULL;
  return z ^ (z >> 31);
}

/// Independent streams drawn from the one seed of a run.
enum class Stream : std::uint64_t { arrivals = 1, mix = 2, data = 3, samples = 4 };
[[nodiscard]] constexpr std::uint64_t stream_seed(std::uint64_t seed, Stream stream) noexcept {
  return splitmix64(~seed, static_cast<std::uint64_t>(stream));
}

/// A sequential view of one stream. Not thread-safe.
class Random {
 public:
  explicit constexpr Random(std::uint64_t seed) noexcept : seed_(seed) {}
  constexpr std::uint64_t next() noexcept { return splitmix64(seed_, n_++); }
  /// Uniform in [0, bound); bound >= 1. Unbiased (Lemire 2019, with rejection).
  std::uint64_t below(std::uint64_t bound) noexcept;
  /// Uniform in [0, 1), 53 bits.
  constexpr double uniform() noexcept { return static_cast<double>(next() >> 11) * 0x1p-53; }
  /// Exponential with mean 1, in (0, 38).
  double exponential() noexcept;

 private:
  std::uint64_t seed_;
  std::uint64_t n_ = 0;
};

/// An exponential of mean 1, in (0, 38): -ln((k + 1/2) * 2^-53), k being the upper 53 bits, within
/// 1e-15 of it. IEEE operations in a fixed order only (no libm): the same bits on every platform.
/// About 10 ns.
[[nodiscard]] double unit_exponential(std::uint64_t bits) noexcept;

}  // namespace onbeat::kernel
