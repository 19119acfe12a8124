#include "report/axis.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <utility>

namespace onbeat::report {
namespace {

constexpr double kSlack = 1e-9;  // what rounding may cost before a number counts as the next one
constexpr std::array kSteps{1.0, 2.0, 5.0};
constexpr double kMostTicks = 6;

double power_below(double value) { return std::pow(10, std::floor(std::log10(value) + kSlack)); }

/// The next of 1, 2, 5 times a power of ten, at or above.
double rounded_up(double value) {
  const double power = power_below(value);
  for (const double step : kSteps) {
    if (value <= step * power * (1 + kSlack)) return step * power;
  }
  return 10 * power;
}

double rounded_down(double value) {
  const double power = power_below(value);
  for (auto step = kSteps.rbegin(); step != kSteps.rend(); ++step) {
    if (value >= *step * power * (1 - kSlack)) return *step * power;
  }
  return power;
}

std::vector<double> multiples(double from, double to, double step) {
  std::vector<double> ticks;
  for (double i = std::ceil(from / step - kSlack); i * step <= to + step * kSlack; ++i)
    ticks.push_back(i * step);
  return ticks;
}

double time_step(double seconds) {
  const double wanted = seconds / kMostTicks;
  for (const double step : {1., 2., 5., 10., 15., 30., 60., 120., 300., 600., 900., 1800., 3600.,
                            7200., 14400., 21600., 43200., 86400.}) {
    if (wanted > 1.0 / 2 && wanted <= step) return step;
  }
  return wanted > 86400 ? std::ceil(wanted / 86400) * 86400 : rounded_up(wanted);
}

/// 1, 2, 5 of each power when there is room, else the powers, else every n-th of them.
std::vector<double> log_ticks(double from, double to) {
  std::vector<double> ticks;
  const bool fine = to - from < 2.5;
  const double every = std::max(1.0, std::ceil((to - from) / kMostTicks));
  for (double power = std::floor(from + kSlack); power <= to + kSlack; power += fine ? 1 : every) {
    for (const double step : kSteps) {
      const double at = power + std::log10(step);
      if ((fine || step == 1) && at >= from - kSlack && at <= to + kSlack)
        ticks.push_back(step * std::pow(10, power));
    }
  }
  return ticks;
}

}  // namespace

Axis::Axis(Scale scale, double from, double to, std::vector<double> ticks)
    : scale_(scale), from_(from), to_(to), ticks_(std::move(ticks)) {}

Axis Axis::linear(double top) {
  const double end = top > 0 && std::isfinite(top) ? top : 1;
  const double step = rounded_up(end / 4);
  const double to = std::ceil(end / step - kSlack) * step;
  return {Scale::linear, 0, to, multiples(0, to, step)};
}

Axis Axis::time(double from, double to) {
  if (to <= from) to = from + 1;
  return {Scale::linear, from, to, multiples(from, to, time_step(to - from))};
}

Axis Axis::log(double low, double high) {
  if (low <= 0) low = high > 0 ? std::min(1.0, high) : 1;
  high = std::max(high, low);
  const double from = std::log10(rounded_down(low));
  double to = std::log10(rounded_up(high));
  if (to - from < kSlack) to = std::log10(rounded_up(high * 1.01));
  return {Scale::log, from, to, log_ticks(from, to)};
}

Axis Axis::percentiles(std::uint64_t samples) {
  // The maximum stands for one in `samples`.
  const double nines = std::log10(static_cast<double>(std::max<std::uint64_t>(samples, 10)));
  std::vector<double> ticks{0, 50};
  for (double i = 1; i <= nines + kSlack; ++i) ticks.push_back(100 - 100 * std::pow(10, -i));
  return {Scale::nines, 0, nines, std::move(ticks)};
}

double Axis::at(double value) const {
  double place = value;
  if (scale_ == Scale::log) place = value > 0 ? std::log10(value) : from_;
  if (scale_ == Scale::nines) place = value < 100 ? -std::log10(1 - value / 100) : to_;
  return std::clamp((place - from_) / (to_ - from_), 0.0, 1.0);
}

double Axis::value(double at) const {
  const double place = from_ + at * (to_ - from_);
  switch (scale_) {
    case Scale::log:
      return std::pow(10, place);
    case Scale::nines:
      return at >= 1 ? 100 : 100 - 100 * std::pow(10, -place);
    case Scale::linear:
      return place;
  }
  return place;
}

}  // namespace onbeat::report
