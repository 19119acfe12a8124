#include "options/load_schedule.hpp"

#include "options/format.hpp"
#include "options/scan.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <numbers>
#include <utility>

namespace onbeat::options {
namespace {

using kernel::RateProfile;
using Schedule = LoadShape::Schedule;
using Stage = RateProfile::Stage;

constexpr std::array<std::pair<std::string_view, Schedule>, 6> kSchedules{
    {{"const", Schedule::constant},
     {"step", Schedule::step},
     {"line", Schedule::line},
     {"sine", Schedule::sine},
     {"spike", Schedule::spike},
     {"custom", Schedule::custom}}};

constexpr std::size_t kMostPieces = 100'000;
/// What is not a straight line is cut into so many, each of the curve's own area.
constexpr int kCutsOfCurve = 512;
constexpr unsigned kCutsOfPeriod = 256, kMostPeriods = 1000;

double seconds(Duration duration) { return std::chrono::duration<double>(duration).count(); }

Duration from_seconds(double s) {
  const double longest = seconds(kLongestDuration);
  return Duration(static_cast<std::int64_t>(std::min(s, longest) * 1e9));
}

/// A part of the curve before the overlays: a straight line, or (period > 0) a piece of the sine.
struct Piece {
  Duration begin{}, end{};
  double from = 0, to = 0;
};

class Curve {
 public:
  Curve(const LoadShape& shape, const ShapeWindow& window) : shape_(shape), window_(window) {}

  std::expected<RateSpec, std::string> make() {
    if (auto cut = cut_up(); !cut) return std::unexpected(cut.error());
    if (!overlaid() && is_plain_sine()) return plain_sine();
    std::vector<Stage> stages;
    for (const Piece& piece : pieces_) add(piece, stages);
    return finish(stages);
  }

 private:
  [[nodiscard]] double start() const { return shape_.start.value_or(shape_.max_rps.value_or(0)); }
  [[nodiscard]] bool overlaid() const {
    return shape_.ramp_up > Duration{} || shape_.cool_down > Duration{};
  }
  [[nodiscard]] double midpoint() const {
    return shape_.midpoint.value_or(shape_.max_rps.value_or(0));
  }
  [[nodiscard]] double amplitude() const { return shape_.amplitude.value_or(midpoint() / 2); }
  [[nodiscard]] bool is_plain_sine() const {
    return shape_.schedule == Schedule::sine && amplitude() >= 0 && amplitude() <= midpoint() &&
           shape_.frequency > 0;
  }
  [[nodiscard]] double limited(double rate) const {
    if (!shape_.end) return rate;
    return shape_.step >= 0 ? std::min(rate, *shape_.end) : std::max(rate, *shape_.end);
  }

  /// How far a shape without an end of its own is followed.
  [[nodiscard]] Duration horizon() const {
    if (window_.duration) return *window_.duration + shape_.cool_down;
    if (window_.requests && shape_.schedule == Schedule::line && shape_.step > 0) {
      // By then they have all been sent.
      return from_seconds(std::sqrt(2 * static_cast<double>(*window_.requests) / shape_.step) + 1);
    }
    return kLongestDuration;
  }

  std::expected<void, std::string> cut_up() {
    switch (shape_.schedule) {
      case Schedule::constant:
        piece({}, std::max(shape_.ramp_up, horizon()), shape_.max_rps.value_or(start()));
        break;
      case Schedule::step:
        return steps();
      case Schedule::line:
        line();
        break;
      case Schedule::sine:
        return sine();
      case Schedule::spike: {
        const Duration after = shape_.spike_after + shape_.spike_duration;
        piece({}, shape_.spike_after, start());
        piece(shape_.spike_after, after, shape_.spike_target.value_or(shape_.max_rps.value_or(0)));
        piece(after, std::max(after + Duration(1), horizon()), start());
        break;
      }
      case Schedule::custom:
        points();
        break;
    }
    return {};
  }

