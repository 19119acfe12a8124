#include "report/html.hpp"

#include "options/format.hpp"
#include "report/chart.hpp"
#include "report/escape.hpp"

#include <fmt/format.h>

#include <vector>

namespace onbeat::report {
namespace {

using kernel::Duration;
using kernel::Histogram;
using options::format_count;
using options::format_duration;
using options::format_number;
using run::Report;

constexpr std::string_view kStyle = R"(<style>
:root{color-scheme:light dark}
body{font:15px/1.5 system-ui,sans-serif;max-width:60rem;margin:2rem auto;padding:0 1rem}
table{border-collapse:collapse;margin:.5rem 0 1.5rem}
th,td{padding:.15rem .8rem;text-align:right;border-bottom:1px solid #8884}
th:first-child,td:first-child{text-align:left}
.verdict{font-size:1.4rem;font-weight:600}
.valid{color:#16803c}.degraded{color:#a16207}.invalid{color:#b91c1c}
svg{width:100%;font:12px system-ui,sans-serif}svg text{fill:currentColor}.grid{stroke:#8884}
.scroll{max-height:24rem;overflow:auto}
</style>
)";

using Row = std::vector<std::string>;

// Cells are escaped here, so that no table can forget it.
std::string table_row(const Row& cells, const char* tag) {
  std::string out = "<tr>";
  for (const std::string& cell : cells) out += fmt::format("<{0}>{1}</{0}>", tag, for_html(cell));
  return out + "</tr>\n";
}

std::string table(const Row& head, const std::vector<Row>& rows) {
  std::string out = "<table>\n" + table_row(head, "th");
  for (const Row& row : rows) out += table_row(row, "td");
  return out + "</table>\n";
}

std::string duration_cell(std::optional<Duration> duration) {
  return duration ? format_duration(*duration) : "n/a";
}

std::string verdict(const Report& report) {
  const std::string status =
      report.error ? "failed" : std::string(to_string(report.verdict.status));
  std::string out =
      fmt::format("<p class=\"verdict {}\">{}</p>\n", report.error ? "invalid" : status, status);
  if (report.error) {
    out += fmt::format("<p>{}: {}</p>\n", for_html(report.error->klass),
                       for_html(report.error->message));
    if (!report.error->hint.empty())
      out += fmt::format("<p>{}</p>\n", for_html(report.error->hint));
  }
  for (const run::Reason& reason : report.verdict.reasons) {
    out += fmt::format("<p class=\"{}\">{} <em>{}</em> ({})</p>\n", to_string(reason.status),
                       for_html(reason.message), for_html(reason.remedy), for_html(reason.code));
  }
  if (report.thresholds.empty()) return out;
  std::vector<Row> rows;
  for (const run::ThresholdResult& threshold : report.thresholds) {
    rows.push_back({threshold.expr, threshold.passed ? "pass" : "fail", threshold.actual_text,
                    threshold.reason});
  }
  return out + table({"threshold", "result", "actual", "reason"}, rows);
}

std::string rate_cell(std::optional<double> rate) {
  return rate ? format_number(*rate, 1) + "/s" : "n/a";
}

std::string summary(const Report& report) {
  const kernel::Counts& counts = report.total.counts;
  std::vector<Row> rows{{"target", report.target},
                        {"load", report.load_text},
                        {"started at", report.started_at},
                        {"ended", report.end_reason}};
  if (report.open) {
    rows.push_back({"planned", format_count(counts.planned) + ", " +
                                   rate_cell(run::per_second(counts.planned, report.issue))});
    rows.push_back({"missed", format_count(counts.missed())});
    rows.push_back({"saturated", format_count(counts.saturated)});
  }
  rows.push_back({report.open ? "started" : "started (the rate is what the target gave)",
                  format_count(counts.started) + ", " +
                      rate_cell(run::per_second(counts.started, report.issue))});
  for (const auto& [name, count] : {std::pair{"ok", counts.ok},
                                    {"failed", counts.failed},
                                    {"timed out", counts.timed_out},
                                    {"cancelled", counts.cancelled},
                                    {"in flight at end", counts.in_flight_at_end},
                                    {"of the warm-up, excluded", report.warmup_excluded}}) {
    rows.push_back({name, format_count(count)});
  }
  return "<h2>Summary</h2>\n" + table({"", ""}, rows);
}

Row latency_row(const std::string& name, const Histogram& histogram, const Report& report) {
  Row row{name, format_count(histogram.count())};
  for (const double p : report.percentiles) {
    const auto value = run::shown_percentile(histogram, p, report.tail_samples);
    const bool bound = value && histogram.percentile_is_lower_bound(p);
    row.push_back((bound ? ">= " : "") + duration_cell(value));
  }
  const auto max = histogram.empty() ? std::nullopt : std::optional(histogram.max());
  row.push_back((histogram.max_is_lower_bound() ? ">= " : "") + duration_cell(max));
  return row;
}

Row latency_head(const Report& report, const char* first) {
  Row head{first, "count"};
  for (const double p : report.percentiles) head.push_back("p" + options::number_text(p));
  head.emplace_back("max");
  return head;
}

std::string latency(const Report& report) {
  const kernel::Interval& total = report.total;
  std::vector<Row> rows;
  if (report.open) rows.push_back(latency_row("response (from when due)", total.response, report));
  rows.push_back(latency_row("service (from when sent)", total.service, report));
  if (report.open) {
    rows.push_back(latency_row("wait (for a free worker)", total.wait, report));
    rows.push_back(latency_row("lag (of the generator)", total.lag, report));
  }
  rows.push_back(latency_row("failed", total.failed, report));
  std::string out = "<h2>Latency</h2>\n" + table(latency_head(report, ""), rows);
  if (report.endpoints.size() < 2) return out;
  rows.clear();
  for (const run::Endpoint& endpoint : report.endpoints) {
    rows.push_back(
        latency_row(endpoint.name, report.open ? endpoint.response : endpoint.service, report));
  }
  return out + "<h2>Endpoints</h2>\n" + table(latency_head(report, "endpoint"), rows);
}

std::string outcomes(const Report& report) {
  std::vector<Row> codes, errors;
  for (const auto& [code, count] : report.codes) codes.push_back({code, format_count(count)});
  for (const auto& [name, count] : report.errors) {
    const auto sample = report.error_samples.find(name);
    errors.push_back(
        {name, format_count(count), sample == report.error_samples.end() ? "" : sample->second});
  }
  std::string out;
  if (!codes.empty()) out += "<h2>Codes</h2>\n" + table({"code", "count"}, codes);
  if (!errors.empty()) out += "<h2>Errors</h2>\n" + table({"class", "count", "a sample"}, errors);
  return out;
}

// The length of interval i: rows hold ends only.
Duration length_of(const Report& report, std::size_t i) {
  return report.series[i].t - (i == 0 ? Duration{} : report.series[i - 1].t);
}

std::string charts(const Report& report) {
  Chart rate{.title = "rate", .unit = "per second", .seconds = {}, .lines = {}};
  ChartLine planned{"planned", "#9ca3af", {}}, started{"started", "#2563eb", {}},
      ok{"ok", "#16a34a", {}};
  Chart p99{.title = std::string(run::headline_name(report)) + " time",
            .unit = "ms",
            .seconds = {},
            .lines = {}};
  ChartLine median{"p50", "#2563eb", {}}, tail{"p99", "#dc2626", {}};
  const auto ms = [](std::optional<Duration> value) {
    return value ? std::optional(static_cast<double>(value->count()) / 1e6) : std::nullopt;
  };
  for (std::size_t i = 0; i < report.series.size(); ++i) {
    const run::SeriesRow& row = report.series[i];
    rate.seconds.push_back(std::chrono::duration<double>(row.t).count());
    planned.values.push_back(run::per_second(row.counts.planned, length_of(report, i)));
    started.values.push_back(run::per_second(row.counts.started, length_of(report, i)));
    ok.values.push_back(run::per_second(row.counts.ok, length_of(report, i)));
    median.values.push_back(ms(row.p50));
    tail.values.push_back(ms(row.p99));
  }
  p99.seconds = rate.seconds;
  if (report.open) rate.lines.push_back(std::move(planned));
  rate.lines.push_back(std::move(started));
  rate.lines.push_back(std::move(ok));
  p99.lines = {std::move(median), std::move(tail)};
  return to_svg(rate) + to_svg(p99);
}

std::string series(const Report& report) {
  if (report.series.empty()) return {};
  std::vector<Row> rows;
  for (const run::SeriesRow& row : report.series) {
    rows.push_back({format_duration(row.t), format_count(row.counts.planned),
                    format_count(row.counts.started), format_count(row.counts.ok),
                    format_count(row.counts.failed), duration_cell(row.p50), duration_cell(row.p99),
                    format_count(row.in_flight), fmt::format("{}", fmt::join(row.events, "; "))});
  }
  return "<h2>Over time</h2>\n" + charts(report) + "<div class=\"scroll\">\n" +
         table({"until", "planned", "started", "ok", "failed", "p50", "p99", "in flight", "events"},
               rows) +
         "</div>\n";
}

std::string origin(const Report& report) {
  std::vector<Row> rows;
  for (const run::OptionValue& option : report.options) {
    rows.push_back({option.key, option.value, option.source});
  }
  return "<h2>Options</h2>\n" + table({"option", "value", "from"}, rows) +
         fmt::format("<p>onbeat {} ({}), {}; {} cores, {}, {}; seed {}</p>\n",
                     for_html(report.version), for_html(report.commit), for_html(report.compiler),
                     report.host.cores, for_html(report.host.cpu), for_html(report.host.kernel),
                     report.seed);
}

}  // namespace

std::string to_html(const Report& report) {
  const std::string title = report.name.empty() ? report.target : report.name;
  return fmt::format(
      "<!doctype html>\n<html lang=\"en\">\n<head>\n<meta charset=\"utf-8\">\n"
      "<meta name=\"viewport\" content=\"width=device-width\">\n<title>{0} - "
      "Onbeat</title>\n{1}</head>\n"
      "<body>\n<h1>{0}</h1>\n{2}{3}{4}{5}{6}{7}</body>\n</html>\n",
      for_html(title), kStyle, verdict(report), summary(report), latency(report), outcomes(report),
      series(report), origin(report));
}

}  // namespace onbeat::report
