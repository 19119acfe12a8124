#include "report/kept_run.hpp"

#include "report/golden.hpp"
#include "report/json.hpp"
#include "report/ndjson.hpp"
#include "run/figures.hpp"
#include "run/series.hpp"

#include <gtest/gtest.h>

namespace onbeat::report {
namespace {

using namespace std::chrono_literals;
using kernel::Duration;
using kernel::Interval;

/// A run of five intervals of 1 s at 100/s, open. At each boundary 3 requests are in flight and 2
/// wait; the last interval ends them all.
class KeptRunTest : public ::testing::Test {
 protected:
  KeptRunTest() {
    shape_.histograms = {"turn"};
    shape_.counters = {"opened", "open_peak",      "reused", "reopened",
                       "failed", "closed_by_peer", "reset",  "address 127.0.0.1:80"};
    for (int second = 0; second < 5; ++second) intervals_.push_back(interval(second));
    report_ = run::testing::healthy_open();
    report_.issue = 5s;
    report_.drain = 10ms;
    report_.error_samples = {{"reset", "connection reset"}};
    fold(report_, 0);
    report_.observed.in_flight_mean = 3;
    report_.observed.in_flight_samples = 5'000;
    report_.observed.in_flight_error = 0.1;
    report_.breakdown["dns"] = run::testing::always(1ms, 1);
    run::judge(report_, judging());
  }

  static run::Judging judging() { return {.thresholds = {testing::threshold("p(99) < 25ms")}}; }

  Interval interval(int second) {
    const auto ok = names_.codes.id("200"), reset = names_.errors.id("reset");
    Interval interval;
    interval.index = static_cast<std::uint64_t>(second);
    interval.start = std::chrono::seconds(second);
    interval.end = interval.start + 1s;
    kernel::Counts& counts = interval.counts;
    counts.planned = 100;
    counts.started = second == 0 ? 98 : second == 4 ? 102 : 100;
    const std::uint64_t ended = second == 0 ? 95 : second == 4 ? 105 : 100;
    counts.failed = 2;
    counts.ok = ended - 2;
    counts.bytes_sent = 64 * ended;
    interval.response = run::testing::spread(4ms, Duration(20ms) / (second + 1), counts.ok);
    interval.service = run::testing::spread(3ms, 5ms, counts.ok);
    interval.failed = run::testing::always(1ms, 2);
    interval.wait = run::testing::always(0ns, counts.started);
    interval.lag = run::testing::always(20us, counts.started);
    interval.lag_max = Duration(50us) * (second + 1);
    interval.codes.resize(ok + 1u);
    interval.codes[ok] = counts.ok;
    interval.errors.resize(reset + 1u);
    interval.errors[reset] = 2;
    (void)names_.endpoints.id("/");
    interval.endpoints.push_back({.counts = {.ok = counts.ok, .failed = 2},
                                  .response = interval.response,
                                  .service = interval.service,
                                  .failed = interval.failed,
                                  .codes = interval.codes,
                                  .errors = interval.errors});
    interval.endpoints[0].counts.started = ended;
    interval.extra = {run::testing::always(8us, 10)};
    interval.counters = {second == 0 ? 3u : 0u, second == 0 ? 3u : 0u, ended, 1, 0, 1, 0,
                         second == 0 ? 3u : 0u};
    interval.in_flight = second == 4 ? 0 : 3;
    interval.in_flight_max = 7;
    interval.loops = {{.wall = 1s, .cpu = 20ms, .stalled = 0ns, .stalls = 0, .turns = 9}};
    return interval;
  }

  /// The figures of the intervals from `first` on, as a run makes them.
  void fold(run::Report& report, std::size_t first) {
    report.total = {};
    report.series.clear();
    for (std::size_t i = first; i < intervals_.size(); ++i) {
      report.total.merge_next(intervals_[i]);
      report.series.push_back(run::series_row(intervals_[i], true, names_.errors));
    }
    run::name_figures(report, names_, shape_.histograms);
    report.connections = run::connections_of(shape_.counters, report.total, {});
    report.observed.in_flight_peak = report.total.in_flight_max;
    report.observed.busiest_loop = run::busiest_loop(report.total.loops);
  }

