// All that can be said of a `.gctf` file without sending anything: its grammar, its assertions and
// expressions, the files that it names, its placeholders.
#pragma once

#include "document/gctf.hpp"

#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace onbeat::document {

/// In the order of the file. Reads data files whole.
[[nodiscard]] std::vector<Diagnostic> check_gctf(
    const std::string& path, std::string_view text,
    const std::function<std::optional<std::string>(const std::string&)>& environment);

}  // namespace onbeat::document
