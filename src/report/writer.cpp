#include "report/writer.hpp"

#include "report/csv.hpp"
#include "report/gctf_report.hpp"
#include "report/hgrm.hpp"
#include "report/html.hpp"
#include "report/http_post.hpp"
#include "report/influx.hpp"
#include "report/json.hpp"
#include "report/junit.hpp"
#include "report/markdown.hpp"
#include "report/output.hpp"
#include "report/prometheus.hpp"
#include "report/text.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <stdexcept>

namespace onbeat::report {
namespace {

constexpr kernel::Duration kPostTimeout = std::chrono::seconds(10);

using Written = std::expected<void, std::string>;

Written write_hgrm(const run::Report& report, const std::string& path) {
  Written all;
  for (const auto& [file, text] : hgrm_files(report, path))
    if (auto written = write_file(file, text); !written) all = std::move(written);
  return all;
}

Written write_output(const run::Report& report, const options::Output& output,
                     const std::string& token) {
  if (output.format == "hgrm") return write_hgrm(report, output.path);
  const std::string text = render(report, output.format);
  if (output.format != "influx" || !is_url(output.path)) return write_file(output.path, text);
  auto posted = http_post(output.path, text, token, kPostTimeout);
  if (posted) return {};
  return std::unexpected(options::without_secrets(output.path) + ": " + posted.error());
}

}  // namespace

bool is_written_at_the_end(std::string_view format) {
  return std::ranges::find(kFormats, format) != kFormats.end();
}

std::string render(const run::Report& report, std::string_view format) {
  if (format == "text") return to_text(report);
  if (format == "json") return to_json(report);
  if (format == "csv") return to_csv(report);
  if (format == "html") return to_html(report);
  if (format == "markdown") return to_markdown(report);
  if (format == "junit") return to_junit(report);
  if (format == "hgrm") return to_hgrm(run::headline(report));
  if (format == "prometheus") return to_prometheus(report);
  if (format == "influx") return to_influx(report);
  if (format == "gctf-json") return to_gctf_json(report);
  if (format == "gctf-prometheus") return to_gctf_prometheus(report);
  throw std::invalid_argument(fmt::format("no such format: {}", format));
}

std::vector<std::string> write_outputs(const run::Report& report,
                                       std::span<const options::Output> outputs,
                                       const std::string& influx_token) {
  std::vector<std::string> problems;
  for (const options::Output& output : outputs) {
    if (!is_written_at_the_end(output.format)) continue;
    const auto written = write_output(report, output, influx_token);
    if (!written) {
      problems.push_back(
          fmt::format("cannot write the {} report to {}", output.format, written.error()));
    }
  }
  return problems;
}

}  // namespace onbeat::report
