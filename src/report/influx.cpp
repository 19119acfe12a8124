#include "report/influx.hpp"

#include "options/format.hpp"
#include "report/escape.hpp"
#include "report/wall_time.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <utility>
#include <vector>

namespace onbeat::report {
namespace {

using kernel::Duration;
using kernel::Histogram;
using run::Report;

// A backslash before a separator would escape it, and there is no escape for the backslash itself.
std::string tag_text(std::string_view text) {
  std::string out;
  for (const char c : for_terminal(text)) {
    if (c == ',' || c == '=' || c == ' ') out += '\\';
    out += c == '\\' ? '/' : c;
  }
  return out;
}

std::string field_text(std::string_view text) {
  std::string out;
  for (const char c : for_terminal(text)) {
    if (c == '"' || c == '\\') out += '\\';
    out += c;
  }
  return "\"" + out + "\"";
}

class Point {
 public:
  Point(std::string_view measurement, const std::string& common) : head_(measurement) {
    head_ += common;
  }
  Point& tag(std::string_view key, std::string_view value) {
    head_ += "," + tag_text(key) + "=" + tag_text(value);
    return *this;
  }
  void field(std::string_view key, std::uint64_t value) { add(key, fmt::format("{}i", value)); }
  void field(std::string_view key, Duration value) { add(key, fmt::format("{}i", value.count())); }
  void field(std::string_view key, std::optional<Duration> value) {
    if (value) field(key, *value);
  }
  void field(std::string_view key, std::optional<double> value) {
    if (value && std::isfinite(*value)) add(key, options::number_text(*value));
  }
  void field(std::string_view key, std::string_view value) { add(key, field_text(value)); }
  void counts(const kernel::Counts& counts);
  void distribution(const std::string& name, const Histogram& histogram, const Report& report);
  [[nodiscard]] std::string line(Duration time) const {
    return fmt::format("{} {} {}\n", head_, fields_, time.count());
  }

 private:
  void add(std::string_view key, const std::string& value) {
    fields_ += fmt::format("{}{}={}", fields_.empty() ? "" : ",", tag_text(key), value);
  }
  std::string head_, fields_;
};

void Point::counts(const kernel::Counts& counts) {
  field("planned", counts.planned);
  field("started", counts.started);
  field("missed", counts.missed());
  field("saturated", counts.saturated);
  field("ok", counts.ok);
  field("failed", counts.failed);
  field("timed_out", counts.timed_out);
  field("cancelled", counts.cancelled);
  field("bytes_sent", counts.bytes_sent);
  field("bytes_received", counts.bytes_received);
}

void Point::distribution(const std::string& name, const Histogram& histogram,
                         const Report& report) {
  field(name + "_count", histogram.count());
  if (histogram.empty()) return;
  field(name + "_censored", histogram.censored());
  field(name + "_min_ns", histogram.min());
  field(name + "_mean_ns", run::mean_of(histogram));
  field(name + "_max_ns", histogram.max());
  for (const double p : report.percentiles)
    field(name + "_p" + options::number_text(p) + "_ns",
          run::shown_percentile(histogram, p, report.tail_samples));
}

std::string common_tags(const Report& report) {
  std::string tags;
  // A tag without a value is none; the run's own names go before a user's.
  std::vector<std::pair<std::string, std::string>> all{
      {"run", report.id}, {"workload", report.workload}, {"name", report.name}};
  const std::size_t own = all.size();
  for (const auto& [key, value] : report.tags) {
    bool taken = key == "endpoint" || key == "code" || key == "class" || key == "time";
    for (std::size_t i = 0; i < own; ++i) taken = taken || all[i].first == key;
    all.emplace_back(taken ? "tag_" + key : key, value);
  }
  for (const auto& [key, value] : all)
    if (!key.empty() && !value.empty()) tags += "," + tag_text(key) + "=" + tag_text(value);
  return tags;
}

std::string run_point(const Report& report, const std::string& tags, Duration time) {
  Point point("onbeat_run", tags);
  point.field("verdict", to_string(report.verdict.status));
  point.field("exit_code", std::uint64_t{std::to_underlying(report.exit_code)});
  point.field("target", std::string_view(report.target));
  if (report.error) point.field("error", std::string_view(report.error->klass));
  point.counts(report.total.counts);
  point.field("issue_ns", report.issue);
  point.field("rate_achieved", run::per_second(report.total.counts.started, report.issue));
  point.field("rate_ok", run::per_second(report.total.counts.ok, report.issue));
  point.distribution("response", report.total.response, report);
  point.distribution("service", report.total.service, report);
  point.distribution("failed", report.total.failed, report);
  if (!report.total.lag.empty()) point.distribution("lag", report.total.lag, report);
  point.field("cpu_seconds", std::optional(report.cost.cpu_seconds));
  point.field("thresholds_failed", static_cast<std::uint64_t>(std::ranges::count(
                                       report.thresholds, false, &run::ThresholdResult::passed)));
  return point.line(time);
}

std::string interval_point(const run::SeriesRow& row, const std::string& tags, Duration start) {
  Point point("onbeat_interval", tags);
  point.counts(row.counts);
  point.field("p50_ns", row.p50);
  point.field("p90_ns", row.p90);
  point.field("p99_ns", row.p99);
  point.field("max_ns", row.max);
  point.field("lag_max_ns", row.lag_max);
  point.field("in_flight", row.in_flight);
  point.field("cpu_cores", std::optional(row.cpu_cores));
  return point.line(start + row.t);
}

}  // namespace

std::string to_influx(const Report& report) {
  const std::string tags = common_tags(report);
  // What came before the measured part (connecting, the warm-up) is in started_at too.
  const Duration length = report.issue + report.drain;
  const Duration end = unix_time(report.ended_at)
                           .value_or(unix_time(report.started_at).value_or(Duration{}) + length);
  const Duration start = end - length;
  std::string text = run_point(report, tags, end);
  for (const run::SeriesRow& row : report.series) text += interval_point(row, tags, start);
  for (const run::Endpoint& endpoint : report.endpoints) {
    if (endpoint.name.empty()) continue;
    Point point("onbeat_endpoint", tags);
    point.tag("endpoint", endpoint.name);
    point.field("started", endpoint.counts.started);
    point.field("ok", endpoint.counts.ok);
    point.field("failed", endpoint.counts.failed);
    point.field("timed_out", endpoint.counts.timed_out);
    point.distribution("response", endpoint.response, report);
    point.distribution("service", endpoint.service, report);
    text += point.line(end);
  }
  const auto counted = [&](std::string_view measurement, std::string_view key,
                           const run::NamedCounts& counts) {
    for (const auto& [name, count] : counts) {
      if (name.empty()) continue;
      Point point(measurement, tags);
      point.tag(key, name).field("count", count);
      text += point.line(end);
    }
  };
  counted("onbeat_code", "code", report.codes);
  counted("onbeat_error", "class", report.errors);
  return text;
}

}  // namespace onbeat::report
