#include "options/bench_options.hpp"

#include <cmath>

namespace onbeat::options {
namespace {

constexpr std::uint64_t kSampledEvery = 10;

/// 0.1: every tenth. 0: none.
std::uint64_t stride(double share) {
  return share <= 0 ? 0 : static_cast<std::uint64_t>(std::llround(1 / share));
}

}  // namespace

BuiltBench build_bench_options(const Settings& settings) {
  BuiltBench built;
  BenchOptions& options = built.options;
  options.files = settings.all("file");
  options.exclude = settings.all("exclude");
  options.tags = settings.text("tags");
  options.skip_tags = settings.text("skip-tags");
  options.call = settings.text("call");
  options.data = settings.text("data");
  options.proto = settings.text("proto");
  options.address = settings.text("address");
  if (options.call.empty()) {
    for (const std::string_view name : {"data", "proto"}) {
      if (settings.has(name))
        built.errors.push_back({settings.find(name)->origins.back(),
                                "needs --call",
                                "a document has its own message and descriptors",
                                {},
                                0});
    }
  }

  const std::string mode = settings.text("assert-mode");
  if (mode == "fail_fast") options.assert_mode = AssertMode::fail_fast;
  if (mode == "sampled") options.assert_mode = AssertMode::sampled;
  if (mode == "off" || mode == "skip" || settings.flag("no-assert"))
    options.assert_mode = AssertMode::off;
  if (settings.flag("no-assert") && settings.has("assert-mode") && mode != "off" &&
      mode != "skip" && settings.source("assert-mode") == settings.source("no-assert")) {
    built.errors.push_back({settings.find("no-assert")->origins.back(),
                            "contradicts assert_mode " + mode,
                            "leave one of them out",
                            {},
                            0});
  }
  const auto share = settings.has("sample-rate") ? parse_share(settings.text("sample-rate"))
                                                 : Parsing<double>(1.0);
  options.record_every = stride(share.value_or(1.0));
  if (options.assert_mode == AssertMode::sampled)
    options.check_every = settings.has("sample-rate") ? options.record_every : kSampledEvery;
  if (options.assert_mode == AssertMode::sampled && options.check_every == 0)
    options.assert_mode = AssertMode::off;
  if (const auto skip = parse_count(settings.text("skip-first")); skip) options.skip_first = *skip;
  options.count_errors_in_latency = settings.text("count-errors-in-latency") == "true";
  options.warmup_dry_run = settings.text("warmup-mode") == "dry_run";
  if (const auto time = parse_duration(settings.text("connect-timeout")); time)
    options.connect_timeout = *time;
  if (const auto time = parse_duration(settings.text("keepalive")); time) options.keepalive = *time;
  return built;
}

}  // namespace onbeat::options
