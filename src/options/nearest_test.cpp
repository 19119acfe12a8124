#include "options/nearest.hpp"

#include <gtest/gtest.h>

#include <array>

namespace onbeat::options {
namespace {

TEST(Nearest, CountsEdits) {
  EXPECT_EQ(edit_distance("", ""), 0U);
  EXPECT_EQ(edit_distance("", "abc"), 3U);
  EXPECT_EQ(edit_distance("rate", "rate"), 0U);
  EXPECT_EQ(edit_distance("rat", "rate"), 1U);
  EXPECT_EQ(edit_distance("rrate", "rate"), 1U);
  EXPECT_EQ(edit_distance("rite", "rate"), 1U);
  EXPECT_EQ(edit_distance("arte", "rate"), 1U) << "a swap of neighbours is one edit";
  EXPECT_EQ(edit_distance("kitten", "sitting"), 3U);
}

TEST(Nearest, TakesTheFewestEditsAndTheFirstOfEquals) {
  constexpr std::array<std::string_view, 4> kNames{"rate", "date", "duration", "requests"};
  EXPECT_EQ(nearest("durration", kNames), "duration");
  EXPECT_EQ(nearest("late", kNames), "rate");
  EXPECT_EQ(nearest("rate", kNames), "rate");
}

TEST(Nearest, IsSilentWhenNothingIsAlike) {
  constexpr std::array<std::string_view, 2> kNames{"rate", "threshold"};
  EXPECT_EQ(nearest("xy", kNames), std::nullopt);
  EXPECT_EQ(nearest("ra", kNames), std::nullopt) << "half of the letters are missing";
  EXPECT_EQ(nearest("thre", kNames), std::nullopt) << "five edits";
  EXPECT_EQ(nearest("", kNames), std::nullopt);
}

}  // namespace
}  // namespace onbeat::options
