#include "report/prometheus.hpp"

#include "options/format.hpp"
#include "report/escape.hpp"

#include <fmt/format.h>

#include <array>
#include <cmath>
#include <set>
#include <utility>
#include <vector>

namespace onbeat::report {
namespace {

using kernel::Histogram;
using run::Report;
using Labels = std::vector<std::pair<std::string_view, std::string>>;

/// Upper edges of the histograms' buckets, in seconds: 1, 2, 5 of each decade.
constexpr std::array kEdges{0.00001, 0.00002, 0.00005, 0.0001, 0.0002, 0.0005, 0.001,
                            0.002,   0.005,   0.01,    0.02,   0.05,   0.1,    0.2,
                            0.5,     1.0,     2.0,     5.0,    10.0,   20.0,   50.0};

std::string label_value(std::string_view text) {
  std::string out;
  for (const char c : valid_utf8(text)) {
    if (c == '\\' || c == '"') out += '\\';
    out += c == '\n' ? "\\n" : std::string(1, c);
  }
  return out;
}

std::string number(double value) {
  if (std::isnan(value)) return "NaN";
  if (std::isinf(value)) return value > 0 ? "+Inf" : "-Inf";
  return options::number_text(value);
}

double seconds(double ns) { return ns / 1e9; }

/// The text as it grows: families, one after the other.
class Exposition {
 public:
  void family(std::string_view name, std::string_view type, std::string_view help) {
    family_ = name;
    text_ += fmt::format("# HELP {0} {2}\n# TYPE {0} {1}\n", name, type, help);
  }
  /// A series that is there already is left out: labels may have become the same by replacing what
  /// is not UTF-8.
  void sample(const Labels& labels, const std::string& value, std::string_view suffix = {}) {
    std::string series = fmt::format("{}{}", family_, suffix);
    std::string list;
    for (const auto& [key, text] : labels)
      list += fmt::format("{}{}=\"{}\"", list.empty() ? "" : ",", key, label_value(text));
    if (!list.empty()) series += "{" + list + "}";
    if (seen_.insert(series).second) text_ += series + " " + value + "\n";
  }
  void sample(const Labels& labels, std::uint64_t value) { sample(labels, std::to_string(value)); }
  void sample(const Labels& labels, double value) { sample(labels, number(value)); }

  void counter(std::string_view name, std::string_view help, std::uint64_t value) {
    family(name, "counter", help);
    sample({}, value);
  }
  void gauge(std::string_view name, std::string_view help, double value) {
    family(name, "gauge", help);
    sample({}, value);
  }
  void histogram(const Histogram& histogram, const Labels& labels = {});
  std::string text() && { return std::move(text_); }

