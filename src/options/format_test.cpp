#include "options/format.hpp"

#include "options/grammar.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <limits>

namespace onbeat::options {
namespace {

using namespace std::chrono_literals;

TEST(Format, DurationsForPeople) {
  const std::pair<kernel::Duration, const char*> cases[] = {
      {0ns, "0 ns"},         {1ns, "1 ns"},        {999ns, "999 ns"},     {1us, "1 us"},
      {12us, "12 us"},       {1250us, "1.25 ms"},  {12'345us, "12.3 ms"}, {123'456us, "123 ms"},
      {999'400ns, "999 us"}, {999'700ns, "1 ms"},  {9'996us, "10 ms"},    {1500ms, "1.5 s"},
      {30s, "30 s"},         {59'940ms, "59.9 s"}, {59'960ms, "1m"},      {90s, "1m30s"},
      {90'400ms, "1m30s"},   {1h + 1s, "1h1s"},    {-1250us, "-1.25 ms"}};
  for (const auto& [duration, text] : cases) {
    EXPECT_EQ(format_duration(duration), text) << duration.count();
  }
}

TEST(Format, ExactDurationsReadBackTheSame) {
  const std::pair<kernel::Duration, const char*> cases[] = {{0s, "0s"},
                                                            {1ns, "1ns"},
                                                            {1500us, "1.5ms"},
                                                            {90s, "1m30s"},
                                                            {3600s, "1h"},
                                                            {1h + 5ms, "1h5ms"},
                                                            {1'234'567'891ns, "1.234567891s"},
                                                            {10s, "10s"},
                                                            {100ms, "100ms"},
                                                            {2h + 3min + 4005ms, "2h3m4.005s"}};
  for (const auto& [duration, text] : cases) {
    EXPECT_EQ(duration_text(duration), text);
    EXPECT_EQ(parse_duration(text), duration);
  }
  // Durations of every size, close to the edges between units.
  for (kernel::Duration at = 1ns; at < kLongestDuration / 11; at *= 10) {
    for (const auto offset : {-1, 0, 1, 7}) {
      const kernel::Duration duration = at + kernel::Duration(offset);
      if (duration < 0ns) continue;
      EXPECT_EQ(parse_duration(duration_text(duration)), duration) << duration.count();
    }
  }
}

TEST(Format, Rates) {
  EXPECT_EQ(format_rate(5000), "5,000/s");
  EXPECT_EQ(format_rate(1234.56), "1,234.6/s");
  EXPECT_EQ(format_rate(1e6), "1,000,000/s");
  EXPECT_EQ(format_rate(999.96), "1,000/s");
  EXPECT_EQ(format_rate(5), "5/s");
  EXPECT_EQ(format_rate(1 / 60.0), "0.0167/s");
  EXPECT_EQ(format_rate(0), "0/s");
  EXPECT_EQ(format_rate(std::nan("")), "n/a");
  EXPECT_EQ(format_rate(std::numeric_limits<double>::infinity()), "n/a");
}

TEST(Format, Numbers) {
  EXPECT_EQ(format_number(5000, 1), "5,000.0");
  EXPECT_EQ(format_number(-1234567.891, 2), "-1,234,567.89");
  EXPECT_EQ(format_number(-0.001, 1), "0.0") << "never -0.0";
  EXPECT_EQ(format_number(999, 0), "999");
  EXPECT_EQ(format_number(std::nan(""), 1), "n/a");
  EXPECT_EQ(format_count(0), "0");
  EXPECT_EQ(format_count(150'000), "150,000");
  EXPECT_EQ(format_count(UINT64_MAX), "18,446,744,073,709,551,615");
}

TEST(Format, Sizes) {
  EXPECT_EQ(format_size(0), "0 B");
  EXPECT_EQ(format_size(1023), "1023 B");
  EXPECT_EQ(format_size(1536), "1.5 KiB");
  EXPECT_EQ(format_size(18U << 20), "18 MiB");
  EXPECT_EQ(format_size((1U << 20) - 1), "1 MiB") << "never 1024 KiB";
  EXPECT_EQ(format_size(UINT64_MAX), "16 EiB");
}

TEST(Format, Percentages) {
  EXPECT_EQ(format_percent(0.08), "0.08%");
  EXPECT_EQ(format_percent(12.5), "12.5%");
  EXPECT_EQ(format_percent(100), "100%");
  EXPECT_EQ(format_percent(std::nan("")), "n/a");
}

}  // namespace
}  // namespace onbeat::options
