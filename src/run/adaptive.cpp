#include "run/adaptive.hpp"

#include "options/format.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <utility>

namespace onbeat::run {
namespace {

constexpr double kFactor = 2;  // between probes
/// Slower than one a minute nothing is searched for.
constexpr double kLowest = 1.0 / 60;
/// A percentile's samples are of the successes: some more, lest a few failures make them too few.
constexpr double kSpareSamples = 1.05;
constexpr unsigned kMostRepeats = 2;
/// More of a step than this cannot be the normal time of an answer: it is a queue.
constexpr int kLargestShare = 4;

}  // namespace

std::string_view to_string(StepKind kind) noexcept {
  switch (kind) {
    case StepKind::probe:
      return "probe";
    case StepKind::bisect:
      return "bisect";
    case StepKind::hold:
      return "hold";
  }
  return "";
}

double first_rate(std::uint64_t samples) {
  return std::clamp(static_cast<double>(samples), 100.0, 1000.0);
}

AdaptiveSearch::AdaptiveSearch(const AdaptiveOptions& options) : options_(options) {
  options_.first = std::min(options_.first, options_.highest);
}

SearchStep AdaptiveSearch::step(StepKind kind, double rate) const {
  const Duration shortest =
      kind == StepKind::hold ? options_.shortest_hold : options_.shortest_step;
  const double sampling = static_cast<double>(options_.samples) * kSpareSamples / rate;
  // Beyond any budget; and a duration still.
  const Duration sampled{static_cast<std::int64_t>(std::min(sampling, 1e9) * 1e9)};
  return {kind, rate, std::max(shortest, sampled)};
}

std::optional<SearchStep> AdaptiveSearch::next(Duration elapsed) {
  if (over_) return std::nullopt;
  const Duration left = options_.budget - elapsed;
  present_ = again_ ? std::exchange(again_, std::nullopt) : choose(left);
  if (present_ && present_->length > left) present_ = std::nullopt;
  over_ = !present_;
  return present_;
}

// The next rate to look at before the holds; nothing when the range is narrow enough.
std::optional<double> AdaptiveSearch::wider() const {
  if (!held_ && !failed_) return options_.first;
  if (!held_) return *failed_ / kFactor;
  if (!failed_) {
    if (*held_ >= options_.highest) return std::nullopt;
    return std::min(*held_ * kFactor, options_.highest);
  }
  if (*failed_ <= *held_ * (1 + options_.width)) return std::nullopt;
  return std::sqrt(*held_ * *failed_);
}

std::optional<SearchStep> AdaptiveSearch::choose(Duration left) {
  if (holding_) return hold(left);
  const std::optional<double> rate = wider();
  if (!rate) {
    narrow_ = true;
    return hold(left);
  }
  if (*rate < kLowest) return std::nullopt;
  const SearchStep candidate = step(held_ && failed_ ? StepKind::bisect : StepKind::probe, *rate);
  if (!held_) return candidate;
  // What is known must still be confirmed: a narrower range that nobody has held is worth less.
  const Duration reserved = step(StepKind::hold, *held_).length * static_cast<int>(options_.holds);
  return candidate.length + reserved <= left ? candidate : hold(left);
}

std::optional<SearchStep> AdaptiveSearch::hold(Duration left) {
  if (!holding_) holding_ = held_;
  const SearchStep candidate = step(StepKind::hold, *holding_);
  // Part of the holds would confirm nothing; what has been held before stands.
  if (candidate.length * static_cast<int>(options_.holds - confirming_.size()) > left)
    return std::nullopt;
  return candidate;
}

std::string why_incomplete(const StepOutcome& outcome, const SearchStep& step, Duration quickest,
                           double share) {
  const double normal =
      std::chrono::duration<double>(std::min(quickest, step.length / kLargestShare)).count() *
      step.rate;
  const auto planned = static_cast<double>(outcome.planned);
  const double backlog = std::max(static_cast<double>(outcome.unfinished) - normal, 0.0);
  if (planned - backlog >= share * planned) return {};
  return fmt::format("{} of its arrivals were not completed within it",
                     options::format_percent(100 * backlog / planned));
}

void AdaptiveSearch::add(const StepOutcome& outcome) {
  quickest_ = std::min(quickest_, outcome.typical);
  std::string why = outcome.planned == 0
                        ? "nothing was planned"
                        : why_incomplete(outcome, *present_, quickest_, options_.completed);
  if (why.empty()) why = outcome.failed_threshold;
  const bool held = why.empty();
  const bool disturbed = !held && !outcome.generator.empty();
  tried_.push_back({*present_, held, disturbed, disturbed ? outcome.generator : std::move(why)});
  // After that, the generator cannot do more: for the search it is as if the target could not.
  if (disturbed && repeats_++ < kMostRepeats) {
    again_ = present_;
    return;
  }
  repeats_ = 0;
  const double rate = present_->rate;
  if (held && present_->kind == StepKind::hold) {
    confirming_.push_back(tried_.size() - 1);
    over_ = confirmed_ = confirming_.size() == options_.holds;
  } else if (held) {
    held_ = std::max(held_.value_or(0), rate);
  } else {
    failed_ = std::min(failed_.value_or(rate), rate);
    if (present_->kind == StepKind::hold) lower();
  }
}

// Half the width less, then twice and three times that: a short step may have flattered the rate a
// little, or a lot.
void AdaptiveSearch::lower() {
  confirming_.clear();
  holding_ = *holding_ * (1 - options_.width / 2 * ++lowered_);
  over_ = *holding_ < kLowest;
}

std::optional<double> AdaptiveSearch::rate() const {
  const std::vector<std::size_t> steps = evidence();
  if (steps.empty() || !tried_[steps.front()].held) return std::nullopt;
  return tried_[steps.front()].step.rate;
}

std::vector<std::size_t> AdaptiveSearch::evidence() const {
  if (confirmed_) return confirming_;
  // A rate that a hold has refuted is not one that held.
  std::optional<std::size_t> best, slowest;
  for (std::size_t i = 0; i < tried_.size(); ++i) {
    const double rate = tried_[i].step.rate;
    if (tried_[i].held && rate < failed_.value_or(rate * 2) &&
        (!best || rate >= tried_[*best].step.rate))
      best = i;
    if (!tried_[i].held && (!slowest || rate <= tried_[*slowest].step.rate)) slowest = i;
  }
  if (!best) best = slowest;
  return best ? std::vector{*best} : std::vector<std::size_t>{};
}

std::string AdaptiveSearch::generator_limit() const {
  const auto limit = std::ranges::find_if(tried_, [this](const TriedStep& tried) {
    return !tried.held && failed_ && tried.step.rate == *failed_;
  });
  return limit != tried_.end() && limit->disturbed ? limit->reason : std::string();
}

std::string AdaptiveSearch::shortfall() const {
  if (converged()) return {};
  if (tried_.empty()) return "no step was tried";
  const std::string last = options::format_rate(tried_.back().step.rate);
  if (!rate()) {
    const SearchStep slower = step(StepKind::probe, tried_.back().step.rate / kFactor);
    return fmt::format("no rate kept the thresholds, down to {}; the next step would have taken {}",
                       last, options::format_duration(slower.length));
  }
  if (confirmed_)
    return fmt::format("the time was over before the range was within {}",
                       options::format_percent(options_.width * 100));
  return "the time was over before the rate was confirmed";
}

}  // namespace onbeat::run
