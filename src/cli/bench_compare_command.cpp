#include "cli/bench_compare_command.hpp"

#include "cli/console.hpp"
#include "options/surroundings.hpp"
#include "report/bench_compare.hpp"

#include <optional>
#include <string>
#include <vector>

namespace onbeat::cli {
namespace {

using options::Problem;

constexpr std::size_t kLargestReport = std::size_t{256} << 20;

}  // namespace

int bench_compare_command(const options::Settings& settings) {
  const options::Surroundings around = options::system_surroundings();
  const std::vector<std::string> files = settings.all("report");
  std::vector<Problem> errors;
  if (files.size() != 2)
    errors.push_back({{}, "two reports are needed", "onbeat bench-compare BASE CURRENT", {}, 0});
  std::vector<report::BenchFigures> figures;
  for (const std::string& file : files) {
    const auto text = around.read_file(file, kLargestReport);
    if (!text) {
      errors.push_back({file, text.error(), {}, {}, 0});
      continue;
    }
    auto read = report::read_bench_figures(*text);
    if (read) {
      figures.push_back(std::move(*read));
    } else {
      errors.push_back(
          {file, read.error(), "write one with --out gctf-json=FILE or --out json=FILE", {}, 0});
    }
  }
  show(errors);
  if (!errors.empty()) return static_cast<int>(run::ExitCode::usage);
  report::BenchTolerances tolerances;
  const auto number = [&](const char* name, double& value) {
    if (const auto given = options::parse_number(settings.text(name)); given) value = *given;
  };
  number("max-latency-regression", tolerances.latency_percent);
  number("max-error-rate-regression", tolerances.error_points);
  number("min-throughput", tolerances.throughput_percent);
  const auto changes = report::compare_bench(figures[0], figures[1], tolerances);
  const bool json = settings.text("format") == "json";
  if (!print(stdout, json ? report::to_json(changes) : report::to_text(changes)))
    return static_cast<int>(run::ExitCode::usage);
  return static_cast<int>(report::regressed(changes) ? run::ExitCode::threshold_failed
                                                     : run::ExitCode::passed);
}

}  // namespace onbeat::cli
