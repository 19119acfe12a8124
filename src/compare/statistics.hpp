// What can be said of a difference between two small sets of runs, without assuming a distribution:
// the rank test (Mann and Whitney 1947), the estimate and the interval that go with it
// (Hodges and Lehmann 1963), and Holm's correction for several tests (1979). Pure functions.
#pragma once

#include <cstddef>
#include <optional>
#include <span>
#include <vector>

namespace onbeat::compare {

using Values = std::span<const double>;

/// With at most so many values on each side the distribution of the rank sum is counted out, ties
/// included; with more it is the normal one, corrected for ties and continuity.
inline constexpr std::size_t kMostExact = 20;

/// One-sided p values: how likely it is that ranks lie so far off, or farther, when both sides come
/// from one distribution.
struct Tails {
  double larger = 1;   // that the second lies above the first
  double smaller = 1;  // that it lies below
};

/// Mann-Whitney U of two independent samples. Both p are 1 when a side is empty.
[[nodiscard]] Tails mann_whitney(Values first, Values second);

/// A shift with its interval. `confidence` is what the interval really has, at least what was asked
/// for where the values allow it; there is no interval where they do not.
struct Shift {
  double estimate = 0;
  std::optional<double> low, high;
  double confidence = 0;
};

/// The median of all second - first, and the interval of the rank test. Needs a value on each side.
[[nodiscard]] Shift shift_between(Values first, Values second, double confidence = 0.95);

/// Holm's step-down adjustment: each p as it must be read among the others, at most 1.
[[nodiscard]] std::vector<double> holm(std::span<const double> p);

[[nodiscard]] double median(Values values);  // of at least one

/// The smallest p that a test of so many values can reach.
[[nodiscard]] double smallest_p(std::size_t first, std::size_t second);

}  // namespace onbeat::compare
