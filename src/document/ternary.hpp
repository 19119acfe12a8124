// C's conditional operator in jq programs.
#pragma once

#include <string>
#include <string_view>

namespace onbeat::document {

/// `c ? a : b` as `if c then a else b end`, also nested and within parentheses; texts and objects
/// are left alone. What is no ternary, or nested deeper than 256, comes back as it is. A "?" right
/// behind a path (`.a?`) is jq's own.
[[nodiscard]] std::string rewrite_ternary(std::string_view expression);

}  // namespace onbeat::document
