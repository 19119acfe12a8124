#include "cli/bench_command.hpp"

#include "bench/document_set.hpp"
#include "bench/grpc_load.hpp"
#include "bench/grpc_plan.hpp"
#include "cli/console.hpp"
#include "cli/load_session.hpp"
#include "options/bench_options.hpp"
#include "options/bench_section.hpp"
#include "options/gather.hpp"
#include "options/surroundings.hpp"
#include "target/target_process.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <memory>
#include <optional>

namespace onbeat::cli {
namespace {

using options::Problem;
using run::ExitCode;

constexpr std::array<std::string_view, 4> kMetrics{"passed", "not_passed", "ok", "errors"};

/// The classes of errors of a gRPC run, for error(...) in thresholds.
const auto kErrorClasses = [] {
  constexpr std::array others{"template_absent_value", "template_forbidden_byte",
                              "template_value",        "data_ended",
                              "data_changed",          "data_unreadable"};
  std::array<std::string_view, net::kNetErrors - 1 + others.size()> classes{};
  for (int i = 1; i < net::kNetErrors; ++i)
    classes[static_cast<std::size_t>(i - 1)] = net::to_string(static_cast<net::NetError>(i));
  std::copy(others.begin(), others.end(), classes.begin() + net::kNetErrors - 1);
  return classes;
}();

void append(std::vector<Problem>& to, const std::vector<Problem>& from) {
  to.insert(to.end(), from.begin(), from.end());
}

bench::DocumentQuery query_of(const options::BenchOptions& options) {
  return {.paths = options.files,
          .exclude = options.exclude,
          .tags = bench::words_of_list(options.tags),
          .skip_tags = bench::words_of_list(options.skip_tags),
          .call = options.call,
          .data = options.data,
          .proto = options.proto};
}

bench::Checking checking_of(options::AssertMode mode) {
  switch (mode) {
    case options::AssertMode::collect_all:
      return bench::Checking::all;
    case options::AssertMode::fail_fast:
      return bench::Checking::first_fault;
    case options::AssertMode::sampled:
      return bench::Checking::sampled;
    case options::AssertMode::off:
      return bench::Checking::none;
  }
  return bench::Checking::all;
}

class BenchCommand {
 public:
  BenchCommand(const options::Command& command, const options::Arguments& arguments)
      : command_(command), arguments_(arguments), around_(options::system_surroundings()) {}

  int run();

 private:
  bool prepare();
  bool read();
  void make_target(const options::LoadOptions& load);
  void calibrate(const options::LoadOptions& load);
  void check_counts();
  int dry_run();
  int measure();
  void warm_up_by_reading();

