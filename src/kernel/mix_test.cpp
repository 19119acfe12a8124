#include <onbeat/kernel/mix.hpp>

#include <gtest/gtest.h>

#include <map>
#include <set>
#include <stdexcept>
#include <vector>

namespace onbeat::kernel {
namespace {

using Items = std::vector<std::uint32_t>;

Items first_items(const Mix& mix, std::uint64_t count, std::uint64_t share = 0,
                  std::uint64_t of = 1) {
  Items items;
  Mix::Cache cache;
  for (std::uint64_t n = share; n < count; n += of) items.push_back(mix.item(n, cache));
  return items;
}

std::map<std::uint32_t, int> counts_of(const Items& items) {
  std::map<std::uint32_t, int> counts;
  for (const std::uint32_t item : items) ++counts[item];
  return counts;
}

TEST(Mix, Case107_EqualWeightsAreEquallyOften) {
  EXPECT_EQ(counts_of(first_items(Mix({1, 1}), 500)),
            (std::map<std::uint32_t, int>{{0, 250}, {1, 250}}));
}

TEST(Mix, Case108_NineToOneIsExact) {
  EXPECT_EQ(counts_of(first_items(Mix({9, 1}), 2000)),
            (std::map<std::uint32_t, int>{{0, 1800}, {1, 200}}));
}

TEST(Mix, EveryBlockHasItsExactShare) {
  const Mix mix({5, 0, 2, 3}, 17);
  const Items items = first_items(mix, 1000);
  for (std::size_t block = 0; block < 100; ++block) {
    const auto from = items.begin() + static_cast<std::ptrdiff_t>(block * 10);
    EXPECT_EQ(counts_of(Items(from, from + 10)),
              (std::map<std::uint32_t, int>{{0, 5}, {2, 2}, {3, 3}}));
  }
}

TEST(Mix, CommonDivisorShortensTheBlock) {
  const Items items = first_items(Mix({9'000'000, 3'000'000}), 400);
  for (std::size_t block = 0; block < 100; ++block) {
    const auto from = items.begin() + static_cast<std::ptrdiff_t>(block * 4);
    EXPECT_EQ(counts_of(Items(from, from + 4)), (std::map<std::uint32_t, int>{{0, 3}, {1, 1}}));
  }
}

TEST(Mix, Case109_BadWeightsAreRefused) {
  EXPECT_THROW(Mix({}), std::invalid_argument);
  EXPECT_THROW(Mix({0, 0}), std::invalid_argument);
  EXPECT_THROW(Mix({1, -1}), std::invalid_argument);
  EXPECT_THROW(Mix({1'000'000, 1}), std::invalid_argument);
  EXPECT_THROW(Mix({INT64_MAX, INT64_MAX - 1}), std::invalid_argument);
  EXPECT_NO_THROW(Mix({999'999, 1}));
}

TEST(Mix, Case110_WeightsAreCopied) {
  std::vector<std::int64_t> weights = {1, 1};
  const Mix mix(weights);
  weights[0] = 1000;
  EXPECT_EQ(counts_of(first_items(mix, 1000)), (std::map<std::uint32_t, int>{{0, 500}, {1, 500}}));
}

TEST(Mix, AFunctionOfSeedAndNumberAlone) {
  const std::vector<std::int64_t> weights = {3, 4, 1};
  const Items all = first_items(Mix(weights, 5), 400);
  EXPECT_EQ(all, first_items(Mix(weights, 5), 400));
  EXPECT_NE(all, first_items(Mix(weights, 6), 400));
  for (const std::uint64_t of : {2U, 3U}) {
    for (std::uint64_t share = 0; share < of; ++share) {
      const Items part = first_items(Mix(weights, 5), 400, share, of);
      for (std::size_t i = 0; i < part.size(); ++i) ASSERT_EQ(part[i], all[share + i * of]);
    }
  }
  // Backwards, so that the cache is always of the wrong block at first.
  Mix::Cache cache;
  const Mix mix(weights, 5);
  for (std::size_t n = all.size(); n-- > 0;) ASSERT_EQ(mix.item(n, cache), all[n]);
}

TEST(Mix, BlocksAreShuffledEachInItsOwnWay) {
  const Items items = first_items(Mix({1, 1, 1, 1}), 4 * 2400);
  std::map<Items, int> orders;
  for (std::size_t from = 0; from < items.size(); from += 4) {
    ++orders[Items(items.begin() + static_cast<std::ptrdiff_t>(from),
                   items.begin() + static_cast<std::ptrdiff_t>(from) + 4)];
  }
  // All 24 orders, each about 100 times (five standard deviations).
  EXPECT_EQ(orders.size(), 24U);
  for (const auto& [order, count] : orders) EXPECT_NEAR(count, 100, 50);
}

TEST(Mix, EveryShareGetsEveryItem) {
  for (std::uint64_t share = 0; share < 4; ++share) {
    const Items items = first_items(Mix({1, 1, 1, 1}), 1000, share, 4);
    EXPECT_EQ(counts_of(items).size(), 4U) << share;
  }
}

TEST(Mix, OneItemIsAlwaysIt) {
  const Mix mix({7});
  EXPECT_EQ(mix.size(), 1U);
  Mix::Cache cache;
  EXPECT_EQ(mix.item(0, cache), 0U);
  EXPECT_EQ(mix.item(UINT64_MAX, cache), 0U);
}

TEST(Mix, AnItemOfWeightZeroBesideOneNeverAppears) {
  const Mix mix({0, 5});
  EXPECT_EQ(mix.size(), 2U);
  EXPECT_EQ(counts_of(first_items(mix, 100)), (std::map<std::uint32_t, int>{{1, 100}}));
}

}  // namespace
}  // namespace onbeat::kernel
