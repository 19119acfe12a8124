#include "report/html.hpp"

#include "report/chart.hpp"
#include "report/golden.hpp"

#include <gtest/gtest.h>

#include <regex>

namespace onbeat::report {
namespace {

// Every element that is opened is closed, in the right order; void elements apart.
void expect_balanced(const std::string& html) {
  static const std::regex kTag("<(/?)([a-z0-9]+)[^>]*?(/?)>");
  std::vector<std::string> open;
  for (std::sregex_iterator tag(html.begin(), html.end(), kTag), end; tag != end; ++tag) {
    const std::string name = (*tag)[2];
    if (name == "meta" || (*tag)[3] == "/") continue;
    if ((*tag)[1] == "") {
      open.push_back(name);
      continue;
    }
    ASSERT_FALSE(open.empty()) << name;
    ASSERT_EQ(open.back(), name);
    open.pop_back();
  }
  EXPECT_TRUE(open.empty());
}

std::vector<run::Report> all_kinds() {
  return {run::testing::healthy_open(),
          run::testing::healthy_closed(),
          testing::troubled(),
          testing::hostile(),
          run::Report{},
          testing::hostile_without_data()};
}

TEST(HtmlReport, IsWellFormedAndOffline) {
  for (const run::Report& report : all_kinds()) {
    const std::string html = to_html(report);
    expect_balanced(html);
    EXPECT_FALSE(html.contains("<script")) << "C5";
    EXPECT_FALSE(html.contains("src=") || html.contains("@import") || html.contains("<link"));
  }
}

TEST(HtmlReport, C5_HostileLabelsAreText) {
  const std::string html = to_html(testing::hostile());
  EXPECT_TRUE(html.contains("a&quot;b&#39;,c\n&lt;script&gt;alert(1)&lt;/script&gt;&amp;"));
  EXPECT_FALSE(html.contains('\xff'));
}

TEST(HtmlReport, ShowsWhatMatters) {
  run::Report report = testing::troubled();
  run::judge(report, {.thresholds = {testing::threshold("p(99) < 25ms")}});
  const std::string html = to_html(report);
  for (const char* text :
       {"<p class=\"verdict valid\">valid</p>", "p(99) &lt; 25ms", "&gt;= 2 s", "10,000, 1,000.0/s",
        "connection reset by peer", "/search?q=1", "rate 900/s", "<svg"}) {
    EXPECT_TRUE(html.contains(text)) << text;
  }
}

TEST(Chart, DrawsGapsAndScales) {
  const Chart chart{.title = "t<",
                    .unit = "ms",
                    .seconds = {0, 1, 2, 3},
                    .lines = {{"a", "red", {0, 30, std::nullopt, 30}}}};
  const std::string svg = to_svg(chart);
  EXPECT_TRUE(svg.contains("t&lt; (ms)"));
  EXPECT_TRUE(svg.contains(">50</text>")) << svg;  // the axis ends at a round number
  EXPECT_TRUE(svg.contains("d=\"M70.0 176.0L296.7 86.0M750.0 86.0\"")) << svg;  // 30 of 50
  EXPECT_EQ(to_svg({.title = "", .unit = "", .seconds = {1}, .lines = {}}), "");
}

}  // namespace
}  // namespace onbeat::report