  const options::Command& command_;
  const options::Arguments& arguments_;
  options::Surroundings around_;
  std::vector<Problem> errors_, warnings_;
  bench::DocumentSet documents_;
  options::BenchOptions options_;
  std::optional<LoadSession> session_;
  bench::GrpcTarget target_;
  std::unique_ptr<target::TargetProcess> built_in_;  // --calibrate
};

// Which documents, as arguments, environment and configuration say; then what these say themselves.
bool BenchCommand::read() {
  const auto first = options::gather_settings(command_, arguments_, around_, bench_vocabulary());
  append(errors_, first.errors);
  documents_ = bench::read_documents(query_of(options::build_bench_options(first.settings).options),
                                     around_);
  const options::BenchSection section = options::read_bench_section(documents_.bench);
  append(errors_, section.problems);
  append(errors_, documents_.errors);
  const auto all =
      options::gather_settings(command_, arguments_, around_, bench_vocabulary(), &section.layer);
  for (const Problem& problem : all.errors) {
    const auto same = [&](const Problem& told) {
      return told.where == problem.where && told.message == problem.message;
    };
    if (!std::ranges::any_of(errors_, same)) errors_.push_back(problem);
  }
  append(warnings_, section.warnings);
  append(warnings_, all.warnings);
  append(warnings_, documents_.warnings);
  auto load = options::build_load_options(command_, all.settings, bench_vocabulary());
  auto own = options::build_bench_options(all.settings);
  append(errors_, load.errors);
  append(errors_, own.errors);
  append(warnings_, load.warnings);
  append(warnings_, own.warnings);
  options_ = std::move(own.options);
  session_.emplace(std::move(load.options), run::read_host(), "grpc");
  return errors_.empty();
}

void BenchCommand::make_target(const options::LoadOptions& load) {
  auto rows = bench::open_rows(documents_, load.seed, around_, errors_);
  if (!errors_.empty()) return;
  if (load.calibrate) calibrate(load);
  target_ = bench::make_grpc_target(documents_.chains, std::move(rows),
                                    {.address = options_.address,
                                     .seed = load.seed,
                                     .timeout = load.timeout,
                                     .connect_timeout = options_.connect_timeout,
                                     .may_connect = !load.dry_run && !load.calibrate,
                                     .descriptors_needed = load.calibrate,
                                     .plain = load.calibrate},
                                    around_, errors_);
  bench::GrpcPlan& plan = target_.plan;
  // What the built-in target answers is no content.
  plan.checking = load.calibrate ? bench::Checking::none : checking_of(options_.assert_mode);
  plan.check_every = options_.check_every;
  plan.keepalive = options_.keepalive;
  plan.record_every = options_.record_every;
  plan.skip_first = options_.skip_first;
  plan.count_errors_in_latency = options_.count_errors_in_latency;
}

// Sends everything to the built-in target.
void BenchCommand::calibrate(const options::LoadOptions& load) {
  if (!options_.address.empty())
    errors_.push_back({.where = "--calibrate",
                       .message = "contradicts --address",
                       .hint = "leave one of them out",
                       .text = {}});
  options_.address = "127.0.0.1:1";
  if (!errors_.empty() || load.dry_run) return;
  auto started = target::TargetProcess::start({.grpc = target::GrpcAnswers{}}, load.cpu_list);
  if (!started) {
    errors_.push_back({.where = "--calibrate", .message = started.error(), .hint = {}, .text = {}});
    return;
  }
  built_in_ = *std::move(started);
  options_.address = built_in_->address().to_string();
}

void BenchCommand::check_counts() {
  const auto& requests = session_->options().requests;
  const std::size_t files = target_.plan.items.size();
  if (!requests || *requests >= files) return;
  errors_.push_back(
      {.where = "--requests",
       .message = fmt::format("{} requests do not reach {} documents", *requests, files),
       .hint = fmt::format("at least {}, one for each", files),
       .text = {}});
}

bool BenchCommand::prepare() {
  if (read()) {
    make_target(session_->options());
    check_counts();
  }
  if (errors_.empty() && target_.unreachable) session_->open_outputs(errors_);
  if (errors_.empty() && !target_.unreachable) {
    std::size_t addresses = 0;
    for (const auto& origin : target_.plan.origins) addresses += origin.addresses.size();
    session_->plan(
        {.connection_per_worker = false, .few_connections = true, .addresses = addresses}, errors_,
        warnings_);
    target_.plan.connections = session_->plan().connections;
    target_.plan.loops = session_->plan().threads;
    std::vector<std::string> names;
    for (const auto& item : target_.plan.items) names.push_back(item.name);
    session_->check_endpoints(names, errors_);
    session_->open_outputs(errors_);
  }
  show(errors_);
  if (!errors_.empty()) return false;
  if (!session_->options().quiet) show(warnings_, "warning");
  return true;
}

int BenchCommand::run() {
  if (!prepare()) return static_cast<int>(ExitCode::usage);
  if (target_.unreachable) {
    const Problem& why = *target_.unreachable;
    return session_->finish(
        session_->failed(target_.text.empty() ? why.where : target_.text,
                         {"unreachable", fmt::format("{}: {}", why.where, why.message), why.hint}));
  }
  if (session_->options().dry_run) return dry_run();
  return measure();
}

int BenchCommand::dry_run() {
  std::string text = session_->plan_text();
  for (const bench::GrpcOrigin& origin : target_.plan.origins) {
    text += fmt::format("target               {}://{}", origin.scheme, origin.authority());
    for (const auto& address : origin.addresses) text += " " + address.to_string();
    text += "\n";
  }
  for (const auto& chain : documents_.chains) {
    text += fmt::format("document             {}", chain->path);
    for (const auto& document : chain->documents) text += " " + document.endpoint();
    text += "\n";
  }
  return print(stdout, text + session_->options_text()) ? 0 : static_cast<int>(ExitCode::usage);
}

// warmup_mode: dry_run. Files are read and parsed again and again; nothing is sent.
void BenchCommand::warm_up_by_reading() {
  const auto end = kernel::Monotonic::now() + session_->plan().warmup;
  while (kernel::Monotonic::now() < end && take_signals().load() == 0)
    static_cast<void>(bench::read_documents(query_of(options_), around_));
}

int BenchCommand::measure() {
  kernel::Names names;
  run::ErrorSamples samples;
  target_.plan.intern(names, samples);
  const run::WorkloadSpec spec{
      .kind = "grpc",
      .target = built_in_ ? built_in_->text() : target_.text,
      .local_target = target_.local,
      .histograms = {bench::kGrpcHistograms.begin(), bench::kGrpcHistograms.end()},
      .counters = target_.plan.counters(),
      .endpoints = static_cast<std::uint16_t>(names.endpoints.names().size()),
      .make =
          [this](run::LoadLoop& load) {
            return std::make_unique<bench::GrpcWorkload>(load, target_.plan);
          },
      .names = &names,
      .samples = &samples};
  if (options_.warmup_dry_run) {
    warm_up_by_reading();
    session_->skip_warmup();
  }
  if (built_in_) session_->calibrates();
  return session_->finish(session_->run(spec));
}

}  // namespace

options::Vocabulary bench_vocabulary() { return {.metrics = kMetrics, .errors = kErrorClasses}; }

int bench_command(const options::Command& command, const options::Arguments& arguments) {
  return BenchCommand(command, arguments).run();
}

}  // namespace onbeat::cli
