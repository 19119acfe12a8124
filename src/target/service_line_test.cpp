#include "target/service_line.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <thread>
#include <vector>

namespace onbeat::target {
namespace {

using namespace std::chrono_literals;

constexpr kernel::Instant kStart{1s};

TEST(ServiceLine, ServesOneAtATime) {
  ServiceLine line(2ms);
  EXPECT_EQ(line.serve(kStart), kStart + 2ms);
  EXPECT_EQ(line.serve(kStart), kStart + 4ms);
  EXPECT_EQ(line.serve(kStart + 1ms), kStart + 6ms);
}

TEST(ServiceLine, IdlesWhenNobodyWaits) {
  ServiceLine line(2ms);
  static_cast<void>(line.serve(kStart));
  EXPECT_EQ(line.serve(kStart + 1s), kStart + 1s + 2ms);
}

TEST(ServiceLine, ThreadsShareOneServer) {
  constexpr int kEach = 1000;
  ServiceLine line(1us);
  std::vector<kernel::Instant> first, second;
  const auto visit = [&](std::vector<kernel::Instant>& ends) {
    for (int i = 0; i < kEach; ++i) ends.push_back(line.serve(kStart));
  };
  std::thread other([&] { visit(second); });
  visit(first);
  other.join();
  first.insert(first.end(), second.begin(), second.end());
  std::ranges::sort(first);
  for (std::size_t i = 0; i < first.size(); ++i)
    EXPECT_EQ(first[i], kStart + (i + 1) * 1us) << "no service overlaps another";
}

}  // namespace
}  // namespace onbeat::target
