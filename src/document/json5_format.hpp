// JSON as people write it, in one canonical form: two blanks of indentation, quoted keys, double
// quotes, no trailing commas; comments and the spelling of numbers stay. What stood on one line
// stays on one line.
#pragma once

#include <string>
#include <string_view>

namespace onbeat::document {

/// `text` is a body that parse_json5() accepts. The result ends without a line break and formats
/// to itself.
[[nodiscard]] std::string format_json5(std::string_view text);

}  // namespace onbeat::document
