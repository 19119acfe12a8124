// Threads on the same keys: what each of them sees must be what some order of all calls explains.
#include <onbeat/cache.hpp>
#include <onbeat/kernel/random.hpp>

#include <gtest/gtest.h>

#include <array>
#include <atomic>
#include <barrier>
#include <charconv>
#include <memory>
#include <string>
#include <thread>
#include <vector>

namespace onbeat::cache {
namespace {

constexpr unsigned kThreads = 8;
constexpr unsigned kKeys = 48;
constexpr unsigned kOperations = 4000;  // of each thread

/// "key writer number padding": the padding's length follows from the number.
struct Written {
  unsigned key = 0;
  unsigned writer = 0;
  unsigned number = 0;
};

std::string text_of(Written written) {
  return std::to_string(written.key) + " " + std::to_string(written.writer) + " " +
         std::to_string(written.number) + " " + std::string(written.number * 7 % 90, '.');
}

Written written_of(std::string_view text) {
  Written written;
  const char* at = text.data();
  const char* const end = text.data() + text.size();
  for (unsigned* part : {&written.key, &written.writer, &written.number}) {
    at = std::from_chars(at, end, *part).ptr;
    if (at != end) ++at;
  }
  return written;
}

using Table = std::array<std::array<unsigned, kKeys>, kThreads>;  // the latest number, by writer

struct Tally {
  std::uint64_t gets = 0, sets = 0, erased = 0, torn = 0, foreign = 0, unborn = 0, backwards = 0;
};

class Interleaving : public testing::TestWithParam<Eviction> {
 protected:
  explicit Interleaving()
      : cache_({.max_entries = 32,
                .max_bytes = 2500,
                .shards = 4,
                .eviction = GetParam(),
                .compression = Compression::lz4}) {}

  void write(unsigned thread, unsigned key, Tally& tally, Table& seen) {
    const unsigned number = begun_[thread][key].fetch_add(1) + 1;
    ++tally.sets;
    cache_.set(std::to_string(key), text_of({key, thread, number}));
    seen[thread][key] = number;  // what is older of it can no longer be read here
  }

  void read(unsigned key, Tally& tally, Table& seen) {
    ++tally.gets;
    std::string text;
    if (!cache_.get(std::to_string(key), text)) return;
    const Written written = written_of(text);
    if (written.writer >= kThreads || text != text_of(written)) {
      ++tally.torn;
      return;
    }
    if (written.key != key) ++tally.foreign;
    if (written.number > begun_[written.writer][key].load()) ++tally.unborn;
    // A writer's values of a key follow each other, so no reader goes back among them.
    if (written.number < seen[written.writer][key]) ++tally.backwards;
    seen[written.writer][key] = written.number;
  }

  Tally live(unsigned thread) {
    Tally tally;
    auto seen = std::make_unique<Table>();
    kernel::Random random(thread);
    start_.arrive_and_wait();
    for (unsigned i = 0; i < kOperations; ++i) {
      const auto key = static_cast<unsigned>(random.below(kKeys));
      const std::uint64_t choice = random.below(100);
      if (choice < 50) {
        read(key, tally, *seen);
      } else if (choice < 90) {
        write(thread, key, tally, *seen);
      } else if (choice < 98) {
        tally.erased += cache_.erase(std::to_string(key)) ? 1 : 0;
      } else if (choice == 98) {
        static_cast<void>(cache_.stats());
      } else if (i % 50 == 0) {
        cache_.clear();
      }
    }
    return tally;
  }

  Cache cache_;
  std::array<std::array<std::atomic<unsigned>, kKeys>, kThreads> begun_{};
  std::barrier<> start_{kThreads};
};

TEST_P(Interleaving, ReadsAreExplainedBySomeOrderOfTheWrites) {
  std::array<Tally, kThreads> tallies;
  {
    std::vector<std::jthread> threads;
    for (unsigned thread = 0; thread < kThreads; ++thread) {
      threads.emplace_back([&, thread] { tallies[thread] = live(thread); });
    }
  }
  Tally sum;
  for (const Tally& tally : tallies) {
    sum.gets += tally.gets;
    sum.sets += tally.sets;
    sum.erased += tally.erased;
    EXPECT_EQ(tally.torn, 0U);
    EXPECT_EQ(tally.foreign, 0U);
    EXPECT_EQ(tally.unborn, 0U);
    EXPECT_EQ(tally.backwards, 0U);
  }
  const Stats stats = cache_.stats();
  EXPECT_EQ(stats.hits + stats.misses, sum.gets);
  EXPECT_EQ(stats.inserts + stats.updates + stats.rejections.total(), sum.sets);
  EXPECT_GE(stats.erases, sum.erased);
  EXPECT_EQ(stats.entries, stats.inserts - stats.evictions - stats.expirations - stats.erases);
  EXPECT_LE(stats.entries, 32U);
  EXPECT_LE(stats.bytes, 2500U);
}

INSTANTIATE_TEST_SUITE_P(All, Interleaving,
                         testing::Values(Eviction::lru, Eviction::wtinylfu, Eviction::s3fifo,
                                         Eviction::sieve, Eviction::fifo, Eviction::clock),
                         [](const auto& info) { return std::string(to_string(info.param)); });

// Every write of every thread is counted, and the limit's room comes back whole.
TEST(CacheThreads, ConcurrentSetsOfDifferentKeysAllArrive) {
  Cache cache({.max_entries = 400, .shards = 16});
  for (int round = 0; round < 3; ++round) {
    std::vector<std::jthread> threads;
    for (unsigned thread = 0; thread < 4; ++thread) {
      threads.emplace_back([&cache, thread] {
        for (unsigned i = 0; i < 100; ++i) {
          cache.set(std::to_string(thread) + "_" + std::to_string(i), "value");
        }
      });
    }
    threads.clear();
    EXPECT_EQ(cache.size(), 400U);
    EXPECT_EQ(cache.stats().evictions, 0U);
    cache.clear();
  }
}

}  // namespace
}  // namespace onbeat::cache
