#include "report/html_tables.hpp"

#include "options/format.hpp"
#include "report/page.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <cmath>

namespace onbeat::report {
namespace {

using kernel::Duration;
using kernel::Histogram;
using options::format_count;
using options::format_duration;
using options::format_number;
using run::Report;

constexpr const char* kNone = "n/a";

std::string rate_cell(std::uint64_t count, Duration window) {
  const auto rate = run::per_second(count, window);
  return rate ? options::format_rate(*rate) : kNone;
}

Row latency_head(const Report& report, const char* first) {
  Row head{first, "samples", "min", "mean"};
  for (const double p : report.percentiles) head.push_back("p" + options::number_text(p));
  head.emplace_back("max");
  return head;
}

Row latency_row(const std::string& name, const Histogram& histogram, const Report& report) {
  Row row{name, format_count(histogram.count())};
  if (histogram.empty()) {
    row.resize(latency_head(report, "").size(), kNone);
    return row;
  }
  const auto add = [&row](Duration value, bool bound) {
    row.push_back((bound ? ">= " : "") + format_duration(value));
  };
  add(histogram.min(), histogram.percentile_is_lower_bound(0));
  add(Duration(std::llround(run::mean_of(histogram).value_or(0))), histogram.censored() != 0);
  for (const double p : report.percentiles) {
    const auto value = run::shown_percentile(histogram, p, report.tail_samples);
    if (value) {
      add(*value, histogram.percentile_is_lower_bound(p));
    } else {
      row.emplace_back("-");
    }
  }
  add(histogram.max(), histogram.max_is_lower_bound());
  return row;
}

std::string books(const Report& report) {
  const kernel::Counts& counts = report.total.counts;
  Table table{.head = {"", "requests", "per second"}, .rows = {}};
  const auto add = [&](const char* name, std::uint64_t count) {
    table.rows.push_back({name, format_count(count), rate_cell(count, report.issue)});
  };
  if (!report.arrivals.empty()) {
    add("planned", counts.planned);
    add("missed: the generator was late", counts.missed_late);
    add("missed: waited too long", counts.missed_waited);
    add("missed: still waiting at the end", counts.missed_at_end);
    add("saturated", counts.saturated);
  }
  add("started", counts.started);
  add("ok", counts.ok);
  add("failed", counts.failed);
  add("timed out", counts.timed_out);
  add("cancelled", counts.cancelled);
  add("in flight at the end", counts.in_flight_at_end);
  if (counts.passed + counts.not_passed != 0) {
    add("passed", counts.passed);
    add("not passed", counts.not_passed);
  }
  table.rows.push_back(
      {"of the warm-up, not counted above", format_count(report.warmup_excluded), ""});
  table.rows.push_back({"sent", options::format_size(counts.bytes_sent), ""});
  table.rows.push_back({"received", options::format_size(counts.bytes_received), ""});
  table.rows.push_back({"issue window", format_duration(report.issue), ""});
  table.rows.push_back({"drain", format_duration(report.drain), ""});
  return to_html(table);
}

std::string endpoints(const Report& report) {
  if (report.endpoints.empty()) return {};
  Table rates{.head = {"endpoint", "started", "per second", "ok", "failed", "timed out", "codes"},
              .rows = {}};
  Table latency{.head = latency_head(report, "endpoint"), .rows = {}};
  for (const run::Endpoint& endpoint : report.endpoints) {
    std::string codes;
    for (const auto& [code, count] : endpoint.codes)
      codes += fmt::format("{}{}: {}", codes.empty() ? "" : ", ", code, format_count(count));
    const kernel::Counts& counts = endpoint.counts;
    rates.rows.push_back({endpoint.name, format_count(counts.started),
                          rate_cell(counts.started, report.issue), format_count(counts.ok),
                          format_count(counts.failed), format_count(counts.timed_out), codes});
    latency.rows.push_back(
        latency_row(endpoint.name, report.open ? endpoint.response : endpoint.service, report));
  }
  return to_html(rates) + to_html(latency);
}

std::string counts_table(const char* name, const run::NamedCounts& counts) {
  if (counts.empty()) return {};
  Table table{.head = {name, "requests"}, .rows = {}};
  for (const auto& [key, count] : counts) table.rows.push_back({key, format_count(count)});
  return to_html(table);
}

std::string errors(const Report& report) {
  if (report.errors.empty() && report.error_samples.empty()) return {};
  Table table{.head = {"class", "requests", "a sample"}, .rows = {}, .text_columns = {3}};
  for (const auto& [name, count] : report.errors) {
    const auto sample = report.error_samples.find(name);
    table.rows.push_back(
        {name, format_count(count), sample == report.error_samples.end() ? "" : sample->second});
  }
  // Those of connecting before the measured part belong to no request.
  for (const auto& [name, sample] : report.error_samples)
    if (!report.errors.contains(name)) table.rows.push_back({name, "0", sample});
  return to_html(table);
}

std::string connections(const Report& report) {
  const run::Connections& from = report.connections;
  Table table{.head = {"connections", ""}, .rows = {}};
  table.rows.push_back({"asked for", from.asked == 0 ? "as needed" : format_count(from.asked)});
  for (const auto& [name, count] : {std::pair{"open at most", from.open_peak},
                                    {"opened", from.opened},
                                    {"reused", from.reused},
                                    {"reopened", from.reopened},
                                    {"closed by the peer", from.closed_by_peer},
                                    {"reset", from.reset},
                                    {"failed to open", from.failed}})
    table.rows.push_back({name, format_count(count)});
  for (const auto& [address, count] : from.by_address)
    table.rows.push_back({"to " + address, format_count(count)});
  return to_html(table);
}

std::string breakdown(const Report& report) {
  if (report.breakdown.empty()) return {};
  Table table{.head = latency_head(report, "part"), .rows = {}};
  for (const auto& [name, histogram] : report.breakdown)
    table.rows.push_back(latency_row(name, histogram, report));
  return to_html(table);
}

std::string cost(const Report& report) {
  const run::ClientCost& from = report.cost;
  const auto number = [](std::optional<double> value, int decimals, const char* unit) {
    return value ? format_number(*value, decimals) + unit : std::string(kNone);
  };
  Table table{.head = {}, .rows = {}};
  table.rows = {
      {"CPU for each request", number(from.cpu_us_per_request, 1, " us")},
      {"CPU time", number(from.cpu_seconds, 2, " s")},
      {"cores used", number(from.cores_used, 2, " of ") + options::number_text(from.host_cores)},
      {"requests for each core and second", number(from.rps_per_core, 0, "")},
      {"memory at most", options::format_size(from.peak_rss_bytes)},
      {"in flight at most", format_count(report.observed.in_flight_peak)},
      {"in flight, mean of samples", number(report.observed.in_flight_mean, 1, "")}};
  if (from.generator_limited)
    table.rows.push_back({"limited by", fmt::format("{}", fmt::join(from.limits, ", "))});
  return to_html(table);
}

std::string checks(const Report& report) {
  if (report.verdict.checks.empty()) return {};
  Table table{
      .head = {"check", "result", "measured", "limit"}, .rows = {}, .text_columns = {2, 3, 4}};
  for (const run::Check& check : report.verdict.checks)
    table.rows.push_back(
        {check.name, std::string(to_string(check.state)), check.actual, check.limit});
  return to_html(table);
}

std::string options_table(const Report& report) {
  if (report.options.empty()) return {};
  Table table{.head = {"option", "value", "from"}, .rows = {}, .text_columns = {2, 3}};
  for (const run::OptionValue& option : report.options)
    table.rows.push_back({option.key, option.value, option.source});
  return to_html(table);
}

std::string origin(const Report& report) {
  Table table{.head = {}, .rows = {}, .text_columns = {2}};
  const auto add = [&table](const char* name, std::string value) {
    if (!value.empty()) table.rows.push_back({name, std::move(value)});
  };
  add("run", report.id);
  add("target", report.target);
  add("load", report.load_text);
  add("started", report.started_at);
  add("ended", report.ended_at);
  add("ended by", report.end_reason);
  add("exit code", std::to_string(static_cast<int>(report.exit_code)));
  add("seed", std::to_string(report.seed));
  for (const auto& [key, value] : report.tags) table.rows.push_back({"tag " + key, value});
  add("loops", std::to_string(report.threads));
  add("onbeat", report.version);
  add("commit", report.commit);
  add("compiler", report.compiler);
  if (report.host.cores > 0)
    add("host", fmt::format("{} cores, {}, {}, {}", options::number_text(report.host.cores),
                            report.host.cpu, options::format_size(report.host.memory_bytes),
                            report.host.kernel));
  return to_html(table);
}

}  // namespace

std::string latency_html(const Report& report) {
  const kernel::Interval& total = report.total;
  if (run::headline(report).empty() && total.failed.empty()) return {};
  Table table{.head = latency_head(report, ""), .rows = {}};
  if (report.open)
    table.rows.push_back(latency_row("response, from when due", total.response, report));
  table.rows.push_back(latency_row("service, from when sent", total.service, report));
  if (report.open) {
    table.rows.push_back(latency_row("wait for a free worker", total.wait, report));
    table.rows.push_back(latency_row("lag of the generator", total.lag, report));
  }
  if (!total.failed.empty()) table.rows.push_back(latency_row("what failed", total.failed, report));
  return to_html(table);
}

std::string tables_html(const Report& report) {
  const bool many = report.endpoints.size() > 1;
  std::string tables =
      details("Errors", errors(report), true) + details("Endpoints", endpoints(report), many);
  if (!report.error) {
    tables += details("Where every request went", books(report)) +
              details("Codes", counts_table("code", report.codes)) +
              details("Parts of a request", breakdown(report)) +
              details("Connections", connections(report)) + details("What it cost", cost(report));
  }
  tables += details("Checks of the measurement", checks(report)) +
            details("Options", options_table(report)) + details("Run and host", origin(report));
  return "<div class=\"tables\">\n" + tables + "</div>\n";
}

}  // namespace onbeat::report
