#include "run/plan.hpp"

#include "options/format.hpp"
#include <onbeat/kernel/schedule.hpp>

#include <algorithm>
#include <cmath>

namespace onbeat::run {
namespace {

using kernel::Model;
using options::Problem;

constexpr std::uint32_t kOpenCeiling = 10'000;
/// Descriptors that are not connections: loops, files, standard streams.
constexpr std::uint64_t kOwnDescriptors = 64;
constexpr Duration kTimeoutGrace = std::chrono::milliseconds(50);  // timers are coarse
/// Unless asked for more: connections that many workers share.
constexpr std::uint64_t kMostSharedConnections = 8;
constexpr double kUnitsPerThread = 100'000;
/// Of a step of a search, where no percentile asks for more.
constexpr std::uint64_t kLeastSamples = 100;

/// How many connections at once the host allows to this target.
std::uint64_t possible_connections(const Host& host, const PlanNeeds& needs) {
  std::uint64_t most = host.descriptors > kOwnDescriptors ? host.descriptors - kOwnDescriptors : 1;
  if (needs.local_ports && host.local_ports != 0)
    most =
        std::min(most, std::uint64_t{host.local_ports} * std::max<std::size_t>(needs.addresses, 1));
  return most;
}

unsigned choose_threads(const options::LoadOptions& options, const Host& host,
                        const RunPlan& plan) {
  const auto cores = static_cast<unsigned>(std::max(std::floor(host.cores), 1.0));
  unsigned threads = 0;
  if (options.threads) {
    threads = *options.threads;
  } else if (plan.model == Model::closed || (options.adaptive && !options.max_rate)) {
    threads = std::max(cores / 2, 1U);
  } else {
    const Duration until = plan.length == kNoTime ? plan.profile.shape_length() : plan.length;
    const double peak = options.adaptive ? *options.max_rate : plan.profile.peak(until);
    threads =
        std::min(static_cast<unsigned>(std::min(std::ceil(peak / kUnitsPerThread), 1024.0)), cores);
  }
  threads = std::clamp(threads, 1U, plan.driver.workers);
  return plan.connections == 0 ? threads : std::min(threads, plan.connections);
}

// What is searched for, and judged step by step: the thresholds that a rate can be too high for.
// The others are judged at the end alone.
AdaptivePlan make_search(const options::LoadOptions& options) {
  AdaptivePlan plan;
  plan.judging.limits = AuditLimits::from(options.limits);
  AdaptiveOptions& search = plan.options;
  search.samples = kLeastSamples;
  for (const options::Threshold& threshold : options.thresholds) {
    if (!threshold.limits_rate()) continue;
    plan.judging.thresholds.push_back(threshold);
    if (threshold.measure == options::Measure::percentile)
      search.samples = std::max(
          search.samples, samples_needed(threshold.percentile, plan.judging.limits.tail_samples));
  }
  search.budget = options.duration.value_or(options::kStandardSearch);
  search.highest = options.max_rate.value_or(options::kHighestRate);
  search.first = options.rate ? options.rate->peak : first_rate(search.samples);
  search.first = std::min(search.first, search.highest);
  return plan;
}

}  // namespace

Preflight make_plan(const options::LoadOptions& options, const Host& host, const PlanNeeds& needs) {
  Preflight result;
  RunPlan& plan = result.plan;
  plan.model = options.model;
  if (options.rate) plan.profile = options.rate->profile;
  if (options.adaptive) {
    plan.adaptive = make_search(options);
    plan.profile = kernel::RateProfile::constant(plan.adaptive->options.first);
  }
  if (!options.curve.empty()) {
    plan.curve = {.rates = options.curve,
                  .step = options.duration.value_or(options::kStandardStep),
                  .judging = {}};
    plan.curve->judging.limits = AuditLimits::from(options.limits);
  }
  plan.arrivals = options.arrivals;
  plan.seed = options.seed;
  if (options.requests) plan.max_requests = *options.requests;
  if (options.duration) plan.length = *options.duration;
  if (plan.curve)
    plan.length = plan.curve->step * static_cast<std::int64_t>(plan.curve->rates.size());
  plan.warmup = options.warmup;
  plan.spin = options.spin;
  for (const options::Output& output : options.outs)
    if (output.format == "samples") plan.sample_one_of = output.one_of;
  plan.cpus.assign(options.cpu_list.begin(), options.cpu_list.end());
  plan.drain_limit = options.drain;
  // What started last is to end by its own timeout, not by the end of the drain at the same moment.
  if (options.drain == options.timeout) plan.drain_limit += kTimeoutGrace;
  plan.at_end = options.duration_stop;

  kernel::DriverOptions& driver = plan.driver;
  driver.model = options.model;
  driver.on_late = options.late.on_late;
  driver.burst = options.late.burst;
  driver.late_after = options.late_after;
  driver.catch_up_limit = options.catch_up_limit;
  driver.on_saturation = options.on_saturation;
  driver.max_wait = options.max_wait;
  driver.queue_limit = options.queue_limit;

  const std::uint64_t possible = possible_connections(host, needs);
  const bool open = options.model == Model::open;
  std::uint64_t workers = 0;
  if (options.concurrency) {
    workers = *options.concurrency;
  } else {
    workers = open ? std::min<std::uint64_t>(kOpenCeiling, possible) : options.closed_concurrency;
    if (options.connections && (needs.connection_per_worker || needs.units_asked)) {
      workers = std::uint64_t{*options.connections} * needs.units_per_connection;
    } else if (options.connections) {
      workers = std::max<std::uint64_t>(workers, *options.connections);
    }
  }
  std::optional<std::uint32_t> connections = options.connections;
  if (!connections && needs.few_connections) {
    const auto cores = static_cast<std::uint64_t>(std::max(host.cores, 1.0));
    connections = static_cast<std::uint32_t>(
        std::max<std::uint64_t>(std::min({workers, cores, kMostSharedConnections}), 1));
  }
  if (connections) plan.connections = *connections;
  const std::uint64_t each = needs.units_per_connection;
  if (needs.connection_per_worker) {
    plan.workers_per_connection = needs.units_per_connection;
    if (connections) workers = std::min(workers, *connections * each);
  } else if (connections && *connections * each < workers && needs.units_asked) {
    result.warnings.push_back({.where = "--streams",
                               .message = options::format_count(*connections * each) + " of " +
                                          options::format_count(workers) +
                                          " workers can be busy at once",
                               .hint = "more --connections or --streams",
                               .text = {}});
  }
  // A connection of its own for so many, or as many as were asked for to be shared.
  const std::uint64_t wanted =
      needs.connection_per_worker || !connections ? (workers + each - 1) / each : *connections;
  if (!open) plan.connections = static_cast<std::uint32_t>(wanted);
  if (wanted > possible) {
    result.errors.push_back(
        {.where = "--concurrency",
         .message = options::format_count(wanted) +
                    " connections to the target are more than this host allows: " +
                    options::format_count(possible),
         .hint = "the limit of open files is " + options::format_count(host.descriptors) +
                 " (ulimit -n), and there are " + options::format_count(host.local_ports) +
                 " local ports for each address of the target (net.ipv4.ip_local_port_range)",
         .text = {}});
    workers = possible * each;
  }
  driver.workers = static_cast<std::uint32_t>(std::max<std::uint64_t>(workers, 1));
  plan.threads = choose_threads(options, host, plan);

  for (const int cpu : plan.cpus)
    if (!host.affinity.empty() && std::ranges::find(host.affinity, cpu) == host.affinity.end())
      result.errors.push_back({.where = "--cpu-list",
                               .message = "CPU " + std::to_string(cpu) +
                                          " is not among those that this process may use",
                               .hint = {},
                               .text = {}});
  if (plan.threads > host.cores)
    result.warnings.push_back({.where = "--threads",
                               .message = std::to_string(plan.threads) + " loops on " +
                                          options::number_text(host.cores) +
                                          " cores: they will wait for each other",
                               .hint = "at most one loop a core",
                               .text = {}});
  result.decided = {
      {"concurrency", std::to_string(driver.workers)},
      {"connections", plan.connections == 0 ? "as needed" : std::to_string(plan.connections)},
      {"threads", std::to_string(plan.threads)}};
  if (plan.adaptive)
    result.decided.emplace_back("rate", options::rate_text(plan.adaptive->options.first));
  return result;
}

std::string load_text(const options::LoadOptions& options, const RunPlan& plan) {
  std::string text;
  if (plan.adaptive)
    return std::string("adaptive, ") +
           (plan.arrivals == kernel::Arrivals::even ? "even" : "Poisson") + ", within " +
           options::format_duration(plan.length);
  if (plan.curve)
    return std::string("latency curve, ") +
           (plan.arrivals == kernel::Arrivals::even ? "even" : "Poisson") + ", " +
           options::format_count(plan.curve->rates.size()) + " rates from " +
           options::format_rate(plan.curve->rates.front()) + " to " +
           options::format_rate(plan.curve->rates.back()) + ", " +
           options::format_duration(plan.curve->step) + " each";
  switch (plan.model) {
    case Model::closed:
      text = "closed, " + options::format_count(plan.driver.workers) + " at once";
      break;
    case Model::paced:
      text = "closed at a rate, " + options::format_count(plan.driver.workers) + " at once";
      break;
    case Model::open:
      text = plan.arrivals == kernel::Arrivals::even ? "open, even" : "open, Poisson";
      break;
  }
  if (options.rate)
    text += ", " + (options.rate->constant ? options::format_rate(options.rate->peak)
                                           : options.rate->text);
  if (plan.max_requests != UINT64_MAX)
    text += ", " + options::format_count(plan.max_requests) + " requests";
  if (plan.length != kNoTime)
    text += (plan.max_requests != UINT64_MAX ? ", at most " : " for ") +
            options::format_duration(plan.length);
  return text;
}

std::optional<std::uint64_t> planned_arrivals(const RunPlan& plan) {
  if (plan.in_steps()) return std::nullopt;
  if (plan.model == Model::closed)
    return plan.max_requests == UINT64_MAX ? std::nullopt : std::optional(plan.max_requests);
  return kernel::planned_arrivals({.profile = plan.profile,
                                   .arrivals = plan.arrivals,
                                   .seed = plan.seed,
                                   .share = 0,
                                   .of = 1,
                                   .max_arrivals = plan.max_requests,
                                   .length = plan.length});
}

}  // namespace onbeat::run
