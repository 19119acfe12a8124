#include <onbeat/kernel/labeled_stats.hpp>

#include <gtest/gtest.h>

#include <stdexcept>

namespace onbeat::kernel {
namespace {

using namespace std::chrono_literals;

Sample labelled(std::string value, Duration latency = 1ms) {
  Sample sample;
  sample.started = Instant{} + 1s;
  sample.done = *sample.started + latency;
  sample.labels = {{"region", "north"}, {"endpoint", std::move(value)}};
  return sample;
}

std::uint64_t sum(const LabeledSnapshot& snapshot) {
  std::uint64_t count = 0;
  for (const auto& [value, series] : snapshot.series) count += series.count;
  return count;
}

TEST(LabeledStats, EachValueIsASeries) {
  LabeledStats stats("endpoint");
  stats.record(labelled("login", 5ms));
  stats.record(labelled("cart", 1ms));
  stats.record(labelled("login", 5ms));
  const auto got = stats.snapshot();
  ASSERT_EQ(got.series.size(), 2U);
  EXPECT_EQ(got.series.at("login").count, 2U);
  EXPECT_EQ(got.series.at("login").latency.max, 5ms);
  EXPECT_EQ(got.series.at("cart").latency.max, 1ms);
  EXPECT_EQ(got.total.count, 3U);
  EXPECT_EQ(got.total.latency.max, 5ms);
}

TEST(LabeledStats, NoValueIsASeriesToo) {
  LabeledStats stats("endpoint");
  stats.record(labelled(""));
  Sample without = labelled("x");
  without.labels.clear();
  stats.record(without);
  const auto got = stats.snapshot();
  ASSERT_EQ(got.series.size(), 1U);
  EXPECT_EQ(got.series.at("__none__").count, 2U);
}

TEST(LabeledStats, D8_SeriesAreBoundedAndSumToTheTotal) {
  LabeledStats stats("endpoint");
  for (int i = 0; i < 250; ++i) stats.record(labelled(std::to_string(i)));
  stats.record(labelled("7"));    // known already
  stats.record(labelled("249"));  // one of those beyond the limit
  const auto got = stats.snapshot();
  EXPECT_EQ(got.series.size(), 101U);
  EXPECT_EQ(got.series.at("7").count, 2U);
  EXPECT_EQ(got.series.at("__overflow__").count, 151U);
  EXPECT_EQ(got.total.count, 252U);
  EXPECT_EQ(sum(got), got.total.count);
}

TEST(LabeledStats, MergesSeriesBySeries) {
  LabeledStats a("endpoint", {}, 2);
  LabeledStats b("endpoint", {}, 2);
  for (const char* value : {"x", "y"}) a.record(labelled(value));
  for (const char* value : {"y", "z", "w"}) b.record(labelled(value));
  a.merge(b);
  const auto got = a.snapshot();
  EXPECT_EQ(got.series.at("x").count, 1U);
  EXPECT_EQ(got.series.at("y").count, 2U);
  EXPECT_EQ(got.series.at("__overflow__").count, 2U);  // z, which a has no room for, and b's own
  EXPECT_EQ(got.total.count, 5U);
  EXPECT_EQ(sum(got), 5U);
  a.merge(a);
  EXPECT_EQ(a.snapshot().total.count, 10U);
}

TEST(LabeledStats, MergedOverflowTakesNoSeriesPlace) {
  LabeledStats into("endpoint", {}, 2);
  LabeledStats other("endpoint", {}, 2);
  for (const char* value : {"x", "y", "z"}) other.record(labelled(value));
  into.merge(other);
  const auto got = into.snapshot();
  EXPECT_EQ(got.series.size(), 3U);
  EXPECT_EQ(got.series.count("x"), 1U);
  EXPECT_EQ(got.series.count("y"), 1U);
  EXPECT_EQ(got.series.at("__overflow__").count, 1U);
}

TEST(LabeledStats, MergeRefusesAnotherKeyOrLayout) {
  LabeledStats stats("endpoint");
  EXPECT_THROW(stats.merge(LabeledStats("region")), std::invalid_argument);
  EXPECT_THROW(stats.merge(LabeledStats("endpoint", {.layout = HistogramLayout(1us, 60s, 3)})),
               std::invalid_argument);
}

}  // namespace
}  // namespace onbeat::kernel
