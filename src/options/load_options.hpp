// The load options of a run, typed, from its settings, with everything that does not fit together
// found at once. What depends on the host (cores, ports, descriptors) stays empty here: the plan
// fills it in.
#pragma once

#include "options/duration_stop.hpp"
#include "options/http_grammar.hpp"
#include "options/limits.hpp"
#include "options/load_schedule.hpp"
#include "options/on_late.hpp"
#include "options/rate_grammar.hpp"
#include "options/settings.hpp"
#include "options/threshold.hpp"
#include <onbeat/kernel/driver.hpp>
#include <onbeat/kernel/schedule.hpp>

#include <cstdint>
#include <optional>
#include <string>
#include <utility>
#include <vector>

namespace onbeat::options {

enum class Color : std::uint8_t { automatic, always, never };

/// One row of the report's options.
struct Resolved {
  std::string key;
  std::string value;  // empty: the plan decides, and fills it in
  Source source = Source::standard;
};

inline constexpr std::uint32_t kClosedConcurrency = 10;
inline constexpr std::uint64_t kBenchRequests = 100;
inline constexpr Duration kBenchDuration = std::chrono::seconds(30);
inline constexpr std::size_t kMostLevels = 64;

struct LoadOptions {
  std::optional<RateSpec> rate;  // of --rate, or of load_schedule and its keys
  kernel::Model model = kernel::Model::closed;
  bool adaptive = false;           // `rate`, when it is given, is the first one tried
  std::optional<double> max_rate;  // of an adaptive run
  std::vector<double> curve;       // rates, one step of `duration` each; `rate` is the highest
  kernel::Arrivals arrivals = kernel::Arrivals::even;
  std::optional<std::uint32_t> concurrency;
  std::uint32_t closed_concurrency = kClosedConcurrency;  // closed without `concurrency`
  std::optional<std::uint32_t> connections;               // empty: as needed
  /// The issue window; empty: until `requests` have been sent.
  std::optional<Duration> duration;
  std::optional<std::uint64_t> requests;
  Duration warmup{};
  DurationStop duration_stop = DurationStop::wait;
  /// Runs one after another, each at its own concurrency; empty: one run.
  std::vector<std::uint32_t> levels;
  std::optional<Duration> level_duration;  // empty: `duration`

  LatePolicy late;
  Duration late_after{};  // 0: the kernel's default
  Duration catch_up_limit = std::chrono::seconds(1);
  kernel::OnSaturation on_saturation = kernel::OnSaturation::queue;
  Duration max_wait{};
  std::uint64_t queue_limit = UINT64_MAX;
  Duration timeout{};
  Duration drain{};

  std::optional<unsigned> threads;
  bool spin = false;
  std::vector<unsigned> cpu_list;  // empty: not pinned
  std::uint64_t seed = 1;

  std::vector<Threshold> thresholds;
  std::vector<AbortRule> aborts;
  Limits limits;
  bool strict = false, allow_invalid = false;

  std::vector<Output> outs;
  std::string stream;  // path; empty: none
  std::optional<ListenAddress> metrics;
  std::vector<double> percentiles;  // beside the usual ones
  std::string name;
  Duration progress_interval{};
  std::vector<std::pair<std::string, std::string>> tags;
  bool json = false, quiet = false;
  Color color = Color::automatic;
  bool once = false, dry_run = false, calibrate = false;

  /// Every option of the command but --help and the like, in the table's order; secrets left out.
  std::vector<Resolved> resolved;
};

inline constexpr Duration kStandardDuration = std::chrono::seconds(10);
inline constexpr Duration kStandardSearch = std::chrono::seconds(60);
inline constexpr Duration kStandardStep = std::chrono::seconds(5);
inline constexpr std::size_t kStandardSteps = 8;
inline constexpr Duration kStandardTimeout = std::chrono::seconds(30);
inline constexpr Duration kLongestStandardDrain = std::chrono::seconds(10);

struct BuiltOptions {
  LoadOptions options;  // of use only without errors
  std::vector<Problem> errors;
  std::vector<Problem> warnings;
};

/// The workers of a closed run that says nothing of them.
[[nodiscard]] constexpr std::uint32_t closed_concurrency(CommandSet command) {
  return command == kBench ? 1 : kClosedConcurrency;
}

/// Values that their grammar refuses count as not given: whoever read them has reported them.
BuiltOptions build_load_options(const Command& command, const Settings& settings,
                                const Vocabulary& vocabulary = {});

}  // namespace onbeat::options
