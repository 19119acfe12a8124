#include "cli/load_session.hpp"

#include "cli/console.hpp"
#include "cli/live_view.hpp"
#include "options/format.hpp"
#include "report/json.hpp"
#include "report/text.hpp"
#include "run/levels.hpp"
#include "run/thresholds.hpp"
#include "run/version.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cstdlib>
#include <ctime>
#include <iterator>
#include <optional>
#include <random>

namespace onbeat::cli {
namespace {

using options::Problem;
using run::ExitCode;
using run::Report;

/// A short id that sorts by time: "20260131-142501-3f9a".
std::string run_id() {
  const std::time_t now = std::time(nullptr);
  std::tm utc{};
  gmtime_r(&now, &utc);
  char text[24];
  std::strftime(text, sizeof text, "%Y%m%d-%H%M%S", &utc);
  return fmt::format("{}-{:04x}", text, std::random_device()() & 0xffff);
}

}  // namespace

LoadSession::LoadSession(options::LoadOptions options, run::Host host, std::string kind)
    : options_(std::move(options)), host_(std::move(host)), kind_(std::move(kind)), id_(run_id()) {}

void LoadSession::plan(const run::PlanNeeds& needs, std::vector<Problem>& errors,
                       std::vector<Problem>& warnings) {
  preflight_ = run::make_plan(options_, host_, needs);
  errors.insert(errors.end(), preflight_.errors.begin(), preflight_.errors.end());
  warnings.insert(warnings.end(), preflight_.warnings.begin(), preflight_.warnings.end());
}

void LoadSession::check_endpoints(std::span<const std::string> names,
                                  std::vector<Problem>& errors) const {
  const auto check = [&](const options::Threshold& threshold, const char* where) {
    if (threshold.endpoint.empty() || std::ranges::find(names, threshold.endpoint) != names.end())
      return;
    errors.push_back({.where = where,
                      .message = "the run has no endpoint \"" + threshold.endpoint + "\"",
                      .hint = fmt::format("there are: {}", fmt::join(names, ", ")),
                      .text = {}});
  };
  for (const auto& threshold : options_.thresholds) check(threshold, "--threshold");
  for (const auto& rule : options_.aborts) check(rule.threshold, "--abort-on");
}

void LoadSession::open_outputs(std::vector<Problem>& errors) {
  const char* token = std::getenv("INFLUX_TOKEN");
  outputs_.emplace(report::Asked{.outs = options_.outs,
                                 .stream = options_.stream,
                                 .metrics = options_.metrics,
                                 .influx_token = token == nullptr ? "" : token});
  std::ranges::move(outputs_->check(), std::back_inserter(errors));
  if (!errors.empty() || options_.dry_run || options_.once) return;
  errors = outputs_->open();
  if (options_.metrics && errors.empty() && (!options_.quiet || options_.metrics->port == 0))
    print(stderr, "metrics: " + outputs_->metrics_url() + "\n");
}

Report LoadSession::run(const run::WorkloadSpec& spec) {
  std::vector<run::AbortWatch> aborts;
  for (const options::AbortRule& rule : options_.aborts)
    aborts.emplace_back(rule, options_.model == kernel::Model::open, *spec.names);
  std::vector<run::Observer*> observers;
  LiveView view({.color = use_color(options_.color, stderr),
                 .quiet = options_.quiet,
                 .every = options_.progress_interval});
  observers.push_back(&view);
  observers.push_back(&*outputs_);
  Report known;
  fill_report(known, spec.target);
  for (const options::Threshold& threshold : options_.thresholds)
    known.thresholds.push_back({.metric = threshold.metric, .expr = threshold.text});
  outputs_->begin(known, *spec.names, run::recorder_shape(plan(), spec));
  const run::Judging judging{.thresholds = options_.thresholds,
                             .limits = run::AuditLimits::from(options_.limits),
                             .strict = options_.strict,
                             .allow_invalid = options_.allow_invalid};
  Report report;
  if (options_.levels.empty()) {
    report = run::execute(plan(), spec, host_, aborts, observers, take_signals());
  } else {
    report = run::execute_levels(plan(), {options_.levels, options_.level_duration}, spec, host_,
                                 aborts, observers, take_signals());
  }
  view.finish();
  fill_report(report, spec.target);
  run::judge(report, judging);
  return report;
}

Report LoadSession::failed(const std::string& target, run::ErrorInfo error) {
  Report report;
  report.started_at = report.ended_at = run::wall_time();
  report.end_reason = "failed";
  report.exit_code = ExitCode::unreachable;
  report.error = std::move(error);
  fill_report(report, target);
  return report;
}

std::string LoadSession::resolved(std::string_view key) const {
  const auto option = std::ranges::find(options_.resolved, key, &options::Resolved::key);
  return option == options_.resolved.end() ? "" : option->value;
}

std::string LoadSession::value_of(const options::Resolved& option) const {
  const auto decided = std::ranges::find(preflight_.decided, option.key,
                                         &std::pair<std::string, std::string>::first);
  return option.value.empty() && decided != preflight_.decided.end() ? decided->second
                                                                     : option.value;
}

// What is known without measuring.
void LoadSession::fill_report(Report& report, const std::string& target) const {
  report.version = run::version();
  report.commit = run::commit();
  report.compiler = run::compiler();
  report.host.cores = host_.cores;
  report.host.cpu = host_.cpu;
  report.host.kernel = host_.kernel;
  report.host.memory_bytes = host_.memory_bytes;
  report.id = id_;
  report.name = options_.name;
  report.workload = kind_;
  report.target = target;
  report.tags = options_.tags;
  report.observed.calibration = calibration_;
  report.seed = options_.seed;
  report.open = plan().model == kernel::Model::open;
  if (plan().model != kernel::Model::closed) {
    report.arrivals = plan().arrivals == kernel::Arrivals::even ? "even" : "poisson";
    report.on_late = resolved("on_late");
    report.on_saturation =
        plan().driver.on_saturation == kernel::OnSaturation::queue ? "queue" : "drop";
  }
  report.concurrency = plan().driver.workers;
  report.connections_option = plan().connections;
  report.threads = plan().threads;
  report.load_text = run::load_text(options_, plan());
  for (const double p : options_.percentiles)
    if (std::ranges::find(report.percentiles, p) == report.percentiles.end())
      report.percentiles.push_back(p);
  std::ranges::sort(report.percentiles);
  for (const options::Resolved& option : options_.resolved)
    report.options.push_back(
        {option.key, value_of(option), std::string(options::to_string(option.source))});
}

int LoadSession::finish(const Report& report) {
  int code = static_cast<int>(report.exit_code);
  bool written = true;
  if (options_.stream == "-") {
    // The stream has standard output to itself; its last line is the report.
  } else if (options_.json) {
    written = print(stdout, report::to_json(report));
  } else {
    written = print(
        stdout,
        report::to_text(report, {.color = use_color(options_.color, stdout),
                                 .width = std::max<std::size_t>(terminal_width(stdout), 80)}));
  }
  for (const auto& problem : outputs_->finish(report)) {
    print(stderr, "error: " + problem + "\n");
    written = false;
  }
  // The measurement stands; but a script that waits for a file must learn that it is not there.
  if (!written && code == 0) code = static_cast<int>(ExitCode::usage);
  return code;
}

std::string LoadSession::plan_text() const {
  std::string text = run::load_text(options_, plan()) + "\n";
  if (const auto arrivals = run::planned_arrivals(plan()))
    text += "planned arrivals     " + options::format_count(*arrivals) + "\n";
  if (plan().model == kernel::Model::open) {
    const double peak = plan().profile.peak(
        plan().length == kernel::kNoTime ? plan().profile.shape_length() : plan().length);
    text += fmt::format(
        "expected in flight   rate x response time: at 10 ms {}, at 100 ms {}; the ceiling of {} "
        "is reached at {}\n",
        options::format_number(peak * 0.01, 1), options::format_number(peak * 0.1, 1),
        options::format_count(plan().driver.workers),
        peak > 0 ? options::format_duration(kernel::Duration(
                       static_cast<std::int64_t>(plan().driver.workers / peak * 1e9)))
                 : "n/a");
  } else {
    text += fmt::format("expected in flight   {}\n", options::format_count(plan().driver.workers));
  }
  if (!options_.levels.empty())
    text += fmt::format("levels               {} at once\n", fmt::join(options_.levels, ", "));
  text += fmt::format("connections          {}\n",
                      plan().connections == 0
                          ? "as needed, kept"
                          : options::format_count(plan().connections) + ", opened first");
  text += fmt::format("loops                {}\n", plan().threads);
  return text;
}

std::string LoadSession::options_text() const {
  std::string text =
      fmt::format("host                 {} cores, {} open files, {} local ports, clock {}\n",
                  options::number_text(host_.cores), options::format_count(host_.descriptors),
                  options::format_count(host_.local_ports), host_.clock_source);
  text += "\noption               value (source)\n";
  for (const options::Resolved& option : options_.resolved)
    text += fmt::format("{:<20} {} ({})\n", option.key, value_of(option),
                        options::to_string(option.source));
  return text;
}

}  // namespace onbeat::cli
