// What `bench` says beyond the load: documents, checking, which latencies count.
#pragma once

#include "options/load_options.hpp"
#include "options/settings.hpp"

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace onbeat::options {

enum class AssertMode : std::uint8_t { collect_all, fail_fast, sampled, off };

struct BenchOptions {
  std::vector<std::string> files, exclude;
  std::string tags, skip_tags;
  std::string call, data, proto, address;
  AssertMode assert_mode = AssertMode::collect_all;
  std::uint64_t check_every = 1;   // sampled: every so many iterations
  std::uint64_t record_every = 1;  // 0: no latency is recorded
  std::uint64_t skip_first = 0;
  bool count_errors_in_latency = false;
  bool warmup_dry_run = false;
  Duration connect_timeout = std::chrono::seconds(10);
  Duration keepalive{};  // 0: none
};

struct BuiltBench {
  BenchOptions options;
  std::vector<Problem> errors, warnings;
};

/// Values that their grammar refuses count as not given.
BuiltBench build_bench_options(const Settings& settings);

}  // namespace onbeat::options
