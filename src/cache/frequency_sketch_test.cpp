#include "cache/frequency_sketch.hpp"

#include <gtest/gtest.h>

namespace onbeat::cache {
namespace {

TEST(FrequencySketch, CountsUpToFifteen) {
  FrequencySketch sketch(1000);
  for (unsigned uses = 1; uses <= 20; ++uses) {
    sketch.record(42);
    EXPECT_EQ(sketch.frequency(42), std::min(uses, 15U));
  }
  EXPECT_EQ(sketch.frequency(43), 0U);
}

TEST(FrequencySketch, NeverTooLowBeforeAging) {
  FrequencySketch sketch(512);
  for (std::uint64_t key = 0; key < 512; ++key) {
    for (std::uint64_t use = 0; use < key % 8; ++use) sketch.record(key);
  }
  std::uint64_t excess = 0;
  for (std::uint64_t key = 0; key < 512; ++key) {
    EXPECT_GE(sketch.frequency(key), key % 8);
    excess += sketch.frequency(key) - key % 8;
  }
  EXPECT_LT(excess, 512 / 4);  // a quarter too high for each key: it tells keys apart
}

TEST(FrequencySketch, HalvesAfterTenUsesAnEntry) {
  FrequencySketch sketch(10);
  for (int i = 0; i < 8; ++i) sketch.record(1);
  for (std::uint64_t i = 0; i < 91; ++i) sketch.record(100 + i);
  EXPECT_GE(sketch.frequency(1), 8U);
  sketch.record(1);
  EXPECT_LT(sketch.frequency(1), 8U);
}

TEST(FrequencySketch, KeepsItsCountsWhileTheTableSuffices) {
  FrequencySketch sketch(100);
  sketch.record(5);
  sketch.fit(128);
  EXPECT_EQ(sketch.frequency(5), 1U);
  sketch.fit(129);
  EXPECT_EQ(sketch.frequency(5), 0U);
}

}  // namespace
}  // namespace onbeat::cache
