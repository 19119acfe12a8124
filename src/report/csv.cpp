#include "report/csv.hpp"

#include "options/format.hpp"
#include "report/escape.hpp"

#include <fmt/format.h>

#include <vector>

namespace onbeat::report {
namespace {

using Cells = std::vector<std::string>;

constexpr const char* kHeader =
    "row,name,t_ns,planned,started,missed_late,missed_waited,missed_at_end,saturated,ok,failed,"
    "timed_out,cancelled,in_flight_at_end,bytes_sent,bytes_received,p50_ns,p90_ns,p99_ns,p99_9_ns,"
    "max_ns,at_least,lag_max_ns,in_flight,cpu_cores,events";

std::string joined(const Cells& cells) { return fmt::format("{}\r\n", fmt::join(cells, ",")); }

void add_counts(Cells& cells, const kernel::Counts& counts) {
  for (const std::uint64_t count :
       {counts.planned, counts.started, counts.missed_late, counts.missed_waited,
        counts.missed_at_end, counts.saturated, counts.ok, counts.failed, counts.timed_out,
        counts.cancelled, counts.in_flight_at_end, counts.bytes_sent, counts.bytes_received}) {
    cells.push_back(std::to_string(count));
  }
}

std::string ns(std::optional<kernel::Duration> duration) {
  return duration ? std::to_string(duration->count()) : "";
}

void add_distribution(Cells& cells, const kernel::Histogram& histogram, double tail_samples) {
  std::string at_least;
  for (const double p : {50.0, 90.0, 99.0, 99.9}) {
    const auto value = run::shown_percentile(histogram, p, tail_samples);
    cells.push_back(ns(value));
    if (value && histogram.percentile_is_lower_bound(p)) at_least += options::number_text(p) + " ";
  }
  cells.push_back(histogram.empty() ? "" : std::to_string(histogram.max().count()));
  if (histogram.max_is_lower_bound()) at_least += "max";
  cells.push_back(at_least);
}

std::string series_row(const run::SeriesRow& row) {
  Cells cells{"interval", "", std::to_string(row.t.count())};
  add_counts(cells, row.counts);
  for (const auto& value :
       {ns(row.p50), std::string(), ns(row.p99), std::string(), std::string(), std::string()}) {
    cells.push_back(value);
  }
  cells.push_back(std::to_string(row.lag_max.count()));
  cells.push_back(std::to_string(row.in_flight));
  cells.push_back(options::number_text(row.cpu_cores));
  cells.push_back(for_csv(fmt::format("{}", fmt::join(row.events, "; "))));
  return joined(cells);
}

std::string total_row(const run::Report& report) {
  Cells cells{"total", for_csv(report.name), std::to_string((report.issue + report.drain).count())};
  add_counts(cells, report.total.counts);
  add_distribution(cells, run::headline(report), report.tail_samples);
  cells.push_back(std::to_string(report.total.lag_max.count()));
  cells.push_back(std::to_string(report.observed.in_flight_peak));
  cells.push_back(options::number_text(report.cost.cores_used));
  cells.push_back(for_csv(report.error ? report.error->klass + ": " + report.error->message
                                       : std::string(to_string(report.verdict.status))));
  return joined(cells);
}

std::string endpoint_row(const run::Endpoint& endpoint, const run::Report& report) {
  Cells cells{"endpoint", for_csv(endpoint.name), ""};
  add_counts(cells, endpoint.counts);
  add_distribution(cells, report.open ? endpoint.response : endpoint.service, report.tail_samples);
  cells.insert(cells.end(), 4, "");
  return joined(cells);
}

}  // namespace

std::string to_csv(const run::Report& report) {
  std::string out = std::string(kHeader) + "\r\n";
  for (const run::SeriesRow& row : report.series) out += series_row(row);
  out += total_row(report);
  for (const run::Endpoint& endpoint : report.endpoints) out += endpoint_row(endpoint, report);
  return out;
}

}  // namespace onbeat::report
