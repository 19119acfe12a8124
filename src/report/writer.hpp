// All outputs that were asked for, each attempted whatever becomes of the others.
#pragma once

#include "options/grammar.hpp"
#include "run/report.hpp"

#include <array>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace onbeat::report {

/// What is written from the finished report. Other formats of --out are written while the run lasts
/// (run_outputs.hpp).
inline constexpr std::array<std::string_view, 11> kFormats{
    "text", "json",       "csv",    "html",      "markdown",       "junit",
    "hgrm", "prometheus", "influx", "gctf-json", "gctf-prometheus"};
[[nodiscard]] bool is_written_at_the_end(std::string_view format);

/// The report in one of kFormats (of hgrm: the headline's file). Throws std::invalid_argument for
/// another.
[[nodiscard]] std::string render(const run::Report& report, std::string_view format);

/// Writes every output that is written at the end, or posts it where its path is a URL; returns a
/// sentence for each that could not be written, empty when all is well. `influx_token`: see
/// http_post().
[[nodiscard]] std::vector<std::string> write_outputs(const run::Report& report,
                                                     std::span<const options::Output> outputs,
                                                     const std::string& influx_token = {});

}  // namespace onbeat::report
