// Every format of every report, read by parsers of other projects (testdata/check_formats.py).
#include "report/escape.hpp"
#include "report/golden.hpp"
#include "report/hgrm.hpp"
#include "report/influx.hpp"
#include "report/junit.hpp"
#include "report/markdown.hpp"
#include "report/prometheus.hpp"
#include "report/writer.hpp"

#include <gtest/gtest.h>
#include <nlohmann/json.hpp>
#include <sys/wait.h>

#include <cstdio>

namespace onbeat::report {
namespace {

using Json = nlohmann::json;

run::Report judged() {
  run::Report report = testing::troubled();
  run::judge(report, {.thresholds = {testing::threshold("p(99) < 25ms"),
                                     testing::threshold("error_rate < 5%")}});
  return report;
}

/// A report as it comes out of judging, with hostile labels everywhere.
run::Report hostile_judged() {
  run::Report report = testing::hostile();
  report.exit_code = run::ExitCode::threshold_failed;
  return report;
}

std::string run_checks(const std::filesystem::path& folder, int& status) {
  const std::string command = "/usr/bin/python3 " ONBEAT_SOURCE_DIR
                              "/src/report/testdata/check_formats.py " +
                              folder.string() + " 2>&1";
  FILE* pipe = ::popen(command.c_str(), "r");
  std::string output;
  for (int c = std::fgetc(pipe); c != EOF; c = std::fgetc(pipe)) output += static_cast<char>(c);
  status = WEXITSTATUS(::pclose(pipe));
  return output;
}

void write(const testing::Scratch& scratch, const std::string& name, const run::Report& report) {
  std::vector<options::Output> outputs;
  for (const std::string_view format : kFormats)
    outputs.push_back(
        {std::string(format), scratch.path(name + "." + std::string(format)).string()});
  EXPECT_TRUE(write_outputs(report, outputs).empty());
  const Json expect{{"started", report.total.counts.started},
                    {"headline", run::headline(report).count()},
                    {"exit_code", static_cast<int>(report.exit_code)},
                    {"has_error", report.error.has_value()},
                    {"name", valid_utf8(report.name)}};
  std::ofstream(scratch.path(name + ".expect.json")) << expect.dump();
}

constexpr const char* kNeeds =
    "\n(needs the Debian packages python3-junitparser, python3-markdown-it, "
    "python3-prometheus-client)";

TEST(Formats, C5_C6_OthersParsersReadEveryReport) {
  const testing::Scratch scratch;
  run::Report strict = run::testing::healthy_open();
  strict.observed.steal_share = 0.2;
  strict.options.push_back({"strict", "true", "cli"});
  run::judge(strict, {.strict = true});
  run::Report invalid = run::testing::healthy_open();
  invalid.observed.clock_stepped = true;
  run::judge(invalid, {});
  run::Report allowed = run::testing::healthy_open();
  allowed.observed.clock_stepped = true;
  allowed.options.push_back({"allow_invalid", "true", "cli"});
  run::judge(allowed, {.allow_invalid = true});
  run::Report aborted = run::testing::healthy_closed();
  aborted.observed.aborted = true;
  aborted.end_reason = "aborted";
  run::judge(aborted, {});
  write(scratch, "judged", judged());
  write(scratch, "strict", strict);
  write(scratch, "invalid", invalid);
  write(scratch, "allowed", allowed);
  write(scratch, "aborted", aborted);
  write(scratch, "closed", run::testing::healthy_closed());
  run::Report search = run::testing::found_by_search();
  search.steps[1].reason = testing::kHostile;
  write(scratch, "search", search);
  write(scratch, "curve", run::testing::latency_curve());
  write(scratch, "hostile", hostile_judged());
  write(scratch, "nothing", run::Report{});
  write(scratch, "no_data", run::testing::without_data());
  write(scratch, "hostile_no_data", testing::hostile_without_data());
  int status = -1;
  const std::string output = run_checks(scratch.path(""), status);
  EXPECT_EQ(status, 0) << output << kNeeds;
  EXPECT_EQ(output, "120 checked\n") << kNeeds;
}

TEST(Formats, TheChecksCanFail) {
  const testing::Scratch scratch;
  const run::Report report = judged();
  write(scratch, "broken", report);
  const auto spoil = [&](const char* format, const std::string& from, const std::string& to) {
    const auto path = scratch.path(std::string("broken.") + format);
    std::string text = testing::read_file(path);
    const auto at = text.find(from);
    ASSERT_NE(at, std::string::npos) << format;
    std::ofstream(path) << text.replace(at, from.size(), to);
  };
  spoil("junit", "<failure", "<failed");
  spoil("csv", "interval,", "interval");
  spoil("json", "null", "NaN");
  spoil("prometheus", "\"ok\"", "\"failed\"");
  spoil("gctf-json", "null", "NaN");
  spoil("gctf-prometheus", "grpctestify_bench_count ", "grpctestify_bench_count{ ");
  spoil("markdown", "| requests", "| <b>requests</b>");
  spoil("text", "VALID", "\x1b[31m");
  spoil("html", "<html", "<htm");
  spoil("hgrm", " 4.", " 9.");
  int status = -1;
  const std::string output = run_checks(scratch.path(""), status);
  EXPECT_EQ(status, 1) << output << kNeeds;
  EXPECT_EQ(std::ranges::count(output, '\n'), 11) << output << kNeeds;
}

TEST(Formats, Golden) {
  const run::Report report = judged();
  testing::expect_golden("report.md", to_markdown(report));
  testing::expect_golden("curve.md", to_markdown(run::testing::latency_curve()));
  testing::expect_golden("adaptive.md", to_markdown(run::testing::found_by_search()));
  testing::expect_golden("report.junit.xml", to_junit(report));
  testing::expect_golden("report.hgrm", to_hgrm(report.total.response));
  testing::expect_golden("report.prom", to_prometheus(report));
  testing::expect_golden("report.influx", to_influx(report));
  testing::expect_golden("hostile.influx", to_influx(hostile_judged()));
}

TEST(Formats, WhileARunLastsThereIsNoVerdict) {
  const std::string text = to_prometheus(judged(), Progress::running);
  EXPECT_TRUE(text.contains("onbeat_requests_started_total 10000\n"));
  EXPECT_FALSE(text.contains("verdict"));
  EXPECT_FALSE(text.contains("threshold"));
}

TEST(Formats, AnOpenRunHasAPlotOfEachDistribution) {
  const auto files = hgrm_files(judged(), "/tmp/a.b/run.hgrm");
  ASSERT_EQ(files.size(), 2u);
  EXPECT_EQ(files[0].first, "/tmp/a.b/run.hgrm");
  EXPECT_EQ(files[1].first, "/tmp/a.b/run.service.hgrm");
  EXPECT_EQ(hgrm_files(judged(), "run")[1].first, "run.service");
  EXPECT_EQ(hgrm_files(run::testing::healthy_closed(), "run.hgrm").size(), 1u);
}

}  // namespace
}  // namespace onbeat::report
