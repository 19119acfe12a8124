#include "options/threshold.hpp"

#include <gtest/gtest.h>

#include <array>
#include <cmath>
#include <string>

namespace onbeat::options {
namespace {

using namespace std::chrono_literals;

constexpr std::array<std::string_view, 1> kMetrics{"hit_ratio"};
constexpr std::array<std::string_view, 2> kOperations{"get", "set"};
constexpr std::array<std::string_view, 2> kErrors{"timeout", "reset"};
const Vocabulary kVocabulary{kMetrics, kOperations, kErrors, true};

std::string refusal(std::string_view text, const Vocabulary& vocabulary = {}) {
  const auto parsed = parse_threshold(text, vocabulary);
  if (parsed) return "accepted";
  const GrammarError& error = parsed.error();
  return std::to_string(error.column) + ": " + error.message +
         (error.hint.empty() ? "" : " | " + error.hint);
}

Threshold parsed(std::string_view text, const Vocabulary& vocabulary = {}) {
  const auto threshold = parse_threshold(text, vocabulary);
  EXPECT_TRUE(threshold) << text << ": " << refusal(text, vocabulary);
  return threshold.value_or(Threshold{});
}

TEST(ThresholdGrammar, Percentiles) {
  const Threshold threshold = parsed(" p(99) < 25ms ");
  EXPECT_EQ(threshold.text, "p(99) < 25ms");
  EXPECT_EQ(threshold.metric, "p(99)");
  EXPECT_EQ(threshold.measure, Measure::percentile);
  EXPECT_EQ(threshold.latency, Latency::headline);
  EXPECT_DOUBLE_EQ(threshold.percentile, 99);
  EXPECT_EQ(threshold.compare, Compare::less);
  EXPECT_DOUBLE_EQ(threshold.value, 25e6);
  EXPECT_EQ(threshold.unit, ThresholdUnit::nanoseconds);
  EXPECT_EQ(threshold.shown_unit, "ms");
  EXPECT_DOUBLE_EQ(threshold.shown_size, 1e6);
  EXPECT_DOUBLE_EQ(parsed("p99.9<1s").percentile, 99.9);
  EXPECT_DOUBLE_EQ(parsed("p95 < 1 s").value, 1e9);
  EXPECT_DOUBLE_EQ(parsed("p( 95 ) < 1m30s").value, 90e9);
  EXPECT_EQ(parsed("p95 < 1m30s").shown_unit, "s");
}

TEST(ThresholdGrammar, M14_PercentilesArePercent) {
  EXPECT_DOUBLE_EQ(parsed("p(0.95) < 1s").percentile, 0.95);
  EXPECT_DOUBLE_EQ(parsed("p(95) < 1s").percentile, 95);
  EXPECT_EQ(refusal("p(150) < 1s"), "3: a percentile lies between 0 and 100 | for example p(99.9)");
  EXPECT_EQ(refusal("p(NaN) < 1s"), "3: a percentile must be a finite number, not NaN");
  EXPECT_EQ(refusal("p(-1) < 1s"), "3: a percentile cannot be negative");
  EXPECT_EQ(refusal("p(0) < 1s"),
            "3: a percentile lies between 0 and 100 | the smallest value is min");
  EXPECT_EQ(refusal("p100 < 1s"),
            "2: a percentile lies between 0 and 100 | the largest value is max");
  EXPECT_EQ(refusal("p() < 1s"), "3: a percentile starts with a digit, not with \")\"");
  EXPECT_EQ(refusal("p < 1s"), "2: a percentile starts with a digit, not with \" \"");
}

TEST(ThresholdGrammar, KindsOfTimeAndScopes) {
  EXPECT_EQ(parsed("response.p(99) < 1s").latency, Latency::response);
  EXPECT_EQ(parsed("service.p99.9 < 1s").latency, Latency::service);
  EXPECT_DOUBLE_EQ(parsed("service.p99.9 < 1s").percentile, 99.9);
  EXPECT_EQ(parsed("wait.max < 5ms").latency, Latency::wait);
  EXPECT_EQ(parsed("wait.max < 5ms").measure, Measure::max);
  EXPECT_EQ(parsed("lag.mean < 5ms").latency, Latency::lag);
  const Threshold scoped = parsed("endpoint(\"log \\\"in\\\"\").service.p95 < 80ms");
  EXPECT_EQ(scoped.endpoint, "log \"in\"");
  EXPECT_EQ(scoped.latency, Latency::service);
  EXPECT_EQ(scoped.metric, "endpoint(\"log \\\"in\\\"\").service.p95");
  EXPECT_EQ(parsed("endpoint(\"a\").error_rate < 1%").measure, Measure::error_rate);
  EXPECT_EQ(parsed("get.p(99) < 1ms", kVocabulary).operation, "get");
  EXPECT_EQ(parsed("set.hit_ratio > 90%", kVocabulary).name, "hit_ratio");
}

TEST(ThresholdGrammar, NumbersAndTheirUnits) {
  struct Case {
    std::string_view text;
    Measure measure;
    Compare compare;
    double value;
    ThresholdUnit unit;
    std::string_view name;
  };
  const Case cases[] = {
      {"rate >= 4950/s", Measure::rate, Compare::greater_equal, 4950, ThresholdUnit::per_second,
       ""},
      {"rate >= 4.95k", Measure::rate, Compare::greater_equal, 4950, ThresholdUnit::per_second, ""},
      {"rate > 300/m", Measure::rate, Compare::greater, 5, ThresholdUnit::per_second, ""},
      {"ok_rate > 99.9%", Measure::ok_rate, Compare::greater, 99.9, ThresholdUnit::percent, ""},
      {"ok_rate > 4k/s", Measure::ok_rate, Compare::greater, 4000, ThresholdUnit::per_second, ""},
      {"error_rate<1 %", Measure::error_rate, Compare::less, 1, ThresholdUnit::percent, ""},
      {"count == 10k", Measure::count, Compare::equal, 10'000, ThresholdUnit::plain, ""},
      {"code(503) != 0", Measure::code, Compare::not_equal, 0, ThresholdUnit::plain, "503"},
      {"code( 503 ) <= 0.5%", Measure::code, Compare::less_equal, 0.5, ThresholdUnit::percent,
       "503"},
      {"error(timeout) < 3", Measure::error, Compare::less, 3, ThresholdUnit::plain, "timeout"},
      {"hit_ratio > 90%", Measure::named, Compare::greater, 90, ThresholdUnit::percent,
       "hit_ratio"},
      {"\"My orders\" > 5", Measure::named, Compare::greater, 5, ThresholdUnit::plain,
       "My orders"}};
  for (const Case& c : cases) {
    const Threshold threshold = parsed(c.text, kVocabulary);
    EXPECT_EQ(threshold.measure, c.measure) << c.text;
    EXPECT_EQ(threshold.compare, c.compare) << c.text;
    EXPECT_DOUBLE_EQ(threshold.value, c.value) << c.text;
    EXPECT_EQ(threshold.unit, c.unit) << c.text;
    EXPECT_EQ(threshold.name, c.name) << c.text;
    EXPECT_EQ(threshold.text, c.text);
  }
}

TEST(ThresholdGrammar, Refused) {
  constexpr std::string_view kExample =
      " | for example p(99) < 25ms, error_rate < 1% or rate > 4950/s";
  const std::pair<std::string_view, std::string> cases[] = {
      {"", "1: a metric is missing" + std::string(kExample)},
      {"< 5ms", "1: a metric starts with a letter" + std::string(kExample)},
      {"p(99)", "6: one of < <= > >= == != is missing" + std::string(kExample)},
      {"p(99) = 5ms", "7: one of < <= > >= == != is missing" + std::string(kExample)},
      {"p(99) <", "8: a duration is missing"},
      {"p(99) < 25", "11: a time needs a unit | 25s or 25ms"},
      {"p(99) < 25%", "11: unknown unit \"%\" | units are ns, us, ms, s, m, h, d: 10s, 5ms, 1m30s"},
      {"p(99) < 25ms x", "14: \"x\" does not belong after a threshold"},
      {"p(99) < 25ms over 5s",
       "14: a threshold judges the whole run, not a window | --abort-on has windows"},
      {"p(99 < 25ms", "6: \")\" is missing"},
      {"eror_rate < 1%", "1: unknown metric \"eror_rate\" | did you mean error_rate?"},
      {"speed < 1",
       "1: unknown metric \"speed\" | known are p(99), min, mean, max, rate, ok_rate, error_rate, "
       "count, code, error"},
      {"servise.p99 < 1s", "1: unknown scope \"servise\" | did you mean service?"},
      {"get.p99 < 1s", "1: unknown scope \"get\" | known are response, service, wait, lag"},
      {"wait.lag.p99 < 1s", "6: a second kind of time"},
      {"wait.rate > 5", "6: response, service, wait and lag have p(N), min, mean and max only"},
      {"error_rate < 1", "15: error_rate needs a unit | 1% of all, or 1/s"},
      {"error_rate < 101%", "17: a percentage of more than 100"},
      {"error_rate < NaN", "14: the limit must be a finite number, not NaN"},
      {"error_rate < -1%", "14: the limit cannot be negative"},
      {"rate > 5%", "9: rate is not a percentage | for example rate > 4950/s"},
      {"count > 5%", "10: count is not a percentage | for example count > 1000"},
      {"count > 5/s", "10: \"/s\" does not belong after a threshold"},
      {"code < 5", "5: \"(\" is missing | code(503) < 10"},
      {"code() < 5", "6: code() needs a name | code(503) < 10"},
      {"error(timeout < 5", "15: \")\" is missing | error(timeout) < 1%"},
      {"endpoint(login).p99 < 1s", "10: a name in double quotes is missing"},
      {"endpoint(\"login).p99 < 1s", "10: the closing quote is missing"},
      {"endpoint(\"a\") < 1s", "14: \".\" and a metric are missing after the endpoint"},
      {"endpoint(\"a\").endpoint(\"b\").p9 < 1s", "15: a second scope"},
      {"\"My orders\" > 5", "1: this workload has no metrics with titles" + std::string(kExample)}};
  for (const auto& [text, message] : cases) EXPECT_EQ(refusal(text), message) << text;
  EXPECT_EQ(refusal("error(timeot) < 1%", kVocabulary),
            "7: unknown class of error \"timeot\" | did you mean timeout?");
}

TEST(ThresholdGrammar, Holds) {
  EXPECT_TRUE(parsed("count < 5").holds(4));
  EXPECT_FALSE(parsed("count < 5").holds(5));
  EXPECT_TRUE(parsed("count <= 5").holds(5));
  EXPECT_FALSE(parsed("count <= 5").holds(6));
  EXPECT_TRUE(parsed("count > 5").holds(6));
  EXPECT_FALSE(parsed("count > 5").holds(5));
  EXPECT_TRUE(parsed("count >= 5").holds(5));
  EXPECT_FALSE(parsed("count >= 5").holds(4));
  EXPECT_TRUE(parsed("count == 5").holds(5));
  EXPECT_FALSE(parsed("count == 5").holds(4));
  EXPECT_TRUE(parsed("count != 5").holds(4));
  EXPECT_FALSE(parsed("count != 5").holds(5));
  EXPECT_FALSE(parsed("count != 5").holds(std::nan(""))) << "M13: no value never passes";
}

TEST(AbortGrammar, AThresholdOverAWindow) {
  const auto rule = parse_abort("error_rate > 20% over 5s");
  ASSERT_TRUE(rule);
  EXPECT_EQ(rule->threshold.text, "error_rate > 20%");
  EXPECT_EQ(rule->threshold.value, 20);
  EXPECT_EQ(rule->window, 5s);
  EXPECT_TRUE(parse_abort("p99 > 0 over 5s")) << "a bare 0 is a time, even before a word";
}

TEST(AbortGrammar, Refused) {
  const auto refused = [](std::string_view text) {
    const auto rule = parse_abort(text);
    return rule ? std::string("accepted")
                : std::to_string(rule.error().column) + ": " + rule.error().message;
  };
  EXPECT_EQ(refused("error_rate > 20%"), "17: \"over\" and a window are missing");
  EXPECT_EQ(refused("error_rate > 20% over"), "22: a duration is missing");
  EXPECT_EQ(refused("error_rate > 20% over 5"), "24: a duration needs a unit");
  EXPECT_EQ(refused("error_rate > 20% over 500ms"), "23: a window is at least 1s");
  EXPECT_EQ(refused("error_rate > 20% over 5s 5"), "26: \"5\" does not belong after a window");
  EXPECT_EQ(refused("eror > 20% over 5s"), "1: unknown metric \"eror\"");
}

}  // namespace
}  // namespace onbeat::options
