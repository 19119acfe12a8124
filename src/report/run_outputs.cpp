#include "report/run_outputs.hpp"

#include "report/hdr_log.hpp"
#include "report/http_post.hpp"
#include "report/ndjson.hpp"
#include "report/output.hpp"
#include "report/writer.hpp"

#include <algorithm>
#include <utility>

namespace onbeat::report {
namespace {

options::Problem problem(std::string_view where, std::string message) {
  return {.where = std::string(where), .message = std::move(message), .hint = {}, .text = {}};
}

std::expected<void, std::string> check_target(const options::Output& output) {
  if (output.format == "influx" && is_url(output.path)) return check_url(output.path);
  return check_writable(output.path);
}

}  // namespace

RunOutputs::RunOutputs(Asked asked) : asked_(std::move(asked)) {}
RunOutputs::~RunOutputs() = default;

template <typename Output>
void RunOutputs::open_file(const std::string& path, std::string_view option,
                           std::vector<options::Problem>& problems) {
  auto output = std::make_unique<Output>();
  if (auto opened = output->open(path); !opened)
    problems.push_back(problem(option, opened.error()));
  as_it_goes_.push_back(std::move(output));
}

std::vector<options::Problem> RunOutputs::check() const {
  std::vector<options::Problem> problems;
  for (const options::Output& output : asked_.outs)
    if (auto writable = check_target(output); !writable)
      problems.push_back(problem("--out", writable.error()));
  return problems;
}

bool RunOutputs::wants_samples() const {
  return std::ranges::find(asked_.outs, "samples", &options::Output::format) != asked_.outs.end();
}

std::vector<options::Problem> RunOutputs::open() {
  std::vector<options::Problem> problems;
  if (!asked_.stream.empty()) open_file<Stream>(asked_.stream, "--stream", problems);
  for (const options::Output& output : asked_.outs) {
    if (output.format == "hdr-log") open_file<HdrLog>(output.path, "--out", problems);
    if (output.format == "samples")
      if (auto opened = samples_.open(output.path); !opened)
        problems.push_back(problem("--out", opened.error()));
  }
  if (asked_.metrics) {
    auto endpoint = std::make_unique<MetricsEndpoint>();
    metrics_ = endpoint.get();
    if (auto opened = endpoint->open(asked_.metrics->host, asked_.metrics->port); !opened)
      problems.push_back(problem("--metrics", "cannot listen on " + opened.error()));
    as_it_goes_.push_back(std::move(endpoint));
  }
  return problems;
}

std::string RunOutputs::metrics_url() const { return metrics_ == nullptr ? "" : metrics_->url(); }

void RunOutputs::begin(const run::Report& known, const kernel::Names& names,
                       kernel::RecorderShape shape) {
  names_ = &names;
  shape_ = std::move(shape);
  for (const auto& output : as_it_goes_) output->begin(known);
}

void RunOutputs::on_interval(const kernel::Interval& interval, const Progress&) {
  for (const auto& output : as_it_goes_) output->interval(interval, *names_, shape_);
}

void RunOutputs::on_samples(const std::vector<run::LoggedSample>& samples, kernel::Instant t0) {
  samples_.write(samples, *names_, t0);
}

std::vector<std::string> RunOutputs::finish(const run::Report& report) {
  std::vector<std::string> problems;
  for (const auto& output : as_it_goes_) {
    // A run that never began: what was measured is nothing, and that is in the report.
    if (names_ == nullptr) output->begin(report);
    output->end(report);
    if (std::string why = output->problem(); !why.empty()) problems.push_back(std::move(why));
  }
  if (!samples_.problem().empty()) problems.push_back(samples_.problem());
  for (std::string& why : write_outputs(report, asked_.outs, asked_.influx_token))
    problems.push_back(std::move(why));
  return problems;
}

}  // namespace onbeat::report
