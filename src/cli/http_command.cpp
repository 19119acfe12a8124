#include "cli/http_command.hpp"

#include "bench/http_load.hpp"
#include "bench/http_plan.hpp"
#include "cli/console.hpp"
#include "cli/live_view.hpp"
#include "cli/once.hpp"
#include "options/format.hpp"
#include "options/http_options.hpp"
#include "options/load_options.hpp"
#include "options/surroundings.hpp"
#include "report/json.hpp"
#include "report/run_outputs.hpp"
#include "report/text.hpp"
#include "run/plan.hpp"
#include "run/redact.hpp"
#include "run/run.hpp"
#include "run/thresholds.hpp"
#include "run/version.hpp"
#include "target/target_process.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cstdio>
#include <ctime>
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

/// The classes of errors of an HTTP run, for error(...) in thresholds.
const auto kErrorClasses = [] {
  constexpr std::array others{"template_absent_value", "template_forbidden_byte", "data_ended",
                              "data_changed", "data_unreadable"};
  std::array<std::string_view, net::kNetErrors - 1 + others.size()> classes{};
  for (int i = 1; i < net::kNetErrors; ++i)
    classes[static_cast<std::size_t>(i - 1)] = net::to_string(static_cast<net::NetError>(i));
  std::copy(others.begin(), others.end(), classes.begin() + net::kNetErrors - 1);
  return classes;
}();

/// As the report and thresholds call it.
std::string endpoint_name(const options::HttpEndpoint& endpoint) {
  return endpoint.name.empty() ? run::redact_url(endpoint.url) : endpoint.name;
}

/// One invocation: what was asked for, and the host it is asked of.
class HttpCommand {
 public:
  HttpCommand(const options::Command& command, const options::Settings& settings)
      : command_(command), settings_(settings) {}

  int run();

 private:
  bool prepare();
  run::PlanNeeds plan_needs(std::size_t addresses) const;
  void calibrate(options::HttpOptions& http, std::vector<Problem>& errors);
  [[nodiscard]] std::vector<Problem> not_in_curl(const options::HttpOptions& http) const;
  void check_endpoints(const options::HttpOptions& http, std::vector<Problem>& errors) const;
  void open_outputs(std::vector<Problem>& errors);
  int dry_run();
  void fill_report(Report& report);
  int finish(Report report);
  std::string plan_text() const;
  std::string resolved(std::string_view key) const;

  const options::Command& command_;
  const options::Settings& settings_;
  options::LoadOptions options_;
  run::Host host_;
  bench::HttpTarget target_;
  run::Preflight preflight_;
  std::string name_error_, curl_;
  bool print_curl_ = false;
  std::string id_ = run_id();
  std::optional<report::RunOutputs> outputs_;
  std::unique_ptr<target::TargetProcess> built_in_;  // --calibrate
};

// A threshold on an endpoint that the run does not have would only be found out at its end.
void HttpCommand::check_endpoints(const options::HttpOptions& http,
                                  std::vector<Problem>& errors) const {
  const auto check = [&](const options::Threshold& threshold, const char* where) {
    const bool known = threshold.endpoint.empty() ||
                       std::ranges::any_of(http.endpoints, [&](const auto& endpoint) {
                         return threshold.endpoint == endpoint_name(endpoint);
                       });
    if (known) return;
    std::string names;
    for (const auto& endpoint : http.endpoints)
      names += (names.empty() ? "" : ", ") + endpoint_name(endpoint);
    errors.push_back({.where = where,
                      .message = "the run has no endpoint \"" + threshold.endpoint + "\"",
                      .hint = "there are: " + names,
                      .text = {}});
  };
  for (const auto& threshold : options_.thresholds) check(threshold, "--threshold");
  for (const auto& rule : options_.aborts) check(rule.threshold, "--abort-on");
}

