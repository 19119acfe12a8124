#include "report/run_charts.hpp"

#include "options/format.hpp"
#include "report/chart.hpp"
#include "report/over_time.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <utility>

namespace onbeat::report {
namespace {

using kernel::Duration;
using kernel::Histogram;
using run::Report;
using run::SeriesRow;

/// Enough for the width of a screen; an hour of seconds keeps the page well below 1 MB.
constexpr std::size_t kMostSpans = 180;
constexpr std::size_t kSpectrumPoints = 120;
constexpr std::size_t kMostClasses = 7;

double seconds(Duration duration) { return std::chrono::duration<double>(duration).count(); }
std::string seconds_text(double value) {
  if (value == 0) return "0";
  return options::format_duration(Duration(std::llround(value * 1e9)));
}
std::string ns_text(double value) {
  if (value == 0) return "0";
  return options::format_duration(Duration(std::llround(value)));
}
/// Three digits at least: rates and counts of one chart differ by orders.
std::string number_text(double value) {
  const int decimals = value >= 99.95 || value == std::floor(value) ? 0 : value >= 9.995 ? 1 : 2;
  return options::format_number(value, decimals);
}

class OverTime {
 public:
  explicit OverTime(const Report& report) : report_(report), spans_(spans(report, kMostSpans)) {}

  [[nodiscard]] bool empty() const { return spans_.empty(); }
  [[nodiscard]] Chart rates() const;
  [[nodiscard]] Chart latencies() const;
  [[nodiscard]] Chart errors() const;
  [[nodiscard]] Chart in_flight() const;
  [[nodiscard]] Chart lag() const;
  [[nodiscard]] Chart cpu() const;

 private:
  [[nodiscard]] Chart chart(const char* title, std::string unit, std::vector<ChartLine> lines,
                            std::string (*text)(double)) const;
  template <typename Figure>
  [[nodiscard]] ChartLine line(std::string name, Hue hue, Figure figure) const;
  [[nodiscard]] ChartLine rate_line(std::string name, Hue hue, double width,
                                    std::uint64_t kernel::Counts::* count) const;
  [[nodiscard]] ChartLine latency_line(const char* name, Hue hue,
                                       std::optional<Duration> SeriesRow::* figure) const;

