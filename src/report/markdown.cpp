#include "report/markdown.hpp"

#include "options/format.hpp"
#include "report/escape.hpp"
#include "report/steps.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <vector>

namespace onbeat::report {
namespace {

using kernel::Histogram;
using options::format_count;
using options::format_duration;
using options::format_number;
using run::Report;

constexpr std::size_t kMostEndpoints = 50;

/// A table; rows are cells that are Markdown already.
class Rows {
 public:
  /// The first column is text, all others are numbers, unless `texts`.
  explicit Rows(const std::vector<std::string>& head, bool texts = false) {
    row(head);
    std::vector<std::string> rule(head.size(), texts ? ":--" : "--:");
    rule.front() = ":--";
    row(rule);
  }
  void row(const std::vector<std::string>& cells) {
    text_ += fmt::format("| {} |\n", fmt::join(cells, " | "));
  }
  [[nodiscard]] const std::string& text() const { return text_; }

 private:
  std::string text_;
};

std::string section(std::string_view title, const Rows& table) {
  return fmt::format("\n### {}\n\n{}", title, table.text());
}

std::string headline_text(const Report& report) {
  std::string verdict(to_string(report.verdict.status));
  if (report.error) verdict = "failed";
  const auto failed = std::ranges::count(report.thresholds, false, &run::ThresholdResult::passed);
  std::string judged;
  if (!report.thresholds.empty() && !report.error)
    judged = failed == 0
                 ? ", thresholds passed"
                 : fmt::format(", {} of {} thresholds failed", failed, report.thresholds.size());
  const std::string name = report.name.empty() ? "Load test" : for_markdown(report.name);
  const bool good = report.exit_code == run::ExitCode::passed && !report.error;
  return fmt::format("## {} {}: {}{}\n\n", good ? "✅" : "❌", name, verdict, judged);
}

std::string load_line(const Report& report) {
  const std::string load = for_markdown(report.load_text);
  const std::string target = for_markdown(report.target);
  return fmt::format("{}{}{}\n", load, load.empty() || target.empty() ? "" : " · ", target);
}

std::string reasons_text(const Report& report) {
  std::string text;
  for (const run::Reason& reason : report.verdict.reasons) {
    const bool note = reason.status == run::Status::valid;
    text += fmt::format("- **{}** {}", note ? std::string_view("note") : to_string(reason.status),
                        for_markdown(reason.message));
    text +=
        note ? "\n"
             : fmt::format(" ({}) → {}\n", for_markdown(reason.code), for_markdown(reason.remedy));
  }
  return text.empty() ? text : "\n" + text;
}

std::string error_text(const run::ErrorInfo& error) {
  return fmt::format("\n**{}**: {}\n\n→ {}\n\nNothing was measured.\n", for_markdown(error.klass),
                     for_markdown(error.message), for_markdown(error.hint));
}

std::string thresholds_text(const Report& report) {
  if (report.thresholds.empty()) return {};
  Rows table({"threshold", "result", "actual", "why"}, true);
  for (const run::ThresholdResult& threshold : report.thresholds) {
    table.row({for_markdown(threshold.expr), threshold.passed ? "✅ passed" : "❌ failed",
               for_markdown(threshold.actual_text), for_markdown(threshold.reason)});
  }
  return section("Thresholds", table);
}

std::string time_cell(const Histogram& histogram, double p, double tail) {
  const auto value = run::shown_percentile(histogram, p, tail);
  if (!value) return histogram.empty() ? "n/a" : "–";
  return (histogram.percentile_is_lower_bound(p) ? "≥ " : "") + format_duration(*value);
}

std::string latency_text(const Report& report) {
  std::vector<std::string> head{"latency"};
  for (const double p : report.percentiles) head.push_back("p" + options::number_text(p));
  head.insert(head.end(), {"mean", "max"});
  Rows table(head);
  const auto add = [&](std::string_view name, const Histogram& histogram) {
    std::vector<std::string> cells{std::string(name)};
    for (const double p : report.percentiles)
      cells.push_back(time_cell(histogram, p, report.tail_samples));
    const auto mean = run::mean_of(histogram);
    const std::string bound = histogram.max_is_lower_bound() ? "≥ " : "";
    cells.push_back(
        mean ? bound + format_duration(kernel::Duration(static_cast<std::int64_t>(*mean))) : "n/a");
    cells.push_back(histogram.empty() ? "n/a" : bound + format_duration(histogram.max()));
    table.row(cells);
  };
  if (report.open) add("response (from when due)", report.total.response);
  add("service (from when sent)", report.total.service);
  if (!report.total.failed.empty()) add("failed", report.total.failed);
  if (report.open) add("lag of the generator", report.total.lag);
  return section("Latency", table);
}

// The rate that was found, and each step on the way there.
std::string steps_text(const Report& report) {
  if (report.steps.empty()) return {};
  const Table steps = steps_table(report);
  Rows table(steps.head);
  for (const Row& row : steps.rows) {
    std::vector<std::string> cells;
    for (const std::string& cell : row) cells.push_back(for_markdown(cell));
    table.row(cells);
  }
  const std::string found = found_text(report);
  return section("Steps", table) + (found.empty() ? "" : "\n" + for_markdown(found) + "\n");
}

std::string rate_cell(std::optional<double> rate) {
  return rate ? format_number(*rate, 1) + "/s" : "n/a";
}

std::string books_text(const Report& report) {
  const kernel::Counts& counts = report.total.counts;
  Rows table({"requests", "count", "rate"});
  const auto add = [&](std::string_view name, std::uint64_t count, bool always) {
    if (always || count != 0)
      table.row({std::string(name), format_count(count),
                 rate_cell(run::per_second(count, report.issue))});
  };
  if (!report.arrivals.empty()) add("planned", counts.planned, true);
  add("started", counts.started, true);
  add("missed: the generator was late", counts.missed_late, false);
  add("missed: waited too long", counts.missed_waited, false);
  add("missed: still waiting at the end", counts.missed_at_end, false);
  add("saturated", counts.saturated, false);
  add("ok", counts.ok, true);
  add("failed", counts.failed, true);
  add("timed out", counts.timed_out, false);
  add("cancelled", counts.cancelled, false);
  add("in flight at the end", counts.in_flight_at_end, false);
  add("passed", counts.passed, false);
  add("not passed", counts.not_passed, false);
  return section("Requests", table);
}

std::string errors_text(const Report& report) {
  if (report.errors.empty()) return {};
  std::vector<std::pair<std::uint64_t, std::string>> classes;
  for (const auto& [name, count] : report.errors) classes.emplace_back(count, name);
  std::ranges::stable_sort(classes, std::greater<>{},
                           &std::pair<std::uint64_t, std::string>::first);
  Rows table({"error", "count", "for example"}, true);
  for (const auto& [count, name] : classes) {
    const auto sample = report.error_samples.find(name);
    table.row({for_markdown(name), format_count(count),
               sample == report.error_samples.end() ? "" : for_markdown(sample->second)});
  }
  return section("Errors", table);
}

std::string endpoints_text(const Report& report) {
  if (report.endpoints.size() < 2) return {};
  Rows table({"endpoint", "started", "failed", "p50", "p99", "max"});
  const std::size_t shown = std::min(report.endpoints.size(), kMostEndpoints);
  for (std::size_t i = 0; i < shown; ++i) {
    const run::Endpoint& endpoint = report.endpoints[i];
    const Histogram& histogram = report.open ? endpoint.response : endpoint.service;
    table.row({for_markdown(endpoint.name), format_count(endpoint.counts.started),
               format_count(endpoint.counts.failed + endpoint.counts.timed_out),
               time_cell(histogram, 50, report.tail_samples),
               time_cell(histogram, 99, report.tail_samples),
               histogram.empty() ? "n/a"
                                 : (histogram.max_is_lower_bound() ? "≥ " : "") +
                                       format_duration(histogram.max())});
  }
  std::string text = section("Endpoints", table);
  if (shown < report.endpoints.size())
    text += fmt::format("\nand {} more\n", report.endpoints.size() - shown);
  return text;
}

std::string foot(const Report& report) {
  return fmt::format("\n<sub>onbeat {} · run {} · {} · seed {} · exit code {}</sub>\n",
                     for_markdown(report.version), for_markdown(report.id),
                     for_markdown(report.started_at), report.seed,
                     static_cast<int>(report.exit_code));
}

}  // namespace

std::string to_markdown(const Report& report) {
  std::string text = headline_text(report) + load_line(report);
  if (report.error) return text + error_text(*report.error) + foot(report);
  return text + reasons_text(report) + thresholds_text(report) + steps_text(report) +
         latency_text(report) + books_text(report) + errors_text(report) + endpoints_text(report) +
         foot(report);
}

}  // namespace onbeat::report
