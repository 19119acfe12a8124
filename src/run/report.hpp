// The report of a run as data: what every format is written from. The field names are those of the
// JSON schema onbeat.report/1 (docs/report.schema.json). Durations are ns; absent values are empty
// optionals, never NaN.
#pragma once

#include <onbeat/kernel/histogram.hpp>
#include <onbeat/kernel/interval.hpp>

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace onbeat::run {

using kernel::Duration;
using kernel::Histogram;

/// name -> count in the order of the names.
using NamedCounts = std::map<std::string, std::uint64_t>;

enum class Status : std::uint8_t { valid, degraded, invalid };

/// Exit codes (docs/exit_codes.md). Where several apply, the first of 2, 5, 130, 6, 4, 3, 1.
enum class ExitCode : std::uint8_t {
  passed = 0,
  threshold_failed = 1,
  usage = 2,
  not_trusted = 3,
  unreachable = 4,
  scenario = 5,
  aborted = 6,
  interrupted = 130,
};

struct ErrorInfo {
  std::string klass;  // "dns", "connect_refused", "usage", ...
  std::string message;
  std::string hint;
};

struct OptionValue {
  std::string key, value, source;
};

/// One check of the verdict table. Its name is also the stable code of its reason ("lag_p99").
struct Check {
  /// In the order of gravity, so that the larger of two is the graver.
  enum class State : std::uint8_t { not_applicable, ok, note, degraded, invalid };
  std::string name;
  State state = State::ok;
  std::string actual, limit;  // as text with units; empty when n/a
};

struct Reason {
  std::string code;               // the check's name
  Status status = Status::valid;  // valid: a note
  std::string message;            // one plain sentence
  std::vector<std::string>
      figures;  // "response", "service", "wait", "rates", ...: which figures it touches
  std::string remedy;
};

struct Verdict {
  Status status = Status::valid;
  std::vector<Reason> reasons;
  std::vector<Check> checks;
  /// Figures that are not to be trusted because of the generator or the host (thresholds on them
  /// fail).
  std::vector<std::string> untrusted;
};

struct ThresholdResult {
  std::string metric, expr;
  bool passed = false;
  std::optional<double> actual;  // in the unit of the expression; empty: n/a
  std::string actual_text;
  std::string reason;         // why it failed, or empty
  bool on_untrusted = false;  // it rests on a figure that the verdict does not trust
  bool on_lower_bound =
      false;  // it rests on censored samples, so the true value is at least `actual`
  bool too_few_samples = false;  // fewer than samples_needed() of its percentile
};

struct Endpoint {
  std::string name;
  bool part = false;  // a call of a chain, which has an endpoint of its own: not in the totals
  kernel::Counts counts;
  Histogram response, service, failed;
  Histogram message_gap;  // between the messages of a stream
  NamedCounts codes, errors;
};

struct Connections {
  std::uint64_t asked = 0;  // 0: as needed
  std::uint64_t open_peak = 0, opened = 0, reused = 0, reopened = 0;
  std::uint64_t closed_by_peer = 0, reset = 0, failed = 0;
  NamedCounts by_address;
};

struct ClientCost {
  double cpu_seconds = 0;
  std::optional<double> cpu_us_per_request;
  double cores_used = 0;
  double host_cores = 0;
  std::optional<double> rps_per_core;
  std::uint64_t peak_rss_bytes = 0;
  bool generator_limited = false;
  std::vector<std::string> limits;
};

/// One interval of the run; rows sum to the totals.
struct SeriesRow {
  Duration t{};  // the interval's end since t0
  kernel::Counts counts;
  NamedCounts errors;
  std::optional<Duration> p50, p90, p99, max;  // response (open) or service (closed)
  std::vector<std::string> at_least;           // which of these are lower bounds: "p99", "max"
  Duration lag_max{};
  std::uint64_t in_flight = 0;      // at its end
  std::uint64_t in_flight_max = 0;  // at any time in it, loop by loop
  double cpu_cores = 0;             // used by the loops' threads
  std::vector<std::string> events;
};

/// One step of an adaptive search, or of a latency curve.
struct StepReport {
  std::string kind;  // "probe", "bisect", "hold"; "curve"
  double rate = 0;   // asked for, per second
  bool held = false;
  std::string reason;    // why it did not hold; empty when it did
  bool counted = false;  // the figures of the report come from it
  Duration issue{}, drain{};
  kernel::Counts counts;
  std::uint64_t left_to_drain = 0;  // in flight when the issue window ended
  Histogram response, service, lag;
};

/// What an adaptive search found.
struct SearchReport {
  std::optional<double> rate;  // the highest that kept the thresholds; empty: none did
  bool converged = false;      // confirmed, and within the width of a rate that did not
  std::string shortfall;       // why it has not converged; empty when it has
  std::string generator;       // why the generator could not try a higher rate; empty: it could
  Duration elapsed{};
};

/// What a latency curve shows.
struct CurveReport {
  std::optional<double> knee;  // the rate of the greatest power (run/knee.hpp)
  std::string why_not;         // why there is none within the range; empty with a knee
};

/// One run of a sweep over concurrency.
struct Level {
  std::uint32_t concurrency = 0;
  kernel::Counts counts;
  Duration issue{}, drain{};
  Histogram response, service, failed;
  NamedCounts codes;
};

struct Report {
  std::string version, commit, compiler;
  struct {
    double cores = 0;  // the smaller of affinity and quota
    std::string cpu, kernel;
    std::uint64_t memory_bytes = 0;
  } host;
  std::string id, name, workload, target;
  std::vector<std::pair<std::string, std::string>> tags;
  std::string started_at, ended_at;  // RFC 3339, UTC, ms
  std::string end_reason;            // "duration", "requests", "interrupted", "aborted", "failed"
  std::uint64_t seed = 0;
  ExitCode exit_code = ExitCode::passed;
  std::optional<ErrorInfo> error;  // why there are no figures at all
  std::vector<OptionValue> options;

  bool open = false;
  std::string arrivals;  // "even", "poisson"; empty when closed
  std::string on_late;   // empty when closed
  std::string on_saturation;
  std::uint64_t concurrency = 0, connections_option = 0;
  unsigned threads = 0;   // L, the number of loops
  std::string load_text;  // "open, even, 5,000/s for 30 s": the model in words

  Verdict verdict;
  /// All intervals of the measured part folded into one.
  kernel::Interval total;
  std::uint64_t warmup_excluded = 0;
  Duration issue{}, drain{};
  std::vector<double> percentiles{50, 75, 90, 95, 99, 99.9, 99.99};  // shown and in JSON
  double tail_samples = 10;  // how many samples must lie above a percentile before it is shown
  /// Extra histograms of the run, by name ("connect", "first_byte", "turn").
  std::map<std::string, Histogram> breakdown;
  std::vector<Endpoint> endpoints;
  NamedCounts codes, errors;
  std::map<std::string, std::string> error_samples;  // class -> one message
  Connections connections;
  ClientCost cost;
  /// The request log, when one was asked for (--out samples).
  struct Samples {
    std::uint64_t one_of = 1, kept = 0, dropped = 0;
  };
  std::optional<Samples> samples;
  std::vector<ThresholdResult> thresholds;
  NamedCounts sources;        // of a workload that reads data: lookups of its joins
  std::vector<Level> levels;  // of a sweep; the figures above are of all of them together
  std::vector<SeriesRow> series;
  std::optional<SearchReport> search;  // of an adaptive run
  std::optional<CurveReport> curve;    // of a latency curve
  std::vector<StepReport> steps;       // of either

  // What only the audit needs.
  struct {
    std::optional<double> in_flight_mean;  // sampled over the issue window and drain
    std::uint64_t in_flight_samples = 0;
    std::optional<double> in_flight_error;  // standard error of that mean
    std::uint64_t in_flight_peak = 0;
    double busiest_loop = 0;  // CPU share of a core, over the issue window
    std::optional<double> steal_share;
    std::optional<double> other_load_share;  // CPU of others on the cores of this process
    bool target_on_same_cores = false;
    bool calibration = false;    // the built-in target stood in for the real one
    bool clock_stepped = false;  // the monotonic clock went back, or stood still
    bool aborted = false, interrupted = false;
    Duration wall_minus_monotonic{};  // wall clock steps during the run (only said)
  } observed;
};

/// A count over a window, per second; empty when the window is empty.
[[nodiscard]] std::optional<double> per_second(std::uint64_t count, Duration window);

/// How many samples percentile p (0 to 100) needs before it says anything: tail / (1 - p/100). 1
/// for p = 100 (the max).
[[nodiscard]] std::uint64_t samples_needed(double p, double tail = 10);
/// The percentile, or nothing when the samples are too few for it.
[[nodiscard]] std::optional<Duration> shown_percentile(const Histogram& histogram, double p,
                                                       double tail = 10);
/// The mean within [min, max], so that rounding of the sum never puts it outside; empty without
/// samples.
[[nodiscard]] std::optional<double> mean_of(const Histogram& histogram);

/// The distribution that the headline and a metric without a prefix mean: response when open,
/// service when closed.
[[nodiscard]] const Histogram& headline(const Report& report);
[[nodiscard]] std::string_view headline_name(const Report& report);

[[nodiscard]] std::string_view to_string(Status status) noexcept;
[[nodiscard]] std::string_view to_string(Check::State state) noexcept;

}  // namespace onbeat::run
