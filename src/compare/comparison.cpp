#include "compare/comparison.hpp"

#include "compare/differences.hpp"
#include "options/format.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

namespace onbeat::compare {
namespace {

using run::Report;

Side side_of(const std::vector<Run>& runs, const Metric& metric) {
  Side side;
  for (const Run& run : runs) {
    const auto value = metric.read(run.report);
    if (!value) continue;
    side.values.push_back(value->value);
    side.lower_bounds += value->lower_bound ? 1 : 0;
    side.untrusted += trusted(run.report, metric) ? 0 : 1;
  }
  if (side.values.empty()) return side;
  side.median = median(side.values);
  const auto [low, high] = std::ranges::minmax(side.values);
  side.low = low;
  side.high = high;
  return side;
}

class Comparer {
 public:
  Comparer(const std::vector<Run>& base, const std::vector<Run>& next, const Settings& settings)
      : base_(base), next_(next) {
    result_.settings = settings;
    result_.base_runs = base.size();
    result_.next_runs = next.size();
    result_.conclusive = std::min(base.size(), next.size()) >= kFewestRuns;
  }

  Comparison run() && {
    refuse(base_);
    refuse(next_);
    if (base_.empty() || next_.empty())
      result_.refusals.emplace_back("there is nothing to compare");
    if (!result_.refusals.empty()) return std::move(result_);
    result_.base_name = base_.front().report.target;
    result_.next_name = next_.front().report.target;
    for (std::string& text : what_differs(base_, next_)) warn(std::move(text));
    for (const Metric& metric : metrics()) add(metric);
    gate();
    adjust();
    for (Difference& difference : result_.differences) judge(difference);
    return std::move(result_);
  }

 private:
  void warn(std::string text) { result_.warnings.push_back(std::move(text)); }

  // A run without figures says nothing; one that is invalid says something else than it seems to.
  void refuse(const std::vector<Run>& runs) {
    for (const Run& run : runs) {
      const Report& report = run.report;
      if (report.error || report.total.counts.started == 0) {
        result_.refusals.push_back(
            fmt::format("{}: nothing was measured{}", run.source,
                        report.error ? ": " + report.error->message : std::string()));
      } else if (report.verdict.status == run::Status::invalid) {
        std::string text = fmt::format("{}: the measurement is invalid{}", run.source,
                                       reasons_of(report, run::Status::invalid));
        auto& texts = result_.settings.allow_invalid ? result_.warnings : result_.refusals;
        texts.push_back(std::move(text));
      }
    }
  }

  void add(const Metric& metric) {
    Difference difference{
        .metric = &metric, .base = side_of(base_, metric), .next = side_of(next_, metric)};
    const std::vector<double>& a = difference.base.values;
    const std::vector<double>& b = difference.next.values;
    if (a.empty() || b.empty()) return;
    difference.shift = shift_between(a, b);
    const Tails tails = mann_whitney(a, b);
    if (difference.base.median != 0)
      difference.effect = 100 * difference.shift.estimate / difference.base.median;
    if (result_.conclusive && std::min(a.size(), b.size()) >= kFewestRuns) {
      difference.p = metric.lower_is_better ? tails.larger : tails.smaller;
      difference.p_better = metric.lower_is_better ? tails.smaller : tails.larger;
    }
    result_.differences.push_back(std::move(difference));
  }

  void gate() {
    std::vector<std::string> names = result_.settings.gates;
    if (names.empty()) names.assign(std::begin(kStandardGates), std::end(kStandardGates));
    const bool open = base_.front().report.open && next_.front().report.open;
    for (const std::string& name : names) {
      const Metric* metric = find_metric(name, open);
      const auto found = std::ranges::find(result_.differences, metric, &Difference::metric);
      if (metric != nullptr && found != result_.differences.end()) {
        found->gated = true;
      } else {
        warn(fmt::format("{} cannot be gated: not all runs have it", name));
      }
    }
  }

