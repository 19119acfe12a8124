// A run: connect, warm up, measure, drain, report. One process, one run.
#pragma once

#include "run/adaptive.hpp"
#include "run/host.hpp"
#include "run/load_loop.hpp"
#include "run/report.hpp"
#include "run/thresholds.hpp"
#include "run/workload.hpp"
#include <onbeat/kernel/driver.hpp>
#include <onbeat/kernel/interval.hpp>
#include <onbeat/kernel/rate.hpp>
#include <onbeat/kernel/result.hpp>

#include <atomic>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

namespace onbeat::run {

/// How a rate is searched for, and by what a step is judged.
struct AdaptivePlan {
  AdaptiveOptions options;
  Judging judging;
};

/// Which rates are tried one after another, and by what the generator is judged in each step.
struct CurvePlan {
  std::vector<double> rates;  // rising
  Duration step{};            // the issue window of each
  Judging judging;
};

/// How the load is to be, every default resolved.
struct RunPlan {
  kernel::Model model = kernel::Model::closed;
  kernel::RateProfile profile;
  kernel::Arrivals arrivals = kernel::Arrivals::even;
  std::uint64_t seed = 1;
  std::uint64_t max_requests = UINT64_MAX;
  Duration length = kNoTime;             // kNoTime: only max_requests ends the run
  std::optional<AdaptivePlan> adaptive;  // else the profile is what is wanted
  std::optional<CurvePlan> curve;        // likewise; `length` is that of all its steps
  Duration warmup{};
  kernel::DriverOptions driver;  // workers: of all loops together
  std::uint32_t workers_per_connection = 1;
  std::uint32_t connections = 0;  // opened before t0, over all loops; 0: as needed
  unsigned threads = 1;
  std::vector<int> cpus;  // loop k runs on cpus[k mod size]; empty: anywhere
  bool spin = false;
  Duration drain_limit = std::chrono::seconds(10);
  options::DurationStop at_end = options::DurationStop::wait;
  Duration interval = std::chrono::seconds(1);
  std::uint64_t sample_one_of = 0;  // one of so many arrivals is logged; 0: none

  /// It measures steps, one after another.
  [[nodiscard]] bool in_steps() const { return adaptive || curve; }
};

/// What is run: a protocol, its names, and how a loop's part of it is made.
struct WorkloadSpec {
  std::string kind;                       // "http"
  std::string target;                     // for people, without secrets
  bool local_target = false;              // on this host
  std::vector<std::string> histograms{};  // the workload's own, after "turn" and "connect"
  std::vector<std::string> counters{};    // as Workload::flush() writes them
  std::uint16_t endpoints = 1;
  std::function<std::unique_ptr<Workload>(LoadLoop&)> make;
  kernel::Names* names = nullptr;
  ErrorSamples* samples = nullptr;
};

/// What the recorders of a run record.
[[nodiscard]] kernel::RecorderShape recorder_shape(const RunPlan& plan, const WorkloadSpec& spec);

/// Told of the run as it goes, on the thread that called execute().
class Observer {
 public:
  enum class Stage : std::uint8_t { connecting, warming_up, measuring, draining };
  struct Progress {
    Stage stage = Stage::connecting;
    Duration elapsed{};  // of the stage
    Duration length = kNoTime;
    double planned_rate = 0;  // at this instant; 0 when closed
    std::uint64_t in_flight = 0;
    std::string step{};  // of a search: "step 3, probe at 4,000/s"
  };
  virtual ~Observer() = default;
  /// About ten times a second.
  virtual void on_progress(const Progress& progress) = 0;
  /// Each interval, merged over all loops, with its share of the process's CPU.
  virtual void on_interval(const kernel::Interval& interval, const Progress& progress) = 0;
  /// What the loops have logged since the last time (RunPlan::sample_one_of), loop by loop.
  virtual void on_samples(const std::vector<LoggedSample>& /*samples*/, Instant /*t0*/) {}
};

/// The wall clock, RFC 3339 in UTC with milliseconds: for labels only.
[[nodiscard]] std::string wall_time();

/// Set by a signal handler: 0 none, 1 end in order.
using StopFlag = std::atomic<int>;

/// Runs it and fills everything of the report that was measured: counts, histograms, series,
/// connections, cost, observations. Options, tags, thresholds, verdict and exit code are the
/// caller's. On failure before t0, report.error says why.
[[nodiscard]] Report execute(const RunPlan& plan, const WorkloadSpec& spec, const Host& host,
                             std::vector<AbortWatch>& aborts,
                             const std::vector<Observer*>& observers, const StopFlag& stop);

}  // namespace onbeat::run
