#include <onbeat/cache/config.hpp>

#include <gtest/gtest.h>

namespace onbeat::cache {
namespace {

using namespace std::chrono_literals;

TEST(CacheConfig, TheDefaultIsFine) {
  const Advice advice = advise({}, 16);
  EXPECT_TRUE(advice.errors.empty());
  EXPECT_TRUE(advice.warnings.empty());
  EXPECT_TRUE(advice.suggestions.empty());
}

TEST(CacheConfig, Estimates) {
  EXPECT_EQ(advise({.max_entries = 1000}, 16).estimated_bytes, 200'000U);
  EXPECT_EQ(advise({.max_entries = 1000, .max_value_size = 100}, 16).estimated_bytes, 150'000U);
  EXPECT_EQ(advise({.max_entries = 1000, .max_value_size = 2000}, 16).estimated_bytes, 200'000U);
  EXPECT_EQ(advise({.max_entries = 0}, 16).estimated_bytes, 0U);
}

TEST(CacheConfig, ManyEntriesAreAWarningWithTheirSize) {
  const Advice advice = advise({.max_entries = 20'000'000}, 16);
  EXPECT_TRUE(advice.errors.empty());
  ASSERT_EQ(advice.warnings.size(), 1U);
  EXPECT_NE(advice.warnings[0].find("4.0 GB"), std::string::npos) << advice.warnings[0];
}

TEST(CacheConfig, SuggestsShardsForTheCores) {
  EXPECT_EQ(advise({.shards = 128}, 16).suggestions.size(), 1U);
  EXPECT_EQ(advise({.shards = 8}, 16).suggestions.size(), 1U);
  EXPECT_EQ(advise({.max_entries = 1'000'000, .shards = 31}, 16).suggestions.size(), 2U);
  EXPECT_TRUE(advise({.max_entries = 1000, .shards = 1}, 16).suggestions.empty());
}

TEST(CacheConfig, Errors) {
  EXPECT_EQ(advise({.shards = 0}, 1).errors.size(), 1U);
  EXPECT_EQ(advise({.shards = 70'000}, 1).errors.size(), 1U);
  EXPECT_EQ(advise({.admission_probability = 0.0 / 0.0}, 1).errors.size(), 1U);
  EXPECT_EQ(advise({.max_entries = 5'000'000'000, .shards = 0, .ttl = -1ns}, 1).errors.size(), 3U);
  EXPECT_EQ(advise({.max_entries = 0}, 64).warnings.size(), 1U);
  EXPECT_EQ(advise({.ttl = 25h}, 64).suggestions.size(), 1U);
}

TEST(CacheConfig, WordsAndKinds) {
  for (const std::string_view word : {"lru", "wtinylfu", "s3fifo", "sieve", "fifo", "clock"}) {
    ASSERT_TRUE(eviction_of(word)) << word;
    EXPECT_EQ(to_string(*eviction_of(word)), word);
  }
  for (const std::string_view word : {"always", "never", "probabilistic", "tinylfu"}) {
    ASSERT_TRUE(admission_of(word)) << word;
    EXPECT_EQ(to_string(*admission_of(word)), word);
  }
  for (const std::string_view word : {"off", "zstd", "lz4"}) {
    ASSERT_TRUE(compression_of(word)) << word;
    EXPECT_EQ(to_string(*compression_of(word)), word);
  }
  EXPECT_EQ(eviction_of("LRU"), std::nullopt);
  EXPECT_EQ(admission_of(""), std::nullopt);
  EXPECT_EQ(compression_of("gzip"), std::nullopt);
}

}  // namespace
}  // namespace onbeat::cache
