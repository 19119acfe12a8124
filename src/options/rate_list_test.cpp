#include "options/rate_list.hpp"

#include <gtest/gtest.h>

#include <string>

namespace onbeat::options {
namespace {

using Rates = std::vector<double>;

Rates rates_of(std::string_view text, std::size_t steps = 8) {
  const auto list = parse_rate_list(text);
  EXPECT_TRUE(list) << text << ": " << (list ? "" : list.error().message);
  return list ? spread(*list, steps) : Rates();
}

TEST(RateList, AListIsTakenAsItIs) {
  EXPECT_EQ(rates_of("1k,2k, 5k"), (Rates{1000, 2000, 5000}));
  EXPECT_EQ(rates_of("30/m,1"), (Rates{0.5, 1}));
}

TEST(RateList, ARangeIsCutIntoEqualRatios) {
  EXPECT_EQ(rates_of("1k..16k", 5), (Rates{1000, 2000, 4000, 8000, 16'000}));
  EXPECT_EQ(rates_of("1k .. 20k"), (Rates{1000, 1530, 2350, 3610, 5540, 8500, 13'000, 20'000}));
  EXPECT_EQ(rates_of("1..9", 2), (Rates{1, 9}));
  EXPECT_EQ(rates_of("1234.5..98765", 3).front(), 1234.5);
  EXPECT_EQ(rates_of("1234.5..98765", 3).back(), 98765);
}

TEST(RateList, ANarrowRangeRisesStill) {
  const Rates rates = rates_of("1000..1001", 10);
  ASSERT_EQ(rates.size(), 10U);
  for (std::size_t i = 1; i < rates.size(); ++i) EXPECT_GT(rates[i], rates[i - 1]);
}

TEST(RateList, RefusesWhatIsNoCurve) {
  struct Wrong {
    std::string text;
    std::size_t column;
    std::string_view message;
  };
  std::string many = "1";
  for (int i = 2; i <= 101; ++i) many += "," + std::to_string(i);
  for (const Wrong& wrong :
       {Wrong{"", 1, "rate"}, Wrong{"nan", 1, "rate"}, Wrong{"1k..nan", 5, "rate"},
        Wrong{"1k..", 5, "rate"}, Wrong{"20k..1k", 6, "must rise"}, Wrong{"5k..5k", 5, "must rise"},
        Wrong{"1,3,2", 5, "must rise"}, Wrong{"1,1", 3, "must rise"},
        Wrong{"0..5", 1, "sends nothing"}, Wrong{"0,5", 1, "sends nothing"},
        Wrong{"5k", 3, "two rates"}, Wrong{"1..5..9", 5, ""}, Wrong{"1..5,9", 5, ""},
        Wrong{"1,5..9", 4, ""}, Wrong{"1,,2", 3, "rate"}, Wrong{"-1..5", 1, "rate"},
        Wrong{many, 293, "more than 100"}}) {
    const auto list = parse_rate_list(wrong.text);
    ASSERT_FALSE(list) << wrong.text;
    EXPECT_EQ(list.error().column, wrong.column) << wrong.text << ": " << list.error().message;
    EXPECT_TRUE(list.error().message.contains(wrong.message)) << list.error().message;
  }
}

}  // namespace
}  // namespace onbeat::options
