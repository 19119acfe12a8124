#include "report/page.hpp"

#include "compare/table.hpp"
#include "compare/writer.hpp"
#include "report/escape.hpp"

#include <fmt/format.h>

namespace onbeat::compare {
namespace {

using report::Tone;

std::vector<std::string> named(const Comparison& comparison, Change change) {
  std::vector<std::string> names;
  for (const Difference& difference : comparison.differences)
    if (difference.change == change) names.push_back(difference.metric->name);
  return names;
}

std::vector<report::Card> cards_of(const Comparison& comparison) {
  const bool bad = comparison.exit_code() != run::ExitCode::passed;
  report::Card worse{.question = "Is it worse?",
                     .answer = comparison.regressed() ? "Yes"
                               : !comparison.refusals.empty() || bad || !comparison.conclusive
                                   ? "Cannot be said"
                                   : "No",
                     .tone = bad                     ? Tone::bad
                             : comparison.conclusive ? Tone::good
                                                     : Tone::warning,
                     .remarks = named(comparison, Change::regressed)};
  worse.remarks.push_back(comparison.summary());
  std::vector<report::Card> cards{std::move(worse)};
  for (const Difference& difference : comparison.differences) {
    if (!difference.gated) continue;
    for (const Cells& cells : cells_of(comparison)) {
      if (cells.metric != difference.metric->name + " *") continue;
      cards.push_back({.question = difference.metric->name,
                       .answer = cells.change,
                       .tone = difference.change == Change::regressed  ? Tone::bad
                               : difference.change == Change::improved ? Tone::good
                                                                       : Tone::neutral,
                       .remarks = {cells.base + " before, " + cells.next + " now", cells.verdict}});
    }
  }
  return cards;
}

std::string list(const std::vector<std::string>& texts, Tone tone, const char* word) {
  std::string out;
  for (const std::string& text : texts)
    out += fmt::format("<li class=\"{}\"><b>{}</b> {}</li>\n", to_string(tone), word,
                       report::for_html(text));
  return out;
}

// Every value that the medians are of.
std::string runs_table(const Comparison& comparison) {
  report::Table table{.head = {"metric", "side", "values in the order of the runs"},
                      .rows = {},
                      .text_columns = {2, 3}};
  const auto add = [&](const Difference& difference, const Side& side, const char* name) {
    std::string values;
    for (const double value : side.values)
      values += (values.empty() ? "" : ", ") + value_text(value, difference.metric->unit);
    table.rows.push_back({difference.metric->name, name, std::move(values)});
  };
  for (const Difference& difference : comparison.differences) {
    add(difference, difference.base, "base");
    add(difference, difference.next, "new");
  }
  return table.rows.empty() ? std::string() : report::to_html(table);
}

}  // namespace

std::string to_html(const Comparison& comparison) {
  report::Table table{.head = {"metric", "base", "new", "change", "95% interval", "p", "verdict"},
                      .rows = {}};
  for (const Cells& row : cells_of(comparison))
    table.rows.push_back(
        {row.metric, row.base, row.next, row.change, row.interval, row.p, row.verdict});
  std::string findings = list(comparison.refusals, Tone::bad, "refused") +
                         list(comparison.warnings, Tone::warning, "warning");
  if (!findings.empty()) findings = "<ul class=\"findings\">\n" + findings + "</ul>\n";
  std::string body =
      report::cards(cards_of(comparison)) + report::section("What to know", findings);
  if (!table.rows.empty())
    body += report::section(
        "Metric by metric",
        report::to_html(table) + "<p>" + report::for_html(how_judged(comparison)) + "</p>\n");
  body += report::section("All figures", report::details("Every run", runs_table(comparison)));
  return report::page("Comparison",
                      side_text(comparison.base_runs, comparison.base_name) + "; " +
                          side_text(comparison.next_runs, comparison.next_name),
                      body);
}

}  // namespace onbeat::compare