  void piece(Duration begin, Duration end, double rate) { piece(begin, end, rate, rate); }
  void piece(Duration begin, Duration end, double from, double to) {
    if (end > begin) pieces_.push_back({begin, end, from, to});
  }

  std::expected<void, std::string> steps() {
    std::uint64_t last = UINT64_MAX;
    if (shape_.max_duration)
      last = static_cast<std::uint64_t>(*shape_.max_duration / shape_.step_duration);
    double sent = 0;
    for (std::uint64_t k = 0;; ++k) {
      const double rate = limited(start() + shape_.step * static_cast<double>(k));
      const Duration begin = shape_.step_duration * static_cast<std::int64_t>(k);
      const bool stays = k >= last || shape_.step == 0 || limited(rate + shape_.step) == rate ||
                         (shape_.step < 0 && rate <= 0);
      const bool done = window_.requests && sent > static_cast<double>(*window_.requests);
      if (stays || done || begin + shape_.step_duration >= horizon()) {
        piece(begin, std::max(begin + shape_.step_duration, horizon()), rate);
        return {};
      }
      if (k >= kMostPieces)
        return std::unexpected(fmt::format("more than {} steps", format_count(kMostPieces)));
      piece(begin, begin + shape_.step_duration, rate);
      sent += std::max(rate, 0.0) * seconds(shape_.step_duration);
    }
  }

  std::expected<void, std::string> sine() {
    if (overlaid() || !is_plain_sine()) {
      if (!window_.duration)
        return std::unexpected(
            "a sine whose amplitude is above its midpoint, or that is ramped, needs a duration");
      if (periods(horizon()) > kMostPeriods)
        return std::unexpected(fmt::format("more than {} periods of such a sine",
                                           format_count(std::uint64_t{kMostPeriods})));
    }
    pieces_.push_back({.begin = {}, .end = horizon()});
    return {};
  }

  [[nodiscard]] double periods(Duration length) const {
    return std::abs(shape_.frequency) * seconds(length) / (2 * std::numbers::pi);
  }

  void line() {
    // Where it stops changing: at its end, after its time, at 0.
    double until = seconds(shape_.max_duration.value_or(horizon()));
    if (shape_.end && shape_.step != 0)
      until = std::min(until, std::max((*shape_.end - start()) / shape_.step, 0.0));
    if (shape_.step < 0) until = std::min(until, std::max(start() / -shape_.step, 0.0));
    const Duration turn = std::min(from_seconds(until), horizon());
    const double last = limited(start() + shape_.step * seconds(turn));
    piece({}, turn, start(), last);
    piece(turn, std::max(turn + Duration(1), horizon()), last);
  }

  void points() {
    std::vector<RateProfile::Point> sorted;
    for (const RateProfile::Point& point : shape_.points)
      sorted.insert(std::ranges::upper_bound(sorted, point.at, {}, &RateProfile::Point::at), point);
    piece({}, sorted.front().at, sorted.front().rate);
    for (std::size_t i = 1; i < sorted.size(); ++i)
      piece(sorted[i - 1].at, sorted[i].at, sorted[i - 1].rate, sorted[i].rate);
    const Duration last = sorted.back().at;
    piece(last, std::max(last + Duration(1), horizon()), sorted.back().rate);
  }

  /// Of the overlays.
  [[nodiscard]] double factor(Duration t) const {
    if (t < shape_.ramp_up) return seconds(t) / seconds(shape_.ramp_up);
    if (shape_.cool_down <= Duration{} || t <= *window_.duration) return 1;
    return 1 - std::min(seconds(t - *window_.duration) / seconds(shape_.cool_down), 1.0);
  }

