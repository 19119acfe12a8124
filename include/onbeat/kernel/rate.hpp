// Rate profiles: the arrival rate R(t) of a run as a function of the time since its start, its
// integral I(t) (the arrivals offered by t) and the inverse of the integral.
//
// A profile is a list of segments, each in closed form and evaluated from its own start; nothing is
// summed per arrival. Past the last segment its final rate holds. Rates are arrivals per second.
// A rate that is negative, NaN or -Inf, or less than one in 30 years (1e-9), counts as 0 (a pause);
// +Inf means "due now" (no schedule). All arithmetic is in integers and IEEE operations that are
// exactly defined, without libm, so that one profile gives the same due times on every platform.
#pragma once

#include <onbeat/kernel/clock.hpp>

#include <cstdint>
#include <string>
#include <vector>

namespace onbeat::kernel {

/// Duration::max(), as "never" for times since the start.
inline constexpr Duration kNoTime = Duration::max();

/// A rate as profiles use it: negative, NaN, -Inf and below 1e-9 become 0; +Inf stays.
[[nodiscard]] double sanitise_rate(double rate) noexcept;

/// A value type; copying copies the segments. Const members may be called from any thread.
class RateProfile {
 public:
  struct Step {
    Duration length{};
    double rate = 0;
  };
  struct Point {
    Duration at{};
    double rate = 0;
  };

  /// A pause.
  RateProfile() = default;
  static RateProfile constant(double rate);
  /// Linear from `from` to `to` in `over`, then `to`. over <= 0: `to` from the start. Where the
  /// line is below 0 the rate is 0; an end that is +Inf makes the whole of it +Inf.
  static RateProfile ramp(double from, double to, Duration over);
  /// Steps one after another; a boundary instant belongs to the next step; lengths <= 0 are skipped
  /// (but the last step's rate holds afterwards in any case); empty: a pause.
  static RateProfile phased(std::vector<Step> steps);
  /// mean + amplitude * sin(2 pi t / period); the amplitude is clamped to [0, mean] (NaN: 0).
  /// period <= 0: constant `mean`.
  static RateProfile sine(double mean, double amplitude, Duration period);
  /// `base`, and `peak` in [at, at + length).
  static RateProfile spike(double base, double peak, Duration at, Duration length);
  /// Linear between the points (sorted by time here; two at one time are a jump; the first rate
  /// holds before the first point, the last rate after the last; times below 0 count as 0).
  static RateProfile points(std::vector<Point> points);
  /// One after another: `stages[i]` ramps from the previous stage's `to` (or jumps, when its own
  /// `from` differs) over its length.
  struct Stage {
    double from = 0;
    double to = 0;
    Duration length{};
  };
  static RateProfile stages(std::vector<Stage> stages);

  /// R(t); for t < 0 the rate at 0.
  [[nodiscard]] double rate_at(Duration t) const noexcept;
  /// I(t), 0 for t <= 0; +Inf once a segment with rate +Inf has begun.
  [[nodiscard]] double arrivals_by(Duration t) const noexcept;
  /// inf { t : I(t) > x }, rounded down to whole ns; kNoTime when I never exceeds x. A guard
  /// against dust from rounding: what is less than 1/1024 ns + t * 2^-52 below a whole ns is that
  /// ns (a decimal rate, as a double, is wrong by up to 2^-53 of itself; the second term is 1/2 ns
  /// at most, from day 26 on). Exact to the ns for constant rates; for other shapes as exact as a
  /// double of the time since the segment's start.
  [[nodiscard]] Duration time_of(double x) const noexcept;
  /// The highest rate within [0, until].
  [[nodiscard]] double peak(Duration until) const noexcept;
  /// Where the shape ends and only its last rate holds: 0 for a constant, the whole of ramps,
  /// stages and spikes; 0 for a sine, which has no end.
  [[nodiscard]] Duration shape_length() const noexcept;

  /// From `from` on the constant `rate`, in place of whatever the profile had there; what was
  /// planned before `from` stays, to the arrival. This is how a live rate change is kept.
  void append(Duration from, double rate);
  /// At a rate of +Inf no arrival has a number of its own, so I is +Inf from there on and what is
  /// appended is not reached. This goes on with what was appended first, from x: I(its start) = x.
  /// Without such a segment it does nothing.
  void resume_at(double x);
  /// The start of the last segment.
  [[nodiscard]] Duration last_boundary() const noexcept;

  /// With a cursor's memory of the segment last used, so that a walk forward costs no search.
  /// time_of(x, hint) == time_of(x) for any hint. About 5 ns for a constant rate.
  [[nodiscard]] Duration time_of(double x, std::size_t& hint) const noexcept;

 private:
  enum class Shape : std::uint8_t { constant, linear, sine, unlimited };
  struct Segment {
    Shape shape = Shape::constant;
    Duration start{};
    double arrivals = 0;  // I(start)
    double from = 0;      // the rate at the start; the mean of a sine
    double to = 0;        // the rate at the end of a linear one; the amplitude of a sine
    double span_s = 0;    // from `from` to `to`; the period of a sine
    // Of a constant rate: 1e9 / rate, in ns and 2^-64 ns, so that due times are exact for days.
    std::uint64_t gap_ns = 0;
    std::uint64_t gap_fraction = 0;
  };

  static Segment constant_segment(double rate) noexcept;
  static double arrivals_within(const Segment& segment, Duration t) noexcept;
  static Duration constant_time(const Segment& segment, double arrivals) noexcept;
  static Duration time_within(const Segment& segment, double arrivals) noexcept;
  void begin_segment(Duration start, Segment segment);
  void add_linear(double from, double to, Duration& at, Duration length);
  [[nodiscard]] const Segment* segment_at(Duration t) const noexcept;
  [[nodiscard]] Duration time_in(std::size_t index, double x) const noexcept;

  std::vector<Segment> segments_;
  Duration shape_length_{};
};

}  // namespace onbeat::kernel
