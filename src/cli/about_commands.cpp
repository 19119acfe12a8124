#include "cli/about_commands.hpp"

#include "cli/completion.hpp"
#include "cli/console.hpp"
#include "cli/manual.hpp"
#include "options/help.hpp"
#include "options/nearest.hpp"
#include "report/json_parts.hpp"
#include "run/audit.hpp"
#include "run/version.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cstdio>
#include <string_view>
#include <vector>

namespace onbeat::cli {
namespace {

constexpr int kUsage = static_cast<int>(run::ExitCode::usage);

int printed(const std::string& text) { return print(stdout, text) ? 0 : kUsage; }

std::string_view first_sentence(std::string_view text) {
  // A sentence ends before a space and a capital; "(NTP) do" and "10 / (1 - p)" have none.
  for (std::size_t at = text.find(". "); at != std::string_view::npos; at = text.find(". ", at + 1))
    if (at + 2 < text.size() && text[at + 2] >= 'A' && text[at + 2] <= 'Z')
      return text.substr(0, at + 1);
  return text;
}

std::vector<options::Problem> unknown(std::span<const std::string> codes) {
  const std::vector<std::string_view> known = run::check_codes();
  std::vector<options::Problem> problems;
  for (const std::string& code : codes) {
    if (!run::explain(code).empty()) continue;
    const auto near = options::nearest(code, known);
    problems.push_back({.where = {},
                        .message = fmt::format("no check has the code '{}'", code),
                        .hint = near ? fmt::format("did you mean {}?", *near)
                                     : std::string("onbeat explain lists them all"),
                        .text = {}});
  }
  return problems;
}

}  // namespace

int print_version(bool json) {
  if (!json) return printed(fmt::format("onbeat {}\n", run::version()));
  const report::Json about = {
      {"name", "onbeat"},
      {"version", run::version()},
      {"commit", run::commit()},
      {"compiler", run::compiler()},
      {"schemas", {{"report", "onbeat.report/1"}, {"stream", "onbeat.stream/1"}}}};
  return printed(report::dump(about, 2));
}

int explain_command(std::span<const std::string> codes) {
  const std::vector<options::Problem> problems = unknown(codes);
  if (!problems.empty()) {
    show(problems);
    return kUsage;
  }
  const unsigned width = terminal_width(stdout);
  std::string text;
  if (codes.empty()) {
    for (const std::string_view code : run::check_codes())
      text += options::entry_text(code, first_sentence(run::explain(code)), width);
    return printed(text);
  }
  for (const std::string& code : codes) {
    if (codes.size() > 1) text += fmt::format("{}{}\n", text.empty() ? "" : "\n", code);
    text += options::paragraph_text(run::explain(code), width);
  }
  return printed(text);
}

int completion_command(std::span<const std::string> words) {
  if (!words.empty() && words.front() == "words") {
    const std::vector<std::string_view> typed(words.begin() + 1, words.end());
    return printed(words_text(complete(typed)));
  }
  const auto script = words.size() == 1 ? completion_script(words.front()) : std::nullopt;
  if (script) return printed(std::string(*script));
  show({{.where = "onbeat completion",
         .message = words.empty()
                        ? "a shell is missing"
                        : fmt::format("'{}' is no shell known here", fmt::join(words, " ")),
         .hint = "bash, zsh or fish",
         .text = {}}});
  return kUsage;
}

int manual_command() { return printed(manual_page(run::version())); }

}  // namespace onbeat::cli
