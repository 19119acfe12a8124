#include <onbeat/kernel/result.hpp>

#include <gtest/gtest.h>

#include <chrono>
#include <set>
#include <string>
#include <thread>
#include <vector>

namespace onbeat::kernel {
namespace {

using namespace std::chrono_literals;

TEST(Result, ResponseIsTheSumOfLagWaitAndService) {
  Result result;
  result.unit.due = Instant(10ms);
  result.unit.released = Instant(12ms);
  result.unit.started = Instant(17ms);
  result.done = Instant(28ms);
  EXPECT_EQ(result.lag(), 2ms);
  EXPECT_EQ(result.wait(), 5ms);
  EXPECT_EQ(result.service(), 11ms);
  EXPECT_EQ(result.response(), 18ms);
}

TEST(Result, EveryOutcomeHasItsName) {
  std::set<std::string_view> names;
  for (int i = 0; i < kOutcomes; ++i) names.insert(to_string(static_cast<Outcome>(i)));
  EXPECT_EQ(names,
            (std::set<std::string_view>{"ok", "failed", "timed_out", "cancelled", "in_flight"}));
}

TEST(NameTable, OneNameOneId) {
  NameTable table;
  const std::uint16_t a = table.id("a");
  const std::uint16_t b = table.id("b");
  EXPECT_NE(a, b);
  EXPECT_EQ(table.id("a"), a);
  EXPECT_EQ(table.name(a), "a");
  EXPECT_EQ(table.names(), (std::vector<std::string>{"a", "b"}));
  EXPECT_EQ(table.name(kNoName), "");
}

TEST(NameTable, D8_NamesBeyondTheLimitShareOneId) {
  NameTable table(2);
  EXPECT_EQ(table.id("a"), 0U);
  EXPECT_EQ(table.id("b"), 1U);
  EXPECT_EQ(table.names().size(), 2U);
  const std::uint16_t over = table.id("c");
  EXPECT_EQ(table.id("d"), over);
  EXPECT_EQ(table.name(over), "__overflow__");
  EXPECT_EQ(table.id("a"), 0U);
  EXPECT_EQ(table.names(), (std::vector<std::string>{"a", "b", "__overflow__"}));
}

TEST(NameTable, ManyThreadsAgree) {
  NameTable table(1000);
  std::vector<std::vector<std::uint16_t>> ids(4);
  {
    std::vector<std::jthread> threads;
    for (auto& own : ids) {
      threads.emplace_back([&] {
        for (int i = 0; i < 500; ++i) own.push_back(table.id("name" + std::to_string(i)));
      });
    }
  }
  for (const auto& own : ids) EXPECT_EQ(own, ids.front());
  EXPECT_EQ(std::set<std::uint16_t>(ids.front().begin(), ids.front().end()).size(), 500U);
}

}  // namespace
}  // namespace onbeat::kernel