  /// With the overlays; within a piece, so that a jump at its end does not count.
  [[nodiscard]] double rate_at(Duration t, const Piece& piece) const {
    double rate = 0;
    if (shape_.schedule == Schedule::sine) {
      rate = midpoint() + amplitude() * std::sin(shape_.frequency * seconds(t));
    } else {
      const double part = seconds(t - piece.begin) / seconds(piece.end - piece.begin);
      rate = piece.from + (piece.to - piece.from) * part;
    }
    return std::max(rate, 0.0) * factor(t);
  }

  /// Cut where an overlay begins or ends.
  void add(Piece piece, std::vector<Stage>& stages) const {
    std::vector<Duration> bounds{shape_.ramp_up};
    if (shape_.cool_down > Duration{}) {
      if (piece.begin >= horizon()) return;
      bounds.push_back(*window_.duration);
      bounds.push_back(horizon());
    }
    for (const Duration bound : bounds) {
      if (piece.begin >= bound || piece.end <= bound) continue;
      add_smooth(cut(piece, piece.begin, bound), stages);
      piece = cut(piece, bound, piece.end);
    }
    if (shape_.cool_down <= Duration{} || piece.begin < horizon()) add_smooth(piece, stages);
  }

  static Piece cut(const Piece& piece, Duration begin, Duration end) {
    const auto at = [&](Duration t) {
      return piece.from +
             (piece.to - piece.from) * seconds(t - piece.begin) / seconds(piece.end - piece.begin);
    };
    return {begin, end, at(begin), at(end)};
  }

  void add_smooth(const Piece& piece, std::vector<Stage>& stages) const {
    const Duration inside = piece.begin + (piece.end - piece.begin) / 2;
    const bool overlay = inside < shape_.ramp_up || factor(inside) < 1;
    const bool sine = shape_.schedule == Schedule::sine;
    if (!sine && (!overlay || piece.from == piece.to)) {
      stages.push_back({.from = piece.from * factor(piece.begin),
                        .to = piece.to * factor(piece.end),
                        .length = piece.end - piece.begin});
      return;
    }
    const int cuts =
        sine ? std::max(kCutsOfCurve,
                        static_cast<int>(periods(piece.end - piece.begin) * kCutsOfPeriod))
             : kCutsOfCurve;
    const std::int64_t length = (piece.end - piece.begin).count();
    for (int i = 0; i < cuts; ++i) {
      const Duration a = piece.begin + Duration(length / cuts * i);
      const Duration b =
          i + 1 == cuts ? piece.end : piece.begin + Duration(length / cuts * (i + 1));
      if (b > a) stages.push_back(chord(piece, a, b));
    }
  }

  /// The line from a to b with the area of the curve between them (Simpson's rule).
  [[nodiscard]] Stage chord(const Piece& piece, Duration a, Duration b) const {
    // Just before b: what comes at b belongs to the next piece.
    const double from = rate_at(a, piece);
    const double to = rate_at(b - Duration(1), piece);
    const double middle = rate_at(a + (b - a) / 2, piece);
    const double more = (from + 4 * middle + to) / 6 - (from + to) / 2;
    return {.from = std::max(from + more, 0.0), .to = std::max(to + more, 0.0), .length = b - a};
  }

  [[nodiscard]] RateSpec plain_sine() const {
    const Duration period = from_seconds(2 * std::numbers::pi / shape_.frequency);
    RateSpec spec;
    spec.profile = RateProfile::sine(midpoint(), amplitude(), period);
    spec.text = fmt::format("sine(mean={}, amplitude={}, period={})", rate_text(midpoint()),
                            rate_text(amplitude()), duration_text(period));
    spec.peak = midpoint() + amplitude();
    spec.constant = amplitude() == 0;
    return spec;
  }

  [[nodiscard]] RateSpec finish(const std::vector<Stage>& stages) const {
    RateSpec spec;
    for (const Stage& stage : stages) spec.peak = std::max({spec.peak, stage.from, stage.to});
    spec.constant = std::ranges::all_of(stages, [&](const Stage& stage) {
      return stage.from == stages[0].from && stage.to == stages[0].from;
    });
    spec.profile =
        spec.constant ? RateProfile::constant(stages[0].from) : RateProfile::stages(stages);
    spec.text = spec.constant ? rate_text(stages[0].from) : words();
    return spec;
  }

