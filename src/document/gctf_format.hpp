// The canonical form of a `.gctf` file.
#pragma once

#include "document/gctf.hpp"

#include <expected>
#include <string>
#include <string_view>
#include <vector>

namespace onbeat::document {

/// Sections in their order (META, BENCH, DATASET; ADDRESS, ENDPOINT, TLS, PROTO, OPTIONS,
/// REQUEST_HEADERS; then what the document does, as it stands), a blank line between them, JSON
/// bodies formatted, no carriage returns; comments kept. Formats to itself. A file with errors is
/// not formatted: they come back.
[[nodiscard]] std::expected<std::string, std::vector<Diagnostic>> format_gctf(
    const std::string& path, std::string_view text);

}  // namespace onbeat::document
