#include "options/rate_grammar.hpp"

#include <gtest/gtest.h>

#include <string>

namespace onbeat::options {
namespace {

using namespace std::chrono_literals;

std::string refusal(std::string_view text) {
  const auto parsed = parse_rate_profile(text);
  if (parsed) return "accepted as " + parsed->text;
  return std::to_string(parsed.error().column) + ": " + parsed.error().message;
}

struct Case {
  std::string_view text, canonical;
  Duration length;
  double peak;
  bool constant;
};

const Case kCases[] = {
    {"5000", "5000", 0s, 5000, true},
    {"5k", "5000", 0s, 5000, true},
    {"300/m", "5", 0s, 5, true},
    {"0", "0", 0s, 0, true},
    {"100..500 over 30s", "100..500 over 30s", 30s, 500, false},
    {"100 .. 500 over 30s", "100..500 over 30s", 30s, 500, false},
    {"500..100 over 1m30s", "500..100 over 1m30s", 90s, 500, false},
    {"100 for 30s", "100 for 30s", 30s, 100, true},
    {"0..500 over 1m, 500 for 5m, 0 over 30s", "0..500 over 1m, 500 for 5m, 0 over 30s", 390s, 500,
     false},
    {"0..500 over 60s,500..500 over 5m,500..0 over 30s", "0..500 over 1m, 500 for 5m, 0 over 30s",
     390s, 500, false},
    {"100 for 10s, 1k for 5s, 100 for 10s", "100 for 10s, 1000 for 5s, 100 for 10s", 25s, 1000,
     false},
    {"100 for 10s, 200..300 over 5s", "100 for 10s, 200..300 over 5s", 15s, 300, false},
    {"sine(mean=500, amplitude=200, period=60s)", "sine(mean=500, amplitude=200, period=1m)", 0s,
     700, false},
    {"sine(500,200,60s)", "sine(mean=500, amplitude=200, period=1m)", 0s, 700, false},
    {"sine(period=60s, mean=500, amplitude=0)", "sine(mean=500, amplitude=0, period=1m)", 0s, 500,
     true},
    {"spike(base=100, peak=1000, at=10s, for=5s)", "spike(base=100, peak=1000, at=10s, for=5s)",
     15s, 1000, false},
    {"spike(100, 1k, 10s, 5s)", "spike(base=100, peak=1000, at=10s, for=5s)", 15s, 1000, false},
    {"spike( 100 , 1k , for=5s , at=0 )", "spike(base=100, peak=1000, at=0s, for=5s)", 5s, 1000,
     false}};

TEST(RateProfileGrammar, CanonicalTextLengthAndPeak) {
  for (const Case& c : kCases) {
    const auto spec = parse_rate_profile(c.text);
    ASSERT_TRUE(spec) << c.text << ": " << refusal(c.text);
    EXPECT_EQ(spec->text, c.canonical) << c.text;
    EXPECT_EQ(spec->length, c.length) << c.text;
    EXPECT_DOUBLE_EQ(spec->peak, c.peak) << c.text;
    EXPECT_EQ(spec->constant, c.constant) << c.text;
  }
}

TEST(RateProfileGrammar, CanonicalTextReadsBackAsTheSameProfile) {
  for (const Case& c : kCases) {
    const auto first = parse_rate_profile(c.text);
    const auto again = parse_rate_profile(first->text);
    ASSERT_TRUE(again) << first->text;
    EXPECT_EQ(again->text, first->text);
    for (Duration at = 0s; at < 400s; at += 1700ms) {
      EXPECT_EQ(again->profile.rate_at(at), first->profile.rate_at(at)) << c.text;
    }
  }
}

TEST(RateProfileGrammar, TheProfileIsTheOneThatWasWritten) {
  const auto rate_at = [](std::string_view text, Duration at) {
    return parse_rate_profile(text)->profile.rate_at(at);
  };
  constexpr std::string_view kStages = "0..500 over 1m, 500 for 5m, 0 over 30s";
  EXPECT_DOUBLE_EQ(rate_at(kStages, 30s), 250);
  EXPECT_DOUBLE_EQ(rate_at(kStages, 2min), 500);
  EXPECT_DOUBLE_EQ(rate_at(kStages, 375s), 250);
  EXPECT_DOUBLE_EQ(rate_at(kStages, 400s), 0) << "the last rate holds";
  EXPECT_NEAR(rate_at("sine(500, 200, 60s)", 15s), 700, 1e-9);
  EXPECT_NEAR(rate_at("sine(500, 200, 60s)", 45s), 300, 1e-9);
  EXPECT_DOUBLE_EQ(rate_at("spike(100, 1k, 10s, 5s)", 9s), 100);
  EXPECT_DOUBLE_EQ(rate_at("spike(100, 1k, 10s, 5s)", 12s), 1000);
  EXPECT_DOUBLE_EQ(rate_at("spike(100, 1k, 10s, 5s)", 15s), 100);
  EXPECT_DOUBLE_EQ(rate_at("100 for 10s, 200..300 over 10s", 10s), 200) << "a jump";
}

TEST(RateProfileGrammar, M7_ArrivalsAreTheAreaUnderTheCurve) {
  const auto spec = parse_rate_profile("0..500 over 1m, 500 for 5m, 0 over 30s");
  EXPECT_NEAR(spec->profile.arrivals_by(spec->length), 15'000 + 150'000 + 7'500, 1e-6);
}

TEST(RateProfileGrammar, Refused) {
  const std::pair<std::string_view, std::string_view> cases[] = {
      {"", "1: a rate is missing"},
      {"NaN", "1: a rate must be a finite number, not NaN"},
      {"100..inf over 5s", "6: a rate must be a finite number, not inf"},
      {"-100", "1: a rate cannot be negative"},
      {"100..-5 over 5s", "6: a rate cannot be negative"},
      {"100..500", "9: \"over\" or \"for\" and a duration is missing"},
      {"100..500 in 5s", "10: \"over\" or \"for\" belongs here, not \"in\""},
      {"100..500 for 5s", "10: a ramp goes \"over\" a duration, not \"for\" one"},
      {"500 over 30s", "5: the first ramp needs the rate that it starts from"},
      {"100..500 over 5", "16: a duration needs a unit"},
      {"100..500 over", "14: a duration is missing"},
      {"100..500 over 0s", "15: a duration of 0 where something must last"},
      {"100..500 over 0", "15: a duration of 0 where something must last"},
      {"100 for 5s,", "12: a rate is missing"},
      {"100 for 5s, 200", "16: \"over\" or \"for\" and a duration is missing"},
      {"100 for 5s; 200 for 5s", "11: \"; 200 for 5s\" does not belong after a stage"},
      {"100 for 3650d, 1 for 1ns", "16: stages of more than ten years in all"},
      {"sine", "5: \"(\" is missing"},
      {"sine(500, 200)", "14: period is missing"},
      {"sine(500, 600, 60s)", "11: an amplitude above the mean would make the rate negative"},
      {"sine(500, 200, 0s)", "16: a period of 0"},
      {"sine(500, 200, 60s, 4)", "21: too many parameters"},
      {"sine(500, 200, 60)", "18: a duration needs a unit"},
      {"sine(mean=500, mean=200, period=1s)", "16: mean is given twice"},
      {"sine(speed=1)", "6: unknown parameter \"speed\""},
      {"sine(500 200, 60s)", "10: \",\" or \")\" is missing"},
      {"sine(500, 200, 60s) x", "21: \"x\" does not belong after \")\""},
      {"sine()", "6: a rate starts with a digit, not with \")\""},
      {"spike(100, 1000, 10s, 0s)", "23: a spike that lasts for 0"},
      {"spike(100, 1000, 3650d, 1s)", "18: a spike that ends after more than ten years"}};
  for (const auto& [text, message] : cases) EXPECT_EQ(refusal(text), message) << text;
}

}  // namespace
}  // namespace onbeat::options
