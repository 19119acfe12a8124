#include "report/html.hpp"

#include "report/golden.hpp"

#include <gtest/gtest.h>
#include <sys/wait.h>

#include <cstdio>
#include <fstream>

namespace onbeat::report {
namespace {

using namespace std::chrono_literals;

run::Report judged() {
  run::Report report = testing::troubled();
  run::judge(report, {.thresholds = {testing::threshold("p(99) < 25ms"),
                                     testing::threshold("error_rate < 5%")}});
  return report;
}

/// An hour of seconds, with errors of many classes in each.
run::Report an_hour() {
  run::Report report = judged();
  const run::SeriesRow row = report.series[9];
  report.series.assign(3600, row);
  report.errors.clear();
  for (int i = 0; i < 3600; ++i) {
    run::SeriesRow& each = report.series[static_cast<std::size_t>(i)];
    each.t = std::chrono::seconds(i + 1);
    each.events.clear();
    for (int k = 0; k < 12; ++k) {
      const std::string name = "class_of_error_" + std::to_string(k);
      each.errors[name] = static_cast<std::uint64_t>(17 * i % (k + 20));
      report.errors[name] += each.errors[name];
    }
    each.p50 = std::chrono::microseconds(4'000 + 37 * i % 900);
    each.max = std::chrono::microseconds(90'000 + 7'919 * i % 50'000);
  }
  report.series[1800].events = {"rate 900/s"};
  report.issue = 3600s;
  return report;
}

std::size_t times(const std::string& text, std::string_view part) {
  std::size_t count = 0;
  for (std::size_t at = text.find(part); at != std::string::npos; at = text.find(part, at + 1))
    ++count;
  return count;
}

TEST(HtmlReport, C5_C6_EveryPageIsValidAndInert) {
  const testing::Scratch scratch;
  std::string command =
      "/usr/bin/python3 " ONBEAT_SOURCE_DIR "/src/report/testdata/validate_html.py";
  int number = 0;
  for (const run::Report& report :
       {run::testing::healthy_open(), run::testing::healthy_closed(), run::testing::without_data(),
        run::Report{}, judged(), run::testing::found_by_search(), run::testing::latency_curve(),
        an_hour(), testing::hostile(), testing::hostile_without_data()}) {
    const auto path = scratch.path(std::to_string(++number) + ".html");
    std::ofstream(path) << to_html(report);
    command += " " + path.string();
  }
  // And one that is not: the check must be able to fail.
  std::string wrong = to_html(run::testing::healthy_open());
  wrong.replace(wrong.find("<h1>"), 4, "<h1 onclick=\"\"><script></script><td>\x1b");
  std::ofstream(scratch.path("wrong.html")) << wrong;
  command += " " + scratch.path("wrong.html").string() + " 2>&1";
  FILE* pipe = ::popen(command.c_str(), "r");
  ASSERT_NE(pipe, nullptr);
  std::string output;
  for (int c = std::fgetc(pipe); c != EOF; c = std::fgetc(pipe)) output += static_cast<char>(c);
  EXPECT_EQ(WEXITSTATUS(::pclose(pipe)), 1)
      << output << "(needs the Debian package python3-html5lib)";
  EXPECT_EQ(times(output, "\n"), 4U) << output;
  EXPECT_EQ(times(output, "wrong.html: "), 4U) << output;
}

TEST(HtmlReport, C5_HostileLabelsAreText) {
  const std::string html = to_html(testing::hostile());
  EXPECT_TRUE(html.contains("a&quot;b&#39;,c\n&lt;script&gt;alert(1)&lt;/script&gt;&amp;"));
  EXPECT_FALSE(html.contains("<script") || html.contains('\xff') || html.contains('\x1b'));
}

TEST(HtmlReport, ALookAtAPage) { testing::expect_golden("report.html", to_html(judged())); }

TEST(HtmlReport, AnswersTheFourQuestionsFirst) {
  const std::string html = to_html(judged());
  const std::string first = html.substr(0, html.find("<section>"));
  for (const char* text : {">Failed<", "1 of 2 thresholds failed", "97% succeeded",
                           "errors: reset: 50", ">1,000/s<", "of 1,000/s planned",
                           "every planned request was sent", ">p99 &gt;= 2 s<", ">Yes: valid<"}) {
    EXPECT_TRUE(first.contains(text)) << text;
  }
}

TEST(HtmlReport, SaysWhatIsNotThere) {
  const std::string failed = to_html(testing::hostile_without_data());
  EXPECT_TRUE(failed.contains("No: nothing was sent"));
  EXPECT_TRUE(failed.contains("there are no figures"));
  EXPECT_FALSE(failed.contains("<svg"));
  EXPECT_TRUE(to_html(run::Report{}).contains("No: nothing was sent"));

  run::Report few = run::testing::healthy_open();
  few.total.response = run::testing::spread(4ms, 6ms, 20);
  EXPECT_TRUE(to_html(few).contains("max 6 ms"));
  EXPECT_TRUE(to_html(few).contains("too few for a p99: 20 samples"));
}

TEST(HtmlReport, NearlyAllIsNotAll) {
  run::Report report = run::testing::healthy_open();
  report.total.counts.planned = report.total.counts.started = 1'000'000;
  report.total.counts.ok = 999'999;
  EXPECT_TRUE(to_html(report).contains("&gt; 99.9% succeeded"));
  report.total.counts.ok = 1'000'000;
  EXPECT_TRUE(to_html(report).contains("100% succeeded"));
}

TEST(HtmlReport, AClosedRunHasNoPlan) {
  const std::string html = to_html(run::testing::healthy_closed());
  EXPECT_TRUE(html.contains("what the target gave to 10 workers"));
  EXPECT_TRUE(html.contains("service time, from when each was sent"));
  EXPECT_FALSE(html.contains(">planned<") || html.contains("lag of the generator"));
}

TEST(HtmlReport, AnHourOfSecondsStaysSmall) {
  const std::string html = to_html(an_hour());
  EXPECT_LT(html.size(), 1'000'000U);
  EXPECT_TRUE(html.contains("3,600 intervals are drawn as 180 points"));
  EXPECT_FALSE(to_html(judged()).contains("intervals are drawn as"));
}

TEST(HtmlReport, EveryChartHasItsTable) {
  const std::string html = to_html(judged());
  EXPECT_EQ(times(html, "<figure"), 7U);
  EXPECT_EQ(times(html, "<summary>as a table</summary>"), 7U);
  EXPECT_TRUE(html.contains("<td>9 s to 10 s</td><td>&gt;= 2 s</td>"));
  EXPECT_EQ(times(html, "<p class=\"note\">10 s: rate 900/s"), 1U);
}

TEST(HtmlReport, ShowsTheStepsOfASearch) {
  run::Report report = run::testing::found_by_search();
  std::string html = to_html(report);
  EXPECT_TRUE(html.contains("<p>1,000/s kept the thresholds, confirmed; 6 steps in 17 s</p>"));
  EXPECT_EQ(times(html, "<tr><td>hold</td><td>1,000/s</td><td>yes</td>"), 3U);
  // Half of the arrivals were under way at the end of the step.
  EXPECT_TRUE(
      html.contains("<tr><td>probe</td><td>2,000/s</td><td>no: p(99) &lt; 25ms: it is 992 "
                    "ms</td><td>1,000/s</td>"));
  EXPECT_EQ(times(html, "<p class=\"note\">1,000/s: the rate that was found</p>"), 2U);
  // The four steps at 1,000/s are one point.
  EXPECT_EQ(times(html, "<tr><td>1,000/s</td>"), 2U);
  EXPECT_FALSE(to_html(judged()).contains("<h2>Steps</h2>"));

  report.search->rate.reset();
  for (run::StepReport& step : report.steps) step.response = {};
  report.steps[0].reason = testing::kHostile;
  report.steps[0].held = false;
  html = to_html(report);
  EXPECT_TRUE(html.contains("<p>no rate kept the thresholds;"));
  EXPECT_FALSE(html.contains("the rate that was found") || html.contains("<script"));
}

TEST(HtmlReport, MarksTheKneeOfACurve) {
  run::Report report = run::testing::latency_curve();
  std::string html = to_html(report);
  EXPECT_TRUE(html.contains("<p>the knee is at 1,000/s; 4 steps in 10 s</p>"));
  EXPECT_EQ(times(html, "<p class=\"note\">1,000/s: the knee</p>"), 2U);
  report.curve = {.knee = {}, .why_not = "no knee up to 4,000/s"};
  html = to_html(report);
  EXPECT_TRUE(html.contains("<p>no knee up to 4,000/s; 4 steps in 10 s</p>"));
  EXPECT_FALSE(html.contains(": the knee"));
}

TEST(HtmlReport, AStepsLowerBoundIsShownAsOne) {
  run::Report report = run::testing::found_by_search();
  report.steps[1].response.record_censored(30s, 1000);
  const std::string html = to_html(report);
  EXPECT_TRUE(html.contains("<td>&gt;= 30 s</td><td>&gt;= 30 s</td></tr>"));
  EXPECT_TRUE(html.contains("orange bound"));
}

}  // namespace
}  // namespace onbeat::report
