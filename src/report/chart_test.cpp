#include "report/chart.hpp"

#include <gtest/gtest.h>

namespace onbeat::report {
namespace {

std::string plain(double value) { return std::to_string(static_cast<int>(value)); }

Chart chart(std::vector<double> places, std::vector<ChartLine> lines) {
  return {.title = "t<",
          .unit = "ms",
          .x_name = "time",
          .x = Axis::time(0, 4),
          .y = Axis::linear(highest(lines).value_or(0)),
          .x_text = plain,
          .y_text = plain,
          .places = std::move(places),
          .lines = std::move(lines)};
}

TEST(Chart, DrawsGapsAndLoneValues) {
  const std::string svg = to_html(
      chart({0, 1, 2, 3, 4}, {{.name = "a", .values = {0, 30, std::nullopt, 30, std::nullopt}}}));
  EXPECT_TRUE(svg.contains("<b>t&lt;</b>ms"));
  EXPECT_TRUE(svg.contains("stroke-width=\"2\" d=\"M0.0 1000.0L250.0 0.0\"")) << svg;
  EXPECT_TRUE(svg.contains("stroke-width=\"7\" d=\"M750.0 0.0h0\"")) << svg;
  EXPECT_FALSE(svg.contains("class=\"legend\"")) << "one line needs none";
}

TEST(Chart, DrawsLowerBoundsApart) {
  const std::string svg = to_html(
      chart({0, 1, 2, 3},
            {{.name = "a", .values = {10, 10, 10, 10}, .at_least = {false, false, true, false}},
             {.name = "b", .values = {std::nullopt, 10}}}));
  EXPECT_TRUE(svg.contains(
      "class=\"blue\" stroke-width=\"2\" d=\"M0.0 0.0L250.0 0.0M500.0 0.0L750.0 0.0\""))
      << svg;
  EXPECT_TRUE(svg.contains("class=\"blue bound\" stroke-width=\"2\" d=\"M250.0 0.0L500.0 0.0\""))
      << svg;
  EXPECT_TRUE(svg.contains("<td>2</td><td>&gt;= 10</td><td></td>")) << svg;
  EXPECT_TRUE(svg.contains(">1:  a 10  b 10</text>")) << svg;
  EXPECT_TRUE(svg.contains("class=\"legend\""));
}

TEST(Chart, MarksEventsAndSetsPartsApart) {
  Chart with = chart({1, 2}, {{.name = "a", .values = {1, 2}}});
  with.bands = {{3, 4, "drain"}, {4, 3, "nothing"}};
  with.marks = {{2, "rate <5>"}};
  EXPECT_FALSE(to_html(with).contains("<p class=\"note\">"));
  with.names_marks = true;
  const std::string svg = to_html(with);
  EXPECT_TRUE(svg.contains("x=\"75%\" width=\"25%\" height=\"100%\"><title>drain</title>")) << svg;
  EXPECT_FALSE(svg.contains("nothing"));
  EXPECT_TRUE(svg.contains("x1=\"50%\" x2=\"50%\"")) << svg;
  EXPECT_TRUE(svg.contains("<p class=\"note\">2: rate &lt;5&gt;</p>")) << svg;
}

TEST(Chart, WithoutValuesThereIsNone) {
  EXPECT_EQ(to_html(chart({}, {})), "");
  EXPECT_EQ(to_html(chart({1}, {{.name = "a", .values = {std::nullopt}}})), "");
}

}  // namespace
}  // namespace onbeat::report
