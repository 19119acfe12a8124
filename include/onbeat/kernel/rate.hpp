// Rate profiles: the arrival rate R(t) of a run as a function of the time since its start, its
// integral I(t) (the arrivals offered by t) and the inverse of the integral.
//
// A profile is a list of segments, each in closed form and evaluated from its own start; nothing is
// summed per arrival. Past the last segment its final rate holds. Rates are arrivals per second.
// A rate that is negative, NaN or -Inf counts as 0 (a pause); +Inf means "due now" (no schedule).
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include <onbeat/kernel/clock.hpp>

namespace onbeat::kernel {

/// Duration::max(), as "never" for times since the start.
inline constexpr Duration kNoTime = Duration::max();

/// A rate as profiles use it: negative, NaN and -Inf become 0; +Inf stays.
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
  /// Linear from `from` to `to` in `over`, then `to`. over <= 0: `to` from the start.
  static RateProfile ramp(double from, double to, Duration over);
  /// Steps one after another; a boundary instant belongs to the next step; lengths <= 0 are skipped
  /// (but the last step's rate holds afterwards in any case); empty: a pause.
  static RateProfile phased(std::vector<Step> steps);
  /// mean + amplitude * sin(2 pi t / period), never below 0; amplitude <= mean is required of the
  /// caller (larger ones are clamped to mean). period <= 0: constant `mean`.
  static RateProfile sine(double mean, double amplitude, Duration period);
  /// `base`, and `peak` in [at, at + length).
  static RateProfile spike(double base, double peak, Duration at, Duration length);
  /// Linear between the points (sorted by time; the first rate holds before the first point, the
  /// last rate after the last).
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
  /// inf { t : I(t) > x }, rounded down to whole ns (with a guard against dust from rounding: an instant within
  /// 1/1024 ns below a whole nanosecond is that nanosecond); kNoTime when I never exceeds x.
  [[nodiscard]] Duration time_of(double x) const noexcept;
  /// The highest rate within [0, until].
  [[nodiscard]] double peak(Duration until) const noexcept;
  /// Where the shape ends and only its last rate holds: 0 for a constant, the whole of ramps, stages
  /// and spikes; 0 for a sine, which has no end.
  [[nodiscard]] Duration shape_length() const noexcept;

  /// From `from` on (>= every earlier boundary), the constant `rate`; what was planned before
  /// stays. This is how a live rate change is kept.
  void append(Duration from, double rate);
  /// The start of the last segment.
  [[nodiscard]] Duration last_boundary() const noexcept;

  /// A cursor's memory of the segment last used, so that a walk forward costs no search.
  /// time_of(x, hint) == time_of(x) for any hint.
  [[nodiscard]] Duration time_of(double x, std::size_t& hint) const noexcept;

 private:
  enum class Shape : std::uint8_t { linear, sine };
  /// On [start, start + length): rate from + (to - from) * t / length, or the sine.
  struct Segment {
    Shape shape = Shape::linear;
    double start_s = 0;    // seconds since the run's start
    double length_s = 0;   // +Inf for the last
    double arrivals = 0;   // I(start)
    double from = 0;       // rate at the start; the mean of a sine
    double to = 0;         // rate at the end; the amplitude of a sine
    double period_s = 0;   // of a sine
    Duration start{};
  };
  std::vector<Segment> segments_;
  Duration shape_length_{};
};

}  // namespace onbeat::kernel
