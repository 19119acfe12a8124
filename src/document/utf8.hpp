// Whether bytes are text.
#pragma once

#include <cstddef>
#include <string_view>

namespace onbeat::document {

/// The offset of the first byte that is not well-formed UTF-8 (Unicode, table 3-7: no surrogates,
/// no overlong forms), or npos. About 0.1 ns a byte of ASCII.
[[nodiscard]] std::size_t invalid_utf8(std::string_view text) noexcept;

}  // namespace onbeat::document
