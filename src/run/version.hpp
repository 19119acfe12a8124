// Which Onbeat this is.
#pragma once

#include <string_view>

namespace onbeat::run {

[[nodiscard]] std::string_view version() noexcept;  // "0.1.0"
[[nodiscard]] std::string_view
commit() noexcept;  // short hash, with "+" when the tree was changed; empty outside a checkout
[[nodiscard]] std::string_view compiler() noexcept;  // "clang 19.1.7"

}  // namespace onbeat::run
