#include <onbeat/cache.hpp>
#include <onbeat/kernel/random.hpp>

#include <gtest/gtest.h>

#include <numeric>
#include <stdexcept>
#include <string>

namespace onbeat::cache {
namespace {

using namespace std::chrono_literals;

constexpr Eviction kAll[] = {Eviction::lru,   Eviction::wtinylfu, Eviction::s3fifo,
                             Eviction::sieve, Eviction::fifo,     Eviction::clock};

std::string key(std::uint64_t n) { return "key_" + std::to_string(n); }

class EveryPolicy : public testing::TestWithParam<Eviction> {};
INSTANTIATE_TEST_SUITE_P(All, EveryPolicy, testing::ValuesIn(kAll),
                         [](const auto& info) { return std::string(to_string(info.param)); });

TEST(Cache, LruKeepsWhatWasRead) {
  Cache cache({.max_entries = 2, .shards = 1, .eviction = Eviction::lru});
  cache.set("a", "1");
  cache.set("b", "2");
  EXPECT_EQ(cache.get("a"), "1");
  cache.set("c", "3");
  EXPECT_EQ(cache.get("b"), std::nullopt);
  EXPECT_EQ(cache.get("a"), "1");
  EXPECT_EQ(cache.get("c"), "3");
}

TEST(Cache, LruWithoutReadsLosesTheOldest) {
  Cache cache({.max_entries = 5, .shards = 1, .eviction = Eviction::lru});
  for (std::uint64_t n = 0; n < 6; ++n) cache.set(key(n), "v");
  EXPECT_EQ(cache.get(key(0)), std::nullopt);
  EXPECT_EQ(cache.size(), 5U);
}

TEST_P(EveryPolicy, ReadsDestroyNothing) {
  Cache cache({.max_entries = 800, .shards = 1, .eviction = GetParam()});
  for (std::uint64_t n = 0; n < 800; ++n) cache.set(key(n), "v");
  for (int pass = 0; pass < 3; ++pass) {
    for (std::uint64_t n = 0; n < 800; ++n) EXPECT_TRUE(cache.find(key(n)));
  }
  EXPECT_EQ(cache.size(), 800U);
  EXPECT_EQ(cache.stats().evictions, 0U);
}

// Not even when the keys fall unevenly into the shards.
TEST_P(EveryPolicy, AFillReachesTheWholeCapacity) {
  for (const std::uint32_t shards : {1, 16, 64}) {
    Cache cache({.max_entries = 10'000, .shards = shards, .eviction = GetParam()});
    for (std::uint64_t n = 0; n < 10'000; ++n) {
      ASSERT_EQ(cache.set(key(n), "value"), Stored::inserted);
    }
    EXPECT_EQ(cache.size(), 10'000U);
    for (std::uint64_t n = 0; n < 10'000; ++n) ASSERT_TRUE(cache.find(key(n)));
    for (std::uint64_t n = 10'000; n < 10'200; ++n) {
      ASSERT_EQ(cache.set(key(n), "value"), Stored::inserted);
      ASSERT_EQ(cache.size(), 10'000U);
    }
  }
}

// The reference's own workload: as many keys as room, half of the operations gets. After the fill
// every get hits.
TEST_P(EveryPolicy, AsManyKeysAsRoomAlwaysHit) {
  Cache cache({.max_entries = 1000, .shards = 16, .eviction = GetParam()});
  for (std::uint64_t n = 0; n < 1000; ++n) cache.set(key(n), "v");
  kernel::Random random(1);
  for (int i = 0; i < 5000; ++i) {
    const std::string k = key(random.below(1000));
    if (random.below(2) == 0) {
      EXPECT_TRUE(cache.find(k));
    } else {
      EXPECT_EQ(cache.set(k, "w"), Stored::updated);
    }
  }
  EXPECT_DOUBLE_EQ(cache.stats().hit_ratio(), 1);
}

// A small cache still renews itself, however few entries there are for each shard.
TEST_P(EveryPolicy, SmallCachesAreNotWriteOnce) {
  for (const std::uint64_t entries : {1, 2, 3, 7}) {
    Cache cache({.max_entries = entries, .shards = 64, .eviction = GetParam()});
    EXPECT_LE(cache.config().shards, entries);
    for (std::uint64_t n = 0; n < 200; ++n) {
      ASSERT_EQ(cache.set(key(n), "v"), Stored::inserted);
      ASSERT_LE(cache.size(), entries);
    }
    EXPECT_EQ(cache.size(), entries);
    bool renewed = false;
    for (std::uint64_t n = 100; n < 200; ++n) renewed |= cache.get(key(n)).has_value();
    EXPECT_TRUE(renewed);
  }
}

TEST_P(EveryPolicy, TimeToLive) {
  kernel::ManualClock clock;
  Cache cache({.max_entries = 10'000, .eviction = GetParam(), .ttl = 50ms, .clock = &clock});
  cache.set("a", "1");
  cache.set("for ever", "2", 0s);
  cache.set("long", "3", 80ms);
  EXPECT_EQ(cache.get("a"), "1");
  clock.advance(49'999'999ns);
  EXPECT_EQ(cache.get("a"), "1");
  clock.advance(1ns);
  EXPECT_EQ(cache.get("a"), std::nullopt);
  EXPECT_EQ(cache.get("long"), "3");
  EXPECT_EQ(cache.set("a", "4"), Stored::inserted);
  EXPECT_EQ(cache.get("a"), "4");
  clock.advance(1h);
  EXPECT_EQ(cache.get("for ever"), "2");
  EXPECT_FALSE(cache.erase("a"));
  EXPECT_EQ(cache.erase_expired(), 1U);
  const Stats stats = cache.stats();
  EXPECT_EQ(stats.entries, 1U);
  EXPECT_EQ(stats.expirations, 3U);
  EXPECT_EQ(stats.erases, 0U);
}

TEST(Cache, SettingAgainBeginsTheTimeToLiveAnew) {
  kernel::ManualClock clock;
  Cache cache({.ttl = 50ms, .clock = &clock});
  cache.set("a", "1");
  clock.advance(40ms);
  EXPECT_EQ(cache.set("a", "2"), Stored::updated);
  clock.advance(40ms);
  EXPECT_EQ(cache.get("a"), "2");
}

TEST(Cache, KeysAndValuesUpToTheirLimits) {
  Cache cache({.max_key_size = 10, .max_value_size = 20});
  EXPECT_EQ(cache.set(std::string(10, 'k'), std::string(20, 'v')), Stored::inserted);
  EXPECT_EQ(cache.set(std::string(11, 'k'), std::string(20, 'v')), Stored::key_size);
  EXPECT_EQ(cache.set(std::string(10, 'k'), std::string(21, 'v')), Stored::value_size);
  EXPECT_EQ(cache.get(std::string(10, 'k')), std::string(20, 'v'));
  EXPECT_EQ(cache.set("", ""), Stored::inserted);
  EXPECT_EQ(cache.get(""), "");
  const Stats stats = cache.stats();
  EXPECT_EQ(stats.rejections, (Rejections{.key_size = 1, .value_size = 1}));
  EXPECT_EQ(stats.entries, 2U);
}

TEST_P(EveryPolicy, LimitOfBytesIsNeverExceeded) {
  Cache cache({.max_entries = 0, .max_bytes = 3000, .shards = 16, .eviction = GetParam()});
  kernel::Random random(3);
  for (int i = 0; i < 3000; ++i) {
    const std::string value(random.below(1200), 'v');
    ASSERT_TRUE(is_stored(cache.set(key(random.below(100)), value)));
    ASSERT_LE(cache.stats().bytes, 3000U);
  }
  EXPECT_EQ(cache.set("large", std::string(2996, 'v')), Stored::too_large);
  EXPECT_EQ(cache.set("large", std::string(2995, 'v')), Stored::inserted);
  EXPECT_EQ(cache.size(), 1U);
}

TEST(Cache, Admission) {
  const auto inserted = [](Admission admission, double probability) {
    Cache cache(
        {.max_entries = 10'000, .admission = admission, .admission_probability = probability});
    std::uint64_t count = 0;
    for (std::uint64_t n = 0; n < 1000; ++n) count += is_stored(cache.set(key(n), "v")) ? 1 : 0;
    EXPECT_EQ(cache.stats().rejections.admission, 1000 - count);
    EXPECT_EQ(cache.size(), count);
    return count;
  };
  EXPECT_EQ(inserted(Admission::always, 0), 1000U);
  EXPECT_EQ(inserted(Admission::never, 1), 0U);
  EXPECT_EQ(inserted(Admission::probabilistic, 0), 0U);
  EXPECT_EQ(inserted(Admission::probabilistic, -3), 0U);
  EXPECT_EQ(inserted(Admission::probabilistic, 1), 1000U);
  const std::uint64_t half = inserted(Admission::probabilistic, 0.5);
  EXPECT_GE(half, 450U);
  EXPECT_LE(half, 550U);
  EXPECT_EQ(inserted(Admission::probabilistic, 0.5), half);  // seeded
  EXPECT_EQ(inserted(Admission::tinylfu, 0), 1000U);         // there is room
}

TEST(Cache, AdmissionLeavesUpdatesAlone) {
  Cache cache({.admission = Admission::probabilistic, .admission_probability = 0.5});
  while (cache.set("a", "1") != Stored::inserted) {
  }
  for (int i = 0; i < 100; ++i) EXPECT_EQ(cache.set("a", "2"), Stored::updated);
}

TEST(Cache, TinyLfuAdmissionKeepsWhatIsUsedAgainstAScan) {
  Cache cache({.max_entries = 100,
               .shards = 1,
               .eviction = Eviction::lru,
               .admission = Admission::tinylfu});
  for (int pass = 0; pass < 5; ++pass) {
    for (std::uint64_t n = 0; n < 100; ++n) cache.set(key(n), "v");
  }
  std::uint64_t came_in = 0;
  for (std::uint64_t n = 1000; n < 1300; ++n) {
    came_in += is_stored(cache.set(key(n), "v")) ? 1 : 0;
  }
  EXPECT_LE(came_in, 10U);
  EXPECT_EQ(cache.stats().rejections.admission, 300 - came_in);
}

// Several entries would have to go for it: the first one decides, before any has gone.
TEST(Cache, WhatTinyLfuRejectsHasEvictedNothing) {
  Cache cache({.max_entries = 100,
               .max_bytes = 100,
               .shards = 1,
               .eviction = Eviction::fifo,
               .admission = Admission::tinylfu});
  cache.set("cold", std::string(46, 'v'));
  cache.set("warm", std::string(46, 'v'));
  for (int i = 0; i < 8; ++i) EXPECT_TRUE(cache.find("warm"));
  const auto set_long = [&] { return cache.set("long", std::string(90, 'v')); };
  EXPECT_EQ(set_long(), Stored::admission);  // once, as the cold one was
  EXPECT_EQ(cache.stats().evictions, 0U);
  EXPECT_EQ(set_long(), Stored::inserted);
  EXPECT_EQ(cache.stats().evictions, 2U);
  EXPECT_EQ(cache.stats().rejections.admission, 1U);
}

TEST(Cache, CompressionIsReallyApplied) {
  for (const Compression method : {Compression::zstd, Compression::lz4}) {
    SCOPED_TRACE(to_string(method));
    Cache cache({.compression = method, .compress_from = 100});
    const std::string text(1000, 'a');
    std::string noise;
    kernel::Random random(1);
    while (noise.size() < 1000) noise += static_cast<char>(random.next());
    cache.set("text", text);
    cache.set("noise", noise);
    cache.set("short", std::string(99, 'a'));
    const Stats stats = cache.stats();
    EXPECT_EQ(stats.bytes_uncompressed, 4 + 1000 + 5 + 1000 + 5 + 99U);
    EXPECT_LT(stats.bytes, 4 + 100 + 5 + 1000 + 5 + 99U);
    EXPECT_GE(stats.bytes, 4 + 5 + 1000 + 5 + 99U);
    EXPECT_EQ(cache.get("text"), text);
    EXPECT_EQ(cache.get("noise"), noise);
    EXPECT_EQ(cache.get("short"), std::string(99, 'a'));
    EXPECT_EQ(cache.find("text").value(), text);
    cache.set("text", "now short");
    EXPECT_EQ(cache.get("text"), "now short");
  }
}

TEST(Cache, ClosedStoresAndFindsNothing) {
  Cache cache({.shards = 4});
  for (std::uint64_t n = 0; n < 100; ++n) cache.set(key(n), "v");
  cache.close();
  cache.close();
  EXPECT_EQ(cache.set("a", "1"), Stored::closed);
  EXPECT_EQ(cache.get(key(1)), std::nullopt);
  const Stats stats = cache.stats();
  EXPECT_EQ(stats.entries, 0U);
  EXPECT_EQ(stats.bytes, 0U);
  EXPECT_EQ(stats.erases, 100U);
  EXPECT_EQ(stats.rejections.closed, 1U);
}

TEST_P(EveryPolicy, ClearedItBeginsAnew) {
  Cache cache({.max_entries = 100, .shards = 4, .eviction = GetParam()});
  for (int round = 0; round < 3; ++round) {
    for (std::uint64_t n = 0; n < 150; ++n) cache.set(key(n), "v");
    EXPECT_EQ(cache.size(), 100U);
    cache.clear();
    EXPECT_EQ(cache.size(), 0U);
    EXPECT_EQ(cache.get(key(149)), std::nullopt);
  }
}

TEST(Cache, CountsEveryOperationOnce) {
  Cache cache({.max_entries = 50, .shards = 8});
  kernel::Random random(5);
  std::uint64_t gets = 0;
  std::uint64_t sets = 0;
  for (int i = 0; i < 10'000; ++i) {
    const std::string k = key(random.below(100));
    if (random.below(2) == 0) {
      ++gets;
      static_cast<void>(cache.get(k));
    } else {
      ++sets;
      cache.set(k, "v");
    }
  }
  const Stats stats = cache.stats();
  EXPECT_EQ(stats.hits + stats.misses, gets);
  EXPECT_EQ(stats.inserts + stats.updates + stats.rejections.total(), sets);
  const std::vector<Stats> shards = cache.shard_stats();
  ASSERT_EQ(shards.size(), 8U);
  EXPECT_EQ(std::accumulate(shards.begin(), shards.end(), Stats{},
                            [](Stats sum, const Stats& shard) { return sum += shard; }),
            stats);
}

TEST(Cache, RefusesAConfigurationWithAllItsFaults) {
  try {
    Cache cache({.shards = 0, .ttl = -1s});
    FAIL();
  } catch (const std::invalid_argument& fault) {
    const std::string text = fault.what();
    EXPECT_NE(text.find("shards"), std::string::npos) << text;
    EXPECT_NE(text.find("ttl"), std::string::npos) << text;
  }
}

}  // namespace
}  // namespace onbeat::cache
