#include "run/report.hpp"

#include <algorithm>
#include <cmath>

namespace onbeat::run {

std::optional<double> per_second(std::uint64_t count, Duration window) {
  if (window <= Duration::zero()) return std::nullopt;
  return static_cast<double>(count) / std::chrono::duration<double>(window).count();
}

std::uint64_t samples_needed(double p, double tail) {
  if (p >= 100) return 1;
  // 10 / (1 - 0.9) is a hair above 100 in binary; the epsilon keeps round percentiles round.
  return static_cast<std::uint64_t>(std::ceil(100 * tail / (100 - std::max(p, 0.0)) * (1 - 1e-9)));
}

std::optional<Duration> shown_percentile(const Histogram& histogram, double p, double tail) {
  if (histogram.empty() || histogram.count() < samples_needed(p, tail)) return std::nullopt;
  return histogram.percentile(p);
}

std::optional<double> mean_of(const Histogram& histogram) {
  if (histogram.empty()) return std::nullopt;
  return std::clamp(histogram.mean(), static_cast<double>(histogram.min().count()),
                    static_cast<double>(histogram.max().count()));
}

const Histogram& headline(const Report& report) {
  return report.open ? report.total.response : report.total.service;
}

std::string_view headline_name(const Report& report) {
  return report.open ? "response" : "service";
}

std::string_view to_string(Status status) noexcept {
  switch (status) {
    case Status::valid:
      return "valid";
    case Status::degraded:
      return "degraded";
    case Status::invalid:
      return "invalid";
  }
  return "invalid";
}

std::string_view to_string(Check::State state) noexcept {
  switch (state) {
    case Check::State::ok:
      return "ok";
    case Check::State::note:
      return "note";
    case Check::State::degraded:
      return "degraded";
    case Check::State::invalid:
      return "invalid";
    case Check::State::not_applicable:
      return "n/a";
  }
  return "n/a";
}

}  // namespace onbeat::run
