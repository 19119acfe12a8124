// Reports for tests: a healthy run, in which every check is quiet, and what bends it. Not part of
// the product.
#pragma once

#include "run/report.hpp"

#include <chrono>

namespace onbeat::run::testing {

using namespace std::chrono_literals;

/// `count` samples spread evenly from a to b, both included.
inline Histogram spread(Duration a, Duration b, std::uint64_t count) {
  Histogram histogram;
  for (std::uint64_t i = 0; i < count; ++i) {
    const auto steps = static_cast<std::int64_t>(count > 1 ? count - 1 : 1);
    histogram.record(a + (b - a) * static_cast<std::int64_t>(i) / steps);
  }
  return histogram;
}

inline Histogram always(Duration value, std::uint64_t count) {
  Histogram histogram;
  histogram.record(value, count);
  return histogram;
}

/// 1,000/s for 10 s against a target that answers in 4 to 6 ms; everything succeeds.
inline Report healthy_open() {
  Report report;
  report.open = true;
  report.version = "0.1.0";
  report.commit = "abcdef0";
  report.compiler = "clang 19";
  report.host.cores = 2;
  report.host.cpu = "Test CPU";
  report.host.kernel = "6.1.0";
  report.host.memory_bytes = 8ull << 30;
  report.id = "run-1";
  report.name = "sample";
  report.workload = "http";
  report.target = "http://127.0.0.1:8080/";
  report.started_at = "2024-01-02T03:04:05.000Z";
  report.ended_at = "2024-01-02T03:04:15.006Z";
  report.end_reason = "duration";
  report.seed = 42;
  report.options = {{"rate", "1000", "cli"}, {"duration", "10s", "default"}};
  report.arrivals = "even";
  report.on_late = "catch_up";
  report.on_saturation = "queue";
  report.concurrency = 1000;
  report.threads = 1;
  report.load_text = "open, even, 1,000/s for 10 s";
  report.issue = 10s;
  report.drain = 6ms;

  kernel::Interval& total = report.total;
  total.end = 10s;
  total.counts.planned = total.counts.started = total.counts.ok = 10'000;
  total.counts.bytes_sent = 640'000;
  total.counts.bytes_received = 2'560'000;
  total.response = spread(4ms, 6ms, 10'000);
  total.service = spread(4ms, 6ms, 10'000);
  total.wait = always(0ns, 10'000);
  total.lag = always(20us, 10'000);
  total.lag_max = 60us;
  total.loops = {{.wall = 10s, .cpu = 200ms, .stalled = 0ns, .stalls = 0, .turns = 20'000}};
  total.in_flight_max = 7;
  report.codes = {{"200", 10'000}};
  report.breakdown["turn"] = always(8us, 20'000);
  report.connections = {.asked = 0,
                        .open_peak = 7,
                        .opened = 7,
                        .reused = 9'993,
                        .by_address = {{"127.0.0.1:8080", 7}}};
  report.cost.cpu_seconds = 0.2;
  report.cost.cpu_us_per_request = 20;
  report.cost.cores_used = 0.02;
  report.cost.host_cores = 2;
  report.cost.rps_per_core = 50'000;
  report.cost.peak_rss_bytes = 18ull << 20;
  report.observed.in_flight_mean = 5.0;
  report.observed.in_flight_samples = 2'000;
  report.observed.in_flight_error = 0.05;
  report.observed.in_flight_peak = 7;
  report.observed.busiest_loop = 0.02;
  report.observed.steal_share = 0.0;
  report.observed.other_load_share = 0.01;
  for (int second = 1; second <= 10; ++second) {
    SeriesRow row;
    row.t = std::chrono::seconds(second);
    row.counts.planned = row.counts.started = row.counts.ok = 1'000;
    row.counts.bytes_sent = 64'000;
    row.counts.bytes_received = 256'000;
    row.p50 = 5ms;
    row.p90 = 5'800us;
    row.p99 = 5'980us;
    row.max = 6ms;
    row.lag_max = 60us;
    row.in_flight = 5;
    row.in_flight_max = 7;
    row.cpu_cores = 0.02;
    report.series.push_back(row);
  }
  return report;
}

/// 10 workers for 10 s without a rate against a target that answers in 4 to 6 ms.
inline Report healthy_closed() {
  Report report = healthy_open();
  report.open = false;
  report.arrivals = report.on_late = report.on_saturation = "";
  report.concurrency = 10;
  report.load_text = "closed, 10 workers for 10 s";
  kernel::Interval& total = report.total;
  total.wait = total.lag = Histogram();
  total.lag_max = 0ns;
  total.in_flight_max = 10;
  total.response = total.service = spread(9ms, 11ms, 10'000);
  report.observed.in_flight_mean = 10.0;
  report.observed.in_flight_peak = 10;
  for (SeriesRow& row : report.series) row.lag_max = 0ns;
  return report;
}

/// A search that found 1,000/s.
inline Report found_by_search() {
  Report report = healthy_open();
  report.load_text = "adaptive, even, within 1m";
  report.end_reason = "converged";
  report.search = {.rate = 1000, .converged = true, .shortfall = "", .elapsed = 17s};
  const auto step = [&](const char* kind, double rate, bool held, Duration slowest) {
    StepReport tried;
    tried.kind = kind;
    tried.rate = rate;
    tried.held = held;
    if (!held) tried.reason = "p(99) < 25ms: it is 992 ms";
    tried.counted = tried.kind == "hold";
    tried.issue = tried.counted ? 3s : 1s;
    tried.drain = held ? 5ms : 990ms;
    const auto count = static_cast<std::uint64_t>(rate * (tried.counted ? 3 : 1));
    tried.counts.planned = tried.counts.started = tried.counts.ok = count;
    tried.left_to_drain = held ? 5 : count / 2;
    tried.response = tried.service = spread(4ms, slowest, count);
    tried.lag = always(20us, count);
    report.steps.push_back(tried);
  };
  step("probe", 1000, true, 6ms);
  step("probe", 2000, false, 1s);
  step("bisect", 1414.2, false, 415ms);
  for (int i = 0; i < 3; ++i) step("hold", 1000, true, 6ms);
  return report;
}

/// A curve from 500/s to 4,000/s against a single server of 1 ms, whose knee is at 1,000/s.
inline Report latency_curve() {
  Report report = healthy_open();
  report.load_text = "latency curve, even, 4 rates from 500/s to 4,000/s, 5 s each";
  report.curve = {.knee = 1000, .why_not = ""};
  for (const double rate : {500.0, 1000.0, 2000.0, 4000.0}) {
    StepReport step;
    step.kind = "curve";
    step.rate = rate;
    step.held = rate <= 1000;
    if (!step.held) step.reason = "50% of its arrivals were not completed within it";
    step.counted = true;
    step.issue = 5s;
    step.drain = step.held ? 1ms : 5s;
    const auto count = static_cast<std::uint64_t>(rate * 5);
    step.counts.planned = step.counts.started = step.counts.ok = count;
    step.left_to_drain = step.held ? 1 : count - 5'000;
    step.response = step.service = spread(1ms, step.held ? Duration(1'100us) : 5s, count);
    step.lag = always(20us, count);
    report.steps.push_back(step);
  }
  return report;
}

/// A run that ended before anything was sent.
inline Report without_data() {
  Report report;
  report.workload = "http";
  report.target = "http://nowhere.invalid/";
  report.end_reason = "failed";
  report.exit_code = ExitCode::unreachable;
  report.error = {"dns", "nowhere.invalid: no such host", "check the spelling"};
  return report;
}

}  // namespace onbeat::run::testing
