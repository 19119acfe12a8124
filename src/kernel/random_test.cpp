#include <onbeat/kernel/random.hpp>

#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <bit>
#include <cmath>
#include <cstdint>
#include <vector>

namespace onbeat::kernel {
namespace {

TEST(SplitMix64, GivesThePublishedSequence) {
  // The sequence of seed 1234567 that the generator's public descriptions agree on.
  const std::array<std::uint64_t, 5> expected = {6457827717110365317U, 3203168211198807973U,
                                                 9817491932198370423U, 4593380528125082431U,
                                                 16408922859458223821U};
  Random random(1234567);
  for (std::uint64_t n = 0; n < expected.size(); ++n) {
    EXPECT_EQ(splitmix64(1234567, n), expected[n]);
    EXPECT_EQ(random.next(), expected[n]);
  }
}

TEST(SplitMix64, StreamsOfOneSeedDiffer) {
  EXPECT_NE(stream_seed(1, Stream::arrivals), stream_seed(1, Stream::mix));
  EXPECT_NE(stream_seed(1, Stream::arrivals), stream_seed(2, Stream::arrivals));
}

// -ln((k + 1/2) 2^-53) by the platform's extended precision.
long double reference_exponential(std::uint64_t bits) {
  const auto odd = static_cast<long double>((bits >> 11) * 2 + 1);
  return -std::log(odd * 0x1p-54L);
}

void expect_close(std::uint64_t bits) {
  const long double expected = reference_exponential(bits);
  const double actual = unit_exponential(bits);
  ASSERT_GT(actual, 0);
  ASSERT_LT(actual, 38);
  ASSERT_LE(std::abs(actual - expected), 1e-15L * expected) << std::hex << bits;
}

TEST(UnitExponential, IsTheLogarithmWithin1e15) {
  for (std::uint64_t n = 0; n < 200'000; ++n) expect_close(splitmix64(7, n));
  // Around every power of two, around sqrt(1/2) of each, and at both ends.
  for (int shift = 0; shift < 64; ++shift) {
    for (const std::uint64_t around : {0x8000000000000000U >> shift, 0xb504f333f9de6484U >> shift,
                                       ~std::uint64_t{0} >> shift, ~(std::uint64_t{1} << shift)}) {
      for (std::uint64_t step = 0; step < 8; ++step) {
        expect_close(around + (step << 11));
        expect_close(around - (step << 11));
      }
    }
  }
}

TEST(UnitExponential, IsTheSameBitsEverywhere) {
  struct Golden {
    std::uint64_t seed, n, bits;
  };
  const std::vector<Golden> goldens = {
      {0U, 0U, 0x3fbfc395e8aa083b},
      {1U, 0U, 0x3fe22e71d335c6cb},
      {1U, 1U, 0x3fd2c5cac7890102},
      {1U, 2U, 0x3f9e21d7bedcd621},
      {42U, 1000U, 0x3ff190a195683933},
      {42U, 123456789U, 0x3ff6c272ab6307a7},
      {18446744073709551615U, 7U, 0x3ff616eb008c2b55},
      {18446744073709551615U, 18446744073709551614U, 0x3fc2377b826d42e8},
  };
  for (const Golden& golden : goldens) {
    EXPECT_EQ(std::bit_cast<std::uint64_t>(unit_exponential(splitmix64(golden.seed, golden.n))),
              golden.bits)
        << golden.seed << " " << golden.n;
  }
}

TEST(UnitExponential, HasTheMomentsOfAnExponential) {
  constexpr int kCount = 1'000'000;
  Random random(42);
  double sum = 0, squares = 0, cubes = 0;
  for (int i = 0; i < kCount; ++i) {
    const double e = random.exponential();
    sum += e;
    squares += e * e;
    cubes += e * e * e;
  }
  // Moments 1, 2, 6 with standard errors 1, sqrt(20), sqrt(684) over 1000: four of each.
  EXPECT_NEAR(sum / kCount, 1, 0.004);
  EXPECT_NEAR(squares / kCount, 2, 0.018);
  EXPECT_NEAR(cubes / kCount, 6, 0.105);
}

TEST(UnitExponential, FillsBinsOfEqualProbability) {
  constexpr int kBins = 100;
  constexpr int kCount = 200'000;
  std::array<int, kBins> counts{};
  Random random(99);
  for (int i = 0; i < kCount; ++i) {
    const auto bin = static_cast<int>(kBins * std::exp(-random.exponential()));
    ++counts[static_cast<std::size_t>(std::min(bin, kBins - 1))];
  }
  double chi_square = 0;
  for (const int count : counts) {
    const double difference = count - kCount / kBins;
    chi_square += difference * difference / (kCount / kBins);
  }
  // 99 degrees of freedom: 0.1 % lies above 149, and 0.1 % below 61.
  EXPECT_LT(chi_square, 149);
  EXPECT_GT(chi_square, 61);
}

TEST(Random, BelowIsUniform) {
  Random random(3);
  std::array<int, 7> counts{};
  for (int i = 0; i < 70'000; ++i) ++counts.at(random.below(7));
  for (const int count : counts) EXPECT_NEAR(count, 10'000, 400);
  for (int i = 0; i < 100; ++i) EXPECT_EQ(random.below(1), 0U);
}

TEST(Random, BelowIsUnbiasedWhereTheBoundIsLarge) {
  // Of 3 * 2^62, a plain multiplication would hit each multiple of 3 twice as often.
  constexpr std::uint64_t kBound = 3 * (std::uint64_t{1} << 62);
  Random random(5);
  std::array<int, 3> counts{};
  for (int i = 0; i < 30'000; ++i) ++counts.at(random.below(kBound) % 3);
  for (const int count : counts) EXPECT_NEAR(count, 10'000, 400);
}

TEST(Random, UniformLiesInTheUnitInterval) {
  Random random(11);
  double sum = 0;
  for (int i = 0; i < 100'000; ++i) {
    const double u = random.uniform();
    ASSERT_GE(u, 0);
    ASSERT_LT(u, 1);
    sum += u;
  }
  EXPECT_NEAR(sum / 100'000, 0.5, 0.004);
}

}  // namespace
}  // namespace onbeat::kernel
