#include "options/settings.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <vector>

namespace onbeat::options {
namespace {

Setting set(std::string_view name, std::string text) {
  return {find_option(name, kHttp), std::move(text), "origin of " + std::string(name)};
}

TEST(Resolve, PrecedenceHoldsForEveryPairOfSources) {
  constexpr std::array kSources{Source::cli, Source::env, Source::bench_section, Source::file,
                                Source::profile};
  for (std::size_t high = 0; high < kSources.size(); ++high) {
    for (std::size_t low = high + 1; low < kSources.size(); ++low) {
      std::vector<Layer> layers{{kSources[low], {set("rate", "1")}},
                                {kSources[high], {set("rate", "2")}}};
      for (int order = 0; order < 2; ++order) {
        const Settings settings = resolve(kHttp, layers);
        EXPECT_EQ(settings.text("rate"), "2");
        EXPECT_EQ(settings.source("rate"), kSources[high]);
        std::ranges::reverse(layers);
      }
    }
  }
}

TEST(Resolve, NothingSetIsTheDefault) {
  const Settings settings = resolve(kHttp, {});
  EXPECT_FALSE(settings.has("rate"));
  EXPECT_EQ(settings.source("rate"), Source::standard);
  EXPECT_EQ(settings.text("rate"), "");
  EXPECT_TRUE(settings.all("threshold").empty());
  EXPECT_FALSE(settings.flag("strict"));
}

TEST(Resolve, ARepeatableOptionIsReplacedWhole) {
  const std::vector<Layer> layers{
      {Source::file, {set("threshold", "p99 < 1s"), set("tag", "a=1")}},
      {Source::cli, {set("threshold", "p95 < 1s"), set("threshold", "max < 2s")}}};
  const Settings settings = resolve(kHttp, layers);
  EXPECT_EQ(settings.all("threshold"), (std::vector<std::string>{"p95 < 1s", "max < 2s"}));
  EXPECT_EQ(settings.all("tag"), std::vector<std::string>{"a=1"});
}

TEST(Resolve, AHigherSourceReplacesTheWholeFamily) {
  const std::vector<Layer> over{{Source::bench_section, {set("duration", "60s")}},
                                {Source::cli, {set("requests", "1000")}}};
  EXPECT_FALSE(resolve(kHttp, over).has("duration"));
  EXPECT_EQ(resolve(kHttp, over).text("requests"), "1000");
  const std::vector<Layer> together{
      {Source::cli, {set("duration", "60s"), set("requests", "1000")}}};
  EXPECT_TRUE(resolve(kHttp, together).has("duration"));
  EXPECT_TRUE(resolve(kHttp, together).has("requests"));
}

TEST(Resolve, SourcesAreNamedAsInTheReport) {
  EXPECT_EQ(to_string(Source::cli), "cli");
  EXPECT_EQ(to_string(Source::env), "env");
  EXPECT_EQ(to_string(Source::bench_section), "bench_section");
  EXPECT_EQ(to_string(Source::file), "file");
  EXPECT_EQ(to_string(Source::profile), "profile");
  EXPECT_EQ(to_string(Source::standard), "default");
}

}  // namespace
}  // namespace onbeat::options
