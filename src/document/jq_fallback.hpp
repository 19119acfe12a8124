// The choice between the native grammar and jq, for a line of ASSERTS or an expression of EXTRACT.
// Private to this folder.
#pragma once

#include "document/diagnostics.hpp"
#include "document/expression.hpp"
#include "document/jq_program.hpp"

#include <optional>
#include <string_view>

namespace onbeat::document {

struct CompiledLine {
  std::optional<Expression> native;  // absent: it is a jq program, which compiles
};

/// Nothing, and an error, when it is neither.
[[nodiscard]] std::optional<CompiledLine> compile_line(std::string_view text, Position at,
                                                       const AssertionScope& scope,
                                                       Diagnostics& out);

}  // namespace onbeat::document
