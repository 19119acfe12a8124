#include "report/text.hpp"

#include "options/format.hpp"
#include "report/escape.hpp"
#include "report/steps.hpp"
#include "run/figures.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <vector>

namespace onbeat::report {
namespace {

using kernel::Duration;
using kernel::Histogram;
using options::format_count;
using options::format_duration;
using options::format_number;
using run::Report;

constexpr std::size_t kLabel = 10;  // the columns of the word that starts a line
constexpr std::size_t kMostErrors = 5;
constexpr std::size_t kMostEndpoints = 10;
constexpr std::size_t kMostColumns = 6;
constexpr std::size_t kMostSteps = 12;

enum class Color { none, green, yellow, red, dim };

// The unit of a table of times: one for all its cells, so that they compare at a glance.
struct TimeUnit {
  double ns;
  const char* name;
};
TimeUnit unit_for(Duration typical) {
  if (typical < std::chrono::microseconds(100)) return {1e3, "us"};
  if (typical < std::chrono::seconds(10)) return {1e6, "ms"};
  return {1e9, "s"};
}

class Screen {
 public:
  Screen(const Report& report, const TextStyle& style) : report_(report), style_(style) {}

  std::string draw() {
    headline();
    if (report_.error) return error();
    reasons();
    search();
    rates();
    latency();
    levels();
    endpoints();
    errors();
    resources();
    return std::move(out_);
  }

 private:
  void headline();
  std::string error();
  void reasons();
  void search();
  void rates();
  void latency();
  void latency_row(std::string_view name, const Histogram& histogram, std::string_view meaning);
  std::string cell(const Histogram& histogram, double p) const;
  std::string max_cell(const Histogram& histogram) const;
  void levels();
  void endpoints();
  void errors();
  void resources();

  void line(std::string_view text) {
    out_ += text;
    out_ += '\n';
  }
  // A line that starts with a word; what does not fit goes on below, under the text.
  void labelled(std::string_view label, const std::vector<std::string>& parts);
  void wrapped(std::string_view first, std::string_view text, std::size_t indent);
  [[nodiscard]] std::string painted(std::string_view text, Color color) const;
  [[nodiscard]] std::vector<double> columns() const;

