#include "report/gctf_report.hpp"

#include "report/escape.hpp"
#include "report/json_parts.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <ctime>
#include <utility>

namespace onbeat::report {
namespace {

using kernel::Duration;
using kernel::Histogram;
using run::Report;

constexpr int kBuckets = 10;

/// What came back, failures too.
struct Every {
  Histogram latency;
  std::uint64_t count = 0, ok = 0, errors = 0, passed = 0, failed = 0;
  Duration elapsed{};
};

Every every_of(const kernel::Counts& counts, const Histogram& headline, const Histogram& failed,
               Duration elapsed) {
  Every every{.latency = headline,
              .count = counts.ok + counts.failed + counts.timed_out,
              .ok = counts.ok,
              .errors = counts.failed + counts.timed_out,
              .passed = counts.passed,
              .failed = counts.not_passed,
              .elapsed = elapsed};
  every.latency.merge(failed);
  return every;
}

Every every_of(const Report& report) {
  return every_of(report.total.counts, run::headline(report), report.total.failed,
                  report.issue + report.drain);
}

Json number_or_zero(std::optional<double> number) { return number ? *number : 0.0; }

Json summary_json(const Every& every) {
  const double mean = run::mean_of(every.latency).value_or(0);
  return {{"count", every.count},
          {"ok", every.ok},
          {"errors", every.errors},
          {"passed", every.passed},
          {"failed", every.failed},
          {"total_ns", mean * static_cast<double>(every.latency.count())},
          {"average_ns", mean},
          {"fastest_ns", every.latency.min().count()},
          {"slowest_ns", every.latency.max().count()},
          {"rps_observed", number_or_zero(run::per_second(every.count, every.elapsed))}};
}

Json distribution(const Histogram& histogram, const std::vector<double>& percentiles) {
  Json out = Json::array();
  if (histogram.empty()) return out;
  for (const double p : percentiles)
    out.push_back({{"percentile", p}, {"latency_ns", histogram.percentile(p).count()}});
  return out;
}

/// Ten buckets of one width over [min, max].
Json linear_histogram(const Histogram& histogram) {
  Json out = Json::array();
  if (histogram.empty()) return out;
  const auto low = static_cast<double>(histogram.min().count());
  const auto high = static_cast<double>(histogram.max().count());
  const int buckets = high > low ? kBuckets : 1;
  const auto total = static_cast<double>(histogram.count());
  std::uint64_t below = 0;
  for (int i = 0; i < buckets; ++i) {
    const double lower = low + (high - low) * i / buckets;
    const double upper = low + (high - low) * (i + 1) / buckets;
    const bool last = i + 1 == buckets;
    const auto until =
        last ? histogram.count()
             : static_cast<std::uint64_t>(
                   histogram.share_at_or_below(Duration(static_cast<std::int64_t>(upper))) * total +
                   0.5);
    const std::uint64_t count = until - std::min(below, until);
    below = std::max(below, until);
    out.push_back({{"lower_ns", lower},
                   {"upper_ns", upper},
                   {"count", count},
                   {"frequency", static_cast<double>(count) / total}});
  }
  return out;
}

Json statuses(const run::NamedCounts& codes, std::uint64_t count) {
  Json out = {{"OK", 0}, {"ERROR", 0}};
  std::uint64_t told = 0;
  for (const auto& [code, number] : codes) {
    out[code] = number;
    told += number;
  }
  // What ended without a status.
  out["ERROR"] = count - std::min(told, count);
  return out;
}

/// The documented categories of what went wrong.
std::string category(std::string_view error) {
  constexpr std::array<std::string_view, 14> kConnection{
      "dns",    "connect_refused", "connect_timeout", "unreachable",  "connect_failed",
      "tls",    "proxy",           "reset",           "closed_early", "short_body",
      "goaway", "stream_reset",    "refused",         "keepalive"};
  if (error == "expectation") return "assert_failure";
  if (error == "timeout") return "timeout";
  if (error.starts_with("template_")) return "invalid_input";
  const bool connection = std::ranges::find(kConnection, error) != kConnection.end();
  return connection ? "connection_error" : "other";
}

/// A status says more than that it was one.
std::string category_of_status(std::string_view code) {
  if (code == "Unavailable") return "unavailable";
  if (code == "InvalidArgument") return "invalid_input";
  if (code == "DeadlineExceeded") return "timeout";
  return "other";
}

Json error_distribution(const Report& report) {
  run::NamedCounts out;
  std::uint64_t statuses = 0;
  for (const auto& [error, count] : report.errors) {
    if (error == "status") {
      statuses = count;
    } else {
      out[category(error)] += count;
    }
  }
  for (const auto& [code, count] : report.codes) {
    if (code == "OK") continue;
    const std::uint64_t of_server = std::min(count, statuses);
    if (of_server != 0) out[category_of_status(code)] += of_server;
    statuses -= of_server;
  }
  return counts_json(out);
}

std::string option(const Report& report, std::string_view key) {
  const auto found = std::ranges::find(report.options, key, &run::OptionValue::key);
  return found == report.options.end() ? std::string() : found->value;
}

Json resolved_options(const Report& report) {
  constexpr std::array<std::string_view, 3> kAlways{"load_schedule", "concurrency",
                                                    "progress_interval"};
  constexpr std::array<std::string_view, 5> kWhenSet{"load_start", "load_step", "load_end",
                                                     "load_step_duration", "load_max_duration"};
  Json out = Json::object();
  for (const run::OptionValue& value : report.options) {
    const bool always = std::ranges::find(kAlways, value.key) != kAlways.end();
    const bool set =
        value.source != "default" && std::ranges::find(kWhenSet, value.key) != kWhenSet.end();
    if (always || set) out[value.key] = {{"value", value.value}, {"source", value.source}};
  }
  return out;
}

std::int64_t unix_seconds(const std::string& rfc3339) {
  std::tm time{};
  if (strptime(rfc3339.c_str(), "%Y-%m-%dT%H:%M:%S", &time) == nullptr) return 0;
  return timegm(&time);
}

std::string end_reason(const Report& report) {
  if (report.end_reason == "duration") {
    const bool most =
        option(report, "max_duration") != "none" && !option(report, "max_duration").empty();
    return most ? "max_duration_reached" : "duration_reached";
  }
  if (report.end_reason == "requests") return "requests_completed";
  if (report.end_reason == "interrupted") return "user_cancelled";
  return report.end_reason;
}

Json thresholds(const Report& report) {
  Json out = Json::array();
  for (const run::ThresholdResult& result : report.thresholds) {
    std::string expr = result.expr;
    if (expr.starts_with(result.metric)) expr.erase(0, result.metric.size());
    expr.erase(0, expr.find_first_not_of(' '));
    out.push_back({{"metric", result.metric},
                   {"expr", expr},
                   {"passed", result.passed},
                   {"actual", result.actual_text},
                   {"reason", result.reason.empty() ? Json(nullptr) : Json(result.reason)}});
  }
  return out;
}

Json endpoints(const Report& report) {
  Json out = Json::array();
  for (const run::Endpoint& endpoint : report.endpoints) {
    const Histogram& latency = report.open ? endpoint.response : endpoint.service;
    const kernel::Counts& counts = endpoint.counts;
    Json one = {{"endpoint", endpoint.name},
                {"count", counts.ok + counts.failed + counts.timed_out},
                {"errors", counts.failed + counts.timed_out}};
    for (const int p : {50, 90, 95, 99})
      one[fmt::format("latency_p{}", p)] = latency.percentile(p).count();
    out.push_back(std::move(one));
  }
  return out;
}

Json cost(const run::ClientCost& cost) {
  return {{"cpu_seconds", cost.cpu_seconds},
          {"cpu_us_per_request", number_or_zero(cost.cpu_us_per_request)},
          {"cores_used", cost.cores_used},
          {"host_cores", cost.host_cores},
          {"rps_per_core", number_or_zero(cost.rps_per_core)},
          {"generator_limited", cost.generator_limited},
          {"limits", cost.limits}};
}

Json sources(const run::NamedCounts& counts) {
  if (counts.empty()) return nullptr;
  const auto of = [&](const char* name) {
    const auto found = counts.find(name);
    return found == counts.end() ? std::uint64_t{0} : found->second;
  };
  const std::uint64_t lookups = of("lookups"), hits = of("hits"), in_memory = of("in_memory");
  return {{"source_stats",
           {{"global",
             {{"dimension_lookups", lookups},
              {"dimension_hits", hits},
              {"dimension_misses", lookups - std::min(hits, lookups)},
              {"in_memory_lookups", in_memory},
              {"indexed_lookups", lookups - std::min(in_memory, lookups)}}}}}};
}

Json levels(const Report& report) {
  Json out = Json::array();
  for (const run::Level& level : report.levels) {
    const Histogram& headline = report.open ? level.response : level.service;
    const Every every = every_of(level.counts, headline, level.failed, level.issue + level.drain);
    out.push_back({{"concurrency", level.concurrency},
                   {"summary", summary_json(every)},
                   {"latency_distribution", distribution(headline, report.percentiles)},
                   {"grpc_status_distribution", statuses(level.codes, every.count)}});
  }
  return out;
}

}  // namespace

std::string to_gctf_json(const Report& report) {
  const Every every = every_of(report);
  Json json;
  json["schema_version"] = "bench_report_schema_v1";
  json["run"] = {{"started_at", unix_seconds(report.started_at)},
                 {"ended_at", unix_seconds(report.ended_at)},
                 {"end_reason", end_reason(report)},
                 {"tool", "onbeat"},
                 {"tool_version", report.version}};
  json["options_resolved"] = resolved_options(report);
  json["summary"] = summary_json(every);
  json["latency_distribution"] = distribution(run::headline(report), report.percentiles);
  json["histogram"] = linear_histogram(run::headline(report));
  json["grpc_status_distribution"] = statuses(report.codes, every.count);
  json["error_distribution"] = error_distribution(report);
  json["threshold_evaluation"] = thresholds(report);
  json["details"] = Json::array();
  json["tags"] = {{"exec_model", report.open ? "open" : "closed"},
                  {"mode", option(report, "mode")}};
  for (const auto& [key, value] : report.tags)
    if (!json["tags"].contains(key)) json["tags"][key] = value;
  json["sources_runtime"] = sources(report.sources);
  json["per_endpoint"] = endpoints(report);
  // A sweep has no cost of its own: its levels differ.
  json["client_cost"] = report.levels.empty() ? cost(report.cost) : Json(nullptr);
  if (report.levels.size() > 1) json["levels"] = levels(report);
  return dump(json, 2);
}

std::string to_gctf_prometheus(const Report& report) {
  const Every every = every_of(report);
  const double mean = run::mean_of(every.latency).value_or(0);
  std::string text;
  const auto gauge = [&](std::string_view name, std::string_view help, double value) {
    text += fmt::format(
        "# HELP grpctestify_bench_{0} {1}\n# TYPE grpctestify_bench_{0} gauge\n"
        "grpctestify_bench_{0} {2}\n",
        name, help, value);
  };
  gauge("count", "Iterations that ended.", static_cast<double>(every.count));
  gauge("total_ns", "Sum of their latencies.", mean * static_cast<double>(every.latency.count()));
  gauge("average_ns", "Mean latency.", mean);
  gauge("fastest_ns", "Shortest latency.", static_cast<double>(every.latency.min().count()));
  gauge("slowest_ns", "Longest latency.", static_cast<double>(every.latency.max().count()));
  gauge("rps_observed", "Iterations per second.",
        run::per_second(every.count, every.elapsed).value_or(0));
  if (report.thresholds.empty()) return text;
  text +=
      "# HELP grpctestify_bench_threshold_passed Whether a threshold held.\n"
      "# TYPE grpctestify_bench_threshold_passed gauge\n";
  const auto label = [](std::string_view value) {
    std::string out;
    for (const char c : valid_utf8(value)) {
      if (c == '\\' || c == '"') out += '\\';
      if (c == '\n') {
        out += "\\n";
      } else {
        out += c;
      }
    }
    return out;
  };
  for (const run::ThresholdResult& result : report.thresholds)
    text += fmt::format("grpctestify_bench_threshold_passed{{metric=\"{}\",expr=\"{}\"}} {}\n",
                        label(result.metric), label(result.expr), result.passed ? 1 : 0);
  return text;
}

}  // namespace onbeat::report
