// Lines of ASSERTS and EXTRACT as texts.
#pragma once

#include <string_view>

namespace onbeat::document {

/// The line without its comment, trimmed. "#" outside quotes begins one; so does "//" after a
/// blank, unless an operand of jq's alternative follows (a digit, . $ " ' ( [ { @, or null, true,
/// false, empty at the end of the line).
[[nodiscard]] std::string_view without_comment(std::string_view line) noexcept;

}  // namespace onbeat::document