  void adjust() {
    std::vector<Difference*> gated;
    for (Difference& difference : result_.differences)
      if (difference.gated && difference.p) gated.push_back(&difference);
    std::vector<double> worse, better;
    for (const Difference* difference : gated) {
      worse.push_back(*difference->p);
      better.push_back(*difference->p_better);
    }
    worse = holm(worse);
    better = holm(better);
    for (std::size_t i = 0; i < gated.size(); ++i) {
      gated[i]->adjusted = worse[i];
      gated[i]->adjusted_better = better[i];
    }
    const double smallest = smallest_p(base_.size(), next_.size());
    if (!gated.empty() &&
        smallest * static_cast<double>(gated.size()) >= result_.settings.significance)
      warn(
          fmt::format("with so few runs no p is below {:.3g}: no change of {} gated metrics can be "
                      "significant at {:g}; more runs, or fewer --gate",
                      smallest, gated.size(), result_.settings.significance));
    if (!result_.conclusive)
      warn(fmt::format("with {} and {} runs nothing significant can be stated; it takes {} a side",
                       base_.size(), next_.size(), kFewestRuns));
  }

  [[nodiscard]] bool large_enough(const Difference& difference) const {
    if (difference.metric->unit == Unit::percent &&
        std::abs(difference.shift.estimate) < kSmallestErrorEffect)
      return false;
    return !difference.effect || std::abs(*difference.effect) > result_.settings.min_effect;
  }

  void judge(Difference& difference) {
    if (!difference.gated) return;
    const std::size_t untrusted = difference.base.untrusted + difference.next.untrusted;
    if (untrusted != 0 && !result_.settings.allow_invalid) {
      difference.change = Change::undecided;
      difference.why_undecided =
          fmt::format("the verdict of {} of {} runs does not trust it", untrusted,
                      difference.base.values.size() + difference.next.values.size());
    } else if (!difference.adjusted) {
      difference.change = Change::undecided;
      difference.why_undecided = "too few runs";
    } else if (large_enough(difference)) {
      if (*difference.adjusted < result_.settings.significance)
        difference.change = Change::regressed;
      if (*difference.adjusted_better < result_.settings.significance)
        difference.change = Change::improved;
    }
    if (difference.base.lower_bounds + difference.next.lower_bounds != 0)
      warn(fmt::format("{} is only a lower bound in {} base and {} new runs",
                       difference.metric->name, difference.base.lower_bounds,
                       difference.next.lower_bounds));
  }

  const std::vector<Run>& base_;
  const std::vector<Run>& next_;
  Comparison result_;
};

bool untrusted(const Difference& difference, const Settings& settings) {
  return difference.gated && !settings.allow_invalid &&
         difference.base.untrusted + difference.next.untrusted != 0;
}

}  // namespace

bool Comparison::regressed() const {
  return std::ranges::any_of(differences, [](const Difference& difference) {
    return difference.change == Change::regressed;
  });
}

run::ExitCode Comparison::exit_code() const {
  if (!refusals.empty()) return run::ExitCode::not_trusted;
  for (const Difference& difference : differences)
    if (untrusted(difference, settings)) return run::ExitCode::not_trusted;
  return regressed() ? run::ExitCode::threshold_failed : run::ExitCode::passed;
}

std::string Comparison::summary() const {
  if (!refusals.empty()) return "these runs cannot be compared";
  std::string worse, better;
  std::size_t gated = 0, doubtful = 0;
  for (const Difference& difference : differences) {
    const std::string& name = difference.metric->name;
    gated += difference.gated ? 1 : 0;
    doubtful += untrusted(difference, settings) ? 1 : 0;
    if (difference.change == Change::regressed) worse += (worse.empty() ? "" : ", ") + name;
    if (difference.change == Change::improved) better += (better.empty() ? "" : ", ") + name;
  }
  if (!worse.empty()) return "worse: " + worse + (better.empty() ? "" : "; better: " + better);
  if (doubtful != 0)
    return fmt::format("{} of {} gated metrics are not to be trusted", doubtful, gated);
  if (!conclusive) return "too few runs to say anything significant";
  if (!better.empty()) return "better: " + better;
  return fmt::format("no significant change beyond {} in {} gated metrics",
                     options::format_percent(settings.min_effect), gated);
}

Comparison compare(const std::vector<Run>& base, const std::vector<Run>& next,
                   const Settings& settings) {
  return Comparer(base, next, settings).run();
}

std::string_view to_string(Change change) noexcept {
  switch (change) {
    case Change::none:
      return "none";
    case Change::improved:
      return "improved";
    case Change::regressed:
      return "regressed";
    case Change::undecided:
      return "undecided";
  }
  return "none";
}

}  // namespace onbeat::compare