  const Report& report_;
  std::vector<Span> spans_;
};

Chart OverTime::chart(const char* title, std::string unit, std::vector<ChartLine> lines,
                      std::string (*text)(double)) const {
  const Duration end = spans_.back().to;
  Chart chart{.title = title,
              .unit = std::move(unit),
              .x_name = "time",
              .x = Axis::time(0, seconds(end)),
              .y = Axis::linear(highest(lines).value_or(0)),
              .x_text = seconds_text,
              .y_text = text,
              .places = {},
              .lines = std::move(lines)};
  std::size_t most = 0;
  for (const Span& span : spans_) {
    chart.places.push_back((seconds(span.from) + seconds(span.to)) / 2);
    chart.place_texts.push_back(options::format_duration(span.from) + " to " +
                                options::format_duration(span.to));
    most = std::max(most, span.intervals);
    for (const std::string& event : span.row.events)
      chart.marks.push_back({seconds(span.to), event});
  }
  if (report_.issue > Duration{} && report_.issue < end)
    chart.bands.push_back({seconds(report_.issue), seconds(end), "drain: nothing new is started"});
  if (spans_.size() < report_.series.size() && most > 2) {
    chart.note = fmt::format(
        "{} intervals are drawn as {} points: rates are means, all else is the highest of a "
        "point's up to {} intervals.",
        options::format_count(report_.series.size()), spans_.size(), most);
  }
  return chart;
}

template <typename Figure>
ChartLine OverTime::line(std::string name, Hue hue, Figure figure) const {
  ChartLine line{.name = std::move(name), .hue = hue, .values = {}};
  for (const Span& span : spans_) line.values.push_back(figure(span));
  return line;
}

// The time after the issue window has no rate: what ends there was started before.
ChartLine OverTime::rate_line(std::string name, Hue hue, double width,
                              std::uint64_t kernel::Counts::* count) const {
  ChartLine result = line(std::move(name), hue, [&](const Span& span) -> std::optional<double> {
    const Duration end = std::min(span.to, std::max(report_.issue, span.from));
    return run::per_second(span.row.counts.*count, end - span.from);
  });
  result.width = width;
  return result;
}

// Wide lines below narrow ones: all can be seen where they are one.
Chart OverTime::rates() const {
  std::vector<ChartLine> lines;
  if (!report_.arrivals.empty())
    lines.push_back(rate_line("planned", Hue::grey, 6, &kernel::Counts::planned));
  lines.push_back(rate_line("started", Hue::blue, 3, &kernel::Counts::started));
  lines.push_back(rate_line("ok", Hue::green, 1.2, &kernel::Counts::ok));
  Chart result = chart("Rate", "requests per second", std::move(lines), number_text);
  result.names_marks = true;
  return result;
}

ChartLine OverTime::latency_line(const char* name, Hue hue,
                                 std::optional<Duration> SeriesRow::* figure) const {
  ChartLine result = line(name, hue, [figure](const Span& span) -> std::optional<double> {
    const auto& value = span.row.*figure;
    return value ? std::optional(static_cast<double>(value->count())) : std::nullopt;
  });
  for (const Span& span : spans_) result.at_least.push_back(is_lower_bound(span.row, name));
  return result;
}

Chart OverTime::latencies() const {
  std::vector<ChartLine> lines;
  lines.push_back(latency_line("max", Hue::grey, &SeriesRow::max));
  lines.push_back(latency_line("p99", Hue::orange, &SeriesRow::p99));
  lines.push_back(latency_line("p90", Hue::purple, &SeriesRow::p90));
  lines.push_back(latency_line("p50", Hue::blue, &SeriesRow::p50));
  lines.front().width = 1;
  const Axis y = Axis::log(lowest(lines).value_or(1), highest(lines).value_or(1));
  const char* title = report_.open ? "Response time" : "Service time";
  Chart result =
      chart(title, "each interval's percentiles, logarithmic", std::move(lines), ns_text);
  result.y = y;
  return result;
}

Chart OverTime::errors() const {
  std::vector<std::pair<std::uint64_t, std::string>> classes;
  for (const auto& [name, count] : report_.errors) classes.emplace_back(count, name);
  std::ranges::sort(classes, std::greater<>{}, [](const auto& each) { return each.first; });
  static constexpr std::array kHues{Hue::red,  Hue::purple, Hue::teal,  Hue::orange,
                                    Hue::blue, Hue::pink,   Hue::green, Hue::grey};
  std::vector<ChartLine> lines;
  const std::size_t apart = classes.size() > kMostClasses + 1 ? kMostClasses : classes.size();
  const auto rate = [](const Span& span, std::uint64_t count) {
    return run::per_second(count, span.to - span.from);
  };
  const auto count_of = [](const Span& span, const std::string& name) {
    const auto found = span.row.errors.find(name);
    return found == span.row.errors.end() ? 0 : found->second;
  };
  for (std::size_t i = 0; i < apart; ++i) {
    lines.push_back(line(classes[i].second, kHues[i], [&](const Span& span) {
      return rate(span, count_of(span, classes[i].second));
    }));
  }
  if (apart < classes.size()) {
    lines.push_back(line("others", Hue::grey, [&](const Span& span) {
      std::uint64_t others = 0;
      for (std::size_t i = apart; i < classes.size(); ++i)
        others += count_of(span, classes[i].second);
      return rate(span, others);
    }));
  }
  return chart("Errors by class", "per second", std::move(lines), number_text);
}

Chart OverTime::in_flight() const {
  std::vector<ChartLine> lines{line("at most", Hue::blue, [](const Span& span) {
    return std::optional(static_cast<double>(span.row.in_flight_max));
  })};
  return chart("In flight", "the most at once in each interval", std::move(lines), number_text);
}

Chart OverTime::lag() const {
  std::vector<ChartLine> lines;
  if (!report_.total.lag.empty()) {
    lines.push_back(line("max", Hue::orange, [](const Span& span) {
      return std::optional(static_cast<double>(span.row.lag_max.count()));
    }));
  }
  return chart("Lag", "how late the generator itself was at worst", std::move(lines), ns_text);
}

Chart OverTime::cpu() const {
  std::vector<ChartLine> lines{
      line("cores", Hue::teal, [](const Span& span) { return std::optional(span.row.cpu_cores); })};
  return chart("CPU",
               fmt::format("cores used by the generator's {} loop{}", report_.threads,
                           report_.threads == 1 ? "" : "s"),
               std::move(lines), number_text);
}

/// As many decimals as tell it from 100.
std::string percentile_text(double p) {
  if (p >= 100) return "100%";
  const int decimals = std::max(0, static_cast<int>(std::ceil(-std::log10(100 - p))) + 1);
  std::string text = fmt::format("{:.{}f}", p, decimals);
  if (text.contains('.')) text.erase(text.find_last_not_of('0') + 1);
  if (text.ends_with('.')) text.pop_back();
  return text + "%";
}

ChartLine spectrum_line(const char* name, Hue hue, double width, const Histogram& histogram,
                        const std::vector<double>& places) {
  ChartLine line{.name = name, .hue = hue, .values = {}, .width = width};
  for (const double p : places) {
    line.values.emplace_back(static_cast<double>(histogram.percentile(p).count()));
    line.at_least.push_back(histogram.percentile_is_lower_bound(p));
  }
  return line;
}

std::string spectrum(const Report& report) {
  const Histogram& main = run::headline(report);
  if (main.empty()) return {};
  const Axis x = Axis::percentiles(main.count());
  std::vector<double> places;
  for (std::size_t i = 0; i <= kSpectrumPoints; ++i)
    places.push_back(x.value(static_cast<double>(i) / kSpectrumPoints));
  std::vector<ChartLine> lines;
  if (report.open)
    lines.push_back(spectrum_line("response", Hue::orange, 3.5, report.total.response, places));
  lines.push_back(spectrum_line("service", Hue::blue, 1.5, report.total.service, places));
  const Axis y = Axis::log(lowest(lines).value_or(1), highest(lines).value_or(1));
  Chart chart{.title = "Percentiles",
              .unit = "of the whole run, both axes logarithmic",
              .x_name = "percentile",
              .x = x,
              .y = y,
              .x_text = percentile_text,
              .y_text = ns_text,
              .places = std::move(places),
              .lines = std::move(lines)};
  const double told = 100 - 100 * report.tail_samples / static_cast<double>(main.count());
  const std::string few =
      fmt::format("fewer than {} samples lie beyond", options::number_text(report.tail_samples));
  chart.bands.push_back({std::max(told, 0.0), 100, few});
  chart.note = "Grey: " + few + ", so chance decides.";
  if (main.censored() != 0) chart.note += " Dotted: a lower bound, for some requests never ended.";
  return to_html(chart);
}

}  // namespace

std::string charts_html(const Report& report) {
  const OverTime over_time(report);
  if (over_time.empty()) return spectrum(report);
  return to_html(over_time.rates()) + to_html(over_time.latencies()) + spectrum(report) +
         to_html(over_time.errors()) + to_html(over_time.in_flight()) + to_html(over_time.lag()) +
         to_html(over_time.cpu());
}

}  // namespace onbeat::report
