#include "document/jq_fallback.hpp"

#include <fmt/format.h>

#include <algorithm>

namespace onbeat::document {
namespace {

/// Calls `visit` with the offset of each character outside quotes, until it returns true.
template <typename Visit>
std::optional<std::size_t> find_outside_quotes(std::string_view text, Visit visit) {
  bool quoted = false;
  for (std::size_t i = 0; i < text.size(); ++i) {
    if (quoted && text[i] == '\\') {
      ++i;
    } else if (text[i] == '"') {
      quoted = !quoted;
    } else if (!quoted && visit(i)) {
      return i;
    }
  }
  return std::nullopt;
}

/// An assignment in jq, whose result is hardly ever false.
std::optional<std::size_t> find_assignment(std::string_view text) {
  return find_outside_quotes(text, [&](std::size_t i) {
    if (text[i] != '=') return false;
    const char before = i > 0 ? text[i - 1] : ' ';
    const char after = i + 1 < text.size() ? text[i + 1] : ' ';
    const bool compares =
        before == '=' || after == '=' || before == '!' || before == '<' || before == '>';
    return !compares;
  });
}

std::optional<std::size_t> find_call(std::string_view text) {
  return find_outside_quotes(text, [&](std::size_t i) {
    if (text[i] != '@') return false;
    std::size_t end = i + 1;
    while (end < text.size() && (std::isalnum(static_cast<unsigned char>(text[end])) != 0 ||
                                 text[end] == '_' || text[end] == '.')) {
      ++end;
    }
    return end < text.size() && text[end] == '(';
  });
}

Position shifted(Position at, std::size_t offset) {
  at.column += static_cast<std::uint32_t>(offset);
  return at;
}

}  // namespace

std::optional<CompiledLine> compile_line(std::string_view text, Position at,
                                         const AssertionScope& scope, Diagnostics& out) {
  std::vector<ExpressionRemark> remarks;
  auto native = parse_expression(text, scope, remarks);
  for (ExpressionRemark& remark : remarks) {
    out.warning("deprecated_name", shifted(at, remark.offset), std::move(remark.message),
                std::move(remark.hint));
  }
  if (native) return CompiledLine{std::move(*native)};
  ExpressionFault& fault = native.error();
  const auto refuse = [&](std::size_t offset, std::string message, std::string hint) {
    out.error("bad_expression", shifted(at, offset), std::move(message), std::move(hint));
    return std::nullopt;
  };
  if (fault.final) return refuse(fault.offset, std::move(fault.message), std::move(fault.hint));
  if (const auto assignment = find_assignment(text)) {
    return refuse(*assignment, "= is no comparison", "== compares");
  }
  if (const std::size_t braces = text.find("{{"); braces != std::string_view::npos) {
    return refuse(braces, "placeholders are not replaced here", "$name is a variable's value");
  }
  if (const auto call = find_call(text)) {
    return refuse(*call, "an @function cannot stand in a jq program",
                  "it stands alone, or between and, or, not and comparisons");
  }
  const auto program = JqProgram::compile(std::string(text));
  if (program) return CompiledLine{};
  if (fault.hint.empty()) fault.hint = fmt::format("nor is it a jq program: {}", program.error());
  return refuse(fault.offset, std::move(fault.message), std::move(fault.hint));
}

}  // namespace onbeat::document
