// The phases of an adaptive search: does the steps that adaptive.hpp asks for.
#include "options/format.hpp"
#include "run/execution.hpp"
#include "run/thresholds.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <chrono>

namespace onbeat::run {

using kernel::Monotonic;

namespace {

StepReport step_report(const TriedStep& tried, const Part& part) {
  StepReport report = part.step_report();
  report.kind = to_string(tried.step.kind);
  report.rate = tried.step.rate;
  report.held = tried.held;
  report.reason = tried.reason;
  return report;
}

}  // namespace

StepReport Part::step_report() const {
  return {.issue = issue,
          .drain = std::max(drained - issue, Duration{}),
          .counts = total.counts,
          .left_to_drain = left_to_drain,
          .response = total.response,
          .service = total.service,
          .lag = total.lag};
}

RunPlan Execution::step_plan(double rate, Duration length) const {
  RunPlan plan = plan_;
  plan.profile = kernel::RateProfile::constant(rate);
  plan.length = length;
  return plan;
}

void Execution::announce_step(std::string_view kind, double rate) {
  progress_.step =
      fmt::format("step {}, {} at {}", report_.steps.size() + 1, kind, options::format_rate(rate));
  step_event_ = progress_.step;
}

void Execution::search() {
  const AdaptivePlan& adaptive = *plan_.adaptive;
  AdaptiveSearch search(adaptive.options);
  const Instant began = Monotonic::now();
  std::vector<Part> parts;
  while (!interrupted() && !report_.observed.aborted) {
    const auto step = search.next(Monotonic::now() - began);
    if (!step) break;
    const RunPlan plan = step_plan(step->rate, step->length);
    announce_step(to_string(step->kind), step->rate);
    parts.push_back(measure(plan));
    search.add(judge_step(plan, parts.back(), adaptive.judging));
    report_.steps.push_back(step_report(search.tried().back(), parts.back()));
  }
  report_.search = {.rate = search.rate(),
                    .converged = search.converged(),
                    .shortfall = search.shortfall(),
                    .generator = search.generator_limit(),
                    .elapsed = Monotonic::now() - began};
  if (report_.end_reason.empty())
    report_.end_reason = search.converged() ? "converged" : "duration";
  Part counted;
  for (const std::size_t index : search.evidence()) {
    counted.append(parts[index]);
    report_.steps[index].counted = true;
  }
  for (std::size_t i = 0; i < parts.size(); ++i)
    if (!report_.steps[i].counted) uncounted_.merge_next(parts[i].total);
  fill(report_, plan_, counted);
}

// A step is judged as a run would be, but for trust: thresholds that hold although the generator
// was late would hold all the more if it had not been. Only where one does not, its lateness may be
// why.
StepOutcome Execution::judge_step(const RunPlan& plan, const Part& part,
                                  const Judging& judging) const {
  Report step;
  step.open = true;
  step.concurrency = plan.driver.workers;
  step.threads = plan.threads;
  fill(step, plan, part);
  judge(step, {.thresholds = {}, .limits = judging.limits});
  step.verdict.untrusted.clear();
  const kernel::Counts& counts = part.total.counts;
  StepOutcome outcome{
      .planned = counts.planned,
      .unfinished = counts.planned - counts.started + part.left_to_drain,
      .typical = part.total.response.empty() ? Duration{} : part.total.response.percentile(50)};
  for (const options::Threshold& threshold : judging.thresholds) {
    const ThresholdResult result = judge(threshold, step);
    if (!result.passed && outcome.failed_threshold.empty())
      outcome.failed_threshold = result.expr + ": " + result.reason;
  }
  if (!step.cost.generator_limited) return outcome;
  for (const Reason& reason : step.verdict.reasons)
    if (reason.code == step.cost.limits.front()) outcome.generator = reason.message;
  return outcome;
}

}  // namespace onbeat::run
