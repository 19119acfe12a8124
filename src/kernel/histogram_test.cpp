#include <onbeat/kernel/histogram.hpp>
#include <onbeat/kernel/rate.hpp>

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <random>
#include <stdexcept>
#include <vector>

namespace onbeat::kernel {
namespace {

using namespace std::chrono_literals;

std::vector<HistogramLayout> layouts() {
  return {HistogramLayout(),
          HistogramLayout(1us, 60s, 3),
          HistogramLayout(1ms, 10min, 3),
          HistogramLayout(1ns, 1h, 1),
          HistogramLayout(3ns, 10s, 2),
          HistogramLayout(1ns, 100s, 4),
          HistogramLayout(1us, 1h, 5),
          HistogramLayout(Duration{1}, Duration{2}, 1),
          HistogramLayout(Duration{1}, Duration{INT64_MAX}, 3)};
}

/// Values spread over `doublings` doublings, evenly on a logarithmic scale.
std::vector<std::int64_t> spread(std::uint64_t seed, std::size_t count, int doublings) {
  std::mt19937_64 random(seed);
  std::vector<std::int64_t> values(count);
  for (auto& value : values) {
    const int shift =
        63 - doublings + static_cast<int>(random() % static_cast<unsigned>(doublings));
    value = static_cast<std::int64_t>(random() >> (shift + 1));
  }
  return values;
}

Histogram of(const std::vector<std::int64_t>& values) {
  Histogram histogram;
  for (const auto value : values) histogram.record(Duration{value});
  return histogram;
}

TEST(HistogramLayout, DefaultIsTheGeneralFormulaFrom1NsTo4Point8Hours) {
  const HistogramLayout general(1ns, Duration{(std::int64_t{1} << 44) - 1}, 3);
  EXPECT_EQ(HistogramLayout(), general);
  EXPECT_EQ(general.size(), 35U * 1024U);
  EXPECT_GT(general.highest(), 4h + 48min);
}

TEST(HistogramLayout, BucketsTileTheRangeWithoutGapOrOverlap) {
  for (const auto& layout : layouts()) {
    std::int64_t next = 0;
    for (std::uint32_t i = 0; i < layout.size(); ++i) {
      ASSERT_EQ(layout.lowest_of(i), next) << i;
      ASSERT_GE(layout.highest_of(i), layout.lowest_of(i)) << i;
      ASSERT_EQ(layout.index_of(layout.lowest_of(i)), i);
      ASSERT_EQ(layout.index_of(std::min(layout.highest_of(i), layout.highest().count())), i);
      next = layout.highest_of(i) + std::int64_t{i + 1 < layout.size()};
    }
    EXPECT_GE(layout.highest_of(layout.size() - 1), layout.highest().count());
    EXPECT_LE(layout.lowest_of(layout.size() - 1), layout.highest().count());
  }
}

TEST(HistogramLayout, WidthKeepsTheDigits) {
  for (int digits = 1; digits <= 5; ++digits) {
    const HistogramLayout layout(1ns, 1h, digits);
    const double step = std::pow(10.0, -digits);
    for (std::uint32_t i = 1; i < layout.size(); ++i) {
      const auto width = static_cast<double>(layout.highest_of(i) - layout.lowest_of(i));
      ASSERT_LE(width, step * static_cast<double>(layout.lowest_of(i))) << digits << " " << i;
    }
  }
}

TEST(HistogramLayout, ValuesBeyondTheRangeFallIntoTheEndBuckets) {
  for (const auto& layout : layouts()) {
    EXPECT_EQ(layout.index_of(-1), 0U);
    EXPECT_EQ(layout.index_of(INT64_MIN), 0U);
    EXPECT_EQ(layout.index_of(INT64_MAX), layout.size() - 1);
  }
}

TEST(HistogramLayout, Case93_ImpossibleRangesAndDigitsAreRefused) {
  EXPECT_THROW(HistogramLayout(0ns, 1s, 3), std::invalid_argument);
  EXPECT_THROW(HistogramLayout(-1ns, 1s, 3), std::invalid_argument);
  EXPECT_THROW(HistogramLayout(2s, 1s, 3), std::invalid_argument);
  EXPECT_THROW(HistogramLayout(2ns, 3ns, 3), std::invalid_argument);
  EXPECT_THROW(HistogramLayout(1us, 60s, 9), std::invalid_argument);
  EXPECT_THROW(HistogramLayout(1us, 60s, 0), std::invalid_argument);
}

TEST(Histogram, PercentilesAreWithinATenthOfAPercentAboveTheSortedTruth) {
  for (std::uint64_t seed = 1; seed <= 20; ++seed) {
    auto values = spread(seed, 500 + 700 * seed, 10 + static_cast<int>(seed));
    const Histogram histogram = of(values);
    std::ranges::sort(values);
    for (const double p :
         {0.0, 0.1, 1.0, 5.0, 25.0, 50.0, 75.0, 90.0, 95.0, 99.0, 99.9, 99.99, 100.0}) {
      const auto rank =
          static_cast<std::size_t>(std::ceil(p / 100 * static_cast<double>(values.size()) - 1e-9));
      const std::int64_t truth = values[rank == 0 ? 0 : rank - 1];
      const std::int64_t read = histogram.percentile(p).count();
      ASSERT_GE(read, truth) << "seed " << seed << " p " << p;
      ASSERT_LE(static_cast<double>(read), static_cast<double>(truth) * 1.001) << seed << " " << p;
    }
  }
}

TEST(Histogram, CountMinMaxAndMeanAreExact) {
  const auto values = spread(7, 10'000, 40);
  const Histogram histogram = of(values);
  double sum = 0;
  for (const auto value : values) sum += static_cast<double>(value);
  EXPECT_EQ(histogram.count(), 10'000U);
  EXPECT_EQ(histogram.min().count(), std::ranges::min(values));
  EXPECT_EQ(histogram.max().count(), std::ranges::max(values));
  EXPECT_DOUBLE_EQ(histogram.mean(), sum / 10'000);
  EXPECT_EQ(histogram.clamped(), 0U);
}

TEST(Histogram, SumsBeyond64BitsStayExact) {
  Histogram histogram;
  histogram.record(3h, 1'000'000'000'000);
  histogram.record(1h, 1'000'000'000'000);
  EXPECT_DOUBLE_EQ(histogram.mean(), static_cast<double>(Duration(2h).count()));
}

TEST(Histogram, EachSmallSampleCountsBesideHugeOnes) {
  Histogram histogram;
  histogram.record(4h, 1'000'000'000);
  for (int i = 0; i < 1000; ++i) histogram.record(1ns);
  Histogram removed;
  removed.record(4h, 1'000'000'000);
  removed.record(1ns, 1000);
  EXPECT_EQ(histogram, removed);  // a sum in floating point would have lost the single ns
}

TEST(Histogram, DecimalPercentagesHitExactRanks) {
  Histogram histogram;
  for (int i = 1; i <= 1000; ++i) histogram.record(Duration{i});
  for (int tenths = 1; tenths <= 1000; ++tenths) {
    ASSERT_EQ(histogram.percentile(tenths / 10.0).count(), tenths);
  }
  EXPECT_EQ(histogram.percentile(0).count(), 1);
  EXPECT_EQ(histogram.percentile(50.01).count(), 501);
  EXPECT_EQ(histogram.percentile(-3).count(), 1);
  EXPECT_EQ(histogram.percentile(150).count(), 1000);
  EXPECT_EQ(histogram.percentile(std::numeric_limits<double>::quiet_NaN()).count(), 1);
}

TEST(Histogram, M14_FractionAndPercentageDiffer) {
  Histogram histogram;
  for (int i = 1; i <= 1000; ++i) histogram.record(Duration{i});
  EXPECT_EQ(histogram.percentile(0.95).count(), 10);
  EXPECT_EQ(histogram.percentile(95).count(), 950);
}

TEST(Histogram, M15_EveryFigureLiesBetweenMinAndMax) {
  for (std::uint64_t seed = 1; seed <= 200; ++seed) {
    const Histogram histogram = of(spread(seed, 1 + seed % 9, 44));
    for (double p = 0; p <= 100; p += 2.5) {
      ASSERT_LE(histogram.min(), histogram.percentile(p));
      ASSERT_LE(histogram.percentile(p), histogram.max());
    }
    ASSERT_LE(static_cast<double>(histogram.min().count()), histogram.mean());
    ASSERT_LE(histogram.mean(), static_cast<double>(histogram.max().count()));
  }
}

TEST(Histogram, M13_EmptyReadsZeroAndNothingIsABound) {
  const Histogram histogram;
  EXPECT_TRUE(histogram.empty());
  EXPECT_EQ(histogram.percentile(99), 0ns);
  EXPECT_EQ(histogram.min(), 0ns);
  EXPECT_EQ(histogram.max(), 0ns);
  EXPECT_EQ(histogram.mean(), 0);
  EXPECT_EQ(histogram.stddev(), 0);
  EXPECT_EQ(histogram.share_at_or_below(1s), 0);
  EXPECT_FALSE(histogram.percentile_is_lower_bound(99));
  EXPECT_EQ(histogram.smallest_censored(), kNoTime);
}

TEST(Histogram, M19_ConstantAndTwoValuedAreExactToTheBucket) {
  Histogram constant;
  constant.record(5ms, 1000);
  for (const double p : {0.0, 50.0, 99.9, 100.0}) EXPECT_EQ(constant.percentile(p), 5ms);
  EXPECT_EQ(constant.stddev(), 0);

  Histogram two;
  two.record(10ms, 900);
  two.record(1s, 100);
  EXPECT_NEAR(static_cast<double>(two.percentile(90).count()), 10e6, 10e3);
  EXPECT_EQ(two.percentile(90.1), 1s);
  EXPECT_DOUBLE_EQ(two.mean(), 109e6);
  EXPECT_NEAR(two.stddev(), 297e6, 297e3);
  EXPECT_DOUBLE_EQ(two.share_at_or_below(10ms), 0.9);
  EXPECT_DOUBLE_EQ(two.share_at_or_below(9ms), 0);
  EXPECT_DOUBLE_EQ(two.share_at_or_below(999ms), 0.9);
  EXPECT_DOUBLE_EQ(two.share_at_or_below(1s), 1);
}

TEST(Histogram, D7_SubMicrosecondValuesAreTold) {
  Histogram histogram;
  histogram.record(85ns, 99);
  histogram.record(0ns);
  EXPECT_EQ(histogram.percentile(50), 85ns);
  EXPECT_EQ(histogram.min(), 0ns);
  EXPECT_EQ(histogram.clamped(), 0U);
}

TEST(Histogram, Case82_ValuesAboveTheRangeAreClampedNotDropped) {
  Histogram histogram(HistogramLayout(1us, 60s, 3));
  histogram.record(5min);
  EXPECT_GE(histogram.percentile(99), 50s);
  EXPECT_EQ(histogram.max(), 5min);
  EXPECT_EQ(histogram.clamped(), 1U);
  histogram.record(10ms);
  histogram.record(100ns);
  histogram.record(-1ns);
  EXPECT_EQ(histogram.clamped(), 3U);
  EXPECT_EQ(histogram.min(), -1ns);
  EXPECT_EQ(histogram.percentile(100), 5min);
}

TEST(Histogram, EachSampleOfACountIsClamped) {
  Histogram histogram;
  histogram.record(5h, 7);
  histogram.record(5h, 0);
  EXPECT_EQ(histogram.clamped(), 7U);
  EXPECT_EQ(histogram.count(), 7U);
  Histogram nothing;
  nothing.record(1s, 0);
  EXPECT_EQ(nothing, Histogram());
}

TEST(Histogram, MergeInAnyOrderIsAsIfRecordedTogether) {
  std::vector<Histogram> parts;
  Histogram all;
  for (std::uint64_t seed = 1; seed <= 8; ++seed) {
    Histogram part;
    for (const auto value : spread(seed, 300 * seed, static_cast<int>(5 + 5 * seed))) {
      const bool censored = value % 5 == 0;
      censored ? part.record_censored(Duration{value}) : part.record(Duration{value});
      censored ? all.record_censored(Duration{value}) : all.record(Duration{value});
    }
    parts.push_back(part);
  }
  parts.emplace_back();
  std::mt19937_64 random(5);
  for (int round = 0; round < 30; ++round) {
    std::ranges::shuffle(parts, random);
    Histogram left;  // ((a + b) + c) + ...
    for (const auto& part : parts) left.merge(part);
    Histogram right;  // a + (b + (c + ...))
    for (const auto& part : parts) {
      Histogram sum = part;
      sum.merge(right);
      right = sum;
    }
    ASSERT_EQ(left, all);
    ASSERT_EQ(right, all);
  }
}

TEST(Histogram, MergeRefusesAnotherLayout) {
  Histogram histogram;
  EXPECT_THROW(histogram.merge(Histogram(HistogramLayout(1us, 60s, 3))), std::invalid_argument);
}

TEST(Histogram, ClearKeepsOnlyTheLayout) {
  Histogram histogram(HistogramLayout(1us, 60s, 3));
  histogram.record_censored(1s, 3);
  histogram.clear();
  EXPECT_EQ(histogram, Histogram(HistogramLayout(1us, 60s, 3)));
}

TEST(Histogram, CensoredSamplesMakeWhatLiesAtOrAboveThemALowerBound) {
  Histogram histogram;
  for (int i = 1; i <= 80; ++i) histogram.record(Duration(std::chrono::milliseconds(i)));
  histogram.record_censored(2s, 10);
  histogram.record(5s, 10);
  EXPECT_EQ(histogram.count(), 100U);
  EXPECT_EQ(histogram.censored(), 10U);
  EXPECT_EQ(histogram.smallest_censored(), 2s);
  EXPECT_TRUE(histogram.max_is_lower_bound());
  EXPECT_FALSE(histogram.percentile_is_lower_bound(80));
  EXPECT_TRUE(histogram.percentile_is_lower_bound(80.5));
  EXPECT_TRUE(histogram.percentile_is_lower_bound(99));
}

TEST(Histogram, M8_TimeoutsReadAtLeast) {
  Histogram histogram;
  histogram.record(1ms, 900);
  histogram.record_censored(2s, 100);
  EXPECT_EQ(histogram.percentile(95), 2s);
  EXPECT_TRUE(histogram.percentile_is_lower_bound(95));
  EXPECT_FALSE(histogram.percentile_is_lower_bound(90));
}

TEST(Histogram, CensoredBeyondTheRangeIsABoundToo) {
  Histogram histogram;
  histogram.record(1ms);
  histogram.record_censored(6h);
  EXPECT_FALSE(histogram.percentile_is_lower_bound(50));
  EXPECT_TRUE(histogram.percentile_is_lower_bound(100));
}

TEST(Histogram, MemoryIsOnlyForTheRangeInUse) {
  Histogram histogram;
  EXPECT_TRUE(histogram.counts().empty());
  histogram.record(1ms);
  histogram.record(Duration(1ms) + 100us);
  EXPECT_LE(histogram.counts().size(), 256U);
  histogram.record(900us);
  const auto index = histogram.layout().index_of(Duration(1ms).count());
  EXPECT_EQ(histogram.counts()[index - histogram.first_index()], 1U);
}

/// The same buckets without the exact figures, as an HDR payload keeps them.
Histogram buckets_of(const Histogram& histogram) {
  Histogram buckets(histogram.layout());
  for (std::size_t i = 0; i < histogram.counts().size(); ++i) {
    const auto index = static_cast<std::uint32_t>(histogram.first_index() + i);
    buckets.record(Duration{histogram.layout().lowest_of(index)}, histogram.counts()[i]);
  }
  return buckets;
}

TEST(Histogram, TheExactFiguresMakeBucketsTheWholeAgain) {
  for (const std::uint64_t censored : {0, 3}) {
    Histogram histogram;
    for (const std::int64_t value : spread(7, 1000, 40)) histogram.record(Duration{value});
    histogram.record_censored(Duration{12'345'678}, censored);
    Histogram restored = buckets_of(histogram);
    EXPECT_NE(restored, histogram);
    ASSERT_TRUE(restored.restore(histogram.exact()));
    EXPECT_EQ(restored, histogram);
  }
  Histogram nothing;
  EXPECT_TRUE(nothing.restore(Histogram{}.exact()));
}

TEST(Histogram, FiguresOfOtherBucketsAreRefused) {
  Histogram histogram;
  histogram.record(1ms, 10);
  histogram.record_censored(5ms, 2);
  const ExactFigures right = histogram.exact();
  const auto refuses = [&](auto change) {
    ExactFigures wrong = right;
    change(wrong);
    Histogram buckets = buckets_of(histogram);
    const Histogram before = buckets;
    return !buckets.restore(wrong) && buckets == before;
  };
  EXPECT_TRUE(refuses([](ExactFigures& f) { f.min = 2ms; }));
  EXPECT_TRUE(refuses([](ExactFigures& f) { f.max = 6ms; }));
  EXPECT_TRUE(refuses([](ExactFigures& f) { f.sum = 11'000'000; }));
  EXPECT_TRUE(refuses([](ExactFigures& f) { f.sum = 61'000'000; }));
  EXPECT_TRUE(refuses([](ExactFigures& f) { f.censored = 13; }));
  EXPECT_TRUE(refuses([](ExactFigures& f) { f.censored = 0; }));
  EXPECT_TRUE(refuses([](ExactFigures& f) { f.smallest_censored = Duration::max(); }));
  EXPECT_TRUE(refuses([](ExactFigures& f) { f.smallest_censored = 6ms; }));
  EXPECT_FALSE(refuses([](ExactFigures&) {}));
  Histogram nothing;
  EXPECT_FALSE(nothing.restore(right));
}

}  // namespace
}  // namespace onbeat::kernel
