#include "compare/table.hpp"
#include "compare/writer.hpp"
#include "report/escape.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <stdexcept>

namespace onbeat::compare {
namespace {

using report::for_terminal;
using report::width_of;

constexpr std::size_t kLabel = 10;

std::string painted(std::string_view text, const char* code, bool color) {
  return color ? fmt::format("\x1b[{}m{}\x1b[0m", code, text) : std::string(text);
}

// Words behind a label, broken at the width.
std::string wrapped(std::string_view label, std::string_view text, std::size_t width) {
  std::string out = fmt::format("{:<{}}", label, kLabel);
  std::size_t column = kLabel;
  while (!text.empty()) {
    const std::size_t end = std::min(text.find(' '), text.size());
    const std::string_view word = text.substr(0, end);
    text.remove_prefix(std::min(end + 1, text.size()));
    if (column > kLabel && column + 1 + width_of(word) > width) {
      out += "\n" + std::string(kLabel, ' ');
      column = kLabel;
    } else if (column > kLabel) {
      out += ' ';
      ++column;
    }
    out += word;
    column += width_of(word);
  }
  return out + "\n";
}

std::string table(const Comparison& comparison, bool color) {
  std::string out = fmt::format("{:<16} {:>10} {:>10} {:>11}  {:<23} {:>5}\n", "metric", "base",
                                "new", "change", "95% interval", "p");
  for (const Cells& row : cells_of(comparison)) {
    out += fmt::format("{:<16} {:>10} {:>10} {:>11}  {:<23} {:>5}", row.metric, row.base, row.next,
                       row.change, row.interval, row.p);
    if (row.verdict == "WORSE") out += " " + painted("WORSE", "31", color);
    if (row.verdict == "better") out += " " + painted("better", "32", color);
    if (row.verdict.starts_with("undecided")) out += " ?";
    out += "\n";
  }
  return out;
}

}  // namespace

std::string to_text(const Comparison& comparison, const TextStyle& style) {
  const bool bad = comparison.exit_code() != run::ExitCode::passed;
  const char* word = !comparison.refusals.empty() ? "REFUSED"
                     : comparison.regressed()     ? "WORSE"
                     : bad                        ? "DOUBTFUL"
                     : comparison.conclusive      ? "PASSED"
                                                  : "UNDECIDED";
  const char* code = bad ? "31" : comparison.conclusive ? "32" : "33";
  std::string out = painted(fmt::format("{:<{}}", word, kLabel), code, style.color) +
                    for_terminal(comparison.summary()) + "\n";
  for (const std::string& refusal : comparison.refusals)
    out += wrapped("error", for_terminal(refusal), style.width);
  if (!comparison.refusals.empty()) return out;
  out += wrapped("base", for_terminal(side_text(comparison.base_runs, comparison.base_name)),
                 style.width);
  out += wrapped("new", for_terminal(side_text(comparison.next_runs, comparison.next_name)),
                 style.width);
  for (const std::string& warning : comparison.warnings)
    out += wrapped("warning", for_terminal(warning), style.width);
  out += table(comparison, style.color);
  for (const Difference& difference : comparison.differences)
    if (difference.change == Change::undecided && comparison.conclusive)
      out += wrapped("?", difference.metric->name + ": " + difference.why_undecided, style.width);
  return out + wrapped("", how_judged(comparison), style.width);
}

std::string render(const Comparison& comparison, std::string_view format) {
  if (format == "text") return to_text(comparison);
  if (format == "json") return to_json(comparison);
  if (format == "html") return to_html(comparison);
  if (format == "markdown") return to_markdown(comparison);
  throw std::invalid_argument(fmt::format("no such format: {}", format));
}

}  // namespace onbeat::compare
