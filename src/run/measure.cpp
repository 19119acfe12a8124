#include "run/measure.hpp"

#include "options/format.hpp"

#include <fmt/format.h>

#include <cmath>
#include <utility>

namespace onbeat::run {
namespace {

using options::Compare;
using options::Latency;
using options::Measure;
using options::Threshold;
using options::ThresholdUnit;

Measured missing(std::string why) { return {.why_not = std::move(why)}; }

const Histogram* histogram_of(Latency latency, const Figures& figures) {
  switch (latency) {
    case Latency::headline:
    case Latency::all:
      return figures.open ? figures.response : figures.service;
    case Latency::response:
      return figures.response;
    case Latency::service:
      return figures.service;
    case Latency::wait:
      return figures.wait;
    case Latency::lag:
      return figures.lag;
  }
  return nullptr;
}

Measured latency(const Threshold& threshold, const Figures& figures, double tail) {
  const bool queueing = threshold.latency == Latency::wait || threshold.latency == Latency::lag;
  if (queueing && !figures.open) return missing("a closed run has no wait and no lag");
  const Histogram* histogram = histogram_of(threshold.latency, figures);
  Histogram all;
  if (threshold.latency == Latency::all && histogram != nullptr && figures.failed != nullptr) {
    all = *histogram;
    all.merge(*figures.failed);
    histogram = &all;
  }
  if (histogram == nullptr) return missing("wait and lag are not kept for each endpoint");
  if (histogram->empty()) return missing("there is no sample");
  Measured measured;
  switch (threshold.measure) {
    case Measure::min:
      measured.value = static_cast<double>(histogram->min().count());
      measured.lower_bound = histogram->percentile_is_lower_bound(0);
      break;
    case Measure::mean:
      measured.value = mean_of(*histogram);
      measured.lower_bound = histogram->censored() != 0;
      break;
    case Measure::total:
      measured.value = *mean_of(*histogram) * static_cast<double>(histogram->count());
      measured.lower_bound = histogram->censored() != 0;
      break;
    case Measure::max:
      measured.value = static_cast<double>(histogram->max().count());
      measured.lower_bound = histogram->max_is_lower_bound();
      break;
    default:
      measured.value = static_cast<double>(histogram->percentile(threshold.percentile).count());
      measured.lower_bound = histogram->percentile_is_lower_bound(threshold.percentile);
      measured.too_few_samples = histogram->count() < samples_needed(threshold.percentile, tail);
  }
  return measured;
}

// A count as the threshold's unit wants it: as it is, of all started in percent, or per second.
Measured counted(std::uint64_t count, const Threshold& threshold, const Figures& figures) {
  switch (threshold.unit) {
    case ThresholdUnit::percent:
      if (figures.counts->started == 0) return missing("nothing was started");
      return {.value = 100.0 * static_cast<double>(count) /
                       static_cast<double>(figures.counts->started)};
    case ThresholdUnit::per_second: {
      const auto rate = per_second(count, figures.window);
      if (!rate) return missing("the run has no duration");
      return {.value = rate};
    }
    default:
      return {.value = static_cast<double>(count)};
  }
}

Measured named(const Threshold& threshold, const Figures& figures) {
  const kernel::Counts& counts = *figures.counts;
  if (threshold.name == "ok") return counted(counts.ok, threshold, figures);
  if (threshold.name == "errors")
    return counted(counts.failed + counts.timed_out, threshold, figures);
  if (threshold.name != "passed" && threshold.name != "not_passed") {
    return missing(fmt::format("the run has no metric {}", threshold.name));
  }
  const std::uint64_t judged = counts.passed + counts.not_passed;
  if (judged == 0) return missing("nothing was judged");
  const std::uint64_t count = threshold.name == "passed" ? counts.passed : counts.not_passed;
  // Of those that were judged: some runs judge a sample.
  if (threshold.unit == ThresholdUnit::percent)
    return {.value = 100.0 * static_cast<double>(count) / static_cast<double>(judged)};
  return counted(count, threshold, figures);
}

}  // namespace

Measured measure(const Threshold& threshold, const Figures& figures, double tail_samples) {
  const kernel::Counts& counts = *figures.counts;
  switch (threshold.measure) {
    case Measure::percentile:
    case Measure::min:
    case Measure::mean:
    case Measure::max:
    case Measure::total:
      return latency(threshold, figures, tail_samples);
    case Measure::rate:
    case Measure::count:
      return counted(counts.started, threshold, figures);
    case Measure::ok_rate:
      return counted(counts.ok, threshold, figures);
    case Measure::error_rate:
      return counted(counts.failed + counts.timed_out, threshold, figures);
    case Measure::code:
    case Measure::error:
      return counted(figures.named, threshold, figures);
    case Measure::named:
      return named(threshold, figures);
  }
  return missing("there is no such metric");
}

bool certainly_holds(const Threshold& threshold, const Measured& measured) {
  if (!measured.value || !threshold.holds(*measured.value)) return false;
  if (!measured.lower_bound) return true;
  switch (threshold.compare) {
    case Compare::greater:
    case Compare::greater_equal:
      return true;
    case Compare::not_equal:
      return *measured.value > threshold.value;
    default:
      return false;
  }
}

std::string value_text(double value, const Threshold& threshold) {
  switch (threshold.unit) {
    case ThresholdUnit::nanoseconds:
      return options::format_duration(Duration{static_cast<std::int64_t>(value)});
    case ThresholdUnit::percent:
      return options::format_percent(value);
    case ThresholdUnit::per_second:
      return options::format_rate(value);
    case ThresholdUnit::plain:
      return options::format_number(value, value == std::floor(value) ? 0 : 2);
  }
  return "n/a";
}

}  // namespace onbeat::run
