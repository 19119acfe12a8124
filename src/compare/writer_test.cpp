#include "compare/writer.hpp"

#include "report/escape.hpp"
#include "run/sample_report.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <sstream>

namespace onbeat::compare {
namespace {

using Runs = std::vector<Run>;  // Run is something else in a test

using namespace std::chrono_literals;
using testing::HasSubstr;
using testing::Not;

Runs runs(kernel::Duration slowest, std::size_t count) {
  Runs all;
  for (std::size_t i = 0; i < count; ++i) {
    run::Report report = run::testing::healthy_open();
    report.total.response = report.total.service =
        run::testing::spread(4ms, slowest + i * 10us, 10'000);
    all.push_back({"run", std::move(report)});
  }
  return all;
}

Comparison worse() { return compare(runs(6ms, 4), runs(9ms, 4), {}); }

void expect_width(const std::string& text) {
  std::istringstream lines(text);
  for (std::string line; std::getline(lines, line);)
    EXPECT_LE(report::width_of(line), 100U) << line;
}

TEST(TextComparison, SaysItFirst) {
  const std::string text = to_text(worse());
  expect_width(text);
  EXPECT_THAT(text, testing::StartsWith("WORSE     worse: response.p99\n"));
  EXPECT_THAT(text, HasSubstr("base      4 runs of http://127.0.0.1:8080/\n"));
  EXPECT_THAT(text,
              testing::ContainsRegex("response.p99 \\* +[0-9.]+ ms +[0-9.]+ ms +\\+[0-9.]+%"));
  EXPECT_THAT(text, Not(HasSubstr("\x1b"))) << "no colour unless asked for";
  EXPECT_THAT(to_text(worse(), {.color = true}), HasSubstr("\x1b[31m"));
  EXPECT_THAT(
      to_text(compare(runs(6ms, 4), runs(6ms, 4), {})),
      testing::StartsWith("PASSED    no significant change beyond 5% in 3 gated metrics\n"));
}

TEST(TextComparison, ARefusalHasNoTable) {
  Runs bad = runs(6ms, 4);
  bad[0].report = run::testing::without_data();
  const std::string text = to_text(compare(runs(6ms, 4), bad, {}));
  EXPECT_THAT(text, testing::StartsWith("REFUSED "));
  EXPECT_THAT(text, Not(HasSubstr("95% interval")));
}

TEST(Comparison, HostileTextIsInertInEveryFormat) {
  Runs hostile = runs(9ms, 4);
  for (auto& run : hostile) {
    run.report.target = "<script>|*x*\x1b[2J\nnext";
    run.report.options.push_back({"method", "<img onerror=1>|", "cli"});
  }
  const Comparison found = compare(runs(6ms, 4), hostile, {});
  for (const std::string_view format : kFormats) {
    const std::string text = render(found, format);
    EXPECT_THAT(text, Not(HasSubstr("\x1b"))) << format;
    if (format == "html" || format == "markdown") {
      EXPECT_THAT(text, Not(HasSubstr("<script>|"))) << format;
      EXPECT_THAT(text, Not(HasSubstr("<img"))) << format;
    }
  }
  EXPECT_THROW(static_cast<void>(render(found, "pdf")), std::invalid_argument);
}

TEST(MarkdownComparison, IsATableOfWholeRows) {
  const std::string text = to_markdown(worse());
  std::istringstream lines(text);
  int rows = 0;
  for (std::string line; std::getline(lines, line);) {
    if (!line.starts_with('|')) continue;
    ++rows;
    EXPECT_EQ(std::ranges::count(line, '|'), 8) << line;
  }
  EXPECT_EQ(rows, 2 + static_cast<int>(worse().differences.size()));
}

TEST(HtmlComparison, AnswersFirst) {
  const std::string text = to_html(worse());
  EXPECT_THAT(text, HasSubstr("Is it worse?"));
  EXPECT_LT(text.find("Is it worse?"), text.find("Metric by metric"));
}

}  // namespace
}  // namespace onbeat::compare