  std::string header() {
    run::Report known = report_;
    known.thresholds = {{.metric = "p(99)", .expr = "p(99) < 25ms"}};
    return stream_header(known);
  }
  std::string line(std::size_t i) { return stream_interval(intervals_[i], names_, shape_); }
  std::string whole() {
    std::string text = header();
    for (std::size_t i = 0; i < intervals_.size(); ++i) text += line(i);
    return text + stream_report(report_);
  }

  std::expected<KeptRun, std::string> read(const std::string& text, const Reread& reread = {},
                                           std::vector<options::Output> outs = {}) {
    std::ofstream(scratch_.path("run"), std::ios::binary) << text;
    RunOutputs outputs({.outs = std::move(outs)});
    EXPECT_TRUE(outputs.open().empty());
    auto kept = read_kept_run(scratch_.path("run").string(), reread, outputs);
    if (kept) EXPECT_TRUE(outputs.finish(kept->report).empty());
    return kept;
  }
  std::string refusal(const std::string& text, const Reread& reread = {}) {
    const auto kept = read(text, reread);
    return kept ? "accepted" : kept.error();
  }

  testing::Scratch scratch_;
  kernel::Names names_;
  kernel::RecorderShape shape_;
  std::vector<Interval> intervals_;
  run::Report report_;
};

TEST_F(KeptRunTest, TheReportOfAWholeStreamIsThatOfTheRun) {
  ASSERT_EQ(report_.verdict.checks[0].state, run::Check::State::ok) << "the books of this test";
  for (const std::string& text : {whole(), to_json(report_)}) {
    const auto kept = read(text);
    ASSERT_TRUE(kept) << kept.error();
    EXPECT_EQ(to_json(kept->report), to_json(report_));
    EXPECT_TRUE(kept->notes.empty());
  }
}

TEST_F(KeptRunTest, MergedIntervalsAreTheReport) {
  const auto kept = read(whole(), {.cut = 1ns});  // makes it go by the intervals
  ASSERT_TRUE(kept) << kept.error();
  run::Report expected = report_;
  fold(expected, 1);
  EXPECT_EQ(kept->report.total.response, expected.total.response);
  EXPECT_EQ(kept->report.total.lag, expected.total.lag);
  EXPECT_EQ(kept->report.total.lag_max, 250us);
  EXPECT_EQ(kept->report.codes, expected.codes);
  EXPECT_EQ(kept->report.errors, expected.errors);
  EXPECT_EQ(kept->report.endpoints.at(0).service, expected.endpoints.at(0).service);
  EXPECT_EQ(kept->report.breakdown.at("turn"), expected.breakdown.at("turn"));
  EXPECT_EQ(kept->report.breakdown.at("dns").count(), 1u);
}

TEST_F(KeptRunTest, AnotherCutLeavesOutWholeIntervalsAndSaysSo) {
  const auto kept = read(whole(), {.cut = 1500ms});
  ASSERT_TRUE(kept) << kept.error();
  const run::Report& report = kept->report;
  EXPECT_EQ(report.issue, 3s);
  EXPECT_EQ(report.total.counts.ok, 98u + 98 + 103);
  // 3 were in flight at the cut and 2 waited: they end in what is kept, so they are part of it.
  EXPECT_EQ(report.total.counts.started, 100u + 100 + 102 + 3);
  EXPECT_EQ(report.total.counts.planned, 300u + 5);
  EXPECT_EQ(report.warmup_excluded, 200u - 5);
  EXPECT_EQ(report.verdict.checks[0].actual, "adds up");
  EXPECT_EQ(report.series.size(), 3u);
  EXPECT_EQ(report.series[0].t, 1s);
  EXPECT_TRUE(report.load_text.ends_with(", without the first 2 s (2 whole intervals)"))
      << report.load_text;
  ASSERT_EQ(kept->notes.size(), 1u);
  EXPECT_TRUE(
      kept->notes[0].starts_with("the first 2 s are left out, 2 whole intervals; 5 requests"));
  EXPECT_EQ(report.connections.opened, 3u);
  EXPECT_EQ(report.connections.reopened, 3u);
  EXPECT_EQ(report.observed.in_flight_mean, std::nullopt);
}

TEST_F(KeptRunTest, ACutIsJudgedAgain) {
  run::judge(report_, {.thresholds = {testing::threshold("p(99) < 12ms")}});
  ASSERT_FALSE(report_.thresholds[0].passed);
  std::string text = header();
  text.replace(text.find("< 25ms"), 6, "< 12ms");
  for (std::size_t i = 0; i < 5; ++i) text += line(i);
  const auto kept = read(text + stream_report(report_), {.cut = 1s});
  ASSERT_TRUE(kept) << kept.error();
  ASSERT_EQ(kept->report.thresholds.size(), 1u);
  EXPECT_TRUE(kept->report.thresholds[0].passed) << kept->report.thresholds[0].actual_text;
  EXPECT_EQ(kept->report.exit_code, run::ExitCode::passed);
}

TEST_F(KeptRunTest, OtherPercentilesComeFromTheHistograms) {
  for (const std::string& text : {whole(), to_json(report_)}) {
    const auto kept = read(text, {.percentiles = {42}});
    ASSERT_TRUE(kept) << kept.error();
    EXPECT_EQ(kept->report.percentiles.front(), 42);
    EXPECT_EQ(kept->report.total.response.percentile(42), report_.total.response.percentile(42));
  }
}

TEST_F(KeptRunTest, AStreamThatBreaksOffIsReadUpToThere) {
  const std::string cut_short = line(2).substr(0, 100);
  const auto kept = read(header() + line(0) + line(1) + cut_short);
  ASSERT_TRUE(kept) << kept.error();
  const run::Report& report = kept->report;
  EXPECT_EQ(report.issue, 2s);
  // 3 were in flight and 2 waited: they have left no sample.
  EXPECT_EQ(report.total.counts.planned, 195u);
  EXPECT_EQ(report.total.counts.started, 195u);
  EXPECT_EQ(report.total.counts.ok, 191u);
  EXPECT_EQ(report.verdict.checks[0].actual, "adds up");
  EXPECT_EQ(report.verdict.status, run::Status::degraded);
  EXPECT_EQ(report.verdict.reasons.back().code, "broken_off");
  EXPECT_TRUE(report.thresholds.at(0).passed);
  EXPECT_TRUE(report.load_text.ends_with(", broken off after 2 s")) << report.load_text;
  EXPECT_TRUE(kept->notes.at(0).contains("5 requests")) << kept->notes.at(0);
}

TEST_F(KeptRunTest, TheHdrLogHasWhatIsNotLeftOut) {
  const std::string path = scratch_.path("run.hlog").string();
  ASSERT_TRUE(read(whole(), {.cut = 3s}, {{"hdr-log", path}}));
  const std::string log = testing::read_file(path);
  EXPECT_TRUE(log.contains("\nTag=response,3.000,1.000,"));
  EXPECT_TRUE(log.contains("\nTag=response,4.000,1.000,"));
  EXPECT_FALSE(log.contains("Tag=response,2.000"));
  // A report has no intervals: one line for the whole.
  ASSERT_TRUE(read(to_json(report_), {}, {{"hdr-log", path}}));
  EXPECT_TRUE(testing::read_file(path).contains("\nTag=response,0.000,5.010,"));
}

TEST_F(KeptRunTest, WhatIsWrongIsNamedWithItsLine) {
  EXPECT_EQ(refusal(""), "the file is empty");
  EXPECT_EQ(refusal("{\"type\":\"header\"}\n"), "line 1: schema: is missing");
  EXPECT_EQ(refusal(header() + line(0) + "{\n" + line(1) + line(2)),
            "line 3 is not JSON, and others follow");
  EXPECT_EQ(refusal(header()), "no interval is in the stream");
  EXPECT_EQ(refusal(header() + line(0) + stream_report(report_)),
            "the intervals do not add up to the report: lines are missing");
  EXPECT_EQ(refusal(whole(), {.cut = 1min}), "--cut 1m leaves nothing of a run of 5 s");
  EXPECT_TRUE(refusal(to_json(report_), {.cut = 1s}).starts_with("a report has no histograms"));
  std::string wrong = line(1);
  wrong.replace(wrong.find("\"planned\":100"), 13, "\"planned\":\"a\"");
  EXPECT_EQ(refusal(header() + line(0) + wrong + line(2)),
            "line 3: counts/planned: must be a whole number");
  // Types of lines may be added.
  EXPECT_EQ(refusal(header() + "{\"type\":\"new\"}\n" + whole().substr(header().size())),
            "accepted");
}

TEST_F(KeptRunTest, AFileThatIsNotThereIsNamed) {
  RunOutputs outputs({});
  EXPECT_EQ(read_kept_run("/nonexistent/run", {}, outputs).error(), "No such file or directory");
}

}  // namespace
}  // namespace onbeat::report
