#include "options/limits.hpp"

#include <gtest/gtest.h>

#include <set>
#include <string>

namespace onbeat::options {
namespace {

std::string refusal(std::string_view text) {
  const auto parsed = parse_limit(text);
  if (parsed) return "accepted";
  return std::to_string(parsed.error().column) + ": " + parsed.error().message;
}

TEST(Limits, ValuesInTheUnitOfTheLimit) {
  EXPECT_EQ(parse_limit("lag_p99.degraded=2ms"),
            (std::pair<std::string, double>("lag_p99.degraded", 2e6)));
  EXPECT_EQ(parse_limit("missed_late.invalid=0.5%")->second, 0.5);
  EXPECT_EQ(parse_limit("samples.degraded=20")->second, 20);
}

TEST(Limits, Refused) {
  EXPECT_EQ(parse_limit("lag_p99.degrade=1ms").error().hint, "did you mean lag_p99.degraded?");
  EXPECT_EQ(refusal("lag_p99.degrade=1ms"), "1: unknown limit \"lag_p99.degrade\"");
  EXPECT_EQ(refusal("lag_p99.degraded"), "17: \"=\" and a value are missing");
  EXPECT_EQ(refusal("lag_p99.degraded=2"), "19: a duration needs a unit");
  EXPECT_EQ(refusal("missed_late.invalid=1ms"), "22: a percentage needs its sign");
  EXPECT_EQ(refusal("samples.degraded=1.5"), "18: a number must be whole");
}

TEST(Limits, StandardUnlessSet) {
  Limits set;
  EXPECT_DOUBLE_EQ(set.of("lag_p99.degraded"), 1e6);
  EXPECT_DOUBLE_EQ(set.of("lag_p99.invalid"), 10e6);
  set.set("lag_p99.degraded", 5e6);
  EXPECT_DOUBLE_EQ(set.of("lag_p99.degraded"), 5e6);
  EXPECT_DOUBLE_EQ(set.of("lag_p99.invalid"), 10e6);
}

TEST(Limits, NamesAreDistinctAndOfTheFormCheckLevel) {
  std::set<std::string_view> names;
  for (const Limit& limit : limits()) {
    EXPECT_TRUE(names.insert(limit.name).second) << limit.name;
    const auto level = limit.name.substr(limit.name.find('.') + 1);
    EXPECT_TRUE(level == "note" || level == "degraded" || level == "invalid") << limit.name;
  }
}

}  // namespace
}  // namespace onbeat::options
