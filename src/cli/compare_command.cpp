#include "cli/compare_command.hpp"

#include "cli/console.hpp"
#include "compare/reader.hpp"
#include "compare/writer.hpp"
#include "options/grammar.hpp"
#include "options/load_options.hpp"
#include "report/output.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>

namespace onbeat::cli {
namespace {

using options::Problem;

constexpr int kUsage = static_cast<int>(run::ExitCode::usage);

std::vector<compare::Run> read_all(const std::vector<std::string>& paths, const char* where,
                                   std::vector<Problem>& problems) {
  std::vector<compare::Run> runs;
  for (const std::string& path : paths) {
    auto read = compare::read_runs(path);
    if (read) {
      std::ranges::move(*read, std::back_inserter(runs));
    } else {
      problems.push_back({.where = where, .message = read.error(), .hint = {}, .text = {}});
    }
  }
  return runs;
}

void check_gates(const std::vector<std::string>& gates, std::vector<Problem>& problems) {
  for (const std::string& gate : gates) {
    if (compare::find_metric(gate, true) != nullptr) continue;
    std::vector<std::string> names;
    for (const compare::Metric& metric : compare::metrics()) names.push_back(metric.name);
    problems.push_back({.where = "--gate",
                        .message = fmt::format("there is no metric \"{}\"", gate),
                        .hint = fmt::format("there are: {}", fmt::join(names, ", ")),
                        .text = {}});
  }
}

std::vector<options::Output> outputs_of(const options::Settings& settings,
                                        options::CommandSet command,
                                        std::vector<Problem>& problems) {
  std::vector<options::Output> outputs;
  const options::Option& out = *options::find_option("out", command);
  for (const std::string& text : settings.all("out"))
    if (auto output = options::parse_out(text, out.choices)) outputs.push_back(*output);
  for (const options::Output& output : outputs)
    if (auto writable = report::check_writable(output.path); !writable)
      problems.push_back({.where = "--out", .message = writable.error(), .hint = {}, .text = {}});
  return outputs;
}

}  // namespace

compare::Settings comparison_settings(const options::Settings& settings,
                                      std::vector<Problem>& problems) {
  compare::Settings result;
  if (settings.has("min-effect"))
    result.min_effect = options::parse_percent(settings.text("min-effect")).value();
  result.gates = settings.all("gate");
  result.allow_invalid = settings.flag("allow-invalid");
  check_gates(result.gates, problems);
  return result;
}

int show_comparison(const compare::Comparison& comparison, const options::Settings& settings,
                    const std::vector<options::Output>& outputs) {
  const std::string color = settings.text("color");
  const auto wanted = color == "always"  ? options::Color::always
                      : color == "never" ? options::Color::never
                                         : options::Color::automatic;
  bool written =
      settings.flag("json")
          ? print(stdout, compare::to_json(comparison))
          : print(stdout, compare::to_text(comparison, {.color = use_color(wanted, stdout),
                                                        .width = std::max<std::size_t>(
                                                            terminal_width(stdout), 80)}));
  for (const options::Output& output : outputs) {
    const auto file = report::write_file(output.path, compare::render(comparison, output.format));
    if (file) continue;
    print(stderr, fmt::format("error: cannot write the comparison to {}\n", file.error()));
    written = false;
  }
  const int code = static_cast<int>(comparison.exit_code());
  return !written && code == 0 ? kUsage : code;
}

int compare_command(const options::Settings& settings, const std::vector<std::string>& base) {
  std::vector<Problem> problems;
  if (base.empty())
    problems.push_back({.where = "BASE",
                        .message = "the reports to compare with are missing",
                        .hint = "onbeat compare BASE... --to NEW...",
                        .text = {}});
  if (!settings.has("to"))
    problems.push_back({.where = "--to",
                        .message = "the new reports are missing",
                        .hint = "onbeat compare BASE... --to NEW...",
                        .text = {}});
  const auto first = read_all(base, "BASE", problems);
  const auto second = read_all(settings.all("to"), "--to", problems);
  const compare::Settings how = comparison_settings(settings, problems);
  const auto outputs = outputs_of(settings, options::kCompare, problems);
  show(problems);
  if (!problems.empty()) return kUsage;
  return show_comparison(compare::compare(first, second, how), settings, outputs);
}

}  // namespace onbeat::cli
