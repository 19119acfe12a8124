#include "report/steps.hpp"

#include "options/format.hpp"
#include "report/chart.hpp"
#include "report/escape.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <map>
#include <utility>

namespace onbeat::report {
namespace {

using kernel::Duration;
using kernel::Histogram;
using options::format_duration;
using options::format_rate;
using run::Report;
using run::StepReport;

/// What was shown at one rate, by one step or several.
struct Point {
  std::uint64_t planned = 0, completed = 0;
  Duration issue{};
  Histogram response;
};

std::uint64_t completed_within(const StepReport& step) {
  return step.counts.started - std::min(step.left_to_drain, step.counts.started);
}

std::map<double, Point> by_rate(const Report& report) {
  std::map<double, Point> points;
  for (const StepReport& step : report.steps) {
    Point& point = points[step.rate];
    point.planned += step.counts.planned;
    point.completed += completed_within(step);
    point.issue += step.issue;
    point.response.merge(step.response);
  }
  return points;
}

std::string rate_text(std::optional<double> rate) { return rate ? format_rate(*rate) : "n/a"; }

std::string ns_text(double value) { return format_duration(Duration(std::llround(value))); }

std::string max_text(const Histogram& response) {
  if (response.empty()) return "n/a";
  return (response.max_is_lower_bound() ? ">= " : "") + format_duration(response.max());
}

ChartLine percentile_line(const char* name, Hue hue, double p,
                          const std::map<double, Point>& points, double tail) {
  ChartLine line{.name = name, .hue = hue, .values = {}};
  for (const auto& [rate, point] : points) {
    const auto value = run::shown_percentile(point.response, p, tail);
    line.values.push_back(value ? std::optional(static_cast<double>(value->count()))
                                : std::nullopt);
    line.at_least.push_back(point.response.percentile_is_lower_bound(p));
  }
  return line;
}

Chart over_rate(const char* title, const char* unit, std::vector<ChartLine> lines,
                const std::map<double, Point>& points, const Report& report) {
  Chart chart{.title = title,
              .unit = unit,
              .x_name = "rate asked for",
              .x = Axis::log(points.begin()->first, points.rbegin()->first),
              .y = Axis::log(lowest(lines).value_or(1), highest(lines).value_or(1)),
              .x_text = [](double rate) { return format_rate(rate); },
              .y_text = ns_text,
              .places = {},
              .lines = std::move(lines)};
  for (const auto& [rate, point] : points) chart.places.push_back(rate);
  if (report.search && report.search->rate)
    chart.marks.push_back({*report.search->rate, "the rate that was found"});
  if (report.curve && report.curve->knee) chart.marks.push_back({*report.curve->knee, "the knee"});
  chart.names_marks = true;
  return chart;
}

std::string latency_chart(const Report& report, const std::map<double, Point>& points) {
  std::vector<ChartLine> lines{percentile_line("p99", Hue::orange, 99, points, report.tail_samples),
                               percentile_line("p50", Hue::blue, 50, points, report.tail_samples)};
  return to_html(over_rate("Response time by rate", "of all steps at a rate, both axes logarithmic",
                           std::move(lines), points, report));
}

// Wide below narrow: where the target keeps up, the two are one.
std::string completed_chart(const Report& report, const std::map<double, Point>& points) {
  ChartLine asked{.name = "planned", .hue = Hue::grey, .values = {}, .width = 6};
  ChartLine completed{.name = "completed", .hue = Hue::green, .values = {}};
  for (const auto& [rate, point] : points) {
    asked.values.push_back(run::per_second(point.planned, point.issue));
    completed.values.push_back(run::per_second(point.completed, point.issue));
  }
  Chart chart = over_rate("Completed by rate", "requests per second, within the step",
                          {std::move(asked), std::move(completed)}, points, report);
  chart.y = Axis::linear(highest(chart.lines).value_or(0));
  chart.y_text = [](double rate) { return rate == 0 ? "0" : format_rate(rate); };
  return to_html(chart);
}

}  // namespace

std::string found_text(const Report& report) {
  if (report.curve) {
    return report.curve->knee ? "the knee is at " + format_rate(*report.curve->knee)
                              : report.curve->why_not;
  }
  if (!report.search) return {};
  if (!report.search->rate) return "no rate kept the thresholds";
  return format_rate(*report.search->rate) + " kept the thresholds" +
         (report.search->converged ? ", confirmed" : "");
}

std::string steps_count(const Report& report) {
  const Duration took = report.search ? report.search->elapsed : report.issue + report.drain;
  return fmt::format("{} step{} in {}", report.steps.size(), report.steps.size() == 1 ? "" : "s",
                     format_duration(took));
}

std::string step_time(const StepReport& step, double p, double tail_samples) {
  const auto value = run::shown_percentile(step.response, p, tail_samples);
  if (!value) return step.response.empty() ? "n/a" : "-";
  return (step.response.percentile_is_lower_bound(p) ? ">= " : "") + format_duration(*value);
}

Table steps_table(const Report& report) {
  Table table{.head = {"step", "rate", "held", "completed", "p50", "p99", "max"},
              .rows = {},
              .text_columns = {3}};
  for (const StepReport& step : report.steps) {
    table.rows.push_back({step.kind, format_rate(step.rate),
                          step.held ? "yes" : "no: " + step.reason,
                          rate_text(run::per_second(completed_within(step), step.issue)),
                          step_time(step, 50, report.tail_samples),
                          step_time(step, 99, report.tail_samples), max_text(step.response)});
  }
  return table;
}

std::string steps_html(const Report& report) {
  if (report.steps.empty()) return {};
  const auto points = by_rate(report);
  std::string out;
  out +=
      fmt::format("<p>{}; {}</p>\n", for_html(found_text(report)), for_html(steps_count(report)));
  out += "<div class=\"charts\">\n" + latency_chart(report, points) +
         completed_chart(report, points) + "</div>\n";
  return out + to_html(steps_table(report));
}

}  // namespace onbeat::report
