#include <onbeat/kernel/rate.hpp>

#include <algorithm>
#include <array>
#include <cmath>
#include <limits>
#include <numbers>

namespace onbeat::kernel {
namespace {

__extension__ using Wide = unsigned __int128;
__extension__ using SignedWide = __int128;

constexpr double kInfinity = std::numeric_limits<double>::infinity();
constexpr double kLowestRate = 1e-9;  // keeps every gap below 2^63 ns
constexpr double kTooLateNs = 9.2e18;

double seconds(Duration t) noexcept { return static_cast<double>(t.count()) / 1e9; }

// Down to whole ns, with the guard that time_of() promises; `span_s` bounds the rounding error.
Duration whole_ns(double t_s, double span_s) noexcept {
  const double ns = t_s * 1e9;
  if (!(ns < kTooLateNs)) return kNoTime;
  const double guard = 0x1p-10 + std::min(span_s * 1e9 * 0x1p-52, 0.5);
  return Duration(static_cast<std::int64_t>(ns + guard));
}

constexpr int kSeriesTerms = 9;

// The coefficients of a^first, a^(first + 2), ... in the series of the sine (first = 1) or the
// cosine (first = 0).
constexpr std::array<double, kSeriesTerms> series(int first) noexcept {
  std::array<double, kSeriesTerms> coefficients{};
  double factorial = 1;  // exact as far as 18! goes
  for (int i = 0, n = first; i < kSeriesTerms; ++i, n += 2) {
    coefficients[static_cast<std::size_t>(i)] = (i % 2 == 0 ? 1 : -1) / factorial;
    factorial *= (n + 1.0) * (n + 2.0);
  }
  return coefficients;
}

// sin(pi x) for 0 <= x <= 1, by the series around the nearest multiple of pi / 2.
double sin_pi(double x) noexcept {
  static constexpr auto kSine = series(1);
  static constexpr auto kCosine = series(0);
  if (x > 0.5) x = 1 - x;
  const bool around_peak = x > 0.25;
  const double angle = (around_peak ? 0.5 - x : x) * std::numbers::pi;
  const auto& coefficients = around_peak ? kCosine : kSine;
  const double square = angle * angle;
  double sum = coefficients.back();
  for (std::size_t i = kSeriesTerms - 1; i-- > 0;) sum = sum * square + coefficients[i];
  return around_peak ? sum : sum * angle;
}

// sin(2 pi x) for 0 <= x <= 1.
double sin_turns(double x) noexcept { return x > 0.5 ? -sin_pi(2 * x - 1) : sin_pi(2 * x); }

struct Sine {
  double mean;
  double amplitude;
  double period_s;

  // The part of the period that has passed, in [0, 1].
  [[nodiscard]] double turn(double r) const noexcept { return std::min(r / period_s, 1.0); }
  [[nodiscard]] double rate(double r) const noexcept {
    return mean + amplitude * sin_turns(turn(r));
  }
  [[nodiscard]] double swing() const noexcept { return amplitude * period_s / std::numbers::pi; }
  // Arrivals within r of the start of a period.
  [[nodiscard]] double arrivals(double r) const noexcept {
    const double s = sin_pi(turn(r));
    return mean * r + swing() * (s * s);
  }
  // The r in [0, period] at which arrivals() reaches `wanted`: Newton inside a bracket that every
  // step narrows, and halving it where Newton would leave it, as it does where the rate touches 0.
  [[nodiscard]] double time_of(double wanted) const noexcept {
    double low = std::clamp((wanted - swing()) / mean, 0.0, period_s);
    double high = std::min(period_s, wanted / mean);
    double r = low + (high - low) / 2;
    for (int newton_steps = 0; low < r && r < high; ++newton_steps) {
      const double missing = wanted - arrivals(r);
      if (missing == 0) break;
      (missing < 0 ? high : low) = r;
      const double step = missing / rate(r);
      if (std::abs(step) < r * 0x1p-52) break;
      const double next = r + step;
      // Every other step from the tenth on is a halving, so that the end is certain.
      const bool newton = low < next && next < high && (newton_steps < 10 || newton_steps % 2 == 0);
      r = newton ? next : low + (high - low) / 2;
    }
    return r;
  }
};

// The line from `from` to `to` in span_s.
struct Line {
  double from;
  double to;
  double span_s;