  const Report& report_;
  const TextStyle& style_;
  TimeUnit unit_{1e6, "ms"};
  std::string out_;
};

std::string Screen::painted(std::string_view text, Color color) const {
  static constexpr std::array kCodes{"", "32", "33", "31", "2"};
  if (!style_.color || color == Color::none) return std::string(text);
  return fmt::format("\x1b[{}m{}\x1b[0m", kCodes[static_cast<std::size_t>(color)], text);
}

void Screen::labelled(std::string_view label, const std::vector<std::string>& parts) {
  std::string row = fmt::format("{:<{}}", label, kLabel);
  bool fresh = true;
  for (const std::string& part : parts) {
    const std::size_t gap = fresh ? 0 : 3;
    if (!fresh && width_of(row) + gap + width_of(part) > style_.width) {
      line(row);
      row = std::string(kLabel, ' ');
      fresh = true;
    }
    row += std::string(fresh ? 0 : 3, ' ') + shortened(part, style_.width - kLabel);
    fresh = false;
  }
  line(row);
}

// Words of `text` behind `first`, which is that many columns wide, broken at the width.
void Screen::wrapped(std::string_view first, std::string_view text, std::size_t indent) {
  out_ += first;
  std::size_t column = indent;
  while (!text.empty()) {
    const std::size_t end = std::min(text.find(' '), text.size());
    const std::string word = shortened(text.substr(0, end), style_.width - indent);
    text.remove_prefix(std::min(end + 1, text.size()));
    if (column > indent && column + 1 + width_of(word) > style_.width) {
      out_ += "\n" + std::string(indent, ' ');
      column = indent;
    }
    if (column > indent) {
      out_ += ' ';
      ++column;
    }
    out_ += word;
    column += width_of(word);
  }
  out_ += '\n';
}

Color color_of(run::Status status) {
  return status == run::Status::valid      ? Color::green
         : status == run::Status::degraded ? Color::yellow
                                           : Color::red;
}

// The verdict on the left; a single passed threshold fits beside it, others get lines of their own.
void Screen::headline() {
  std::string verdict(to_string(report_.verdict.status));
  std::ranges::transform(verdict, verdict.begin(),
                         [](char c) { return static_cast<char>(c - 32); });
  Color color = color_of(report_.verdict.status);
  if (report_.error) {
    verdict = "FAILED";
    color = Color::red;
  }
  const std::string load =
      for_terminal(report_.load_text.empty() ? report_.target : report_.load_text);
  std::string row = painted(fmt::format("{:<{}}", verdict, kLabel), color);
  const auto& thresholds = report_.thresholds;
  const bool beside = thresholds.size() == 1 && thresholds[0].passed;
  const std::string pass = beside ? "PASS  " + for_terminal(thresholds[0].expr) : "";
  const std::size_t used = kLabel + width_of(load);
  if (beside && used + 3 + width_of(pass) <= style_.width) {
    row += load + std::string(style_.width - used - width_of(pass), ' ') +
           painted("PASS", Color::green) + pass.substr(4);
    return line(row);
  }
  line(row + shortened(load, style_.width - kLabel));
  for (const run::ThresholdResult& threshold : thresholds) {
    const std::string text =
        for_terminal(threshold.expr) + (threshold.passed ? " (" + threshold.actual_text + ")"
                                                         : ": " + for_terminal(threshold.reason));
    wrapped("  " +
                painted(threshold.passed ? "PASS" : "FAIL",
                        threshold.passed ? Color::green : Color::red) +
                "    ",
            text, kLabel);
  }
}

std::string Screen::error() {
  wrapped("error     ", for_terminal(report_.error->klass + ": " + report_.error->message), kLabel);
  if (!report_.error->hint.empty()) {
    wrapped("          ", for_terminal("-> " + report_.error->hint), kLabel);
  }
  line("nothing was measured");
  return std::move(out_);
}

void Screen::reasons() {
  for (const run::Reason& reason : report_.verdict.reasons) {
    const bool note = reason.status == run::Status::valid;
    wrapped(painted(note                                    ? "  note    "
                    : reason.status == run::Status::invalid ? "  invalid "
                                                            : "  caveat  ",
                    note ? Color::dim : color_of(reason.status)),
            for_terminal(
                note ? reason.message
                     : fmt::format("{} ({}) -> {}", reason.message, reason.code, reason.remedy)),
            kLabel);
  }
}

std::string with_names(std::string text, const run::NamedCounts& names) {
  if (names.empty()) return text;
  std::string list;
  for (const auto& [name, count] : names) {
    list +=
        fmt::format("{}{}: {}", list.empty() ? "" : ", ", for_terminal(name), format_count(count));
  }
  return fmt::format("{} ({})", text, list);
}

// The codes of answers that were no success are not told apart in the counts; they are named when
// anything failed.
run::NamedCounts what_failed(const Report& report) {
  if (report.codes.size() > 1) {
    run::NamedCounts codes;
    for (const auto& [code, count] : report.codes) {
      const bool good = code.starts_with('2') || code.starts_with('3') || code == "OK";
      if (!good) codes.emplace(code, count);
    }
    if (!codes.empty()) return codes;
  }
  return report.errors;
}

// What the steps showed, and the last of them.
void Screen::search() {
  if (report_.steps.empty()) return;
  labelled(report_.curve ? "knee" : "found", {found_text(report_), steps_count(report_)});
  line(fmt::format("{:<{}}{:>12}{:>11}{:>11}  {}", "step", kLabel, "rate", "p50", "p99", "held"));
  const std::size_t first =
      report_.steps.size() > kMostSteps ? report_.steps.size() - kMostSteps : 0;
  for (std::size_t i = first; i < report_.steps.size(); ++i) {
    const run::StepReport& step = report_.steps[i];
    const std::string row = fmt::format(
        " {:<{}}{:>12}{:>11}{:>11}  ", step.kind, kLabel - 1, options::format_rate(step.rate),
        step_time(step, 50, report_.tail_samples), step_time(step, 99, report_.tail_samples));
    const std::string why = step.held ? "yes" : "no: " + for_terminal(step.reason);
    line(row + shortened(why, style_.width - std::min(row.size(), style_.width)));
  }
  if (first != 0) line(fmt::format(" and {} before: see --out json=FILE", first));
}

void Screen::rates() {
  const kernel::Counts& counts = report_.total.counts;
  const auto achieved = run::per_second(counts.started, report_.issue);
  const std::string rate = achieved ? format_number(*achieved, 1) + "/s" : "n/a";
  if (!report_.arrivals.empty()) {  // open, or closed at a rate: there was a schedule
    std::string books =
        fmt::format("{} planned = {} started + {} missed", format_count(counts.planned),
                    format_count(counts.started), format_count(counts.missed()));
    if (counts.saturated != 0)
      books += fmt::format(" + {} saturated", format_count(counts.saturated));
    labelled("achieved", {rate, books});
  } else {
    labelled("rate", {rate, "what the target gave",
                      fmt::format("{} started", format_count(counts.started))});
  }
  std::vector<std::string> ends{"ok " + format_count(counts.ok)};
  std::string failed = "failed " + format_count(counts.failed);
  ends.push_back(counts.failed != 0 ? with_names(std::move(failed), what_failed(report_)) : failed);
  const auto add = [&](std::string_view name, std::uint64_t count) {
    if (count != 0) ends.push_back(fmt::format("{} {}", name, format_count(count)));
  };
  add("timed out", counts.timed_out);
  add("cancelled", counts.cancelled);
  add("in flight at end", counts.in_flight_at_end);
  add("passed", counts.passed);
  add("not passed", counts.not_passed);
  add("missed late", counts.missed_late);
  add("missed waiting", counts.missed_waited);
  add("missed at end", counts.missed_at_end);
  add("of the warm-up, excluded:", report_.warmup_excluded);
  labelled("", ends);
}

// The usual four, and whatever was asked for beyond the standard ones.
std::vector<double> Screen::columns() const {
  const std::vector<double> standard = Report{}.percentiles;
  std::vector<double> columns{50, 90, 99, 99.9};
  for (const double p : report_.percentiles) {
    const bool extra = std::ranges::find(standard, p) == standard.end();
    if (extra && columns.size() < kMostColumns) columns.push_back(p);
  }
  std::ranges::sort(columns);
  return columns;
}

// At most 6 columns up to 999,999, so that a ">=" fits before it.
std::string time_text(double value) {
  return format_number(value, value >= 999.5 ? 0 : value >= 99.95 ? 1 : 2);
}

std::string Screen::cell(const Histogram& histogram, double p) const {
  const auto value = run::shown_percentile(histogram, p, report_.tail_samples);
  if (!value) return histogram.empty() ? "n/a" : "-";
  return (histogram.percentile_is_lower_bound(p) ? ">=" : "") +
         time_text(static_cast<double>(value->count()) / unit_.ns);
}

std::string Screen::max_cell(const Histogram& histogram) const {
  if (histogram.empty()) return "n/a";
  return (histogram.max_is_lower_bound() ? ">=" : "") +
         time_text(static_cast<double>(histogram.max().count()) / unit_.ns);
}

void Screen::latency_row(std::string_view name, const Histogram& histogram,
                         std::string_view meaning) {
  std::string row = fmt::format(" {:<{}}", name, kLabel - 3);
  for (const double p : columns()) row += fmt::format("{:>9}", cell(histogram, p));
  row += fmt::format("{:>9}", max_cell(histogram));
  if (row.size() + 2 + meaning.size() <= style_.width) {
    row += "  " + painted(meaning, Color::dim);
  }
  line(row);
}

void Screen::latency() {
  const Histogram& main = run::headline(report_);
  unit_ = unit_for(main.empty() ? std::chrono::milliseconds(1) : main.percentile(50));
  std::string header = fmt::format("{:<{}}", "latency", kLabel - 2);
  for (const double p : columns()) header += fmt::format("{:>9}", "p" + options::number_text(p));
  line(header + fmt::format("{:>9}  {}", "max", unit_.name));
  const kernel::Interval& total = report_.total;
  if (report_.open) latency_row("response", total.response, "from when due");
  latency_row("service", total.service, "from when sent");
  if (!total.failed.empty()) latency_row("failed", total.failed, "what failed");
}

// Of a sweep: what each number of workers gave.
void Screen::levels() {
  if (report_.levels.empty()) return;
  line(fmt::format("{:<{}}{:>12}{:>9}{:>9}{:>9}{:>9}", "workers", style_.width - 48, "achieved",
                   "failed", "p50", "p99", "max"));
  for (const run::Level& level : report_.levels) {
    const Histogram& histogram = report_.open ? level.response : level.service;
    const auto rate = run::per_second(level.counts.started, level.issue);
    line(fmt::format(" {:<{}}{:>12}{:>9}{:>9}{:>9}{:>9}", format_count(level.concurrency),
                     style_.width - 49, rate ? format_number(*rate, 1) + "/s" : "n/a",
                     format_count(level.counts.failed + level.counts.timed_out),
                     cell(histogram, 50), cell(histogram, 99), max_cell(histogram)));
  }
}

void Screen::endpoints() {
  if (report_.endpoints.size() < 2) return;
  line(fmt::format("{:<{}}{:>11}{:>9}{:>9}{:>9}{:>9}", "endpoint", style_.width - 47, "started",
                   "failed", "p50", "p99", "max"));
  for (std::size_t i = 0; i < std::min(report_.endpoints.size(), kMostEndpoints); ++i) {
    const run::Endpoint& endpoint = report_.endpoints[i];
    const Histogram& histogram = report_.open ? endpoint.response : endpoint.service;
    const std::string name = shortened(for_terminal(endpoint.name), style_.width - 49);
    line(fmt::format(" {}{}{:>11}{:>9}{:>9}{:>9}{:>9}", name,
                     std::string(style_.width - 48 - width_of(name), ' '),
                     format_count(endpoint.counts.started),
                     format_count(endpoint.counts.failed + endpoint.counts.timed_out),
                     cell(histogram, 50), cell(histogram, 99), max_cell(histogram)));
  }
  if (report_.endpoints.size() > kMostEndpoints) {
    line(fmt::format(" and {} more: see --out json=FILE",
                     report_.endpoints.size() - kMostEndpoints));
  }
}

void Screen::errors() {
  std::vector<std::pair<std::uint64_t, std::string>> classes;
  for (const auto& [name, count] : report_.errors) classes.emplace_back(count, name);
  std::ranges::sort(classes, std::greater<>{}, &std::pair<std::uint64_t, std::string>::first);
  for (std::size_t i = 0; i < std::min(classes.size(), kMostErrors); ++i) {
    const auto& [count, name] = classes[i];
    const auto sample = report_.error_samples.find(name);
    std::string text = fmt::format("{} {}", for_terminal(name), format_count(count));
    if (sample != report_.error_samples.end()) text += "   " + for_terminal(sample->second);
    line(fmt::format("{:<{}}{}", i == 0 ? "errors" : "", kLabel,
                     shortened(text, style_.width - kLabel)));
  }
  if (classes.size() > kMostErrors) {
    line(fmt::format("{:<{}}and {} more classes", "", kLabel, classes.size() - kMostErrors));
  }
}

void Screen::resources() {
  const run::Connections& connections = report_.connections;
  std::vector<std::string> parts;
  if (report_.open) {
    parts.push_back(fmt::format("{} at most (ceiling {})",
                                format_count(report_.observed.in_flight_peak),
                                format_count(report_.concurrency)));
    const Histogram& lag = report_.total.lag;
    parts.push_back("lag p99 " + (lag.empty() ? "n/a" : format_duration(lag.percentile(99))));
  } else {
    parts.push_back(fmt::format("{} workers", format_count(report_.concurrency)));
  }
  parts.push_back(fmt::format("connections {}, reopened {}", run::connections_text(connections),
                              format_count(connections.reopened)));
  labelled("in flight", parts);
  if (const auto& samples = report_.samples) {
    std::vector<std::string> kept{fmt::format("{} kept, one of {}", format_count(samples->kept),
                                              format_count(samples->one_of))};
    if (samples->dropped != 0)
      kept.push_back(format_count(samples->dropped) + " dropped: the file did not keep up");
    labelled("samples", kept);
  }
  const run::ClientCost& cost = report_.cost;
  labelled("cost",
           {fmt::format("{}, {} of {} cores, {}",
                        cost.cpu_us_per_request
                            ? options::format_number(*cost.cpu_us_per_request, 1) + " us/request"
                            : std::string("n/a"),
                        format_number(cost.cores_used, 2), options::number_text(cost.host_cores),
                        options::format_size(cost.peak_rss_bytes))});
}

}  // namespace

std::string to_text(const Report& report, const TextStyle& style) {
  return Screen(report, style).draw();
}

}  // namespace onbeat::report
