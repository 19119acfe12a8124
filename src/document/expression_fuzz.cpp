// Any text as an assertion of the native grammar: no crash, faults lie in the text, and what
// compiles gives the same answer twice. Input: a line, a line break, a message.
#include "document/assertion_text.hpp"
#include "document/expression.hpp"
#include "document/expression_evaluator.hpp"
#include "document/json5.hpp"
#include "document/ternary.hpp"

#include <array>
#include <cstdlib>

namespace {

void require(bool condition) {
  if (!condition) std::abort();
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace onbeat::document;
  const std::string_view input(reinterpret_cast<const char*>(data), size);
  const std::size_t end = std::min(input.find('\n'), input.size());
  const std::string_view line = without_comment(input.substr(0, end));
  require(without_comment(line) == line);
  static_cast<void>(rewrite_ternary(line));
  const AssertionScope scope{.variables = {"row.a", "token"}, .row_slots = 1, .environment = {}};
  std::vector<ExpressionRemark> remarks;
  const auto expression = parse_expression(line, scope, remarks);
  if (!expression) {
    require(expression.error().offset <= line.size() && !expression.error().message.empty());
    return 0;
  }
  const Json5Body body = parse_json5(input.substr(std::min(end + 1, size)));
  const std::array<MetadataItem, 1> headers{{{"a-bin", "\x01"}}};
  Variables variables(1, 1);
  const std::array<std::string_view, 1> row{"value"};
  variables.begin(row);
  const Answer answer{.message = body.values.empty() ? JsonView() : body.values[0].root(),
                      .headers = headers,
                      .trailers = {}};
  ExpressionEvaluator evaluator;
  std::string first;
  std::string second;
  append_json(evaluator.evaluate(*expression, answer, variables), first);
  require(!evaluator.explain(line).empty());
  append_json(evaluator.evaluate(*expression, answer, variables), second);
  require(first == second);
  return 0;
}
