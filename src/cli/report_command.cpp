#include "cli/report_command.hpp"

#include "cli/console.hpp"
#include "options/grammar.hpp"
#include "options/load_options.hpp"
#include "options/table.hpp"
#include "report/json.hpp"
#include "report/kept_run.hpp"
#include "report/text.hpp"

#include <algorithm>
#include <cstdlib>
#include <string>

namespace onbeat::cli {
namespace {

constexpr int kUsage = static_cast<int>(run::ExitCode::usage);

report::Asked asked_for(const options::Settings& settings) {
  report::Asked asked;
  const options::Option& out = *options::find_option("out", options::kReport);
  for (const std::string& text : settings.all("out"))
    if (auto output = options::parse_out(text, out.choices)) asked.outs.push_back(*output);
  if (const char* token = std::getenv("INFLUX_TOKEN"); token != nullptr) asked.influx_token = token;
  return asked;
}

options::Color color_of(const options::Settings& settings) {
  const std::string color = settings.text("color");
  if (color == "always") return options::Color::always;
  return color == "never" ? options::Color::never : options::Color::automatic;
}

report::Reread reread_of(const options::Settings& settings) {
  report::Reread reread;
  if (settings.has("cut")) reread.cut = options::parse_duration(settings.text("cut")).value();
  if (settings.has("percentiles"))
    reread.percentiles = options::parse_percentiles(settings.text("percentiles")).value();
  return reread;
}

bool print_report(const run::Report& report, const options::Settings& settings) {
  if (settings.flag("json")) return print(stdout, report::to_json(report));
  return print(stdout, report::to_text(
                           report, {.color = use_color(color_of(settings), stdout),
                                    .width = std::max<std::size_t>(terminal_width(stdout), 80)}));
}

}  // namespace

int report_command(const options::Settings& settings, const std::vector<std::string>& positionals) {
  const auto problem = [](const char* where, std::string message, std::string text = {}) {
    show({{.where = where, .message = std::move(message), .hint = {}, .text = std::move(text)}});
    return kUsage;
  };
  if (positionals.empty())
    return problem("RUN", "the report or stream to read is missing: onbeat report RUN");
  const std::string& path = positionals.front();
  report::RunOutputs outputs(asked_for(settings));
  std::vector<options::Problem> problems = outputs.check();
  if (outputs.wants_samples())
    problems.push_back({.where = "--out",
                        .message = "a kept run has no samples",
                        .hint = "only the run itself can write them",
                        .text = {}});
  if (problems.empty()) problems = outputs.open();
  show(problems);
  if (!problems.empty()) return kUsage;
  const auto kept = report::read_kept_run(path, reread_of(settings), outputs);
  if (!kept) return problem(path.c_str(), kept.error());
  for (const std::string& note : kept->notes) print(stderr, "note: " + note + "\n");
  bool written = print_report(kept->report, settings);
  for (const std::string& why : outputs.finish(kept->report)) {
    print(stderr, "error: " + why + "\n");
    written = false;
  }
  return written ? 0 : kUsage;
}

}  // namespace onbeat::cli