  [[nodiscard]] std::string words() const {
    std::string text;
    const auto bounds = [&] {
      std::string more;
      if (shape_.end) more += fmt::format(", to {}", format_rate(*shape_.end));
      if (shape_.max_duration) more += fmt::format(", for {}", duration_text(*shape_.max_duration));
      return more;
    };
    switch (shape_.schedule) {
      case Schedule::constant:
        text = format_rate(shape_.max_rps.value_or(start()));
        break;
      case Schedule::step:
        text = fmt::format("steps from {} by {} every {}{}", format_rate(start()),
                           number_text(shape_.step), duration_text(shape_.step_duration), bounds());
        break;
      case Schedule::line:
        text = fmt::format("a line from {} by {} a second{}", format_rate(start()),
                           number_text(shape_.step), bounds());
        break;
      case Schedule::sine:
        text = fmt::format("sine({}, {}, {} rad/s)", format_rate(midpoint()),
                           number_text(amplitude()), number_text(shape_.frequency));
        break;
      case Schedule::spike:
        text = fmt::format("{} with {} from {} on for {}", format_rate(start()),
                           format_rate(shape_.spike_target.value_or(shape_.max_rps.value_or(0))),
                           duration_text(shape_.spike_after), duration_text(shape_.spike_duration));
        break;
      case Schedule::custom:
        text = fmt::format("{} points", shape_.points.size());
        break;
    }
    if (shape_.ramp_up > Duration{}) text += ", ramped up over " + duration_text(shape_.ramp_up);
    if (shape_.cool_down > Duration{}) text += ", down over " + duration_text(shape_.cool_down);
    return text;
  }

  const LoadShape& shape_;
  const ShapeWindow& window_;
  std::vector<Piece> pieces_;
};

}  // namespace

std::optional<Schedule> load_schedule_named(std::string_view name) {
  const auto found = std::ranges::find(kSchedules, name, &decltype(kSchedules)::value_type::first);
  return found == kSchedules.end() ? std::nullopt : std::optional(found->second);
}

Parsing<std::vector<RateProfile::Point>> parse_load_points(std::string_view text) {
  Scanner scan(text);
  std::vector<RateProfile::Point> points;
  const std::string usage = "for example 0s:10, 500ms:50, 2s:100";
  while (true) {
    scan.skip_spaces();
    const std::size_t start = scan.at();
    const std::size_t colon = text.find(':', start);
    if (colon == std::string_view::npos) return scan.fail("TIME:RATE is missing", usage);
    auto time = parse_seconds(text.substr(start, colon - start));
    if (!time) {
      time.error().column += start;
      return std::unexpected(time.error());
    }
    scan.back_to(colon + 1);
    scan.skip_spaces();
    const auto rate = scan_rate(scan);
    if (!rate) return std::unexpected(rate.error());
    points.push_back({.at = *time, .rate = *rate});
    scan.skip_spaces();
    if (scan.at_end()) return points;
    if (!scan.take(",")) return scan.fail("\",\" is missing", usage);
  }
}

std::expected<RateSpec, std::string> make_rate(const LoadShape& shape, const ShapeWindow& window) {
  if (shape.schedule == Schedule::custom && shape.points.empty())
    return std::unexpected("a custom schedule needs load_profile: 0s:10, 30s:500");
  if (shape.step_duration <= Duration{})
    return std::unexpected("load_step_duration must be longer than 0");
  if (shape.cool_down > Duration{} && !window.duration)
    return std::unexpected("cool_down needs a duration, after which it begins");
  return Curve(shape, window).make();
}

}  // namespace onbeat::options