// Sends everything to the built-in target.
void HttpCommand::calibrate(options::HttpOptions& http, std::vector<Problem>& errors) {
  for (const options::HttpEndpoint& endpoint : http.endpoints)
    if (endpoint.url.starts_with("https:"))
      errors.push_back({.where = endpoint.origin,
                        .message = "--calibrate is without TLS",
                        .hint = "http://",
                        .text = {}});
  if (!errors.empty() || options_.dry_run) return;
  auto started = target::TargetProcess::start({}, options_.cpu_list);
  if (!started) {
    errors.push_back({.where = "--calibrate", .message = started.error(), .hint = {}, .text = {}});
    return;
  }
  built_in_ = *std::move(started);
  http.connect_to = {{.to_host = "127.0.0.1", .to_port = built_in_->address().port()}};
}

// What the printed command does not hold.
std::vector<Problem> HttpCommand::not_in_curl(const options::HttpOptions& http) const {
  std::vector<Problem> warnings;
  const auto warn = [&warnings](std::string message) {
    warnings.push_back(
        {.where = "--print-curl", .message = std::move(message), .hint = {}, .text = {}});
  };
  if (http.endpoints.size() > 1)
    warn(fmt::format("the first of {} requests", options::format_count(http.endpoints.size())));
  if (curl_.contains("{{")) warn("templates stand as they are written");
  for (const std::string& name : options::without_curl(settings_))
    warn("curl has nothing like " + name);
  return warnings;
}

// Reads everything, and shows everything that is wrong with it.
bool HttpCommand::prepare() {
  auto built = options::build_load_options(command_, settings_, http_vocabulary());
  auto http = options::build_http_options(settings_, options::system_surroundings());
  std::vector<Problem> errors = std::move(built.errors);
  errors.insert(errors.end(), http.errors.begin(), http.errors.end());
  std::vector<Problem> warnings = std::move(built.warnings);
  warnings.insert(warnings.end(), http.warnings.begin(), http.warnings.end());
  options_ = std::move(built.options);
  print_curl_ = http.options.print_curl;
  if (print_curl_ && errors.empty()) {
    curl_ = options::curl_text(http.options, http.options.endpoints.front());
    if (!options_.quiet) show(not_in_curl(http.options), "warning");
    return true;
  }
  if (options_.calibrate) calibrate(http.options, errors);
  target_ = bench::make_http_target(http.options, options_.seed, errors);
  if (built_in_) target_.text = built_in_->text();
  target_.plan.timeout = options_.timeout;
  warnings.insert(warnings.end(), target_.warnings.begin(), target_.warnings.end());
  host_ = run::read_host();
  if (errors.empty()) {
    if (auto resolved = bench::resolve_origins(target_); !resolved) name_error_ = resolved.error();
    std::size_t addresses = 0;
    for (const auto& origin : target_.plan.origins) addresses += origin.addresses.size();
    if (name_error_.empty() && !options_.dry_run) bench::choose_versions(target_);
    preflight_ = run::make_plan(options_, host_, plan_needs(addresses));
    target_.plan.connections = preflight_.plan.connections;
    target_.plan.loops = preflight_.plan.threads;
    if (name_error_.empty()) bench::make_http2_requests(target_.plan);
    errors = preflight_.errors;
    warnings.insert(warnings.end(), preflight_.warnings.begin(), preflight_.warnings.end());
  }
  check_endpoints(http.options, errors);
  open_outputs(errors);
  show(errors);
  if (!errors.empty()) return false;
  if (!options_.quiet) show(warnings, "warning");
  return true;
}

// HTTP/1.1: connections of one worker, or of --pipeline. HTTP/2: shared by all.
run::PlanNeeds HttpCommand::plan_needs(std::size_t addresses) const {
  const options::HttpOptions& http = target_.plan.options;
  run::PlanNeeds needs{.units_per_connection = http.pipeline,
                       .addresses = addresses,
                       .local_ports = http.unix_socket.empty()};
  const bool shared = std::ranges::any_of(target_.plan.origins, &bench::HttpOrigin::http2);
  if (!shared) return needs;
  needs.connection_per_worker = false;
  needs.units_asked = http.http2.streams.has_value();
  needs.units_per_connection = http.http2.streams.value_or(bench::kStreamsAConnection);
  return needs;
}

