#include "cli/live_text.hpp"

#include "options/format.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <utility>

namespace onbeat::cli {
namespace {

using kernel::Histogram;
using Stage = run::Observer::Stage;

constexpr Duration kSecond = std::chrono::seconds(1);
/// A shorter interval says nothing of a rate: it is what was left at the end.
constexpr Duration kShortest = std::chrono::milliseconds(100);
constexpr unsigned kNameWidth = 14;
constexpr unsigned kTableWidth = 72;  // of the table's rows, whatever numbers stand in them
constexpr unsigned kLongestBar = 30;
/// Less than this share of the planned rate is worth a colour.
constexpr double kKept = 0.99;

double per_second(std::uint64_t count, Duration window) {
  return static_cast<double>(count) / std::chrono::duration<double>(window).count();
}

/// Whole numbers where there are digits enough: decimals that change ten times a second are noise.
std::string rate_text(double rate) {
  return rate < 99.95 ? options::format_rate(rate) : options::format_number(rate, 0) + "/s";
}

std::string percentile_text(const Histogram& histogram, double p) {
  if (histogram.empty()) return "n/a";
  return (histogram.percentile_is_lower_bound(p) ? ">= " : "") +
         options::format_duration(histogram.percentile(p));
}

/// Whole seconds: "0 s", "59 s", "1m1s".
std::string seconds_text(Duration duration) {
  const Duration whole = std::max(duration, Duration{}) / kSecond * kSecond;
  return whole == Duration{} ? "0 s" : options::format_duration(whole);
}

/// To a tenth of a second: "0.5s", "3s", "1m1.5s".
std::string time_text(Duration duration) {
  constexpr Duration tenth = kSecond / 10;
  const Duration rounded = (duration + tenth / 2) / tenth * tenth;
  if (rounded >= kSecond) return options::duration_text(rounded);
  return options::number_text(static_cast<double>(rounded / tenth) / 10) + "s";
}

}  // namespace

std::string_view to_string(Stage stage) noexcept {
  switch (stage) {
    case Stage::connecting:
      return "connecting";
    case Stage::warming_up:
      return "warming up";
    case Stage::measuring:
      return "measuring";
    case Stage::draining:
      return "draining";
  }
  return "";
}

void LiveText::Stretch::add(const kernel::Interval& interval) {
  end = interval.end;
  planned += interval.counts.planned;
  started += interval.counts.started;
  failed += interval.counts.failed + interval.counts.timed_out;
  latency.merge(interval.response);  // of a closed run the same as service
  lag.merge(interval.lag);
}

void LiveText::progress(const Progress& progress) {
  progress_ = progress;
  in_flight_ = progress.in_flight;
  open_ = open_ || progress.planned_rate > 0;
  if (progress.stage == Stage::measuring) issue_ = progress.length;
}

void LiveText::interval(const kernel::Interval& interval) {
  now_ = {};
  now_.start = interval.start;
  now_.add(interval);
  so_far_.add(interval);
  any_ = true;
  open_ = open_ || !interval.lag.empty();
  in_flight_ = interval.in_flight;
  cpu_cores_ = 0;
  for (const kernel::LoopUsage& loop : interval.loops) {
    if (loop.wall <= Duration{}) continue;
    cpu_cores_ += static_cast<double>(loop.cpu.count()) / static_cast<double>(loop.wall.count());
  }
}

/// The part of it in which units were started: what the drain adds is not time that a rate is over.
Duration LiveText::window(const Stretch& stretch) const {
  return std::max(std::min(stretch.end, issue_) - stretch.start, Duration{});
}

LiveText::Piece LiveText::rate(const Stretch& stretch) const {
  const Duration over = window(stretch);
  if (over == Duration{}) return {"n/a"};
  std::string text = rate_text(per_second(stretch.started, over));
  if (!open_) return {text};
  text += " of " + rate_text(per_second(stretch.planned, over));
  const bool kept =
      static_cast<double>(stretch.started) >= kKept * static_cast<double>(stretch.planned);
  return {text, kept ? Paint::none : Paint::caution};
}

LiveText::Piece LiveText::failures(std::uint64_t failed) {
  return {options::format_count(failed), failed == 0 ? Paint::none : Paint::bad};
}

std::vector<LiveText::Piece> LiveText::state() const {
  std::vector<Piece> pieces{{"in flight " + options::format_count(in_flight_)}};
  if (!any_) return pieces;
  if (open_) pieces.push_back({"lag p99 " + percentile_text(now_.lag, 99)});
  pieces.push_back({"cpu " + options::format_number(cpu_cores_, 2) + " cores"});
  return pieces;
}

std::vector<LiveText::Piece> LiveText::words() const {
  std::vector<Piece> pieces;
  if (any_) {
    pieces.push_back(rate(now_));
    pieces.push_back(
        {"p50 " + percentile_text(now_.latency, 50) + " p99 " + percentile_text(now_.latency, 99)});
    Piece failed = failures(now_.failed);
    failed.text.insert(0, "failed ");
    pieces.push_back(std::move(failed));
  }
  for (Piece& piece : state()) pieces.push_back(std::move(piece));
  return pieces;
}

std::string LiveText::line() const {
  if (!any_ || (window(now_) < kShortest && now_.started == 0)) return {};
  std::string text = time_text(now_.end);
  for (const Piece& piece : words()) text += "  " + piece.text;
  return text;
}

/// Stage, bar, times: the bar takes what the words leave.
LiveText::Line LiveText::heading(unsigned width) const {
  Line line{{std::string(to_string(progress_.stage)), Paint::bold}};
  const Duration length = progress_.length;
  if (length == kernel::kNoTime || length <= Duration{}) {
    line.push_back({"  " + seconds_text(progress_.elapsed)});
    return line;
  }
  const Duration elapsed = std::clamp(progress_.elapsed, Duration{}, length);
  const std::string times =
      fmt::format("  {} of {}, {} left", seconds_text(elapsed), options::format_duration(length),
                  seconds_text(length - elapsed + kSecond - Duration{1}));
  const auto taken = kNameWidth + static_cast<unsigned>(times.size()) + 2;
  if (width >= taken + 10) {
    const unsigned room = std::min(width - taken, kLongestBar);
    const double share = static_cast<double>(elapsed.count()) / static_cast<double>(length.count());
    const auto filled = static_cast<std::size_t>(std::floor(share * room));
    line[0].text.resize(kNameWidth, ' ');
    line.push_back({"["});
    line.push_back({std::string(filled, '='), Paint::good});
    line.push_back({std::string(room - filled, ' ') + "]"});
  }
  line.push_back({times});
  return line;
}

LiveText::Line LiveText::row(std::string_view name, const Stretch& stretch) const {
  Piece over = rate(stretch);
  over.text = fmt::format("{:<26}", over.text);
  return {{fmt::format("{:<{}}", name, kNameWidth)},
          std::move(over),
          {fmt::format("{:<12}{:<12}", percentile_text(stretch.latency, 50),
                       percentile_text(stretch.latency, 99))},
          failures(stretch.failed)};
}

std::vector<LiveText::Line> LiveText::table(unsigned width) const {
  std::vector<Line> lines{heading(width)};
  if (!progress_.step.empty()) lines.push_back({{progress_.step}});
  if (any_) {
    lines.push_back({{fmt::format("{:<{}}{:<26}{:<12}{:<12}{}", "", kNameWidth, "rate", "p50",
                                  "p99", "failed")}});
    lines.push_back(row("last interval", now_));
    lines.push_back(row("so far", so_far_));
  }
  Line last;
  for (const Piece& piece : state()) {
    if (!last.empty()) last.push_back({"   "});
    last.push_back(piece);
  }
  lines.push_back(std::move(last));
  return lines;
}

std::vector<LiveText::Line> LiveText::flow(unsigned width) const {
  std::vector<Line> lines{heading(width)};
  if (!progress_.step.empty()) lines.push_back({{progress_.step}});
  std::size_t used = width;  // so that the first word begins a line
  for (Piece& piece : words()) {
    if (used + 2 + piece.text.size() > width) {
      lines.emplace_back();
      used = 0;
    } else {
      lines.back().push_back({"  "});
      used += 2;
    }
    used += piece.text.size();
    lines.back().push_back(std::move(piece));
  }
  return lines;
}

std::string LiveText::paint(const Line& line, unsigned width, bool color) {
  std::string text;
  std::size_t left = width;
  for (const Piece& piece : line) {
    const std::string_view shown = std::string_view(piece.text).substr(0, left);
    left -= shown.size();
    if (!color || piece.paint == Paint::none || shown.empty()) {
      text += shown;
      continue;
    }
    constexpr std::string_view codes[] = {"", "1", "32", "33", "31"};
    text += fmt::format("\x1b[{}m{}\x1b[0m", codes[static_cast<std::size_t>(piece.paint)], shown);
  }
  return text;
}

std::vector<std::string> LiveText::panel(unsigned width, unsigned height, bool color) const {
  if (width == 0) return {};
  std::vector<std::string> painted;
  for (const Line& line : width >= kTableWidth ? table(width) : flow(width)) {
    if (painted.size() == height) break;
    painted.push_back(paint(line, width, color));
  }
  return painted;
}

}  // namespace onbeat::cli
