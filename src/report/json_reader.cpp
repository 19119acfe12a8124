#include "report/json_reader.hpp"

#include "report/json_place.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <charconv>

namespace onbeat::report {
namespace {

using run::Report;

/// The one of `values` that to_string() gives the text of.
template <typename Value, std::size_t N>
Value one_of(const Place& place, const std::array<Value, N>& values) {
  const std::string text = place.text();
  for (const Value value : values)
    if (text == to_string(value)) return value;
  place.fail(fmt::format("\"{}\" is none of its values", text));
}

run::Status read_status(const Place& place) {
  return one_of(place, std::array{run::Status::valid, run::Status::degraded, run::Status::invalid});
}

void read_tool_and_host(const Place& place, Report& report) {
  const Place tool = place["tool"], host = place["host"];
  report.version = tool["version"].text();
  report.commit = tool["commit"].text();
  report.compiler = tool["compiler"].text();
  report.host.cores = host["cores"].number();
  report.host.cpu = host["cpu"].text();
  report.host.kernel = host["kernel"].text();
  report.host.memory_bytes = host["memory_bytes"].count();
}

void read_run(const Place& run, Report& report) {
  report.id = run["id"].text();
  report.name = run["name"].text();
  report.workload = run["workload"].text();
  report.target = run["target"].text();
  run["tags"].members([&](const std::string& key, const Place& value) {
    report.tags.emplace_back(key, value.text());
  });
  report.started_at = run["started_at"].text();
  report.seed = run["seed"].count();
}

void read_options(const Place& place, Report& report) {
  place.members([&](const std::string& key, const Place& option) {
    report.options.push_back({key, option["value"].text(), option["source"].text()});
  });
}

void read_load(const Place& load, Report& report) {
  const std::string model = load["model"].text();
  if (model != "open" && model != "closed") load["model"].fail("must be open or closed");
  report.open = model == "open";
  report.arrivals = load["arrivals"].text_or_empty();
  report.on_late = load["on_late"].text_or_empty();
  report.on_saturation = load["on_saturation"].text_or_empty();
  report.concurrency = load["concurrency"].count();
  report.connections_option = load["connections"].count();
  report.threads = static_cast<unsigned>(load["threads"].count());
  report.load_text = load["text"].text();
}

void read_end(const Place& run, Report& report) {
  constexpr std::array kCodes{0, 1, 2, 3, 4, 5, 6, 130};
  report.ended_at = run["ended_at"].text();
  report.end_reason = run["end_reason"].text();
  const Place code = run["exit_code"];
  if (std::ranges::find(kCodes, code.count()) == kCodes.end()) code.fail("is no exit code");
  report.exit_code = static_cast<run::ExitCode>(code.count());
  const Place error = run["error"];
  if (error.is_null()) return;
  report.error = run::ErrorInfo{.klass = error["class"].text(),
                                .message = error["message"].text(),
                                .hint = error["hint"].text()};
}

void read_verdict(const Place& place, Report& report) {
  using State = run::Check::State;
  run::Verdict& verdict = report.verdict;
  verdict.status = read_status(place["status"]);
  place["reasons"].elements([&](const Place& reason) {
    verdict.reasons.push_back({.code = reason["code"].text(),
                               .status = read_status(reason["status"]),
                               .message = reason["message"].text(),
                               .figures = reason["figures"].texts(),
                               .remedy = reason["remedy"].text()});
  });
  place["checks"].elements([&](const Place& check) {
    verdict.checks.push_back(
        {.name = check["name"].text(),
         .state = one_of(check["status"], std::array{State::not_applicable, State::ok, State::note,
                                                     State::degraded, State::invalid}),
         .actual = check["actual"].text_or_empty(),
         .limit = check["limit"].text_or_empty()});
  });
  verdict.untrusted = place["untrusted"].texts();
  report.tail_samples = place["tail_samples"].number();
}

void read_ends(const Place& place, kernel::Counts& counts) {
  counts.started = place["started"].count();
  counts.ok = place["ok"].count();
  counts.failed = place["failed"].count();
  counts.timed_out = place["timed_out"].count();
  counts.cancelled = place["cancelled"].count();
  counts.in_flight_at_end = place["in_flight_at_end"].count();
  counts.passed = place["passed"].count();
  counts.not_passed = place["not_passed"].count();
  counts.untimed = place["untimed"].count();
}

void read_figures(const Place& place, Report& report) {
  kernel::Interval& total = report.total;
  total.counts = read_counts(place["counts"]);
  report.warmup_excluded = place["counts"]["warmup_excluded"].count();
  total.counts.bytes_sent = place["bytes"]["sent"].count();
  total.counts.bytes_received = place["bytes"]["received"].count();
  report.issue = place["duration_ns"]["issue"].ns();
  report.drain = place["duration_ns"]["drain"].ns();
  const Place latency = place["latency"];
  total.response = read_histogram(latency["response"]);
  total.service = read_histogram(latency["service"]);
  total.wait = read_histogram(latency["wait"]);
  total.lag = read_histogram(latency["lag"]);
  total.failed = read_histogram(place["failed_latency"]);
  report.percentiles.clear();
  latency["response"]["percentiles"].members([&](const std::string& key, const Place& value) {
    double p = 0;
    const auto [end, error] = std::from_chars(key.data(), key.data() + key.size(), p);
    if (error != std::errc{} || end != key.data() + key.size() || !(p >= 0 && p <= 100))
      value.fail("is no percentile");
    report.percentiles.push_back(p);
  });
  report.codes = place["codes"].named_counts();
  report.errors = place["errors"].named_counts();
  place["error_samples"].members([&](const std::string& name, const Place& sample) {
    report.error_samples[name] = sample.text();
  });
  place["breakdown"].members([&](const std::string& name, const Place& histogram) {
    report.breakdown[name] = read_histogram(histogram);
  });
}

void read_endpoints(const Place& place, Report& report) {
  place.elements([&](const Place& from) {
    run::Endpoint endpoint{.name = from["name"].text(), .part = from["part"].flag()};
    read_ends(from["counts"], endpoint.counts);
    endpoint.counts.bytes_sent = from["counts"]["bytes_sent"].count();
    endpoint.counts.bytes_received = from["counts"]["bytes_received"].count();
    endpoint.response = read_histogram(from["latency"]["response"]);
    endpoint.service = read_histogram(from["latency"]["service"]);
    endpoint.failed = read_histogram(from["failed_latency"]);
    endpoint.message_gap = read_histogram(from["message_gap"]);
    endpoint.codes = from["codes"].named_counts();
    endpoint.errors = from["errors"].named_counts();
    report.endpoints.push_back(std::move(endpoint));
  });
}

void read_connections(const Place& place, run::Connections& connections) {
  connections.asked = place["asked"].count();
  connections.open_peak = place["open_peak"].count();
  connections.opened = place["opened"].count();
  connections.reused = place["reused"].count();
  connections.reopened = place["reopened"].count();
  connections.closed_by_peer = place["closed_by_peer"].count();
  connections.reset = place["reset"].count();
  connections.failed = place["failed"].count();
  connections.by_address = place["by_address"].named_counts();
}

void read_cost(const Place& place, run::ClientCost& cost) {
  cost.cpu_seconds = place["cpu_seconds"].number();
  cost.cpu_us_per_request = place["cpu_us_per_request"].maybe_number();
  cost.cores_used = place["cores_used"].number();
  cost.host_cores = place["host_cores"].number();
  cost.rps_per_core = place["rps_per_core"].maybe_number();
  cost.peak_rss_bytes = place["peak_rss_bytes"].count();
  cost.generator_limited = place["generator_limited"].flag();
  cost.limits = place["limits"].texts();
}

void read_samples(const Place& place, Report& report) {
  if (place.is_null()) return;
  report.samples = Report::Samples{.one_of = place["one_of"].count(),
                                   .kept = place["kept"].count(),
                                   .dropped = place["dropped"].count()};
}

void read_levels(const Place& place, Report& report) {
  place.elements([&](const Place& from) {
    run::Level level{.concurrency = static_cast<std::uint32_t>(from["concurrency"].count()),
                     .counts = read_counts(from["counts"]),
                     .issue = from["duration_ns"]["issue"].ns(),
                     .drain = from["duration_ns"]["drain"].ns(),
                     .response = read_histogram(from["latency"]["response"]),
                     .service = read_histogram(from["latency"]["service"]),
                     .failed = read_histogram(from["failed_latency"]),
                     .codes = from["codes"].named_counts()};
    level.counts.bytes_sent = from["counts"]["bytes_sent"].count();
    level.counts.bytes_received = from["counts"]["bytes_received"].count();
    report.levels.push_back(std::move(level));
  });
}

void read_thresholds(const Place& place, Report& report) {
  place.elements([&](const Place& threshold) {
    report.thresholds.push_back({.metric = threshold["metric"].text(),
                                 .expr = threshold["expr"].text(),
                                 .passed = threshold["passed"].flag(),
                                 .actual = threshold["actual"].maybe_number(),
                                 .actual_text = threshold["actual_text"].text(),
                                 .reason = threshold["reason"].text_or_empty(),
                                 .on_untrusted = threshold["on_untrusted"].flag(),
                                 .on_lower_bound = threshold["on_lower_bound"].flag(),
                                 .too_few_samples = threshold["too_few_samples"].flag()});
  });
}

void read_observed(const Place& place, Report& report) {
  auto& observed = report.observed;
  observed.in_flight_mean = place["in_flight_mean"].maybe_number();
  observed.in_flight_error = place["in_flight_error"].maybe_number();
  observed.in_flight_samples = place["in_flight_samples"].count();
  observed.in_flight_peak = report.total.in_flight_max = place["in_flight_peak"].count();
  report.total.lag_max = place["lag_max"].ns();
  observed.busiest_loop = place["busiest_loop"].number();
  report.total.loops = read_loops(place["loops"]);
  observed.steal_share = place["steal_share"].maybe_number();
  observed.other_load_share = place["other_load_share"].maybe_number();
  observed.target_on_same_cores = place["target_on_same_cores"].flag();
  observed.clock_stepped = place["clock_stepped"].flag();
  observed.wall_minus_monotonic = place["wall_minus_monotonic"].ns();
  observed.aborted = place["aborted"].flag();
  observed.interrupted = place["interrupted"].flag();
}

// Of an adaptive run.
void read_search(const Place& search, Report& report) {
  report.search = {.rate = search["rate"].maybe_number(),
                   .converged = search["converged"].flag(),
                   .shortfall = search["shortfall"].text_or_empty(),
                   .generator = search["generator_limit"].text_or_empty(),
                   .elapsed = search["elapsed_ns"].ns()};
}

void read_curve(const Place& curve, Report& report) {
  report.curve = {.knee = curve["knee"].maybe_number(),
                  .why_not = curve["why_not"].text_or_empty()};
}

void read_steps(const Place& steps, Report& report) {
  steps.elements([&](const Place& from) {
    const Place duration = from["duration_ns"], latency = from["latency"];
    report.steps.push_back({.kind = from["kind"].text(),
                            .rate = from["rate"].number(),
                            .held = from["held"].flag(),
                            .reason = from["reason"].text_or_empty(),
                            .counted = from["counted"].flag(),
                            .issue = duration["issue"].ns(),
                            .drain = duration["drain"].ns(),
                            .counts = read_counts(from["counts"]),
                            .left_to_drain = from["left_to_drain"].count(),
                            .response = read_histogram(latency["response"]),
                            .service = read_histogram(latency["service"]),
                            .lag = read_histogram(latency["lag"])});
  });
}

void read_series(const Place& place, Report& report) {
  place.elements([&](const Place& from) {
    run::SeriesRow row;
    row.t = from["t_ns"].ns();
    row.counts = read_counts(from);
    row.counts.bytes_sent = from["bytes_sent"].count();
    row.counts.bytes_received = from["bytes_received"].count();
    row.errors = from["errors"].named_counts();
    row.p50 = from["p50"].maybe_ns();
    row.p90 = from["p90"].maybe_ns();
    row.p99 = from["p99"].maybe_ns();
    row.max = from["max"].maybe_ns();
    row.at_least = from["at_least"].texts();
    row.lag_max = from["lag_max"].ns();
    row.in_flight = from["in_flight"].count();
    row.in_flight_max = from["in_flight_max"].count();
    row.cpu_cores = from["cpu_cores"].number();
    row.events = from["events"].texts();
    report.series.push_back(std::move(row));
  });
}

}  // namespace

kernel::Counts read_counts(const Place& place) {
  kernel::Counts counts;
  read_ends(place, counts);
  counts.planned = place["planned"].count();
  counts.saturated = place["saturated"].count();
  const Place missed = place["missed_by"];
  counts.missed_late = missed["late"].count();
  counts.missed_waited = missed["waited"].count();
  counts.missed_at_end = missed["at_end"].count();
  return counts;
}

void read_known(const Place& place, Report& report) {
  read_tool_and_host(place, report);
  read_run(place["run"], report);
  read_options(place["options"], report);
  read_load(place["load"], report);
}

Report read_report(const Place& place) {
  const std::string schema = place["schema"].text();
  if (schema != "onbeat.report/1")
    place["schema"].fail(fmt::format("\"{}\" is not onbeat.report/1", schema));
  Report report;
  read_known(place, report);
  read_end(place["run"], report);
  read_verdict(place["verdict"], report);
  read_figures(place, report);
  read_endpoints(place["endpoints"], report);
  read_connections(place["connections"], report.connections);
  read_cost(place["client_cost"], report.cost);
  read_samples(place["samples"], report);
  read_thresholds(place["thresholds"], report);
  read_levels(place["levels"], report);
  report.sources = place["sources"].named_counts();
  read_observed(place["observed"], report);
  if (place.json().contains("search")) read_search(place["search"], report);
  if (place.json().contains("curve")) read_curve(place["curve"], report);
  if (report.search || report.curve) read_steps(place["steps"], report);
  read_series(place["series"], report);
  return report;
}

std::expected<Report, std::string> from_json(std::string_view text) {
  try {
    const Json json = Json::parse(text);
    return read_report(Place(json));
  } catch (const Json::exception& error) {
    return std::unexpected(fmt::format("not JSON: {}", error.what()));
  } catch (const Unreadable& error) {
    return std::unexpected(error.what());
  }
}

}  // namespace onbeat::report