void HttpCommand::open_outputs(std::vector<Problem>& errors) {
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

int HttpCommand::run() {
  if (!prepare()) return static_cast<int>(ExitCode::usage);
  if (print_curl_) return print(stdout, curl_ + "\n") ? 0 : static_cast<int>(ExitCode::usage);
  if (options_.dry_run) return dry_run();
  Report report;
  if (!name_error_.empty()) {
    report.started_at = report.ended_at = run::wall_time();
    report.end_reason = "failed";
    report.exit_code = ExitCode::unreachable;
    report.error = run::ErrorInfo{"dns", name_error_, "see that the host's name is right"};
    fill_report(report);
    return finish(std::move(report));
  }
  if (options_.once) return once(target_, options_.timeout);

  kernel::Names names;
  run::ErrorSamples samples;
  target_.plan.names = &names;
  target_.plan.samples = &samples;
  const auto& endpoints = target_.plan.options.endpoints;
  for (std::size_t i = 0; i < endpoints.size(); ++i)
    target_.plan.items[i].endpoint = names.endpoints.id(endpoint_name(endpoints[i]));

  const run::WorkloadSpec spec{
      .kind = "http",
      .target = target_.text,
      .local_target = target_.local,
      .histograms = {bench::kHttpHistograms.begin(), bench::kHttpHistograms.end()},
      .counters = target_.plan.counters(),
      .endpoints =
          static_cast<std::uint16_t>(std::min<std::size_t>(names.endpoints.names().size(), 100)),
      .make =
          [this](run::LoadLoop& load) {
            return std::make_unique<bench::HttpWorkload>(load, target_.plan);
          },
      .names = &names,
      .samples = &samples};
  std::vector<run::AbortWatch> aborts;
  for (const options::AbortRule& rule : options_.aborts)
    aborts.emplace_back(rule, options_.model == kernel::Model::open, names);

  std::vector<run::Observer*> observers;
  LiveView view({.color = use_color(options_.color, stderr), .quiet = options_.quiet});
  observers.push_back(&view);
  observers.push_back(&*outputs_);
  fill_report(report);
  for (const options::Threshold& threshold : options_.thresholds)
    report.thresholds.push_back({.metric = threshold.metric, .expr = threshold.text});
  outputs_->begin(report, names, run::recorder_shape(preflight_.plan, spec));
  report = run::execute(preflight_.plan, spec, host_, aborts, observers, take_signals());
  view.finish();
  fill_report(report);
  if (target_.resolving) report.breakdown["dns"].record(*target_.resolving);
  report.observed.calibration = built_in_ != nullptr;
  run::judge(report, {.thresholds = options_.thresholds,
                      .limits = run::AuditLimits::from(options_.limits),
                      .strict = options_.strict,
                      .allow_invalid = options_.allow_invalid});
  return finish(std::move(report));
}

std::string HttpCommand::resolved(std::string_view key) const {
  const auto option = std::ranges::find(options_.resolved, key, &options::Resolved::key);
  return option == options_.resolved.end() ? "" : option->value;
}

// What is known without measuring.
void HttpCommand::fill_report(Report& report) {
  const run::RunPlan& plan = preflight_.plan;
  report.version = run::version();
  report.commit = run::commit();
  report.compiler = run::compiler();
  report.host.cores = host_.cores;
  report.host.cpu = host_.cpu;
  report.host.kernel = host_.kernel;
  report.host.memory_bytes = host_.memory_bytes;
  report.id = id_;
  report.name = options_.name;
  report.workload = "http";
  report.target = target_.text;
  report.tags = options_.tags;
  report.seed = options_.seed;
  report.open = plan.model == kernel::Model::open;
  if (plan.model != kernel::Model::closed) {
    report.arrivals = plan.arrivals == kernel::Arrivals::even ? "even" : "poisson";
    report.on_late = resolved("on_late");
    report.on_saturation =
        plan.driver.on_saturation == kernel::OnSaturation::queue ? "queue" : "drop";
  }
  report.concurrency = plan.driver.workers;
  report.connections_option = plan.connections;
  report.threads = plan.threads;
  report.load_text = run::load_text(options_, plan);
  for (const double p : options_.percentiles)
    if (std::ranges::find(report.percentiles, p) == report.percentiles.end())
      report.percentiles.push_back(p);
  std::ranges::sort(report.percentiles);
  for (const options::Resolved& option : options_.resolved) {
    std::string value = option.value;
    const auto decided = std::ranges::find(preflight_.decided, option.key,
                                           &std::pair<std::string, std::string>::first);
    if (value.empty() && decided != preflight_.decided.end()) value = decided->second;
    report.options.push_back(
        {option.key, std::move(value), std::string(options::to_string(option.source))});
  }
}

// The report on stdout, the files that were asked for; none hinders another.
int HttpCommand::finish(Report report) {
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

std::string HttpCommand::plan_text() const {
  const run::RunPlan& plan = preflight_.plan;
  std::string text = run::load_text(options_, plan) + "\n";
  if (const auto arrivals = run::planned_arrivals(plan))
    text += "planned arrivals     " + options::format_count(*arrivals) + "\n";
  if (plan.adaptive) {
    const run::AdaptiveOptions& search = plan.adaptive->options;
    text += fmt::format("first rate           {}, then doubled or halved\n",
                        options::format_rate(search.first));
    text += fmt::format("samples of a step    {}, and at least {}\n",
                        options::format_count(search.samples),
                        options::format_duration(search.shortest_step));
  } else if (plan.curve) {
    for (const double rate : plan.curve->rates)
      text += fmt::format("step                 {} for {}\n", options::format_rate(rate),
                          options::format_duration(plan.curve->step));
  } else if (plan.model == kernel::Model::open) {
    const double peak = plan.profile.peak(
        plan.length == kernel::kNoTime ? plan.profile.shape_length() : plan.length);
    text += fmt::format(
        "expected in flight   rate x response time: at 10 ms {}, at 100 ms {}; the ceiling of {} "
        "is reached at {}\n",
        options::format_number(peak * 0.01, 1), options::format_number(peak * 0.1, 1),
        options::format_count(plan.driver.workers),
        peak > 0 ? options::format_duration(kernel::Duration(
                       static_cast<std::int64_t>(plan.driver.workers / peak * 1e9)))
                 : "n/a");
  } else {
    text += fmt::format("expected in flight   {}\n", options::format_count(plan.driver.workers));
  }
  return text;
}

int HttpCommand::dry_run() {
  std::string text = plan_text();
  text += fmt::format("connections          {}\n",
                      preflight_.plan.connections == 0
                          ? "as needed, kept"
                          : options::format_count(preflight_.plan.connections) + ", opened first");
  text += fmt::format("loops                {}\n", preflight_.plan.threads);
  for (const auto& origin : target_.plan.origins) {
    text += fmt::format("target               {}://{}:{}", origin.scheme, origin.host, origin.port);
    for (const auto& address : origin.addresses) text += " " + address.to_string();
    text += "\n";
  }
  text += fmt::format("host                 {} cores, {} open files, {} local ports, clock {}\n",
                      options::number_text(host_.cores), options::format_count(host_.descriptors),
                      options::format_count(host_.local_ports), host_.clock_source);
  text += "\noption               value (source)\n";
  for (const options::Resolved& option : options_.resolved) {
    std::string value = option.value;
    for (const auto& [key, decided] : preflight_.decided)
      if (key == option.key && value.empty()) value = decided;
    text += fmt::format("{:<20} {} ({})\n", option.key, value, options::to_string(option.source));
  }
  if (!name_error_.empty()) {
    print(stdout, text);
    show({{.where = "URL", .message = name_error_, .hint = {}, .text = {}}});
    return static_cast<int>(ExitCode::unreachable);
  }
  return print(stdout, text) ? 0 : static_cast<int>(ExitCode::usage);
}

}  // namespace

options::Vocabulary http_vocabulary() { return {.errors = kErrorClasses}; }

int http_command(const options::Command& command, const options::Settings& settings) {
  return HttpCommand(command, settings).run();
}

}  // namespace onbeat::cli
