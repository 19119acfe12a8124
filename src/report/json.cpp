#include "report/json.hpp"

#include "options/format.hpp"
#include "report/hdr_encoding.hpp"
#include "report/json_parts.hpp"

#include <array>
#include <cmath>
#include <cstdint>

namespace onbeat::report {
namespace {

using kernel::Histogram;
using run::Report;

Json missed_json(const kernel::Counts& counts) {
  return {{"late", counts.missed_late},
          {"waited", counts.missed_waited},
          {"at_end", counts.missed_at_end}};
}

Json optional_ns(std::optional<kernel::Duration> duration) {
  return duration ? Json(duration->count()) : Json(nullptr);
}

Json options_json(const Report& report) {
  Json options = Json::object();
  for (const run::OptionValue& option : report.options) {
    if (const auto repeated = options.find(option.key); repeated != options.end()) {
      auto& value = (*repeated)["value"].get_ref<std::string&>();
      value += "\n" + option.value;
    } else {
      options[option.key] = {{"value", option.value}, {"source", option.source}};
    }
  }
  return options;
}

Json error_json(const std::optional<run::ErrorInfo>& error) {
  if (!error) return nullptr;
  return {{"class", error->klass}, {"message", error->message}, {"hint", error->hint}};
}

Json run_json(const Report& report) {
  Json tags = Json::object();
  for (const auto& [key, value] : report.tags) tags[key] = value;
  return {{"id", report.id},
          {"name", report.name},
          {"workload", report.workload},
          {"target", report.target},
          {"tags", tags},
          {"started_at", report.started_at},
          {"ended_at", report.ended_at},
          {"end_reason", report.end_reason},
          {"seed", report.seed},
          {"exit_code", static_cast<int>(report.exit_code)},
          {"error", error_json(report.error)}};
}

Json text_or_null(const std::string& text) { return text.empty() ? Json(nullptr) : Json(text); }

Json load_json(const Report& report) {
  return {{"model", report.open ? "open" : "closed"},
          {"arrivals", text_or_null(report.arrivals)},
          {"on_late", text_or_null(report.on_late)},
          {"on_saturation", text_or_null(report.on_saturation)},
          {"concurrency", report.concurrency},
          {"connections", report.connections_option},
          {"threads", report.threads},
          {"text", report.load_text}};
}

Json verdict_json(const Report& report) {
  const run::Verdict& verdict = report.verdict;
  Json reasons = Json::array(), checks = Json::array();
  for (const run::Reason& reason : verdict.reasons) {
    reasons.push_back({{"code", reason.code},
                       {"status", std::string(to_string(reason.status))},
                       {"message", reason.message},
                       {"figures", reason.figures},
                       {"remedy", reason.remedy}});
  }
  for (const run::Check& check : verdict.checks) {
    checks.push_back({{"name", check.name},
                      {"status", std::string(to_string(check.state))},
                      {"actual", text_or_null(check.actual)},
                      {"limit", text_or_null(check.limit)}});
  }
  return {{"status", std::string(to_string(verdict.status))},
          {"reasons", reasons},
          {"checks", checks},
          {"untrusted", verdict.untrusted},
          {"tail_samples", number_json(report.tail_samples)}};
}

Json rates_json(const kernel::Counts& counts, const Report& report) {
  return {{"planned", report.open ? number_json(run::per_second(counts.planned, report.issue))
                                  : Json(nullptr)},
          {"achieved", number_json(run::per_second(counts.started, report.issue))},
          {"ok", number_json(run::per_second(counts.ok, report.issue))}};
}

Json endpoint_json(const run::Endpoint& endpoint, const Report& report) {
  const auto distribution = [&](const Histogram& histogram) {
    return distribution_json(histogram, report.percentiles, report.tail_samples);
  };
  const kernel::Counts& counts = endpoint.counts;
  return {{"name", endpoint.name},
          {"part", endpoint.part},
          {"counts",
           {{"started", counts.started},
            {"ok", counts.ok},
            {"failed", counts.failed},
            {"timed_out", counts.timed_out},
            {"cancelled", counts.cancelled},
            {"in_flight_at_end", counts.in_flight_at_end},
            {"passed", counts.passed},
            {"not_passed", counts.not_passed},
            {"untimed", counts.untimed},
            {"bytes_sent", counts.bytes_sent},
            {"bytes_received", counts.bytes_received}}},
          {"rates",
           {{"achieved", number_json(run::per_second(counts.started, report.issue))},
            {"ok", number_json(run::per_second(counts.ok, report.issue))}}},
          {"latency",
           {{"response", distribution(endpoint.response)},
            {"service", distribution(endpoint.service)}}},
          {"failed_latency", distribution(endpoint.failed)},
          {"message_gap", distribution(endpoint.message_gap)},
          {"codes", counts_json(endpoint.codes)},
          {"errors", counts_json(endpoint.errors)}};
}

// The phases of a request in their order, then whatever else the run measured.
Json breakdown_json(const Report& report) {
  static constexpr std::array kPhases{"dns", "connect", "tls", "first_byte", "body"};
  Json breakdown = Json::object();
  const auto add = [&](const std::string& name, const Histogram& histogram) {
    if (breakdown.contains(name)) return;
    breakdown[name] = distribution_json(histogram, report.percentiles, report.tail_samples);
  };
  for (const char* phase : kPhases) {
    const auto found = report.breakdown.find(phase);
    if (found != report.breakdown.end()) add(phase, found->second);
  }
  for (const auto& [name, histogram] : report.breakdown) add(name, histogram);
  return breakdown;
}

Json connections_json(const run::Connections& connections) {
  return {{"asked", connections.asked},
          {"open_peak", connections.open_peak},
          {"opened", connections.opened},
          {"reused", connections.reused},
          {"reopened", connections.reopened},
          {"closed_by_peer", connections.closed_by_peer},
          {"reset", connections.reset},
          {"failed", connections.failed},
          {"by_address", counts_json(connections.by_address)}};
}

Json cost_json(const run::ClientCost& cost) {
  return {{"cpu_seconds", number_json(cost.cpu_seconds)},
          {"cpu_us_per_request", number_json(cost.cpu_us_per_request)},
          {"cores_used", number_json(cost.cores_used)},
          {"host_cores", number_json(cost.host_cores)},
          {"rps_per_core", number_json(cost.rps_per_core)},
          {"peak_rss_bytes", cost.peak_rss_bytes},
          {"generator_limited", cost.generator_limited},
          {"limits", cost.limits}};
}

Json samples_json(const std::optional<Report::Samples>& samples) {
  if (!samples) return nullptr;
  return {{"one_of", samples->one_of}, {"kept", samples->kept}, {"dropped", samples->dropped}};
}

Json thresholds_json(const std::vector<run::ThresholdResult>& thresholds) {
  Json out = Json::array();
  for (const run::ThresholdResult& threshold : thresholds) {
    out.push_back({{"metric", threshold.metric},
                   {"expr", threshold.expr},
                   {"passed", threshold.passed},
                   {"actual", number_json(threshold.actual)},
                   {"actual_text", threshold.actual_text},
                   {"reason", text_or_null(threshold.reason)},
                   {"on_untrusted", threshold.on_untrusted},
                   {"on_lower_bound", threshold.on_lower_bound},
                   {"too_few_samples", threshold.too_few_samples}});
  }
  return out;
}

/// What only the checks of the verdict are made from.
Json observed_json(const Report& report) {
  const auto& observed = report.observed;
  return {{"in_flight_mean", number_json(observed.in_flight_mean)},
          {"in_flight_error", number_json(observed.in_flight_error)},
          {"in_flight_samples", observed.in_flight_samples},
          {"in_flight_peak", observed.in_flight_peak},
          {"lag_max", report.total.lag_max.count()},
          {"busiest_loop", number_json(observed.busiest_loop)},
          {"loops", loops_json(report.total.loops)},
          {"steal_share", number_json(observed.steal_share)},
          {"other_load_share", number_json(observed.other_load_share)},
          {"target_on_same_cores", observed.target_on_same_cores},
          {"clock_stepped", observed.clock_stepped},
          {"wall_minus_monotonic", observed.wall_minus_monotonic.count()},
          {"aborted", observed.aborted},
          {"interrupted", observed.interrupted}};
}

Json search_json(const run::SearchReport& search) {
  return {{"rate", number_json(search.rate)},
          {"converged", search.converged},
          {"shortfall", text_or_null(search.shortfall)},
          {"generator_limit", text_or_null(search.generator)},
          {"elapsed_ns", search.elapsed.count()}};
}

Json steps_json(const Report& report) {
  Json out = Json::array();
  for (const run::StepReport& step : report.steps) {
    const auto distribution = [&](const Histogram& histogram) {
      return distribution_json(histogram, report.percentiles, report.tail_samples);
    };
    out.push_back({{"kind", step.kind},
                   {"rate", number_json(step.rate)},
                   {"held", step.held},
                   {"reason", text_or_null(step.reason)},
                   {"counted", step.counted},
                   {"duration_ns", {{"issue", step.issue.count()}, {"drain", step.drain.count()}}},
                   {"left_to_drain", step.left_to_drain},
                   {"counts", counts_json(step.counts)},
                   {"achieved", number_json(run::per_second(step.counts.started, step.issue))},
                   {"latency",
                    {{"response", distribution(step.response)},
                     {"service", distribution(step.service)},
                     {"lag", distribution(step.lag)}}}});
  }
  return out;
}

Json levels_json(const Report& report) {
  Json out = Json::array();
  for (const run::Level& level : report.levels) {
    const auto distribution = [&](const Histogram& histogram) {
      return distribution_json(histogram, report.percentiles, report.tail_samples);
    };
    Json counts = counts_json(level.counts);
    counts["bytes_sent"] = level.counts.bytes_sent;
    counts["bytes_received"] = level.counts.bytes_received;
    out.push_back(
        {{"concurrency", level.concurrency},
         {"counts", std::move(counts)},
         {"rates",
          {{"achieved", number_json(run::per_second(level.counts.started, level.issue))},
           {"ok", number_json(run::per_second(level.counts.ok, level.issue))}}},
         {"duration_ns", {{"issue", level.issue.count()}, {"drain", level.drain.count()}}},
         {"latency",
          {{"response", distribution(level.response)}, {"service", distribution(level.service)}}},
         {"failed_latency", distribution(level.failed)},
         {"codes", counts_json(level.codes)}});
  }
  return out;
}

Json series_json(const std::vector<run::SeriesRow>& series) {
  Json out = Json::array();
  for (const run::SeriesRow& row : series) {
    out.push_back({{"t_ns", row.t.count()},
                   {"planned", row.counts.planned},
                   {"started", row.counts.started},
                   {"ok", row.counts.ok},
                   {"failed", row.counts.failed},
                   {"timed_out", row.counts.timed_out},
                   {"cancelled", row.counts.cancelled},
                   {"in_flight_at_end", row.counts.in_flight_at_end},
                   {"missed_by", missed_json(row.counts)},
                   {"saturated", row.counts.saturated},
                   {"passed", row.counts.passed},
                   {"not_passed", row.counts.not_passed},
                   {"untimed", row.counts.untimed},
                   {"bytes_sent", row.counts.bytes_sent},
                   {"bytes_received", row.counts.bytes_received},
                   {"errors", counts_json(row.errors)},
                   {"p50", optional_ns(row.p50)},
                   {"p90", optional_ns(row.p90)},
                   {"p99", optional_ns(row.p99)},
                   {"max", optional_ns(row.max)},
                   {"at_least", row.at_least},
                   {"lag_max", row.lag_max.count()},
                   {"in_flight", row.in_flight},
                   {"in_flight_max", row.in_flight_max},
                   {"cpu_cores", number_json(row.cpu_cores)},
                   {"events", row.events}});
  }
  return out;
}

Json latency_json(const Report& report) {
  const kernel::Interval& total = report.total;
  Json latency = Json::object();
  for (const auto& [name, histogram] : {std::pair{"response", &total.response},
                                        {"service", &total.service},
                                        {"wait", &total.wait},
                                        {"lag", &total.lag}}) {
    latency[name] = distribution_json(*histogram, report.percentiles, report.tail_samples);
  }
  return latency;
}

}  // namespace

std::string percentile_key(double p) { return options::number_text(p); }

Json number_json(std::optional<double> number) {
  return number && std::isfinite(*number) ? Json(*number) : Json(nullptr);
}

Json counts_json(const run::NamedCounts& counts) {
  Json out = Json::object();
  for (const auto& [name, count] : counts) out[name] = count;
  return out;
}

Json counts_json(const kernel::Counts& counts) {
  return {{"planned", counts.planned},     {"started", counts.started},
          {"missed", counts.missed()},     {"missed_by", missed_json(counts)},
          {"saturated", counts.saturated}, {"ok", counts.ok},
          {"failed", counts.failed},       {"timed_out", counts.timed_out},
          {"cancelled", counts.cancelled}, {"in_flight_at_end", counts.in_flight_at_end},
          {"passed", counts.passed},       {"not_passed", counts.not_passed},
          {"untimed", counts.untimed}};
}

Json sum_json(const Histogram& histogram) {
  const kernel::detail::WideSum sum = histogram.exact().sum;
  if (sum > INT64_MAX || sum < INT64_MIN) return static_cast<double>(sum);
  return static_cast<std::int64_t>(sum);
}

Json smallest_censored_json(const Histogram& histogram) {
  return histogram.censored() == 0 ? Json(nullptr) : Json(histogram.smallest_censored().count());
}

Json loops_json(const std::vector<kernel::LoopUsage>& loops) {
  Json out = Json::array();
  for (const kernel::LoopUsage& loop : loops) {
    out.push_back({{"wall_ns", loop.wall.count()},
                   {"cpu_ns", loop.cpu.count()},
                   {"stalled_ns", loop.stalled.count()},
                   {"stalls", loop.stalls},
                   {"turns", loop.turns}});
  }
  return out;
}

Json distribution_json(const Histogram& histogram, const std::vector<double>& percentiles,
                       double tail_samples) {
  const bool empty = histogram.empty();
  Json shown = Json::object(), at_least = Json::array();
  for (const double p : percentiles) {
    const auto value = run::shown_percentile(histogram, p, tail_samples);
    shown[percentile_key(p)] = optional_ns(value);
    if (value && histogram.percentile_is_lower_bound(p)) at_least.push_back(percentile_key(p));
  }
  if (histogram.censored() != 0) {
    if (histogram.percentile_is_lower_bound(0)) at_least.push_back("min");
    at_least.push_back("mean");
    at_least.push_back("max");
  }
  const auto or_null = [&](Json value) { return empty ? Json(nullptr) : value; };
  return {{"count", histogram.count()},
          {"censored", histogram.censored()},
          {"min", or_null(histogram.min().count())},
          {"mean", number_json(run::mean_of(histogram))},
          {"stddev", empty ? Json(nullptr) : number_json(histogram.stddev())},
          {"max", or_null(histogram.max().count())},
          {"percentiles", shown},
          {"at_least", at_least},
          {"smallest_censored", smallest_censored_json(histogram)},
          {"sum", or_null(sum_json(histogram))},
          {"hdr", empty ? Json(nullptr) : Json(encode_hdr(histogram))}};
}

Json report_json(const Report& report) {
  const kernel::Counts& counts = report.total.counts;
  Json total = counts_json(counts);
  total["warmup_excluded"] = report.warmup_excluded;
  Json endpoints = Json::array();
  for (const run::Endpoint& endpoint : report.endpoints) {
    endpoints.push_back(endpoint_json(endpoint, report));
  }
  Json json;
  json["schema"] = "onbeat.report/1";
  json["tool"] = {{"name", "onbeat"},
                  {"version", report.version},
                  {"commit", report.commit},
                  {"compiler", report.compiler}};
  json["host"] = {{"cores", number_json(report.host.cores)},
                  {"cpu", report.host.cpu},
                  {"kernel", report.host.kernel},
                  {"memory_bytes", report.host.memory_bytes}};
  json["run"] = run_json(report);
  json["options"] = options_json(report);
  json["load"] = load_json(report);
  json["verdict"] = verdict_json(report);
  json["counts"] = std::move(total);
  json["rates"] = rates_json(counts, report);
  json["bytes"] = {{"sent", counts.bytes_sent}, {"received", counts.bytes_received}};
  json["duration_ns"] = {{"issue", report.issue.count()}, {"drain", report.drain.count()}};
  json["latency"] = latency_json(report);
  json["failed_latency"] =
      distribution_json(report.total.failed, report.percentiles, report.tail_samples);
  json["codes"] = counts_json(report.codes);
  json["errors"] = counts_json(report.errors);
  json["error_samples"] = report.error_samples;
  json["endpoints"] = std::move(endpoints);
  json["breakdown"] = breakdown_json(report);
  json["connections"] = connections_json(report.connections);
  json["client_cost"] = cost_json(report.cost);
  json["samples"] = samples_json(report.samples);
  json["thresholds"] = thresholds_json(report.thresholds);
  json["observed"] = observed_json(report);
  if (report.search) {
    json["search"] = search_json(*report.search);
  }
  if (report.curve)
    json["curve"] = {{"knee", number_json(report.curve->knee)},
                     {"why_not", text_or_null(report.curve->why_not)}};
  if (report.search || report.curve) json["steps"] = steps_json(report);
  json["levels"] = levels_json(report);
  json["sources"] = counts_json(report.sources);
  json["series"] = series_json(report.series);
  return json;
}

std::string dump(const Json& json, int indent) {
  return json.dump(indent, ' ', false, Json::error_handler_t::replace) + "\n";
}

std::string to_json(const Report& report) { return dump(report_json(report), 2); }

}  // namespace onbeat::report
