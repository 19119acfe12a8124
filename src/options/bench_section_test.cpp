#include "options/bench_section.hpp"

#include "options/bench_threshold.hpp"
#include "options/fake_surroundings.hpp"
#include "options/gather.hpp"
#include "options/load_options.hpp"

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <string>
#include <vector>

namespace onbeat::options {
namespace {

using namespace std::chrono_literals;

const Command kCommand{.id = kBench, .name = "bench", .most = 9, .fills = "file"};

std::vector<SectionEntry> entries(std::string_view text) {
  std::vector<SectionEntry> result;
  std::size_t line = 2;
  while (!text.empty()) {
    const std::size_t end = std::min(text.find('\n'), text.size());
    const std::string_view one = text.substr(0, end);
    const std::size_t colon = one.find(": ");
    result.push_back({std::string(one.substr(0, colon)), std::string(one.substr(colon + 2)),
                      fmt::format("f:{}:1", ++line)});
    text.remove_prefix(std::min(end + 1, text.size()));
  }
  return result;
}

std::string problems(std::string_view text) {
  std::string result;
  for (const Problem& problem : read_bench_section(entries(text)).problems)
    result += render(problem);
  return result;
}

struct Run {
  std::vector<std::string_view> arguments{};
  std::string section{};
  std::map<std::string, std::string> variables{};
};

Gathered gathered(const Run& run) {
  FakeSurroundings around;
  around.variables = run.variables;
  const BenchSection section = read_bench_section(entries(run.section));
  for (const Problem& problem : section.problems) ADD_FAILURE() << render(problem);
  const Arguments arguments = parse_arguments(kCommand, run.arguments);
  for (const Problem& problem : arguments.problems) ADD_FAILURE() << render(problem);
  return gather_settings(kCommand, arguments, around.make(), {}, &section.layer);
}

LoadOptions built(const Run& run) {
  const Gathered all = gathered(run);
  for (const Problem& problem : all.errors) ADD_FAILURE() << render(problem);
  const BuiltOptions result = build_load_options(kCommand, all.settings);
  for (const Problem& problem : result.errors) ADD_FAILURE() << render(problem);
  return result.options;
}

std::string refusals(const Run& run) {
  std::string text;
  for (const Problem& problem : build_load_options(kCommand, gathered(run).settings).errors)
    text += render(problem);
  return text;
}

std::string source(const LoadOptions& options, std::string_view key) {
  for (const Resolved& row : options.resolved)
    if (row.key == key) return std::string(to_string(row.source));
  return "no row";
}

TEST(BenchSection, EveryProblemAtOnceWithItsPlace) {
  EXPECT_EQ(problems("load_shedule: step\n"
                     "max-rps: 5\n"
                     "duration_stop: bad-mode\n"
                     "sample_rate: abc\n"
                     "sample_rate: 1\n"
                     "p99: 200\n"
                     "thresholds.p(120): <1\n"
                     "thresholds.error_rate_pct: ~120\n"
                     "duration: 5\n"
                     "config: x"),
            "error: f:3:1: unknown key \"load_shedule\"\n  hint: did you mean load_schedule?\n"
            "error: f:4:1: unknown key \"max-rps\"\n  hint: did you mean max_rps?\n"
            "error: f:5:1: duration_stop: not one of wait, close, ignore\n  bad-mode\n  ^\n"
            "error: f:6:1: sample_rate: a number starts with a digit, not with \"a\"\n  abc\n  ^\n"
            "error: f:7:1: \"sample_rate\" is there twice\n  hint: only one of them can count\n"
            "error: f:8:1: unknown key \"p99\"\n  hint: thresholds.latency_ms.p(99): <200\n"
            "error: f:9:1: thresholds.p(120): a percentile lies between 0 and 100\n"
            "  p(120) <1\n    ^\n  hint: for example p(99.9)\n"
            "error: f:10:1: thresholds.error_rate_pct: invalid threshold value: one of < <= > >= "
            "is missing\n  error_rate_pct ~120\n                 ^\n"
            "  hint: thresholds.error_rate_pct: <25\n"
            "error: f:11:1: duration: a duration needs a unit\n  5\n   ^\n  hint: 5s or 5ms\n"
            "error: f:12:1: config does not belong here\n");
  EXPECT_NE(problems("sample_rate: 1.5"), "");
  EXPECT_NE(problems("sample_rate: NaN"), "");
}

TEST(BenchSection, EveryDocumentedKeyIsKnown) {
  EXPECT_EQ(
      problems("profile: load\nmode: closed-loop\nname: x\nconcurrency: 1_000\nconnections: 3\n"
               "requests: 1_000_000\nduration: 0.5m\nmax_duration: 1h\nramp_up: 1s\nwarmup: 1s\n"
               "warmup_mode: dry_run\ncool_down: 1s\nmax_rps: 10_000\nload_schedule: custom\n"
               "load_start: 1.5\nload_step: -2\nload_end: 5\nload_step_duration: 1s\n"
               "load_max_duration: 1s\nload_midpoint: 5\nload_amplitude: 2.5\n"
               "load_frequency: 0.1\nload_spike_target: 5\nload_spike_after: 30\n"
               "load_spike_duration: 1.5\nload_profile: 500ms:10, 10:100\n"
               "concurrency_schedule: line\nconcurrency_start: 1\nconcurrency_end: 5\n"
               "concurrency_step: 2\nconcurrency_step_duration: 1s\nconnect_timeout: 1s\n"
               "request_timeout: 1ms\ncpus: 2\nassert_mode: fail_fast\nno_assert: 1\n"
               "sample_rate: 0.1\nskip_first: 2\ncount_errors_in_latency: 1\n"
               "duration_stop: ignore\nlatency_percentiles: p50,p90, p99.9\n"
               "progress_interval: 1s\nthresholds.latency_ms.p(99): <25\nsources: - file: x.csv"),
      "");
}

TEST(BenchSection, NanosecondsThatLookLikeMilliseconds) {
  const auto warnings = [](std::string_view text) {
    return read_bench_section(entries(text)).warnings;
  };
  ASSERT_EQ(warnings("thresholds.p(95): <25").size(), 1U);
  EXPECT_EQ(warnings("thresholds.p(95): <25")[0].hint,
            "if milliseconds are meant: thresholds.latency_ms.p(95)");
  EXPECT_TRUE(warnings("thresholds.p(95): <25000000").empty());
  EXPECT_TRUE(warnings("thresholds.p(95): <25ms").empty());
  EXPECT_TRUE(warnings("thresholds.latency_ms.p(95): <25").empty());
}

TEST(BenchSection, TheFlagComesFirstAndTheReportSaysSo) {
  const LoadOptions options = built({.arguments = {"-c", "50"},
                                     .section = "concurrency: 20\nload_schedule: step\n"
                                                "load_start: 5\nload_step: 1"});
  EXPECT_EQ(options.concurrency, 50U);
  EXPECT_EQ(source(options, "concurrency"), "cli");
  EXPECT_EQ(source(options, "load_schedule"), "bench_section");
  EXPECT_EQ(source(options, "progress_interval"), "default");
  EXPECT_EQ(
      built({.section = "concurrency: 20", .variables = {{"ONBEAT_CONCURRENCY", "7"}}}).concurrency,
      7U);
  EXPECT_EQ(built({.section = "cpus: 2", .variables = {{"TOKIO_WORKER_THREADS", "7"}}}).threads,
            2U);
  EXPECT_EQ(built({.variables = {{"TOKIO_WORKER_THREADS", "7"}}}).threads, 7U);
}

TEST(BenchSection, ThresholdsOfTheSectionUnlessAFlagSetsSome) {
  const std::string section = "thresholds.p(50): <1s\nthresholds.passed: >=5";
  const LoadOptions own = built({.section = section});
  ASSERT_EQ(own.thresholds.size(), 2U);
  EXPECT_EQ(own.thresholds[1].name, "passed");
  const LoadOptions flag = built({.arguments = {"--threshold", "p99 < 1s"}, .section = section});
  ASSERT_EQ(flag.thresholds.size(), 1U);
  EXPECT_DOUBLE_EQ(flag.thresholds[0].percentile, 99);
}

TEST(BenchSection, LengthOfARun) {
  const LoadOptions usual = built({});
  EXPECT_EQ(usual.requests, 100U);
  EXPECT_EQ(usual.duration, 30s);
  EXPECT_EQ(usual.closed_concurrency, 1U);
  EXPECT_EQ(usual.timeout, 30s);
  const LoadOptions both = built({.section = "requests: 1000\nduration: 10s"});
  EXPECT_EQ(both.requests, 1000U);
  EXPECT_EQ(both.duration, 10s) << "whichever comes first";
  const LoadOptions flag = built({.arguments = {"-n", "1000"}, .section = "duration: 60s"});
  EXPECT_EQ(flag.requests, 1000U);
  EXPECT_FALSE(flag.duration);
  EXPECT_EQ(built({.section = "requests: 5\nmax_duration: 3s"}).duration, 3s);
  EXPECT_EQ(built({.section = "duration: 120s"}).timeout, 120s);
  EXPECT_EQ(built({.section = "duration: 10s\nrequest_timeout: 1ms"}).timeout, 1ms);
}

TEST(BenchSection, Profiles) {
  const LoadOptions stress = built({.arguments = {"--profile", "stress"}});
  EXPECT_EQ(stress.concurrency, 50U);
  EXPECT_EQ(stress.duration, 120s);
  EXPECT_DOUBLE_EQ(stress.rate->profile.rate_at(0s), 10);
  EXPECT_DOUBLE_EQ(stress.rate->profile.rate_at(50s), 260);
  EXPECT_DOUBLE_EQ(stress.rate->profile.rate_at(110s), 500);
  EXPECT_EQ(source(stress, "load_start"), "profile");
  EXPECT_EQ(built({.arguments = {"--profile", "stress", "-c", "3"}}).concurrency, 3U);
  const LoadOptions counted = built({.section = "profile: stress\nrequests: 5000"});
  EXPECT_EQ(counted.requests, 5000U);
  EXPECT_FALSE(counted.duration);
  for (const char* name : {"functional", "load", "spike", "soak"})
    EXPECT_EQ(refusals({.arguments = {"--profile", name}}), "") << name;
}

TEST(BenchSection, Models) {
  EXPECT_EQ(built({.section = "max_rps: 100"}).model, kernel::Model::open);
  EXPECT_EQ(built({.section = "max_rps: 100\nmode: closed"}).model, kernel::Model::paced);
  EXPECT_EQ(built({.section = "max_rps: 0"}).model, kernel::Model::closed);
  EXPECT_EQ(built({.section = "mode: stepping\nload_schedule: line\nload_step: 5"}).model,
            kernel::Model::open);
  EXPECT_NE(refusals({.section = "mode: stepping\nload_schedule: sine\nmax_rps: 5"}), "");
  EXPECT_NE(refusals({.section = "mode: open"}), "");
  EXPECT_NE(refusals({.section = "rate: 5\nmax_rps: 5"}), "");
  EXPECT_DOUBLE_EQ(
      built({.arguments = {"--rate", "7"}, .section = "load_schedule: line\nload_step: 5"})
          .rate->peak,
      7)
      << "a flag in place of a schedule";
  EXPECT_DOUBLE_EQ(built({.arguments = {"--max-rps", "7"},
                          .section = "load_schedule: step\n"
                                     "load_step: 1\nload_end: 9"})
                       .rate->profile.rate_at(0s),
                   7)
      << "keys of one schedule from several sources";
  EXPECT_NE(refusals({.section = "ramp_up: 5s"}), "") << "there is no rate to ramp";
  EXPECT_DOUBLE_EQ(
      built({.arguments = {"--rate", "100", "--ramp-up", "10s"}}).rate->profile.rate_at(5s), 50);
}

TEST(BenchSection, Levels) {
  using Levels = std::vector<std::uint32_t>;
  const auto levels = [](const std::string& section) { return built({.section = section}).levels; };
  EXPECT_EQ(levels("concurrency_schedule: step\nconcurrency_start: 1\nconcurrency_end: 5\n"
                   "concurrency_step: 2"),
            (Levels{1, 3, 5}));
  EXPECT_EQ(levels("concurrency_schedule: line\nconcurrency_start: 1\nconcurrency_end: 3"),
            (Levels{1, 2, 3}));
  EXPECT_EQ(levels("concurrency_schedule: step\nconcurrency_start: 8\nconcurrency_end: 1\n"
                   "concurrency_step: 3"),
            (Levels{8, 5, 2, 1}));
  EXPECT_EQ(levels("concurrency_schedule: step\nconcurrency_start: 2\nconcurrency_end: 9"),
            (Levels{2, 9}));
  EXPECT_EQ(levels("concurrency_schedule: const"), Levels{});
  EXPECT_NE(problems("concurrency_schedule: sine"), "");
  EXPECT_NE(problems("concurrency_start: 0"), "");
  EXPECT_NE(refusals({.section = "concurrency_schedule: line\nconcurrency_end: 100"}), "");
  EXPECT_NE(refusals({.section = "concurrency_end: 100"}), "");
}

TEST(BenchSection, ConnectionsAreNoMoreThanWorkers) {
  EXPECT_NE(refusals({.section = "connections: 3\nconcurrency: 2"}), "");
  EXPECT_NE(problems("connections: 0"), "");
}

TEST(BenchThreshold, EveryMetricInItsUnit) {
  struct Case {
    std::string_view text;
    Measure measure;
    double value;
    ThresholdUnit unit;
  };
  const Case cases[] = {
      {"p(95) <25", Measure::percentile, 25, ThresholdUnit::nanoseconds},
      {"p95 < 25ms", Measure::percentile, 25e6, ThresholdUnit::nanoseconds},
      {"latency_ns.p(95) <25", Measure::percentile, 25, ThresholdUnit::nanoseconds},
      {"latency_ms.p(99.9) <=25", Measure::percentile, 25e6, ThresholdUnit::nanoseconds},
      {"latency_ms.p(95) <1s", Measure::percentile, 1e9, ThresholdUnit::nanoseconds},
      {"avg_ms <1.5", Measure::mean, 1.5e6, ThresholdUnit::nanoseconds},
      {"average_ns <1_000", Measure::mean, 1000, ThresholdUnit::nanoseconds},
      {"fastest_ms >0", Measure::min, 0, ThresholdUnit::nanoseconds},
      {"max_ms <1", Measure::max, 1e6, ThresholdUnit::nanoseconds},
      {"slowest_ns <1", Measure::max, 1, ThresholdUnit::nanoseconds},
      {"total_ns <1m", Measure::total, 60e9, ThresholdUnit::nanoseconds},
      {"count >=5", Measure::count, 5, ThresholdUnit::plain},
      {"ok >5", Measure::named, 5, ThresholdUnit::plain},
      {"failed <=0", Measure::named, 0, ThresholdUnit::plain},
      {"error_rate_pct <5%", Measure::error_rate, 5, ThresholdUnit::percent},
      {"error_rate <5", Measure::error_rate, 5, ThresholdUnit::percent},
      {"pass_rate >99.5", Measure::named, 99.5, ThresholdUnit::percent},
      {"rps >100", Measure::rate, 100, ThresholdUnit::per_second},
      {"throughput >100/s", Measure::rate, 100, ThresholdUnit::per_second},
  };
  for (const Case& c : cases) {
    const auto threshold = parse_bench_threshold(c.text);
    ASSERT_TRUE(threshold) << c.text << ": " << threshold.error().message;
    EXPECT_EQ(threshold->measure, c.measure) << c.text;
    EXPECT_DOUBLE_EQ(threshold->value, c.value) << c.text;
    EXPECT_EQ(threshold->unit, c.unit) << c.text;
    EXPECT_EQ(threshold->text, c.text);
  }
  EXPECT_EQ(parse_bench_threshold("failed <1")->name, "not_passed");
  EXPECT_EQ(parse_bench_threshold("max_ms <1")->latency, Latency::all);
  EXPECT_EQ(parse_bench_threshold("p(99) <1")->latency, Latency::headline);
}

TEST(BenchThreshold, WhatIsWrongSaysSo) {
  const auto refusal = [](std::string_view text) {
    const auto parsed = parse_bench_threshold(text);
    return parsed ? std::string("accepted") : parsed.error().message;
  };
  EXPECT_EQ(refusal("error_rate <abc"),
            "invalid threshold value: the limit starts with a digit, not with \"a\"");
  EXPECT_EQ(refusal("error_rat <5"), "unknown metric \"error_rat\"");
  EXPECT_EQ(refusal("latency_ms.mean <5"), "unknown metric \"latency_ms.mean\"");
  EXPECT_EQ(refusal("count <5ms"), "\"ms\" is no unit of count");
  EXPECT_EQ(refusal("rps <5%"), "\"%\" is no unit of rps");
  EXPECT_EQ(refusal("avg_ms <5%"), "\"%\" is no unit of avg_ms");
  EXPECT_EQ(refusal("error_rate <5s"), "\"s\" is no unit of error_rate");
  EXPECT_EQ(refusal("p(95) 5"), "invalid threshold value: one of < <= > >= is missing");
  EXPECT_EQ(refusal("p(0) <5"), "a percentile lies between 0 and 100");
}

}  // namespace
}  // namespace onbeat::options
