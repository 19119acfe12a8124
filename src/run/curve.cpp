// The phases of a latency curve: one rate after another, each with its drain.
#include "run/execution.hpp"
#include "run/knee.hpp"

#include <algorithm>

namespace onbeat::run {
namespace {

// The mean of a step that overloads the target is the longer, the longer the step is; that it is
// too long is all that the knee needs of it.
CurvePoint point_of(const StepReport& step, std::string generator) {
  const std::uint64_t within =
      step.counts.started - std::min(step.left_to_drain, step.counts.started);
  return {.rate = step.rate,
          .completed = per_second(within, step.issue).value_or(0),
          .mean = mean_of(step.response).value_or(0),
          .generator = std::move(generator)};
}

}  // namespace

void Execution::curve() {
  const CurvePlan& curve = *plan_.curve;
  Part all;
  std::vector<CurvePoint> points;
  Duration quickest = Duration::max();
  for (const double rate : curve.rates) {
    if (interrupted() || report_.observed.aborted) break;
    const RunPlan plan = step_plan(rate, curve.step);
    announce_step("curve", rate);
    const Part part = measure(plan);
    const StepOutcome outcome = judge_step(plan, part, curve.judging);
    quickest = std::min(quickest, outcome.typical);
    StepReport step = part.step_report();
    step.kind = "curve";
    step.rate = rate;
    step.counted = true;
    step.reason = why_incomplete(outcome, {.rate = rate, .length = part.issue}, quickest);
    step.held = step.reason.empty();
    // Where the target kept up, the generator did too.
    points.push_back(point_of(step, step.held ? std::string() : outcome.generator));
    if (!points.back().generator.empty()) step.reason = points.back().generator;
    report_.steps.push_back(std::move(step));
    all.append(part);
  }
  const Knee knee = find_knee(points);
  report_.curve = {.knee = knee.rate, .why_not = knee.why_not};
  if (report_.end_reason.empty()) report_.end_reason = "duration";
  // Sampled in the issue windows alone, whose shares differ from step to step.
  all.in_flight = {};
  fill(report_, plan_, all);
}

}  // namespace onbeat::run
