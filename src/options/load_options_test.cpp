#include "options/load_options.hpp"

#include "options/arguments.hpp"

#include <gtest/gtest.h>

#include <string>
#include <vector>

namespace onbeat::options {
namespace {

using namespace std::chrono_literals;

BuiltOptions build(std::vector<std::string_view> args) {
  args.insert(args.begin(), "http://u");
  const Command& command = *find_command("http");
  const Arguments parsed = parse_arguments(command, args);
  return build_load_options(command, resolve(kHttp, std::span(&parsed.layer, 1)));
}

std::string lines(const std::vector<Problem>& problems) {
  std::string text;
  for (const Problem& problem : problems) text += problem.where + ": " + problem.message + "\n";
  return text;
}

std::string errors(std::vector<std::string_view> args) {
  return lines(build(std::move(args)).errors);
}
std::string warnings(std::vector<std::string_view> args) {
  return lines(build(std::move(args)).warnings);
}

Resolved resolved(const BuiltOptions& built, std::string_view key) {
  for (const Resolved& row : built.options.resolved) {
    if (row.key == key) return row;
  }
  ADD_FAILURE() << "no row " << key;
  return {};
}

TEST(LoadOptions, DefaultsOfAClosedRun) {
  const BuiltOptions built = build({});
  const LoadOptions& options = built.options;
  EXPECT_EQ(lines(built.errors) + lines(built.warnings), "");
  EXPECT_EQ(options.model, kernel::Model::closed);
  EXPECT_FALSE(options.rate);
  EXPECT_FALSE(options.concurrency);
  EXPECT_FALSE(options.connections);
  EXPECT_FALSE(options.threads);
  EXPECT_FALSE(options.requests);
  EXPECT_EQ(options.duration, 10s);
  EXPECT_EQ(options.warmup, 0s);
  EXPECT_EQ(options.timeout, 30s);
  EXPECT_EQ(options.drain, 10s);
  EXPECT_EQ(options.max_wait, 30s);
  EXPECT_EQ(options.late.on_late, kernel::OnLate::catch_up);
  EXPECT_EQ(options.late_after, 0s);
  EXPECT_EQ(options.catch_up_limit, 1s);
  EXPECT_EQ(options.on_saturation, kernel::OnSaturation::queue);
  EXPECT_EQ(options.queue_limit, UINT64_MAX);
  EXPECT_EQ(options.arrivals, kernel::Arrivals::even);
  EXPECT_EQ(options.seed, 1U);
  EXPECT_EQ(options.color, Color::automatic);
}

TEST(LoadOptions, EverythingIsRead) {
  const BuiltOptions built = build({"--rate",
                                    "500",
                                    "--arrivals",
                                    "poisson",
                                    "-c",
                                    "40",
                                    "--connections",
                                    "20",
                                    "-d",
                                    "20s",
                                    "-n",
                                    "5k",
                                    "--warmup",
                                    "2s",
                                    "--on-late",
                                    "burst:5",
                                    "--catch-up-limit",
                                    "2s",
                                    "--max-wait",
                                    "3s",
                                    "--queue-limit",
                                    "100",
                                    "--timeout",
                                    "4s",
                                    "--drain",
                                    "1s",
                                    "--threads",
                                    "2",
                                    "--spin",
                                    "--cpu-list",
                                    "0-1",
                                    "--seed",
                                    "7",
                                    "--threshold",
                                    "p99 < 5ms",
                                    "--threshold",
                                    "max < 1s",
                                    "--abort-on",
                                    "error_rate > 20% over 5s",
                                    "--limit",
                                    "lag_p99.degraded=2ms",
                                    "--strict",
                                    "--out",
                                    "json=a",
                                    "--out",
                                    "csv=b",
                                    "--stream",
                                    "c",
                                    "--percentiles",
                                    "97",
                                    "--name",
                                    "n",
                                    "--tag",
                                    "k=v",
                                    "--json",
                                    "--quiet",
                                    "--color",
                                    "never",
                                    "--dry-run"});
  const LoadOptions& options = built.options;
  EXPECT_EQ(lines(built.errors) + lines(built.warnings), "");
  EXPECT_EQ(options.model, kernel::Model::open);
  EXPECT_EQ(options.rate->text, "500");
  EXPECT_EQ(options.arrivals, kernel::Arrivals::poisson);
  EXPECT_EQ(options.concurrency, 40U);
  EXPECT_EQ(options.connections, 20U);
  EXPECT_EQ(options.duration, 20s);
  EXPECT_EQ(options.requests, 5000U);
  EXPECT_EQ(options.warmup, 2s);
  EXPECT_EQ(options.late.on_late, kernel::OnLate::burst);
  EXPECT_EQ(options.late.burst, 5U);
  EXPECT_EQ(options.catch_up_limit, 2s);
  EXPECT_EQ(options.max_wait, 3s);
  EXPECT_EQ(options.queue_limit, 100U);
  EXPECT_EQ(options.timeout, 4s);
  EXPECT_EQ(options.drain, 1s);
  EXPECT_EQ(options.threads, 2U);
  EXPECT_TRUE(options.spin);
  EXPECT_EQ(options.cpu_list, (std::vector<unsigned>{0, 1}));
  EXPECT_EQ(options.seed, 7U);
  ASSERT_EQ(options.thresholds.size(), 2U);
  EXPECT_EQ(options.thresholds[1].text, "max < 1s");
  ASSERT_EQ(options.aborts.size(), 1U);
  EXPECT_EQ(options.aborts[0].window, 5s);
  EXPECT_DOUBLE_EQ(options.limits.of("lag_p99.degraded"), 2e6);
  EXPECT_TRUE(options.strict);
  EXPECT_FALSE(options.allow_invalid);
  ASSERT_EQ(options.outs.size(), 2U);
  EXPECT_EQ(options.outs[1].path, "b");
  EXPECT_EQ(options.stream, "c");
  EXPECT_EQ(options.percentiles, std::vector<double>{97});
  EXPECT_EQ(options.name, "n");
  EXPECT_EQ(options.tags, (std::vector<std::pair<std::string, std::string>>{{"k", "v"}}));
  EXPECT_TRUE(options.json && options.quiet && options.dry_run);
  EXPECT_FALSE(options.once);
  EXPECT_EQ(options.color, Color::never);
}

TEST(LoadOptions, TheModelFollowsRateAndMode) {
  EXPECT_EQ(build({"--rate", "5"}).options.model, kernel::Model::open);
  EXPECT_EQ(build({"--rate", "5", "--mode", "open"}).options.model, kernel::Model::open);
  EXPECT_EQ(build({"--rate", "5", "--mode", "closed"}).options.model, kernel::Model::paced);
  EXPECT_EQ(build({"--mode", "closed"}).options.model, kernel::Model::closed);
  EXPECT_EQ(errors({"--mode", "open"}), "--mode: an open run needs --rate\n");
}

TEST(LoadOptions, HowLongTheRunLasts) {
  EXPECT_EQ(build({"--rate", "5"}).options.duration, 10s);
  EXPECT_EQ(build({"--rate", "0..500 over 1m, 500 for 5m"}).options.duration, 6min);
  EXPECT_EQ(build({"--rate", "0..500 over 1m", "-d", "2m"}).options.duration, 2min);
  EXPECT_EQ(build({"--rate", "sine(5, 1, 60s)"}).options.duration, 10s);
  EXPECT_EQ(build({"-n", "5"}).options.duration, std::nullopt);
  EXPECT_EQ(build({"-n", "5", "-d", "1s"}).options.duration, 1s);
  EXPECT_EQ(build({"-n", "5", "--rate", "0..500 over 1m"}).options.duration, std::nullopt);
}

TEST(LoadOptions, WaitAndDrainFollowTheTimeout) {
  EXPECT_EQ(build({"--timeout", "2s"}).options.drain, 2s);
  EXPECT_EQ(build({"--timeout", "20s"}).options.drain, 10s);
  EXPECT_EQ(build({"--rate", "5", "--timeout", "2s"}).options.max_wait, 2s);
}

TEST(LoadOptions, C1_WhatAClosedRunCannotDoIsAnErrorEach) {
  EXPECT_EQ(
      errors({"--arrivals", "even", "--on-late", "skip", "--late-after", "5ms", "--catch-up-limit",
              "2s", "--on-saturation", "drop", "--max-wait", "1s", "--queue-limit", "5", "--spin"}),
      "--arrivals: needs --rate: without one, workers never wait for an arrival\n"
      "--on-late: needs --rate: without one, workers never wait for an arrival\n"
      "--late-after: needs --rate: without one, workers never wait for an arrival\n"
      "--catch-up-limit: needs --rate: without one, workers never wait for an arrival\n"
      "--on-saturation: needs --rate: without one, workers never wait for an arrival\n"
      "--max-wait: needs --rate: without one, workers never wait for an arrival\n"
      "--queue-limit: needs --rate: without one, workers never wait for an arrival\n"
      "--spin: needs --rate: without one, workers never wait for an arrival\n");
  EXPECT_EQ(errors({"--spin=false"}), "");
}

TEST(LoadOptions, C1_WhatContradictsIsAnError) {
  const std::pair<std::vector<std::string_view>, std::string_view> cases[] = {
      {{"--rate", "5", "--mode", "closed", "--on-saturation", "drop"},
       "--on-saturation: drop needs an open run: with --mode closed, arrivals wait for a worker\n"},
      {{"--rate", "5", "--mode", "closed", "--queue-limit", "5"},
       "--queue-limit: needs an open run: with --mode closed, arrivals wait for a worker\n"},
      {{"--rate", "5", "--on-saturation", "drop", "--max-wait", "1s", "--queue-limit", "5"},
       "--max-wait: nothing waits with --on-saturation drop\n"
       "--queue-limit: nothing waits with --on-saturation drop\n"},
      {{"--rate", "5", "--on-late", "skip", "--catch-up-limit", "1s"},
       "--catch-up-limit: nothing is caught up with: --on-late is skip\n"},
      {{"--strict", "--allow-invalid"}, "--strict: contradicts --allow-invalid\n"},
      {{"--once", "--dry-run"}, "--once: contradicts --dry-run, which sends nothing\n"},
      {{"-c", "10", "--connections", "20"},
       "--connections: 20 connections are more than the 10 requests in flight ever need\n"},
      {{"--connections", "20"},
       "--connections: 20 connections are more than the 10 requests in flight ever need\n"},
      {{"--rate", "5", "--connections", "20"}, ""},
      {{"-d", "0"}, "-d: must be longer than 0\n"},
      {{"--timeout", "0s"}, "--timeout: must be longer than 0\n"},
      {{"--rate", "0"}, "--rate: the rate is 0 throughout the run: nothing would be sent\n"},
      {{"--rate", "0 for 20s, 5 for 5s", "-d", "10s"},
       "--rate: the rate is 0 throughout the run: nothing would be sent\n"},
      {{"--rate", "0 for 20s, 5 for 5s"}, ""},
      {{"--out", "json=a", "--out", "csv=a"}, "--out #2: a is written to twice\n"},
      {{"--out", "json=a", "--stream", "a"}, "--stream: a is written to twice\n"},
      {{"--out", "json=/dev/null", "--stream", "/dev/null"}, ""},
      {{"--tag", "a=1", "--tag", "a=2"}, "--tag #2: a is set twice\n"},
      {{"--limit", "steal.degraded=1%", "--limit", "steal.degraded=2%"},
       "--limit #2: steal.degraded is set twice\n"}};
  for (const auto& [args, text] : cases) EXPECT_EQ(errors(args), text) << args[0] << " " << args[1];
}

TEST(LoadOptions, C1_WhatHasNoEffectIsAWarning) {
  EXPECT_EQ(warnings({"--rate", "5", "--late-after", "5ms"}),
            "--late-after: has no effect unless --on-late is skip\n");
  EXPECT_EQ(warnings({"--rate", "5", "--late-after", "5ms", "--on-late", "skip"}), "");
  EXPECT_EQ(warnings({"--rate", "0..500 over 1m", "-d", "30s"}),
            "-d: the run ends after 30s, the rate's shape only after 1m\n");
  EXPECT_EQ(warnings({"--connections", "5"}),
            "--connections: 5 of 10 workers can be busy at once: HTTP/1.1 takes one request a "
            "connection\n");
  EXPECT_EQ(warnings({"--connections", "5", "--pipeline", "2"}), "");
  EXPECT_EQ(warnings({"--abort-on", "error_rate > 1% over 20s"}),
            "--abort-on: a window of 20s is never full in a run of 10s\n");
}

TEST(LoadOptions, ResolvedNamesValueAndSource) {
  const BuiltOptions built =
      build({"--rate", "1k..2k over 90s", "--timeout", "1500ms", "-n", "2k", "--threshold",
             "p99 < 5ms", "--threshold", "max < 1s", "--strict"});
  const auto row = [&](std::string_view key) {
    const Resolved found = resolved(built, key);
    return found.value + " " + std::string(to_string(found.source));
  };
  EXPECT_EQ(row("rate"), "1000..2000 over 1m30s cli");
  EXPECT_EQ(row("timeout"), "1.5s cli");
  EXPECT_EQ(row("max_wait"), "1.5s default");
  EXPECT_EQ(row("drain"), "1.5s default");
  EXPECT_EQ(row("requests"), "2000 cli");
  EXPECT_EQ(row("duration"), "none default");
  EXPECT_EQ(row("threshold"), "p99 < 5ms, max < 1s cli");
  EXPECT_EQ(row("strict"), "true cli");
  EXPECT_EQ(row("allow_invalid"), "false default");
  EXPECT_EQ(row("concurrency"), " default") << "the plan decides";
  EXPECT_EQ(row("method"), "GET default");
  EXPECT_EQ(resolved(build({}), "concurrency").value, "10");
  EXPECT_EQ(resolved(build({}), "duration").value, "10s");
  EXPECT_EQ(resolved(build({"--body", "x"}), "method").value, "POST");
}

TEST(LoadOptions, C8_ResolvedTellsNoSecret) {
  const BuiltOptions built = build({"-H", "Authorization: Bearer s3cret", "-H", "@s.txt", "-H",
                                    "s3cret", "--body", "s3cret=s3cret"});
  EXPECT_EQ(resolved(built, "header").value, "Authorization: ..., @s.txt, ...");
  EXPECT_EQ(resolved(built, "body").value, "(13 bytes)");
  for (const Resolved& row : built.options.resolved) {
    EXPECT_EQ(row.value.find("s3cret"), std::string::npos) << row.key;
  }
}

TEST(LoadOptions, ResolvedHasEveryOptionThatShapesTheRun) {
  std::size_t expected = 0;
  for (const Option& option : options()) {
    const bool target = option.name == "url" || option.name == "curl";
    const bool tells = option.group != Group::general && option.group != Group::trying && !target;
    if ((option.commands & kHttp) != 0 && tells) ++expected;
  }
  EXPECT_EQ(build({}).options.resolved.size(), expected);
}

TEST(LoadOptions, RefusedValuesCountAsNotGiven) {
  const BuiltOptions built = build({"--rate", "x", "-d", "y", "-c", "0", "--threshold", "z"});
  EXPECT_EQ(lines(built.errors), "") << "whoever read them has reported them";
  EXPECT_EQ(built.options.model, kernel::Model::open);
  EXPECT_TRUE(built.options.thresholds.empty());
}

TEST(LoadOptions, AnAdaptiveRun) {
  const BuiltOptions built = build({"--mode", "adaptive", "--threshold", "p(99) < 25ms"});
  EXPECT_EQ(lines(built.errors) + lines(built.warnings), "");
  EXPECT_TRUE(built.options.adaptive);
  EXPECT_EQ(built.options.model, kernel::Model::open);
  EXPECT_EQ(built.options.duration, 60s);
  EXPECT_FALSE(built.options.rate);
  EXPECT_EQ(resolved(built, "rate").value, "") << "the plan decides";
  const BuiltOptions bounded = build({"--mode", "adaptive", "--threshold", "error_rate < 1%",
                                      "--rate", "200", "--max-rate", "5k", "-d", "30s"});
  EXPECT_EQ(lines(bounded.errors) + lines(bounded.warnings), "");
  EXPECT_EQ(bounded.options.max_rate, 5000);
  EXPECT_EQ(bounded.options.duration, 30s);
}

TEST(LoadOptions, WhatAnAdaptiveRunCannotBe) {
  EXPECT_EQ(errors({"--mode", "adaptive"}),
            "--mode: adaptive needs a --threshold that a rate can be too high for\n");
  // A lower bound of the rate is judged at the end; nothing can be searched for with it.
  EXPECT_EQ(errors({"--mode", "adaptive", "--threshold", "rate > 500/s"}),
            "--mode: adaptive needs a --threshold that a rate can be too high for\n");
  const auto with = [](std::vector<std::string_view> more) {
    more.insert(more.begin(), {"--mode", "adaptive", "--threshold", "p99 < 1s"});
    return errors(std::move(more));
  };
  EXPECT_EQ(with({"-n", "100"}),
            "-n: contradicts --mode adaptive: the search takes as many as it needs\n");
  EXPECT_EQ(with({"--rate", "1..5 over 3s"}),
            "--rate: is the first rate of an adaptive run: one number\n");
  EXPECT_EQ(with({"--rate", "500", "--max-rate", "400"}),
            "--max-rate: is lower than the first rate, --rate\n");
  EXPECT_EQ(with({"--max-rate", "0"}), "--max-rate: must be more than 0\n");
  EXPECT_EQ(with({"--once"}), "--mode: adaptive contradicts --once\n");
  EXPECT_EQ(errors({"--max-rate", "5k"}), "--max-rate: needs --mode adaptive\n");
}

}  // namespace
}  // namespace onbeat::options
