// Histograms of durations in the layout of HdrHistogram (Gil Tene): buckets of equal relative
// width, exact count, sum, min and max beside them, merged without loss.
#pragma once

#include <onbeat/kernel/clock.hpp>

#include <bit>
#include <cstdint>
#include <vector>

namespace onbeat::kernel {

namespace detail {

/// Wide enough for the sum of 10^12 samples of hours in ns.
__extension__ typedef __int128 WideSum;

// The default layout, known at compile time so that recording is a few instructions.
inline constexpr int kHalfMagnitude = 10;  // 1024 buckets for each doubling: 3 digits
inline constexpr std::int64_t kHighestNs = (std::int64_t{1} << 44) - 1;

/// The bucket of a value in [0, highest].
constexpr std::uint32_t bucket_of(std::int64_t value, int unit_magnitude,
                                  int half_magnitude) noexcept {
  const auto units = static_cast<std::uint64_t>(value) >> unit_magnitude;
  const std::uint64_t smallest = (std::uint64_t{2} << half_magnitude) - 1;
  const int doubling = static_cast<int>(std::bit_width(units | smallest)) - (half_magnitude + 1);
  return (static_cast<std::uint32_t>(doubling) << half_magnitude) +
         static_cast<std::uint32_t>(units >> doubling);
}

inline constexpr std::uint32_t kDefaultBuckets = bucket_of(kHighestNs, 0, kHalfMagnitude) + 1;

}  // namespace detail

/// How values map to buckets. The default keeps 3 significant digits from 1 ns to 2^44 - 1 ns (4.88
/// hours).
class HistogramLayout {
 public:
  /// Lowest and highest trackable value, 1 to 5 digits. Throws std::invalid_argument when
  /// lowest <= 0, highest < 2 * lowest, or digits outside 1..5.
  HistogramLayout(Duration lowest, Duration highest, int digits);
  HistogramLayout();

  [[nodiscard]] std::uint32_t size() const noexcept { return size_; }
  /// The bucket of a value in [0, highest]; larger ones fall into the last bucket, negative ones in
  /// the first.
  [[nodiscard]] std::uint32_t index_of(std::int64_t value) const noexcept;
  /// The smallest and the largest value that share a bucket.
  [[nodiscard]] std::int64_t lowest_of(std::uint32_t index) const noexcept;
  [[nodiscard]] std::int64_t highest_of(std::uint32_t index) const noexcept;
  /// Whether a value lies within [lowest, highest]. A layout from 1 ns keeps 0 exactly, so 0 is in
  /// it.
  [[nodiscard]] bool contains(std::int64_t value) const noexcept {
    return value <= highest_ && value >= (lowest_ == 1 ? 0 : lowest_);
  }
  [[nodiscard]] Duration lowest() const noexcept { return Duration{lowest_}; }
  [[nodiscard]] Duration highest() const noexcept { return Duration{highest_}; }
  [[nodiscard]] int digits() const noexcept { return digits_; }
  bool operator==(const HistogramLayout&) const = default;

 private:
  [[nodiscard]] int shift_of(std::uint32_t index) const noexcept;

  std::int64_t lowest_, highest_;
  int digits_;
  int unit_magnitude_, sub_bucket_half_magnitude_;
  std::uint32_t size_;
};

/// What a histogram keeps exactly beside its buckets.
struct ExactFigures {
  Duration min{}, max{};
  detail::WideSum sum = 0;
  std::uint64_t censored = 0;
  Duration smallest_censored = Duration::max();  // that when nothing is censored
  bool operator==(const ExactFigures&) const = default;
};

/// A finished or growing distribution. Values are ns. Not thread-safe. Memory only for the range of
/// buckets in use. A censored sample is a lower bound of the true value: every figure at or above
/// the smallest one is a lower bound.
class Histogram {
 public:
  Histogram() = default;
  explicit Histogram(HistogramLayout layout);

  /// A count of 0 does nothing.
  void record(Duration value, std::uint64_t count = 1) { add(value, count, false); }
  void record_censored(Duration value, std::uint64_t count = 1) { add(value, count, true); }
  /// Throws std::invalid_argument for another layout.
  void merge(const Histogram& other);
  /// Puts the exact figures back after the buckets came from where these are not kept (an HDR
  /// payload). False, and nothing changed, when they cannot be those of these buckets.
  [[nodiscard]] bool restore(const ExactFigures& exact) noexcept;
  void clear();

  [[nodiscard]] bool empty() const noexcept { return count_ == 0; }
  /// All samples, the censored ones included.
  [[nodiscard]] std::uint64_t count() const noexcept { return count_; }
  [[nodiscard]] std::uint64_t censored() const noexcept { return censored_; }
  /// kNoTime when nothing is censored.
  [[nodiscard]] Duration smallest_censored() const noexcept { return Duration{smallest_censored_}; }
  [[nodiscard]] ExactFigures exact() const noexcept;
  /// Values beyond the layout's range; they count in its first or last bucket, and exactly in min,
  /// max and sum.
  [[nodiscard]] std::uint64_t clamped() const noexcept { return clamped_; }

  // Exact; 0 when empty (callers print "n/a").
  [[nodiscard]] Duration min() const noexcept;
  [[nodiscard]] Duration max() const noexcept;
  [[nodiscard]] double mean() const noexcept;
  /// From bucket midpoints (population).
  [[nodiscard]] double stddev() const noexcept;
  /// The upper edge of the bucket that holds the sample of rank ceil(p/100 * count) (rank 1 for p =
  /// 0), within [min, max]; of values above the layout's range, whose bucket has no upper edge, the
  /// max. p is a percentage, 0 to 100. 0 when empty.
  [[nodiscard]] Duration percentile(double p) const noexcept;
  /// Whether percentile(p) rests on a censored sample, so that it reads ">=".
  [[nodiscard]] bool percentile_is_lower_bound(double p) const noexcept;
  [[nodiscard]] bool max_is_lower_bound() const noexcept { return censored_ != 0; }
  /// The share of samples at or below a value (to its bucket), 0 to 1; 0 when empty.
  [[nodiscard]] double share_at_or_below(Duration value) const noexcept;

  [[nodiscard]] const HistogramLayout& layout() const noexcept { return layout_; }
  /// Buckets in use: counts()[i] is bucket first_index() + i. May begin and end with zeros.
  [[nodiscard]] std::uint32_t first_index() const noexcept { return first_; }
  [[nodiscard]] const std::vector<std::uint64_t>& counts() const noexcept { return counts_; }
  /// The same samples to the bucket, and the same exact figures.
  bool operator==(const Histogram&) const = default;

 private:
  friend class IntervalHistogram;
  void add(Duration value, std::uint64_t count, bool censored);
  void cover(std::uint32_t first, std::uint32_t last);
  [[nodiscard]] std::uint32_t index_at(double p) const noexcept;

  HistogramLayout layout_;
  std::uint32_t first_ = 0;
  std::vector<std::uint64_t> counts_;
  std::uint64_t count_ = 0, censored_ = 0, clamped_ = 0;
  std::int64_t min_ = INT64_MAX, max_ = INT64_MIN, smallest_censored_ = INT64_MAX;
  detail::WideSum sum_ = 0;
};

}  // namespace onbeat::kernel
