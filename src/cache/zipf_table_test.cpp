// What a policy is for: hit ratios under Zipf's law, look-aside (a miss sets the key), 100,000
// keys, 16 shards. The bound is the static optimum: the most popular keys that fit, always there.
#include <onbeat/cache.hpp>
#include <onbeat/kernel/random.hpp>

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <cstdio>
#include <string>
#include <vector>

namespace onbeat::cache {
namespace {

constexpr std::uint64_t kKeys = 100'000;
constexpr int kWarmUp = 150'000;
constexpr int kRequests = 350'000;

class Zipf {
 public:
  explicit Zipf(double alpha) {
    double sum = 0;
    for (std::uint64_t rank = 1; rank <= kKeys; ++rank) {
      sum += std::pow(static_cast<double>(rank), -alpha);
      cumulated_.push_back(sum);
    }
    for (double& share : cumulated_) share /= sum;
  }
  std::uint64_t draw(kernel::Random& random) const {
    return static_cast<std::uint64_t>(std::ranges::upper_bound(cumulated_, random.uniform()) -
                                      cumulated_.begin());
  }
  /// Percent.
  [[nodiscard]] double optimum(std::uint64_t entries) const {
    return 100 * cumulated_[entries - 1];
  }

 private:
  std::vector<double> cumulated_;
};

struct Load {
  double scan = 0;              // this share of the requests goes to keys that never come back
  int shift_every = INT32_MAX;  // requests after which other keys are the popular ones
};

/// Percent, of the requests that are no scan, after the warm-up.
double hit_percent(const Zipf& zipf, Eviction eviction, std::uint64_t entries, Load load = {}) {
  Cache cache({.max_entries = entries, .shards = 16, .eviction = eviction});
  kernel::Random random(42);
  int asked = 0;
  int hits = 0;
  std::uint64_t next_scanned = 10 * kKeys;
  for (int i = 0; i < kWarmUp + kRequests; ++i) {
    const bool scan = load.scan > 0 && random.uniform() < load.scan;
    const auto shift = static_cast<std::uint64_t>(i / load.shift_every) * 7919;
    const std::uint64_t id = scan ? next_scanned++ : (zipf.draw(random) + shift) % kKeys;
    const std::string key = "key_" + std::to_string(id);
    const bool hit = static_cast<bool>(cache.find(key));
    if (!hit) cache.set(key, "v");
    if (scan || i < kWarmUp) continue;
    ++asked;
    hits += hit ? 1 : 0;
  }
  return 100.0 * hits / asked;
}

TEST(ZipfTable, WTinyLfuIsAboveLruInEveryRow) {
  for (const double alpha : {0.70, 0.99, 1.20}) {
    const Zipf zipf(alpha);
    for (const std::uint64_t entries : {1000, 10'000}) {
      const double lru = hit_percent(zipf, Eviction::lru, entries);
      const double wtinylfu = hit_percent(zipf, Eviction::wtinylfu, entries);
      const double optimum = zipf.optimum(entries);
      std::printf("alpha %.2f, %6lu entries: lru %.1f, wtinylfu %.1f, static optimum %.1f\n", alpha,
                  static_cast<unsigned long>(entries), lru, wtinylfu, optimum);
      EXPECT_GT(wtinylfu, lru);
      EXPECT_LT(wtinylfu, optimum + 0.5);  // no more than there can be
      if (alpha == 0.99) EXPECT_GT(wtinylfu, optimum - 4);
    }
  }
}

TEST(ZipfTable, AScanOfAFifthCostsWTinyLfuLittle) {
  const Zipf zipf(0.99);
  for (const std::uint64_t entries : {1000, 10'000}) {
    const double lru = hit_percent(zipf, Eviction::lru, entries, {.scan = 0.2});
    const double wtinylfu = hit_percent(zipf, Eviction::wtinylfu, entries, {.scan = 0.2});
    std::printf("scan 20 %%, %6lu entries: lru %.1f, wtinylfu %.1f\n",
                static_cast<unsigned long>(entries), lru, wtinylfu);
    EXPECT_GT(wtinylfu, lru + 5);
  }
}

// The reference falls to 37-39 % and stays there.
TEST(ZipfTable, AShiftOfPopularityIsFollowed) {
  const Zipf zipf(0.99);
  const double wtinylfu = hit_percent(zipf, Eviction::wtinylfu, 1000, {.shift_every = 100'000});
  const double lru = hit_percent(zipf, Eviction::lru, 1000, {.shift_every = 100'000});
  std::printf("shifts: lru %.1f, wtinylfu %.1f\n", lru, wtinylfu);
  EXPECT_GT(wtinylfu, lru - 2);
}

}  // namespace
}  // namespace onbeat::cache
