#include <onbeat/kernel/histogram.hpp>

#include <algorithm>
#include <cmath>
#include <stdexcept>

namespace onbeat::kernel {

namespace {

/// Memory grows by this many buckets at least, so that a widening range is not copied for each
/// bucket.
constexpr std::uint32_t kGrain = 64;

/// Half of the buckets that one doubling needs so that neighbours differ in the last of `digits`
/// digits.
int half_magnitude_for(int digits) {
  std::int64_t finest = 2;
  for (int i = 0; i < digits; ++i) finest *= 10;
  return static_cast<int>(std::bit_width(static_cast<std::uint64_t>(finest - 1))) - 1;
}

}  // namespace

HistogramLayout::HistogramLayout(Duration lowest, Duration highest, int digits)
    : lowest_(lowest.count()), highest_(highest.count()), digits_(digits) {
  if (lowest_ <= 0) throw std::invalid_argument("histogram: the lowest value must be positive");
  if (highest_ / 2 < lowest_) {
    throw std::invalid_argument("histogram: the highest value must be at least twice the lowest");
  }
  if (digits < 1 || digits > 5) throw std::invalid_argument("histogram: digits must be 1 to 5");
  unit_magnitude_ = static_cast<int>(std::bit_width(static_cast<std::uint64_t>(lowest_))) - 1;
  sub_bucket_half_magnitude_ = half_magnitude_for(digits);
  size_ = detail::bucket_of(highest_, unit_magnitude_, sub_bucket_half_magnitude_) + 1;
}

HistogramLayout::HistogramLayout()
    : lowest_(1),
      highest_(detail::kHighestNs),
      digits_(3),
      unit_magnitude_(0),
      sub_bucket_half_magnitude_(detail::kHalfMagnitude),
      size_(detail::kDefaultBuckets) {}

std::uint32_t HistogramLayout::index_of(std::int64_t value) const noexcept {
  return detail::bucket_of(std::clamp<std::int64_t>(value, 0, highest_), unit_magnitude_,
                           sub_bucket_half_magnitude_);
}

/// How many doublings above the finest buckets an index lies.
int HistogramLayout::shift_of(std::uint32_t index) const noexcept {
  return std::max(0, static_cast<int>(index >> sub_bucket_half_magnitude_) - 1);
}

std::int64_t HistogramLayout::lowest_of(std::uint32_t index) const noexcept {
  const int shift = shift_of(index);
  const std::uint32_t units =
      index - (static_cast<std::uint32_t>(shift) << sub_bucket_half_magnitude_);
  return static_cast<std::int64_t>(units) << (shift + unit_magnitude_);
}

std::int64_t HistogramLayout::highest_of(std::uint32_t index) const noexcept {
  return lowest_of(index) + ((std::int64_t{1} << (shift_of(index) + unit_magnitude_)) - 1);
}

Histogram::Histogram(HistogramLayout layout) : layout_(layout) {}

void Histogram::add(Duration value, std::uint64_t count, bool censored) {
  if (count == 0) return;
  const std::int64_t ns = value.count();
  const std::uint32_t index = layout_.index_of(ns);
  cover(index, index);
  counts_[index - first_] += count;
  count_ += count;
  sum_ += static_cast<detail::WideSum>(ns) * static_cast<detail::WideSum>(count);
  min_ = std::min(min_, ns);
  max_ = std::max(max_, ns);
  if (!layout_.contains(ns)) clamped_ += count;
  if (censored) {
    censored_ += count;
    smallest_censored_ = std::min(smallest_censored_, ns);
  }
}

/// Makes room for the buckets first to last.
void Histogram::cover(std::uint32_t first, std::uint32_t last) {
  const auto end = static_cast<std::uint32_t>(first_ + counts_.size());
  if (!counts_.empty() && first >= first_ && last < end) return;
  const std::uint32_t low = first / kGrain * kGrain;
  const std::uint32_t high = std::min(last / kGrain * kGrain + kGrain, layout_.size());
  if (counts_.empty()) {
    first_ = low;
    counts_.assign(high - low, 0);
    return;
  }
  if (high > end) counts_.resize(high - first_, 0);
  if (low < first_) {
    counts_.insert(counts_.begin(), first_ - low, 0);
    first_ = low;
  }
}

void Histogram::merge(const Histogram& other) {
  if (layout_ != other.layout_) {
    throw std::invalid_argument("histogram: layouts differ, so counts cannot be merged");
  }
  if (other.counts_.empty()) return;
  cover(other.first_, static_cast<std::uint32_t>(other.first_ + other.counts_.size() - 1));
  const std::size_t shift = other.first_ - first_;
  for (std::size_t i = 0; i < other.counts_.size(); ++i) counts_[shift + i] += other.counts_[i];
  count_ += other.count_;
  censored_ += other.censored_;
  clamped_ += other.clamped_;
  sum_ += other.sum_;
  min_ = std::min(min_, other.min_);
  max_ = std::max(max_, other.max_);
  smallest_censored_ = std::min(smallest_censored_, other.smallest_censored_);
}

bool Histogram::restore(const ExactFigures& exact) noexcept {
  if (empty()) return exact == ExactFigures{};
  const auto used = [](std::uint64_t count) { return count != 0; };
  const auto lowest = std::ranges::find_if(counts_, used) - counts_.begin();
  const auto highest = std::ranges::find_if(counts_.rbegin(), counts_.rend(), used);
  const std::int64_t low = exact.min.count(), high = exact.max.count();
  const auto samples = static_cast<detail::WideSum>(count_);
  const bool censors = exact.censored != 0;
  const std::int64_t smallest = exact.smallest_censored.count();
  if (layout_.index_of(low) != static_cast<std::uint32_t>(first_ + lowest) ||
      layout_.index_of(high) !=
          static_cast<std::uint32_t>(first_ + (counts_.rend() - highest) - 1) ||
      low > high || exact.sum < samples * low || exact.sum > samples * high ||
      exact.censored > count_ || censors != (exact.smallest_censored != Duration::max()) ||
      (censors && (smallest < low || smallest > high))) {
    return false;
  }
  min_ = low;
  max_ = high;
  sum_ = exact.sum;
  censored_ = exact.censored;
  smallest_censored_ = smallest;
  return true;
}

ExactFigures Histogram::exact() const noexcept {
  if (empty()) return {};
  return {.min = min(),
          .max = max(),
          .sum = sum_,
          .censored = censored_,
          .smallest_censored = smallest_censored()};
}

void Histogram::clear() { *this = Histogram(layout_); }

Duration Histogram::min() const noexcept { return Duration{empty() ? 0 : min_}; }
Duration Histogram::max() const noexcept { return Duration{empty() ? 0 : max_}; }

double Histogram::mean() const noexcept {
  if (empty()) return 0;
  // The quotient may round to just outside the samples.
  return std::clamp(static_cast<double>(sum_) / static_cast<double>(count_),
                    static_cast<double>(min_), static_cast<double>(max_));
}

double Histogram::stddev() const noexcept {
  if (empty()) return 0;
  const double middle = mean();
  double squares = 0;
  for (std::size_t i = 0; i < counts_.size(); ++i) {
    if (counts_[i] == 0) continue;
    const auto index = static_cast<std::uint32_t>(first_ + i);
    const double low = static_cast<double>(std::max(layout_.lowest_of(index), min_));
    const double high = static_cast<double>(std::min(layout_.highest_of(index), max_));
    // Below 0 and beyond the range the bucket does not hold its samples: their exact extreme is
    // nearer.
    const double value =
        low <= high ? (low + high) / 2 : static_cast<double>(index == 0 ? min_ : max_);
    squares += static_cast<double>(counts_[i]) * (value - middle) * (value - middle);
  }
  return std::sqrt(squares / static_cast<double>(count_));
}

/// The bucket of the sample of rank ceil(p/100 * count). Not for an empty histogram.
std::uint32_t Histogram::index_at(double p) const noexcept {
  const double share = p > 0 ? std::min(p, 100.0) / 100 : 0;
  // Dust of the decimal percentage must not lift an exact rank to the next.
  const double exact = share * static_cast<double>(count_) * (1 - 1e-15);
  const auto rank =
      std::clamp<std::uint64_t>(static_cast<std::uint64_t>(std::ceil(exact)), 1, count_);
  std::uint64_t seen = 0;
  std::size_t i = 0;
  while ((seen += counts_[i]) < rank) ++i;
  return static_cast<std::uint32_t>(first_ + i);
}

Duration Histogram::percentile(double p) const noexcept {
  if (empty()) return Duration{0};
  const std::uint32_t index = index_at(p);
  if (index == layout_.size() - 1 && max_ > layout_.highest().count()) return Duration{max_};
  return Duration{std::clamp(layout_.highest_of(index), min_, max_)};
}

bool Histogram::percentile_is_lower_bound(double p) const noexcept {
  return censored_ != 0 && index_at(p) >= layout_.index_of(smallest_censored_);
}

double Histogram::share_at_or_below(Duration value) const noexcept {
  if (empty() || value.count() < min_) return 0;
  if (value.count() >= max_) return 1;
  const std::uint32_t last = layout_.index_of(value.count());
  std::uint64_t seen = 0;
  for (std::size_t i = 0; i < counts_.size() && first_ + i <= last; ++i) seen += counts_[i];
  return static_cast<double>(seen) / static_cast<double>(count_);
}

}  // namespace onbeat::kernel