  [[nodiscard]] double slope() const noexcept { return (to - from) / span_s; }
  [[nodiscard]] double rate(double t) const noexcept { return from + slope() * t; }
  [[nodiscard]] double arrivals(double t) const noexcept { return t * (from + 0.5 * slope() * t); }
  // A rising line is solved from its start and a falling one from its end, where nothing cancels.
  [[nodiscard]] double time_of(double wanted) const noexcept {
    if (to >= from) return rise(from, slope(), wanted);
    return span_s - rise(to, -slope(), 0.5 * (from + to) * span_s - wanted);
  }

 private:
  static double rise(double rate, double slope, double wanted) noexcept {
    if (!(wanted > 0)) return 0;
    return 2 * wanted / (rate + std::sqrt(rate * rate + 2 * slope * wanted));
  }
};

}  // namespace

double sanitise_rate(double rate) noexcept { return rate >= kLowestRate ? rate : 0; }

RateProfile::Segment RateProfile::constant_segment(double rate) noexcept {
  Segment segment;
  rate = sanitise_rate(rate);
  segment.from = segment.to = rate;
  if (rate == kInfinity) segment.shape = Shape::unlimited;
  if (rate == 0 || rate == kInfinity) return segment;

  // 1e9 / rate to twice the precision of a double, then as an integer and its fraction.
  const double gap = 1e9 / rate;
  const double rest = std::fma(-gap, rate, 1e9) / rate;
  const double whole = std::floor(gap);
  const Wide fixed = (Wide{static_cast<std::uint64_t>(whole)} << 64) +
                     static_cast<std::uint64_t>((gap - whole) * 0x1p64) +
                     static_cast<Wide>(static_cast<SignedWide>(rest * 0x1p64));
  segment.gap_ns = static_cast<std::uint64_t>(fixed >> 64);
  segment.gap_fraction = static_cast<std::uint64_t>(fixed);
  return segment;
}

double RateProfile::arrivals_within(const Segment& segment, Duration t) noexcept {
  if (t <= Duration::zero()) return 0;
  const double t_s = seconds(t);
  switch (segment.shape) {
    case Shape::constant:
      return segment.from * t_s;
    case Shape::linear:
      return Line{segment.from, segment.to, segment.span_s}.arrivals(t_s);
    case Shape::sine: {
      const Sine sine{segment.from, segment.to, segment.span_s};
      const double periods = std::floor(t_s / segment.span_s);
      const double rest = std::max(0.0, t_s - periods * segment.span_s);
      return periods * (segment.from * segment.span_s) + sine.arrivals(rest);
    }
    case Shape::unlimited:
      break;
  }
  return kInfinity;
}

Duration RateProfile::time_within(const Segment& segment, double arrivals) noexcept {
  switch (segment.shape) {
    case Shape::constant:
      return constant_time(segment, arrivals);
    case Shape::linear: {
      const double t = Line{segment.from, segment.to, segment.span_s}.time_of(arrivals);
      return whole_ns(t, segment.to < segment.from ? segment.span_s : t);
    }
    case Shape::sine: {
      const double per_period = segment.from * segment.span_s;
      const double periods = std::floor(arrivals / per_period);
      const double rest = std::max(0.0, arrivals - periods * per_period);
      const Sine sine{segment.from, segment.to, segment.span_s};
      const double t = periods * segment.span_s + sine.time_of(rest);
      return whole_ns(t, t);
    }
    case Shape::unlimited:
      break;
  }
  return Duration::zero();
}

// arrivals * gap in 64.64 fixed point.
Duration RateProfile::constant_time(const Segment& segment, double arrivals) noexcept {
  const double estimate =
      arrivals * static_cast<double>(static_cast<std::int64_t>(segment.gap_ns + 1));
  if (!(estimate < kTooLateNs) || !(arrivals < 0x1p63)) return kNoTime;
  // By way of signed integers, for which there is an instruction.
  const auto signed_whole = static_cast<std::int64_t>(arrivals);
  const double fraction = arrivals - static_cast<double>(signed_whole);
  const auto whole = static_cast<std::uint64_t>(signed_whole);
  Wide t = (Wide{whole * segment.gap_ns} << 64) + Wide{whole} * segment.gap_fraction;
  if (fraction > 0) {
    const auto part = static_cast<std::uint64_t>(static_cast<std::int64_t>(fraction * 0x1p63)) << 1;
    t += Wide{part} * segment.gap_ns + (Wide{part} * segment.gap_fraction >> 64);
  }
  // The guard of time_of(): 2^-10 ns and 2^-52 of t, in units of 2^-64 ns.
  const auto t_ns = static_cast<std::uint64_t>(t >> 64);
  t += (std::uint64_t{1} << 54) + (std::min(t_ns, std::uint64_t{1} << 51) << 12);
  return Duration(static_cast<std::int64_t>(t >> 64));
}

// I at the boundary, nudged by less than the dust of rounding so that it agrees with time_of():
// arrival n belongs before the boundary exactly when it was due before it.
void RateProfile::begin_segment(Duration start, Segment segment) {
  const bool unlimited = !segments_.empty() && segments_.back().shape == Shape::unlimited;
  if (unlimited && segment.shape == Shape::unlimited) return;  // it goes on
  segment.start = start;
  segment.arrivals = arrivals_by(start);
  const double n = std::nearbyint(segment.arrivals);
  if (segment.arrivals < kInfinity) {
    segment.arrivals = time_of(n) < start ? std::max(segment.arrivals, std::nextafter(n, kInfinity))
                                          : std::min(segment.arrivals, n);
  }
  segments_.push_back(segment);
}

RateProfile RateProfile::constant(double rate) {
  RateProfile profile;
  profile.begin_segment({}, constant_segment(rate));
  return profile;
}

// A line over `length` from `at`, which is moved to its end. Where it is below 0 it is a pause.
void RateProfile::add_linear(double from, double to, Duration& at, Duration length) {
  if (length <= Duration::zero()) return;
  const Duration start = at;
  at += length;
  if (std::isnan(from) || from == -kInfinity) from = 0;
  if (std::isnan(to) || to == -kInfinity) to = 0;
  if (from == to || from == kInfinity || to == kInfinity) {
    begin_segment(start, constant_segment(std::max(from, to)));
    return;
  }
  if (from <= 0 && to <= 0) {
    begin_segment(start, constant_segment(0));
    return;
  }
  Segment line;
  line.shape = Shape::linear;
  line.from = std::max(from, 0.0);
  line.to = std::max(to, 0.0);
  const double below = -std::min(from, to) / std::abs(to - from);  // the part of it below 0
  const Duration pause{below > 0 ? static_cast<std::int64_t>(
                                       std::nearbyint(below * static_cast<double>(length.count())))
                                 : 0};
  line.span_s = seconds(length - pause);
  if (from < 0 && pause > Duration::zero()) begin_segment(start, constant_segment(0));
  if (pause < length) begin_segment(from < 0 ? start + pause : start, line);
  if (to < 0 && pause > Duration::zero()) begin_segment(at - pause, constant_segment(0));
}

RateProfile RateProfile::stages(std::vector<Stage> stages) {
  RateProfile profile;
  Duration at{};
  for (const Stage& stage : stages) profile.add_linear(stage.from, stage.to, at, stage.length);
  profile.begin_segment(at, constant_segment(stages.empty() ? 0 : stages.back().to));
  profile.shape_length_ = at;
  return profile;
}

RateProfile RateProfile::ramp(double from, double to, Duration over) {
  return stages({{.from = from, .to = to, .length = over}});
}

RateProfile RateProfile::phased(std::vector<Step> steps) {
  RateProfile profile;
  Duration at{};
  for (const Step& step : steps) {
    if (step.length <= Duration::zero()) continue;
    profile.begin_segment(at, constant_segment(step.rate));
    at += step.length;
  }
  profile.begin_segment(at, constant_segment(steps.empty() ? 0 : steps.back().rate));
  profile.shape_length_ = at;
  return profile;
}

RateProfile RateProfile::sine(double mean, double amplitude, Duration period) {
  RateProfile profile = constant(mean);
  mean = sanitise_rate(mean);
  if (period <= Duration::zero() || mean == 0 || mean == kInfinity || !(amplitude > 0)) {
    return profile;
  }
  Segment& segment = profile.segments_.front();
  segment.shape = Shape::sine;
  segment.to = std::min(amplitude, mean);
  segment.span_s = seconds(period);
  return profile;
}

RateProfile RateProfile::spike(double base, double peak, Duration at, Duration length) {
  const Duration from = std::max(at, Duration::zero());
  const Duration end = std::max(at + length, from);
  return phased({{.length = from, .rate = base},
                 {.length = end - from, .rate = peak},
                 {.length = {}, .rate = base}});
}

RateProfile RateProfile::points(std::vector<Point> points) {
  std::vector<Point> sorted;
  for (const Point& point : points) {
    const auto later = std::ranges::upper_bound(sorted, point.at, {}, &Point::at);
    sorted.insert(later, point);
  }
  std::vector<Stage> stages;
  Duration at{};
  double rate = sorted.empty() ? 0 : sorted.front().rate;
  for (const Point& point : sorted) {
    const Duration next = std::max(point.at, Duration::zero());
    stages.push_back({.from = rate, .to = point.rate, .length = next - at});
    at = next;
    rate = point.rate;
  }
  return RateProfile::stages(std::move(stages));
}

void RateProfile::append(Duration from, double rate) {
  from = std::max(from, Duration::zero());
  if (segments_.empty()) begin_segment({}, constant_segment(0));
  while (!segments_.empty() && segments_.back().start >= from) segments_.pop_back();
  begin_segment(from, constant_segment(rate));
  shape_length_ = from;
}

void RateProfile::resume_at(double x) {
  const auto waiting = std::ranges::find(segments_, kInfinity, &Segment::arrivals);
  if (waiting == segments_.end()) return;
  waiting->arrivals = std::max(x, (waiting - 1)->arrivals);
  const std::vector<Segment> later(waiting + 1, segments_.end());
  segments_.erase(waiting + 1, segments_.end());
  for (const Segment& segment : later) begin_segment(segment.start, segment);
}

Duration RateProfile::last_boundary() const noexcept {
  return segments_.empty() ? Duration::zero() : segments_.back().start;
}

const RateProfile::Segment* RateProfile::segment_at(Duration t) const noexcept {
  const auto after = std::upper_bound(segments_.begin(), segments_.end(), t,
                                      [](Duration at, const Segment& s) { return at < s.start; });
  return after == segments_.begin() ? nullptr : &*(after - 1);
}

double RateProfile::rate_at(Duration t) const noexcept {
  const Segment* segment = segment_at(std::max(t, Duration::zero()));
  if (segment == nullptr) return 0;
  const double t_s = std::max(0.0, seconds(t - segment->start));
  switch (segment->shape) {
    case Shape::linear:
      return Line{segment->from, segment->to, segment->span_s}.rate(t_s);
    case Shape::sine: {
      const Sine sine{segment->from, segment->to, segment->span_s};
      return sine.rate(t_s - std::floor(t_s / segment->span_s) * segment->span_s);
    }
    case Shape::constant:
    case Shape::unlimited:
      break;
  }
  return segment->from;
}

double RateProfile::arrivals_by(Duration t) const noexcept {
  if (t <= Duration::zero()) return 0;
  const Segment* segment = segment_at(t);
  if (segment == nullptr) return 0;
  return segment->arrivals + arrivals_within(*segment, t - segment->start);
}

double RateProfile::peak(Duration until) const noexcept {
  double highest = 0;
  for (std::size_t i = 0; i < segments_.size() && segments_[i].start <= until; ++i) {
    const Segment& segment = segments_[i];
    const bool last = i + 1 == segments_.size();
    const Duration end = last ? until : std::min(until, segments_[i + 1].start);
    const double length_s = seconds(end - segment.start);
    highest = std::max(highest, segment.from);
    if (segment.shape == Shape::linear) {
      highest = std::max(highest, Line{segment.from, segment.to, segment.span_s}.rate(length_s));
    } else if (segment.shape == Shape::sine) {
      const bool whole = length_s >= segment.span_s / 4;
      highest = std::max(highest, whole ? segment.from + segment.to : rate_at(end));
    }
  }
  return highest;
}

Duration RateProfile::shape_length() const noexcept { return shape_length_; }

Duration RateProfile::time_of(double x) const noexcept {
  std::size_t hint = SIZE_MAX;
  return time_of(x, hint);
}

// The last segment that begins with I <= x is the one in which I passes x.
Duration RateProfile::time_of(double x, std::size_t& hint) const noexcept {
  if (segments_.empty()) return kNoTime;
  x = std::max(x, 0.0);
  if (hint >= segments_.size() || x < segments_[hint].arrivals) {
    const auto after = std::upper_bound(segments_.begin(), segments_.end(), x,
                                        [](double v, const Segment& s) { return v < s.arrivals; });
    hint = static_cast<std::size_t>(after - segments_.begin()) - 1;
  }
  while (hint + 1 < segments_.size() && segments_[hint + 1].arrivals <= x) ++hint;
  return time_in(hint, x);
}

Duration RateProfile::time_in(std::size_t index, double x) const noexcept {
  const Segment& segment = segments_[index];
  if (segment.shape == Shape::constant && segment.from == 0) return kNoTime;
  const double arrivals = std::max(x - segment.arrivals, 0.0);
  // The common shape first, without a further call.
  const Duration within = segment.shape == Shape::constant ? constant_time(segment, arrivals)
                                                           : time_within(segment, arrivals);
  if (index + 1 < segments_.size()) {
    const Duration length = segments_[index + 1].start - segment.start;
    return segment.start + std::min(within, length);
  }
  return within < kNoTime - segment.start ? segment.start + within : kNoTime;
}

}  // namespace onbeat::kernel
