// Evaluates expressions. Private to this folder.
#pragma once

#include "document/answer.hpp"
#include "document/expression.hpp"

#include <string>
#include <string_view>

namespace onbeat::document {

[[nodiscard]] inline bool is_true(const JsonView& value) noexcept {
  return value && !value.is(JsonKind::null) && !(value.is(JsonKind::boolean) && !value.boolean());
}

/// One owner; keeps its memory, so that nothing is allocated once warm. Answer and variables are
/// borrowed for the length of a call.
class ExpressionEvaluator {
 public:
  /// Valid until the next call.
  [[nodiscard]] JsonView evaluate(const Expression& expression, const Answer& answer,
                                  const Variables& variables);
  /// Why it does not hold, right after evaluate() said so: ".amount is 5". `text` is its line.
  [[nodiscard]] std::string explain(std::string_view text);

 private:
  JsonView value(std::uint32_t index);
  bool truth(std::uint32_t index) { return is_true(value(index)); }
  JsonView boolean(bool value);
  JsonView integer(std::int64_t value);
  JsonView text(std::string_view value);  // of no temporary of scratch_
  JsonView missing() { return {}; }

  bool compare(const ExpressionNode& node);
  bool contains(const JsonView& whole, const JsonView& part);
  bool matches(const JsonView& subject, std::uint32_t pattern);
  JsonView variable(const ExpressionNode& node);
  JsonView cast(CastType type, const JsonView& value);
  JsonView cast_number(CastType type, const JsonView& value);
  JsonView cast_instant(CastType type, const JsonView& value);
  JsonView cast_parsed(CastType type, const JsonView& value);
  JsonView call(const ExpressionNode& node);
  bool predicate(Function function, const JsonView& value);
  JsonView part(Function function, const JsonView& value);
  JsonView metadata(std::span<const MetadataItem> items, const JsonView& name, bool presence);
  std::string explain(std::uint32_t index, std::string_view text);

  const Expression* expression_ = nullptr;
  const Answer* answer_ = nullptr;
  const Variables* variables_ = nullptr;
  JsonTree scratch_;  // computed values: items of one array that stays open
  std::string hex_;
};

}  // namespace onbeat::document
