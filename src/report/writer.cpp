#include "report/writer.hpp"

#include "report/csv.hpp"
#include "report/html.hpp"
#include "report/json.hpp"
#include "report/output.hpp"
#include "report/text.hpp"

#include <fmt/format.h>

#include <stdexcept>

namespace onbeat::report {

std::string render(const run::Report& report, std::string_view format) {
  if (format == "text") return to_text(report);
  if (format == "json") return to_json(report);
  if (format == "csv") return to_csv(report);
  if (format == "html") return to_html(report);
  throw std::invalid_argument(fmt::format("no such format: {}", format));
}

std::vector<std::string> write_outputs(const run::Report& report,
                                       std::span<const options::Output> outputs) {
  std::vector<std::string> problems;
  for (const options::Output& output : outputs) {
    const auto written = write_file(output.path, render(report, output.format));
    if (!written) {
      problems.push_back(
          fmt::format("cannot write the {} report to {}", output.format, written.error()));
    }
  }
  return problems;
}

}  // namespace onbeat::report
