// The figures of a report that runs are compared by.
#pragma once

#include "run/report.hpp"

#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace onbeat::compare {

enum class Unit : std::uint8_t { nanoseconds, per_second, percent, microseconds };

struct Value {
  double value = 0;          // in the metric's unit
  bool lower_bound = false;  // the true value is at least that
};

struct Metric {
  std::string name;  // "response.p99", "ok_rate"
  Unit unit = Unit::nanoseconds;
  bool lower_is_better = true;
  std::string figure;  // of the verdict: what makes it untrusted
  std::function<std::optional<Value>(const run::Report&)> read;  // nothing: the run has none
};

/// Every metric that runs have: rates, error_rate, mean and percentiles of response (open) and
/// service, CPU per request.
[[nodiscard]] const std::vector<Metric>& metrics();

/// A metric by its name, or by one without "response." or "service.", which means the headline:
/// response of open runs, service of closed ones. Null: there is no such metric.
[[nodiscard]] const Metric* find_metric(std::string_view name, bool open);

/// For people: "12.3 ms", "5,000/s", "0.08%", "4.4 us".
[[nodiscard]] std::string value_text(double value, Unit unit);
[[nodiscard]] std::string_view to_string(Unit unit) noexcept;

/// Whether the verdict of that run trusts the metric.
[[nodiscard]] bool trusted(const run::Report& report, const Metric& metric);

}  // namespace onbeat::compare
