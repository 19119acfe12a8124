#include "report/bench_compare.hpp"

#include "options/format.hpp"
#include "report/json_place.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <limits>

namespace onbeat::report {
namespace {

using Verdict = BenchChange::Verdict;

BenchFigures from_gctf(const Place& place) {
  BenchFigures figures;
  const Place summary = place["summary"];
  const double count = summary["count"].number();
  figures.throughput_rps = summary["rps_observed"].number();
  figures.error_rate = count > 0 ? 100 * summary["errors"].number() / count : 0;
  if (count > 0) figures.mean_ns = summary["average_ns"].number();
  place["latency_distribution"].elements([&](const Place& one) {
    figures.percentiles_ns[one["percentile"].number()] = one["latency_ns"].number();
  });
  place["per_endpoint"].elements([&](const Place& one) {
    if (one["count"].number() > 0)
      figures.endpoint_p99_ns[one["endpoint"].text()] = one["latency_p99"].number();
  });
  return figures;
}

BenchFigures from_report(const run::Report& report) {
  BenchFigures figures;
  const kernel::Counts& counts = report.total.counts;
  const std::uint64_t ended = counts.ok + counts.failed + counts.timed_out;
  figures.throughput_rps = run::per_second(ended, report.issue + report.drain).value_or(0);
  if (ended != 0)
    figures.error_rate =
        100 * static_cast<double>(counts.failed + counts.timed_out) / static_cast<double>(ended);
  kernel::Histogram all = run::headline(report);
  if (!all.empty())
    for (const double p : report.percentiles)
      figures.percentiles_ns[p] = static_cast<double>(all.percentile(p).count());
  all.merge(report.total.failed);
  figures.mean_ns = run::mean_of(all);
  for (const run::Endpoint& endpoint : report.endpoints) {
    const kernel::Histogram& latency = report.open ? endpoint.response : endpoint.service;
    if (!latency.empty())
      figures.endpoint_p99_ns[endpoint.name] = static_cast<double>(latency.percentile(99).count());
  }
  return figures;
}

BenchChange change_of(std::string metric, double baseline, double current, double tolerance,
                      bool more_is_better) {
  BenchChange change{.metric = std::move(metric), .baseline = baseline, .current = current};
  if (baseline != 0) {
    change.change = 100 * (current - baseline) / baseline;
  } else if (current != 0) {
    change.change = std::numeric_limits<double>::infinity();
  }
  const double worse = more_is_better ? -change.change : change.change;
  if (worse > tolerance) change.verdict = Verdict::regressed;
  if (worse < 0) change.verdict = Verdict::improved;
  return change;
}

std::string_view to_string(Verdict verdict) {
  switch (verdict) {
    case Verdict::pass:
      return "pass";
    case Verdict::improved:
      return "improved";
    case Verdict::regressed:
      return "regressed";
  }
  return "pass";
}

bool is_time(const BenchChange& change) {
  return change.metric != "throughput_rps" && change.metric != "error_rate";
}

std::string value_text(const BenchChange& change, double value) {
  if (change.metric == "throughput_rps") return options::format_rate(value);
  if (change.metric == "error_rate") return options::format_percent(value);
  return options::format_duration(kernel::Duration(std::llround(value)));
}

}  // namespace

std::expected<BenchFigures, std::string> read_bench_figures(std::string_view text) {
  try {
    const Json json = Json::parse(text);
    if (!json.is_object()) return std::unexpected("is no report: it is not an object");
    const Place place(json);
    if (json.value("schema_version", "") == "bench_report_schema_v1") return from_gctf(place);
    if (json.value("schema", "") == "onbeat.report/1") return from_report(read_report(place));
    return std::unexpected(
        "is no report: neither \"schema_version\": \"bench_report_schema_v1\" nor \"schema\": "
        "\"onbeat.report/1\"");
  } catch (const Json::exception& error) {
    return std::unexpected(std::string("is no report: ") + error.what());
  } catch (const Unreadable& error) {
    return std::unexpected(std::string("cannot be read: ") + error.what());
  }
}

std::vector<BenchChange> compare_bench(const BenchFigures& baseline, const BenchFigures& current,
                                       const BenchTolerances& tolerances) {
  std::vector<BenchChange> changes;
  changes.push_back(change_of("throughput_rps", baseline.throughput_rps, current.throughput_rps,
                              tolerances.throughput_percent, true));
  BenchChange errors{.metric = "error_rate",
                     .baseline = baseline.error_rate,
                     .current = current.error_rate,
                     .change = current.error_rate - baseline.error_rate};
  if (errors.change > tolerances.error_points) errors.verdict = Verdict::regressed;
  if (errors.change < 0) errors.verdict = Verdict::improved;
  changes.push_back(errors);
  const auto latency = [&](std::string metric, double before, double now) {
    changes.push_back(change_of(std::move(metric), before, now, tolerances.latency_percent, false));
  };
  if (baseline.mean_ns && current.mean_ns)
    latency("latency_mean", *baseline.mean_ns, *current.mean_ns);
  for (const auto& [p, before] : baseline.percentiles_ns)
    if (const auto now = current.percentiles_ns.find(p); now != current.percentiles_ns.end())
      latency("latency_p" + options::number_text(p), before, now->second);
  for (const auto& [name, before] : baseline.endpoint_p99_ns)
    if (const auto now = current.endpoint_p99_ns.find(name); now != current.endpoint_p99_ns.end())
      latency("endpoint " + name + " p99", before, now->second);
  return changes;
}

bool regressed(const std::vector<BenchChange>& changes) {
  return std::ranges::any_of(
      changes, [](const BenchChange& change) { return change.verdict == Verdict::regressed; });
}

std::string to_text(const std::vector<BenchChange>& changes) {
  std::size_t widest = 6;
  for (const BenchChange& change : changes) widest = std::max(widest, change.metric.size());
  std::string text = fmt::format("{:<{}} {:>14} {:>14} {:>10}\n", "metric", widest, "baseline",
                                 "current", "change");
  for (const BenchChange& change : changes) {
    const std::string by =
        std::isfinite(change.change)
            ? fmt::format("{:+.1f}{}", change.change, change.metric == "error_rate" ? "pp" : "%")
            : std::string("from 0");
    text += fmt::format("{:<{}} {:>14} {:>14} {:>10}  {}\n", change.metric, widest,
                        value_text(change, change.baseline), value_text(change, change.current), by,
                        to_string(change.verdict));
  }
  return text + (regressed(changes) ? "REGRESSED\n" : "PASS\n");
}

std::string to_json(const std::vector<BenchChange>& changes) {
  Json metrics = Json::array();
  for (const BenchChange& change : changes) {
    metrics.push_back({{"metric", change.metric},
                       {"unit", is_time(change)                     ? "ns"
                                : change.metric == "throughput_rps" ? "per_second"
                                                                    : "percent"},
                       {"baseline", change.baseline},
                       {"current", change.current},
                       {"change", number_json(change.change)},
                       {"verdict", std::string(to_string(change.verdict))}});
  }
  return dump({{"verdict", regressed(changes) ? "regressed" : "pass"}, {"metrics", metrics}}, 2);
}

}  // namespace onbeat::report