 private:
  std::string family_;
  std::string text_;
  std::set<std::string> seen_;
};

// A bucket of ours that an edge cuts counts below it as far as its own edges allow to say: to its
// upper one.
std::uint64_t at_or_below(const Histogram& histogram, double edge_seconds) {
  const auto edge = static_cast<std::int64_t>(std::llround(edge_seconds * 1e9));
  const std::uint32_t last = histogram.layout().index_of(edge);
  std::uint64_t seen = 0;
  for (std::size_t i = 0; i < histogram.counts().size() && histogram.first_index() + i <= last; ++i)
    seen += histogram.counts()[i];
  return seen;
}

void Exposition::histogram(const Histogram& histogram, const Labels& labels) {
  Labels with_edge = labels;
  with_edge.emplace_back("le", "");
  for (const double edge : kEdges) {
    with_edge.back().second = options::number_text(edge);
    sample(with_edge, std::to_string(at_or_below(histogram, edge)), "_bucket");
  }
  with_edge.back().second = "+Inf";
  sample(with_edge, std::to_string(histogram.count()), "_bucket");
  sample(labels, number(seconds(static_cast<double>(histogram.exact().sum))), "_sum");
  sample(labels, std::to_string(histogram.count()), "_count");
}

void add_info(Exposition& out, const Report& report) {
  out.family("onbeat_run_info", "gauge", "The run, always 1.");
  out.sample({{"id", report.id},
              {"name", report.name},
              {"workload", report.workload},
              {"target", report.target},
              {"model", report.open ? "open" : "closed"},
              {"version", report.version}},
             std::uint64_t{1});
  if (report.tags.empty()) return;
  out.family("onbeat_run_tag_info", "gauge", "A tag of the run (--tag), always 1.");
  for (const auto& [key, value] : report.tags)
    out.sample({{"key", key}, {"value", value}}, std::uint64_t{1});
}

void add_counts(Exposition& out, const Report& report) {
  const kernel::Counts& counts = report.total.counts;
  out.counter("onbeat_requests_planned_total", "Arrivals of the schedule that fell due.",
              counts.planned);
  out.counter("onbeat_requests_started_total", "Requests that were started.", counts.started);
  out.family("onbeat_requests_missed_total", "counter", "Arrivals that were never started.");
  out.sample({{"reason", "late"}}, counts.missed_late);
  out.sample({{"reason", "waited"}}, counts.missed_waited);
  out.sample({{"reason", "at_end"}}, counts.missed_at_end);
  out.counter("onbeat_requests_saturated_total",
              "Arrivals that were turned away because nothing was free.", counts.saturated);
  out.family("onbeat_requests_ended_total", "counter", "Started requests by how they ended.");
  out.sample({{"outcome", "ok"}}, counts.ok);
  out.sample({{"outcome", "failed"}}, counts.failed);
  out.sample({{"outcome", "timed_out"}}, counts.timed_out);
  out.sample({{"outcome", "cancelled"}}, counts.cancelled);
  out.sample({{"outcome", "in_flight"}}, counts.in_flight_at_end);
  out.family("onbeat_responses_total", "counter", "Responses by what the peer answered.");
  for (const auto& [code, count] : report.codes) out.sample({{"code", code}}, count);
  out.family("onbeat_errors_total", "counter", "Requests that failed, by the class of the error.");
  for (const auto& [name, count] : report.errors) out.sample({{"class", name}}, count);
  out.counter("onbeat_sent_bytes_total", "Application bytes sent, before TLS.", counts.bytes_sent);
  out.counter("onbeat_received_bytes_total", "Application bytes received, after TLS.",
              counts.bytes_received);
}

struct Distribution {
  std::string_view name, help;
  const Histogram* histogram;
};

std::vector<Distribution> distributions(const Report& report) {
  std::vector<Distribution> all;
  const kernel::Interval& total = report.total;
  const bool scheduled = !report.arrivals.empty();
  if (scheduled) all.push_back({"response", "From when a request was due", &total.response});
  all.push_back({"service", "From when a request was sent", &total.service});
  if (scheduled) {
    all.push_back({"wait", "Waiting for a free worker", &total.wait});
    all.push_back({"lag", "Lateness of the generator itself", &total.lag});
  }
  all.push_back({"failed", "Response time of what failed", &total.failed});
  return all;
}

void add_latency(Exposition& out, const Report& report) {
  for (const Distribution& each : distributions(report)) {
    out.family(fmt::format("onbeat_{}_seconds", each.name), "histogram",
               fmt::format("{}.", each.help));
    out.histogram(*each.histogram);
  }
  out.family("onbeat_latency_quantile_seconds", "gauge",
             "Exact to 3 digits, since the measured part began; bound is ge where the true value "
             "may be greater.");
  for (const Distribution& each : distributions(report)) {
    for (const double p : report.percentiles) {
      const auto value = run::shown_percentile(*each.histogram, p, report.tail_samples);
      if (!value) continue;
      out.sample({{"of", std::string(each.name)},
                  {"quantile", options::number_text(p / 100)},
                  {"bound", each.histogram->percentile_is_lower_bound(p) ? "ge" : "eq"}},
                 seconds(static_cast<double>(value->count())));
    }
  }
}

void add_resources(Exposition& out, const Report& report) {
  const run::Connections& connections = report.connections;
  out.gauge("onbeat_in_flight_requests", "Requests in flight at the end of the last interval.",
            static_cast<double>(report.total.in_flight));
  out.gauge("onbeat_in_flight_requests_max", "The most requests in flight.",
            static_cast<double>(report.total.in_flight_max));
  out.gauge("onbeat_lag_max_seconds", "The greatest lateness of the generator.",
            seconds(static_cast<double>(report.total.lag_max.count())));
  out.counter("onbeat_connections_opened_total", "Connections that were opened.",
              connections.opened);
  out.counter("onbeat_connections_reopened_total", "Opened in place of one that was closed.",
              connections.reopened);
  out.counter("onbeat_connections_failed_total", "Connections that did not come about.",
              connections.failed);
  out.counter("onbeat_connections_reset_total", "Connections that the peer reset.",
              connections.reset);
  double cpu = 0;
  for (const kernel::LoopUsage& loop : report.total.loops)
    cpu += std::chrono::duration<double>(loop.cpu).count();
  out.family("onbeat_loops_cpu_seconds_total", "counter", "CPU time of the loops' threads.");
  out.sample({}, cpu);
}

void add_endpoints(Exposition& out, const Report& report) {
  if (report.endpoints.empty()) return;
  out.family("onbeat_endpoint_requests_ended_total", "counter",
             "Requests of an endpoint by how they ended.");
  for (const run::Endpoint& endpoint : report.endpoints) {
    const kernel::Counts& counts = endpoint.counts;
    for (const auto& [outcome, count] : {std::pair{"ok", counts.ok},
                                         {"failed", counts.failed},
                                         {"timed_out", counts.timed_out},
                                         {"cancelled", counts.cancelled},
                                         {"in_flight", counts.in_flight_at_end}}) {
      out.sample({{"endpoint", endpoint.name}, {"outcome", outcome}}, count);
    }
  }
  out.family(report.open ? "onbeat_endpoint_response_seconds" : "onbeat_endpoint_service_seconds",
             "histogram", "Latency of an endpoint.");
  for (const run::Endpoint& endpoint : report.endpoints)
    out.histogram(report.open ? endpoint.response : endpoint.service,
                  {{"endpoint", endpoint.name}});
}

void add_judgement(Exposition& out, const Report& report) {
  out.family("onbeat_verdict", "gauge", "1 for the verdict on the measurement, 0 for the others.");
  for (const run::Status status :
       {run::Status::valid, run::Status::degraded, run::Status::invalid}) {
    out.sample({{"status", std::string(to_string(status))}},
               std::uint64_t{status == report.verdict.status});
  }
  if (!report.thresholds.empty()) {
    out.family("onbeat_threshold_passed", "gauge", "Whether a threshold held.");
    for (const run::ThresholdResult& threshold : report.thresholds)
      out.sample({{"threshold", threshold.expr}}, std::uint64_t{threshold.passed});
  }
  out.gauge("onbeat_exit_code", "The exit code of the run.",
            static_cast<double>(std::to_underlying(report.exit_code)));
  out.family("onbeat_rate_per_second", "gauge", "Over the whole issue window.");
  const kernel::Counts& counts = report.total.counts;
  const auto add = [&](const char* kind, std::uint64_t count) {
    if (const auto rate = run::per_second(count, report.issue)) out.sample({{"of", kind}}, *rate);
  };
  if (!report.arrivals.empty()) add("planned", counts.planned);
  add("achieved", counts.started);
  add("ok", counts.ok);
  out.gauge("onbeat_issue_seconds", "How long requests were issued.",
            seconds(static_cast<double>(report.issue.count())));
  out.gauge("onbeat_drain_seconds", "How long the run then waited for what was in flight.",
            seconds(static_cast<double>(report.drain.count())));
  out.family("onbeat_process_cpu_seconds_total", "counter",
             "CPU time of the process over the measured part.");
  out.sample({}, report.cost.cpu_seconds);
  out.gauge("onbeat_process_peak_memory_bytes", "The most memory that the process had.",
            static_cast<double>(report.cost.peak_rss_bytes));
}

}  // namespace

std::string to_prometheus(const Report& report, Progress progress) {
  Exposition out;
  add_info(out, report);
  add_counts(out, report);
  add_latency(out, report);
  add_resources(out, report);
  add_endpoints(out, report);
  if (progress == Progress::over) add_judgement(out, report);
  return std::move(out).text();
}

}  // namespace onbeat::report
