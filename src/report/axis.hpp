// The axes of charts: where a value stands between the two ends of an axis, and which round values
// are marked on it.
#pragma once

#include <cstdint>
#include <vector>

namespace onbeat::report {

class Axis {
 public:
  /// From 0 to a round number at or above `top`.
  [[nodiscard]] static Axis linear(double top);
  /// Seconds from `from` to `to`, not rounded; marked at whole seconds, minutes, hours.
  [[nodiscard]] static Axis time(double from, double to);
  /// Powers of ten take the same space; ends at 1, 2 or 5 times one, below `low` and above `high`.
  /// Values that are not positive count as the smallest.
  [[nodiscard]] static Axis log(double low, double high);
  /// Percentiles (0 to 100) up to the last that `samples` can tell from the maximum: each further
  /// nine takes the same space, as HdrHistogram's plots have it.
  [[nodiscard]] static Axis percentiles(std::uint64_t samples);

  /// 0 at the beginning, 1 at the end; what lies outside is moved to the nearer end.
  [[nodiscard]] double at(double value) const;
  /// The value at a place from 0 to 1.
  [[nodiscard]] double value(double at) const;
  [[nodiscard]] const std::vector<double>& ticks() const { return ticks_; }

 private:
  enum class Scale : std::uint8_t { linear, log, nines };
  Axis(Scale scale, double from, double to, std::vector<double> ticks);

  Scale scale_;
  double from_, to_;  // as the scale has them: of a logarithmic axis the exponents
  std::vector<double> ticks_;
};

}  // namespace onbeat::report
