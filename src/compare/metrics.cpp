#include "compare/metrics.hpp"

#include "options/format.hpp"

#include <algorithm>
#include <array>
#include <cmath>

namespace onbeat::compare {
namespace {

using kernel::Histogram;
using run::Report;

using Which = const Histogram& (*)(const Report&);

const Histogram& response_of(const Report& report) { return report.total.response; }
const Histogram& service_of(const Report& report) { return report.total.service; }

Metric rate(std::string name, std::uint64_t kernel::Counts::* count) {
  return {.name = std::move(name),
          .unit = Unit::per_second,
          .lower_is_better = false,
          .figure = "rates",
          .read = [count](const Report& report) -> std::optional<Value> {
            const auto value = run::per_second(report.total.counts.*count, report.issue);
            return value ? std::optional(Value{*value}) : std::nullopt;
          }};
}

Metric error_rate() {
  return {.name = "error_rate",
          .unit = Unit::percent,
          .figure = "counts",
          .read = [](const Report& report) -> std::optional<Value> {
            const kernel::Counts& counts = report.total.counts;
            if (counts.started == 0) return std::nullopt;
            return Value{100.0 * static_cast<double>(counts.failed + counts.timed_out) /
                         static_cast<double>(counts.started)};
          }};
}

// A response time of a closed run is its service time, so only open runs have it.
bool has(const std::string& figure, const Report& report) {
  return figure == "service" || report.open;
}

Metric percentile(const std::string& figure, double p, Which which) {
  return {.name = figure + ".p" + options::number_text(p),
          .figure = figure,
          .read = [figure, p, which](const Report& report) -> std::optional<Value> {
            const Histogram& histogram = which(report);
            const auto shown = run::shown_percentile(histogram, p, report.tail_samples);
            if (!shown || !has(figure, report)) return std::nullopt;
            return Value{static_cast<double>(shown->count()),
                         histogram.percentile_is_lower_bound(p)};
          }};
}

Metric mean(const std::string& figure, Which which) {
  return {.name = figure + ".mean",
          .figure = figure,
          .read = [figure, which](const Report& report) -> std::optional<Value> {
            const auto value = run::mean_of(which(report));
            if (!value || !has(figure, report)) return std::nullopt;
            return Value{*value, which(report).censored() != 0};
          }};
}

Metric cpu() {
  return {.name = "cpu_per_request",
          .unit = Unit::microseconds,
          .figure = "cost",
          .read = [](const Report& report) -> std::optional<Value> {
            if (!report.cost.cpu_us_per_request) return std::nullopt;
            return Value{*report.cost.cpu_us_per_request};
          }};
}

}  // namespace

const std::vector<Metric>& metrics() {
  static const std::vector<Metric> kMetrics = [] {
    std::vector<Metric> all{rate("rate", &kernel::Counts::started),
                            rate("ok_rate", &kernel::Counts::ok), error_rate()};
    for (const auto& [figure, which] :
         {std::pair{"response", &response_of}, std::pair{"service", &service_of}}) {
      all.push_back(mean(figure, which));
      for (const double p : {50.0, 75.0, 90.0, 95.0, 99.0, 99.9})
        all.push_back(percentile(figure, p, which));
    }
    all.push_back(cpu());
    return all;
  }();
  return kMetrics;
}

const Metric* find_metric(std::string_view name, bool open) {
  const std::string of_headline = (open ? "response." : "service.") + std::string(name);
  for (const Metric& metric : metrics())
    if (metric.name == name || metric.name == of_headline) return &metric;
  return nullptr;
}

std::string value_text(double value, Unit unit) {
  switch (unit) {
    case Unit::nanoseconds:
      return (value < 0 ? "-" : "") +
             options::format_duration(kernel::Duration(std::llround(std::abs(value))));
    case Unit::per_second:
      return options::format_rate(value);
    case Unit::percent:
      return options::format_percent(value);
    case Unit::microseconds:
      return options::format_number(value, 1) + " us";
  }
  return {};
}

std::string_view to_string(Unit unit) noexcept {
  static constexpr std::array<std::string_view, 4> kNames{"ns", "per_second", "percent", "us"};
  return kNames[static_cast<std::size_t>(unit)];
}

bool trusted(const Report& report, const Metric& metric) {
  const auto& untrusted = report.verdict.untrusted;
  return std::ranges::find(untrusted, metric.figure) == untrusted.end();
}

}  // namespace onbeat::compare
