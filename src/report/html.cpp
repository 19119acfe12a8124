#include "report/html.hpp"

#include "options/format.hpp"
#include "report/escape.hpp"
#include "report/html_tables.hpp"
#include "report/page.hpp"
#include "report/run_charts.hpp"
#include "report/steps.hpp"

#include <fmt/format.h>

#include <algorithm>

namespace onbeat::report {
namespace {

using kernel::Duration;
using kernel::Histogram;
using options::format_count;
using options::format_duration;
using options::format_percent;
using run::Report;

Tone tone_of(run::Status status) {
  return status == run::Status::valid      ? Tone::good
         : status == run::Status::degraded ? Tone::warning
                                           : Tone::bad;
}

std::string plural(std::uint64_t count, const char* thing) {
  return fmt::format("{} {}{}", format_count(count), thing, count == 1 ? "" : "s");
}

std::string named(const run::NamedCounts& counts) {
  constexpr std::size_t kMost = 4;
  std::string text;
  std::size_t shown = 0;
  for (const auto& [name, count] : counts) {
    if (++shown > kMost) return text + ", ...";
    text += fmt::format("{}{}: {}", text.empty() ? "" : ", ", name, format_count(count));
  }
  return text;
}

// Whether the requests succeeded, and what was demanded of them.
Card good_card(const Report& report) {
  const kernel::Counts& counts = report.total.counts;
  Card card{.question = "Was it good?", .answer = "", .tone = Tone::neutral};
  const auto failed = static_cast<std::size_t>(
      std::ranges::count(report.thresholds, false, &run::ThresholdResult::passed));
  if (report.error || counts.started == 0) {
    card.answer = "No: nothing was sent";
    card.tone = Tone::bad;
    return card;
  }
  const double share = 100.0 * static_cast<double>(counts.ok) / static_cast<double>(counts.started);
  // Never rounded up to all.
  const std::string succeeded =
      fmt::format("{} succeeded", share > 99.9 && counts.ok != counts.started && share > 99.95
                                      ? "> 99.9%"
                                      : format_percent(share));
  if (report.thresholds.empty()) {
    card.answer = succeeded;
    card.tone = counts.ok == 0                ? Tone::bad
                : counts.ok == counts.started ? Tone::good
                                              : Tone::neutral;
    card.remarks.emplace_back("no threshold was set");
  } else {
    card.answer = failed == 0 ? "Passed" : "Failed";
    card.tone = failed == 0 ? Tone::good : Tone::bad;
    card.remarks.push_back(failed == 0
                               ? plural(report.thresholds.size(), "threshold") + " passed"
                               : fmt::format("{} of {} failed", failed,
                                             plural(report.thresholds.size(), "threshold")));
    card.remarks.push_back(succeeded);
  }
  card.remarks.push_back(
      fmt::format("{} of {} requests", format_count(counts.ok), format_count(counts.started)));
  if (!report.errors.empty()) card.remarks.push_back("errors: " + named(report.errors));
  return card;
}

Card reached_card(const Report& report) {
  const kernel::Counts& counts = report.total.counts;
  Card card{.question = "What was reached?", .answer = "n/a", .tone = Tone::neutral};
  const auto achieved = run::per_second(counts.started, report.issue);
  if (!achieved) return card;
  card.answer = options::format_rate(*achieved);
  if (report.arrivals.empty()) {
    card.remarks.push_back(
        fmt::format("what the target gave to {}", plural(report.concurrency, "worker")));
  } else {
    const auto planned = run::per_second(counts.planned, report.issue);
    card.remarks.push_back(fmt::format("of {} planned", options::format_rate(planned.value_or(0))));
    const std::uint64_t lost = counts.missed() + counts.saturated;
    card.remarks.push_back(lost == 0 ? "every planned request was sent"
                                     : fmt::format("{} of {} were never sent", format_count(lost),
                                                   plural(counts.planned, "planned request")));
  }
  card.remarks.push_back("for " + format_duration(report.issue));
  return card;
}

Card tail_card(const Report& report) {
  const Histogram& main = run::headline(report);
  Card card{.question = "What was the tail?", .answer = "n/a", .tone = Tone::neutral};
  if (main.empty()) return card;
  const auto text = [](Duration value, bool bound) {
    return (bound ? ">= " : "") + format_duration(value);
  };
  if (const auto p99 = run::shown_percentile(main, 99, report.tail_samples)) {
    const bool bound = main.percentile_is_lower_bound(99);
    card.answer = "p99 " + text(*p99, bound);
    card.remarks.push_back(bound ? "at least 1 of 100 requests took that long or never ended"
                                 : "99 of 100 requests took at most that");
  } else {
    card.answer = "max " + text(main.max(), main.max_is_lower_bound());
    card.remarks.push_back(fmt::format("too few for a p99: {}", plural(main.count(), "sample")));
  }
  card.remarks.push_back(fmt::format("half at most {}, the longest {}",
                                     text(main.percentile(50), main.percentile_is_lower_bound(50)),
                                     text(main.max(), main.max_is_lower_bound())));
  card.remarks.emplace_back(report.open ? "response time, from when each was due"
                                        : "service time, from when each was sent");
  return card;
}

Card trust_card(const Report& report) {
  Card card{.question = "Can I trust it?", .answer = "n/a", .tone = Tone::neutral};
  if (report.error) {
    card.remarks.emplace_back("there are no figures");
    return card;
  }
  const run::Verdict& verdict = report.verdict;
  card.tone = tone_of(verdict.status);
  switch (verdict.status) {
    case run::Status::valid:
      card.answer = "Yes: valid";
      break;
    case run::Status::degraded:
      card.answer = "In part: degraded";
      break;
    case run::Status::invalid:
      card.answer = "No: invalid";
      break;
  }
  const auto applied = std::ranges::count_if(verdict.checks, [](const run::Check& check) {
    return check.state != run::Check::State::not_applicable;
  });
  if (verdict.status == run::Status::valid) {
    if (applied != 0)
      card.remarks.push_back(fmt::format("{} of the measurement found no fault",
                                         plural(static_cast<std::uint64_t>(applied), "check")));
    return card;
  }
  for (const run::Reason& reason : verdict.reasons) {
    if (reason.status != run::Status::valid)
      card.remarks.push_back(fmt::format("{}: {}", reason.code, fmt::join(reason.figures, ", ")));
  }
  return card;
}

// One line of a list of findings; `code` and `remark` may be empty.
std::string finding(Tone tone, std::string_view word, std::string_view text, std::string_view code,
                    std::string_view remark) {
  std::string out =
      fmt::format("<li class=\"{}\"><b>{}</b> {}", to_string(tone), for_html(word), for_html(text));
  if (!code.empty()) out += fmt::format(" <code>{}</code>", for_html(code));
  if (!remark.empty()) out += fmt::format("<p>{}</p>", for_html(remark));
  return out + "</li>\n";
}

std::string list(const std::string& findings) {
  return findings.empty() ? findings : "<ul class=\"findings\">\n" + findings + "</ul>\n";
}

// What the run says about itself, the gravest first.
std::string reasons(const Report& report) {
  std::string findings;
  if (report.error) {
    findings +=
        finding(Tone::bad, report.error->klass, report.error->message, "", report.error->hint);
  }
  for (const run::Reason& reason : report.verdict.reasons) {
    const bool note = reason.status == run::Status::valid;
    const char* word = note                                     ? "note"
                       : reason.status == run::Status::degraded ? "caveat"
                                                                : "invalid";
    findings += finding(note ? Tone::neutral : tone_of(reason.status), word, reason.message,
                        reason.code, reason.remedy);
  }
  return list(findings);
}

std::string thresholds(const Report& report) {
  std::string findings;
  for (const run::ThresholdResult& threshold : report.thresholds) {
    findings += finding(threshold.passed ? Tone::good : Tone::bad,
                        threshold.passed ? "pass" : "fail", threshold.expr, "",
                        threshold.passed ? "it is " + threshold.actual_text : threshold.reason);
  }
  return list(findings);
}

std::string subtitle(const Report& report) {
  std::string text = report.load_text;
  const auto add = [&text](const std::string& more) {
    if (!more.empty()) text += (text.empty() ? "" : "; ") + more;
  };
  if (!report.name.empty()) add(report.target);
  add(report.started_at);
  return text;
}

std::string footer(const Report& report) {
  return fmt::format(
      "<footer>onbeat {} ({}). Times are exact to the histogram's 3 digits; \">=\" is a lower "
      "bound.</footer>\n",
      for_html(report.version), for_html(report.commit));
}

}  // namespace

std::string to_html(const Report& report) {
  const std::string charts = charts_html(report);
  const std::string body =
      cards({good_card(report), reached_card(report), tail_card(report), trust_card(report)}) +
      section("Thresholds", thresholds(report)) + section("What to know", reasons(report)) +
      section("Steps", steps_html(report)) + section("Latency", latency_html(report)) +
      section("Charts", charts.empty() ? "" : "<div class=\"charts\">\n" + charts + "</div>\n") +
      section("All figures", tables_html(report)) + footer(report);
  return page(report.name.empty() ? report.target : report.name, subtitle(report), body);
}

}  // namespace onbeat::report
