// The way back from JSON, schema onbeat.report/1, to the report that it was written from. What is
// written again from it is the same text.
#pragma once

#include "run/report.hpp"

#include <expected>
#include <string>
#include <string_view>

namespace onbeat::report {

/// The error says what is wrong and where in the document; no input is trusted.
[[nodiscard]] std::expected<run::Report, std::string> from_json(std::string_view text);

}  // namespace onbeat::report
