#include "options/format.hpp"
#include "run/measure.hpp"
#include "run/thresholds.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

namespace onbeat::run {
namespace {

using options::Measure;

std::uint64_t count_of(const std::vector<std::uint64_t>& counts, const kernel::NameTable& table,
                       const std::string& name) {
  const std::vector<std::string> names = table.names();
  const auto id = static_cast<std::size_t>(std::ranges::find(names, name) - names.begin());
  return id < counts.size() && id < names.size() ? counts[id] : 0;
}

Measured measure_window(const options::Threshold& threshold, const kernel::Interval& window,
                        bool open, const kernel::Names& names) {
  const bool code = threshold.measure == Measure::code;
  const kernel::NameTable& table = code ? names.codes : names.errors;
  Figures figures{.counts = &window.counts,
                  .response = &window.response,
                  .service = &window.service,
                  .wait = &window.wait,
                  .lag = &window.lag,
                  .named = count_of(code ? window.codes : window.errors, table, threshold.name),
                  .window = window.end - window.start,
                  .open = open};
  if (threshold.endpoint.empty()) return measure(threshold, figures);
  const std::vector<std::string> endpoints = names.endpoints.names();
  const auto id = static_cast<std::size_t>(std::ranges::find(endpoints, threshold.endpoint) -
                                           endpoints.begin());
  if (id >= window.endpoints.size() || id >= endpoints.size()) return {};
  const kernel::EndpointInterval& endpoint = window.endpoints[id];
  figures.counts = &endpoint.counts;
  figures.response = &endpoint.response;
  figures.service = &endpoint.service;
  figures.wait = figures.lag = nullptr;
  figures.named = count_of(code ? endpoint.codes : endpoint.errors, table, threshold.name);
  return measure(threshold, figures);
}

}  // namespace

AbortWatch::AbortWatch(options::AbortRule rule, bool open, kernel::Names& names)
    : rule_(std::move(rule)), open_(open), names_(names) {}

std::optional<std::string> AbortWatch::feed(const kernel::Interval& interval) {
  window_.push_back(interval);
  // Intervals are never cut: the window is the fewest newest ones that cover it.
  while (window_.size() > 1 && window_.back().end - window_[1].start >= rule_.window) {
    window_.pop_front();
  }
  if (window_.back().end - window_.front().start < rule_.window) return std::nullopt;
  kernel::Interval folded = window_.front();
  for (std::size_t i = 1; i < window_.size(); ++i) folded.merge_next(window_[i]);
  const Measured measured = measure_window(rule_.threshold, folded, open_, names_);
  if (!certainly_holds(rule_.threshold, measured)) return std::nullopt;
  return fmt::format("{} was {} over {}", rule_.threshold.metric,
                     value_text(*measured.value, rule_.threshold),
                     options::format_duration(folded.end - folded.start));
}

}  // namespace onbeat::run
