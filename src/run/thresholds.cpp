#include "run/thresholds.hpp"

#include "options/format.hpp"
#include "run/measure.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>

namespace onbeat::run {
namespace {

using options::Latency;
using options::Measure;
using options::Threshold;
using options::ThresholdUnit;

std::uint64_t count_of(const NamedCounts& counts, const std::string& name) {
  const auto found = counts.find(name);
  return found == counts.end() ? 0 : found->second;
}

Figures figures_of(const Report& report, const Threshold& threshold) {
  const kernel::Interval& total = report.total;
  return {.counts = &total.counts,
          .response = &total.response,
          .service = &total.service,
          .wait = &total.wait,
          .lag = &total.lag,
          .failed = &total.failed,
          .named = count_of(threshold.measure == Measure::code ? report.codes : report.errors,
                            threshold.name),
          .window = report.issue,
          .open = report.open};
}

Figures figures_of(const Endpoint& endpoint, const Report& report, const Threshold& threshold) {
  return {.counts = &endpoint.counts,
          .response = &endpoint.response,
          .service = &endpoint.service,
          .failed = &endpoint.failed,
          .named = count_of(threshold.measure == Measure::code ? endpoint.codes : endpoint.errors,
                            threshold.name),
          .window = report.issue,
          .open = report.open};
}

Measured measure(const Threshold& threshold, const Report& report) {
  if (!threshold.operation.empty()) {
    return {.why_not = fmt::format("the run has no operation {}", threshold.operation)};
  }
  if (threshold.endpoint.empty()) {
    return measure(threshold, figures_of(report, threshold), report.tail_samples);
  }
  const auto endpoint = std::ranges::find(report.endpoints, threshold.endpoint, &Endpoint::name);
  if (endpoint == report.endpoints.end()) {
    return {.why_not = fmt::format("the run has no endpoint \"{}\"", threshold.endpoint)};
  }
  return measure(threshold, figures_of(*endpoint, report, threshold), report.tail_samples);
}

// The figure of the verdict that a threshold rests on.
std::string_view figure_of(const Threshold& threshold, bool open) {
  if (threshold.is_latency()) {
    switch (threshold.latency) {
      case Latency::headline:
      case Latency::all:
        return open ? "response" : "service";
      case Latency::response:
        return "response";
      case Latency::service:
        return "service";
      case Latency::wait:
        return "wait";
      case Latency::lag:
        return "lag";
    }
  }
  return threshold.unit == ThresholdUnit::per_second ? "rates" : "counts";
}

std::string text_of(const Measured& measured, const Threshold& threshold) {
  if (!measured.value) return "n/a";
  return (measured.lower_bound ? ">= " : "") + value_text(*measured.value, threshold);
}

std::string why_failed(const Measured& measured, const ThresholdResult& result,
                       const Threshold& threshold) {
  if (!measured.value) return fmt::format("n/a: {}", measured.why_not);
  if (result.on_untrusted) return "the figure is not to be trusted";
  if (measured.lower_bound && threshold.holds(*measured.value)) {
    return fmt::format("the value is a lower bound: it is at least {}",
                       value_text(*measured.value, threshold));
  }
  return fmt::format("it is {}{}", measured.lower_bound ? "at least " : "",
                     value_text(*measured.value, threshold));
}

bool nothing_succeeded(const kernel::Counts& counts) {
  if (counts.passed + counts.not_passed != 0) return counts.passed == 0;
  return counts.ok == 0;
}

// The checks that say that the generator itself was the limit.
constexpr std::array<std::string_view, 6> kGeneratorChecks{
    "lag_p99", "missed_late", "busiest_loop", "loop_turn", "stalls", "steal"};

void name_generator_limits(Report& report) {
  report.cost.limits.clear();
  for (const Reason& reason : report.verdict.reasons) {
    const bool about = std::ranges::find(kGeneratorChecks, reason.code) != kGeneratorChecks.end();
    if (about && reason.status != Status::valid) report.cost.limits.push_back(reason.code);
  }
  report.cost.generator_limited = !report.cost.limits.empty();
}

}  // namespace

ThresholdResult judge(const Threshold& threshold, const Report& report) {
  const Measured measured = measure(threshold, report);
  ThresholdResult result;
  result.metric = threshold.metric;
  result.expr = threshold.text;
  if (measured.value) result.actual = *measured.value / threshold.shown_size;
  result.actual_text = text_of(measured, threshold);
  result.on_lower_bound = measured.lower_bound;
  result.too_few_samples = measured.too_few_samples;
  const auto& untrusted = report.verdict.untrusted;
  result.on_untrusted =
      std::ranges::find(untrusted, figure_of(threshold, report.open)) != untrusted.end();
  result.passed = !result.on_untrusted && certainly_holds(threshold, measured);
  if (!result.passed) result.reason = why_failed(measured, result, threshold);
  return result;
}

ExitCode resolve_exit(const ExitInputs& inputs) {
  if (inputs.usage) return ExitCode::usage;
  if (inputs.scenario_failed) return ExitCode::scenario;
  if (inputs.interrupted) return ExitCode::interrupted;
  if (inputs.aborted) return ExitCode::aborted;
  if (inputs.unreachable) return ExitCode::unreachable;
  if (inputs.verdict == Status::invalid && !inputs.allow_invalid) return ExitCode::not_trusted;
  if (inputs.verdict == Status::degraded && inputs.strict) return ExitCode::not_trusted;
  return inputs.threshold_failed ? ExitCode::threshold_failed : ExitCode::passed;
}

void judge(Report& report, const Judging& judging) {
  report.tail_samples = judging.limits.tail_samples;
  report.thresholds.clear();
  // First the figures, so that thresholds know which to trust; then the checks that are about the
  // thresholds.
  report.verdict = audit(report, judging.limits);
  std::vector<ThresholdResult> results;
  for (const Threshold& threshold : judging.thresholds) results.push_back(judge(threshold, report));
  report.thresholds = std::move(results);
  report.verdict = audit(report, judging.limits);
  name_generator_limits(report);
  report.exit_code = resolve_exit(
      {.usage = report.exit_code == ExitCode::usage,
       .scenario_failed = report.exit_code == ExitCode::scenario,
       .interrupted = report.observed.interrupted,
       .aborted = report.observed.aborted,
       .unreachable = nothing_succeeded(report.total.counts),
       .verdict = report.verdict.status,
       .threshold_failed = (report.search && !report.search->rate) ||
                           !std::ranges::all_of(report.thresholds, &ThresholdResult::passed),
       .strict = judging.strict,
       .allow_invalid = judging.allow_invalid});
}

}  // namespace onbeat::run
