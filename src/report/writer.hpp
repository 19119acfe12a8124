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

/// What --out FORMAT=FILE knows.
inline constexpr std::array<std::string_view, 4> kFormats{"text", "json", "csv", "html"};

/// The report in one of kFormats. Throws std::invalid_argument for another.
[[nodiscard]] std::string render(const run::Report& report, std::string_view format);

/// Writes every output; returns a sentence for each that could not be written, empty when all is
/// well.
[[nodiscard]] std::vector<std::string> write_outputs(const run::Report& report,
                                                     std::span<const options::Output> outputs);

}  // namespace onbeat::report
