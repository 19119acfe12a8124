#include "report/text.hpp"

#include "report/escape.hpp"
#include "report/golden.hpp"

#include <gtest/gtest.h>

#include <sstream>

namespace onbeat::report {
namespace {

using namespace std::chrono_literals;
using testing::threshold;

void expect_fits_a_screen(const std::string& text, std::size_t rows) {
  std::istringstream lines(text);
  std::string line;
  std::size_t count = 0;
  while (std::getline(lines, line)) {
    ++count;
    EXPECT_LE(width_of(line), 80u) << line;
  }
  EXPECT_LE(count, rows) << text;
}

run::Report judged(run::Report report, std::initializer_list<const char*> thresholds) {
  run::Judging judging;
  for (const char* text : thresholds) judging.thresholds.push_back(threshold(text));
  run::judge(report, judging);
  return report;
}

TEST(TextReport, GoldenValid) {
  const std::string text = to_text(judged(run::testing::healthy_open(), {"p(99) < 25ms"}));
  expect_fits_a_screen(text, 10);
  testing::expect_golden("valid.txt", text);
}

TEST(TextReport, GoldenClosed) {
  const std::string text = to_text(judged(run::testing::healthy_closed(), {}));
  expect_fits_a_screen(text, 10);
  testing::expect_golden("closed.txt", text);
}

TEST(TextReport, GoldenAdaptive) {
  const std::string text = to_text(judged(run::testing::found_by_search(), {"p(99) < 25ms"}));
  expect_fits_a_screen(text, 24);
  testing::expect_golden("adaptive.txt", text);
}

TEST(TextReport, GoldenCurve) {
  const std::string text = to_text(judged(run::testing::latency_curve(), {}));
  expect_fits_a_screen(text, 24);
  testing::expect_golden("curve.txt", text);
}

TEST(TextReport, ASearchThatFoundNothingSaysSo) {
  run::Report report = run::testing::found_by_search();
  report.search = {.rate = std::nullopt, .converged = false, .shortfall = "no rate kept them"};
  const std::string text = to_text(judged(report, {}));
  EXPECT_TRUE(text.contains("found     no rate kept the thresholds")) << text;
  EXPECT_TRUE(text.contains("(search)")) << text;
}

TEST(TextReport, GoldenTroubled) {
  const std::string text =
      to_text(judged(testing::troubled(), {"p(99) < 25ms", "error_rate < 5%"}));
  expect_fits_a_screen(text, 24);
  testing::expect_golden("troubled.txt", text);
}

TEST(TextReport, GoldenDegraded) {
  run::Report report = run::testing::healthy_open();
  report.concurrency = report.observed.in_flight_peak = 5;
  report.total.wait = run::testing::always(40ms, 10'000);
  report.total.response = run::testing::spread(44ms, 46ms, 10'000);
  report.connections.asked = 10;
  const std::string text = to_text(judged(report, {"p(99) < 25ms"}));
  expect_fits_a_screen(text, 24);
  testing::expect_golden("degraded.txt", text);
}

TEST(TextReport, GoldenInvalid) {
  run::Report report = run::testing::healthy_open();
  report.total.lag = run::testing::always(30ms, 10'000);
  report.total.response = run::testing::always(35ms, 10'000);
  const std::string text = to_text(judged(report, {"p(99) < 25ms", "rate > 900/s"}));
  expect_fits_a_screen(text, 24);
  testing::expect_golden("invalid.txt", text);
}

TEST(TextReport, GoldenNoData) {
  testing::expect_golden("no_data.txt", to_text(run::testing::without_data()));
}

TEST(TextReport, C6_NothingAtAllIsShownAsSuch) {
  const std::string text = to_text(judged(run::Report{}, {"p(99) < 25ms"}));
  EXPECT_TRUE(text.contains("n/a")) << text;
  EXPECT_FALSE(text.contains("nan")) << text;
  expect_fits_a_screen(text, 24);
}

TEST(TextReport, C5_HostileLabelsCannotSteerTheTerminal) {
  for (const run::Report& report : {testing::hostile(), testing::hostile_without_data()}) {
    const std::string text = to_text(report);
    EXPECT_EQ(text, valid_utf8(text));
    EXPECT_FALSE(text.contains('\x1b'));
    expect_fits_a_screen(text, 40);
  }
}

TEST(TextReport, ColoursAreOptionalAndNothingElseChanges) {
  const run::Report report = judged(testing::troubled(), {"p(99) < 25ms", "error_rate < 5%"});
  const std::string plain = to_text(report);
  EXPECT_FALSE(plain.contains('\x1b'));
  std::string colored = to_text(report, {.color = true});
  EXPECT_TRUE(colored.contains("\x1b[31mFAIL\x1b[0m"));
  for (std::size_t at; (at = colored.find('\x1b')) != std::string::npos;) {
    colored.erase(at, colored.find('m', at) + 1 - at);
  }
  EXPECT_EQ(colored, plain);
}

TEST(TextReport, UnitSuitsTheTimes) {
  run::Report report = run::testing::healthy_open();
  report.total.response = run::testing::spread(20us, 60us, 10'000);
  EXPECT_TRUE(to_text(report).contains("max  us"));
  report.total.response = run::testing::spread(20s, 60s, 10'000);
  EXPECT_TRUE(to_text(report).contains("max  s"));
}

TEST(TextReport, AskedPercentilesAreShown) {
  run::Report report = run::testing::healthy_open();
  report.percentiles = {50, 97, 99.99};
  const std::string text = to_text(report);
  EXPECT_TRUE(text.contains("p97")) << text;
  expect_fits_a_screen(text, 12);
}

TEST(TextReport, ManyEndpointsAndErrorsAreCut) {
  run::Report report = testing::troubled();
  for (int i = 0; i < 50; ++i) {
    report.endpoints.push_back(report.endpoints[0]);
    report.errors["class" + std::to_string(i)] = 1;
  }
  const std::string text = to_text(report);
  EXPECT_TRUE(text.contains("and 42 more: see --out json=FILE")) << text;
  EXPECT_TRUE(text.contains("and 48 more classes")) << text;
}

}  // namespace
}  // namespace onbeat::report
