// ASSERTS: lines of predicates on an answer, compiled once and evaluated for every call.
//
//   .items | length > 2          what the native grammar cannot parse is a jq program
//   .amount >= 10 and @has_header("x-request-id")
//   .big_id:number > 9007199254740993     integers are exact in the native grammar
//
// Precedence, from the loosest: `| not`; or; xor; and; == != < <= > >= contains matches startsWith
// endsWith; ! not; paths, literals, $variables, @functions, /regex/, (...), if-then-else, x:type.
// Ordering compares numbers alone. Everything but null and false is true; all outputs of a jq
// program must be, and there must be one. docs/gctf.md has the list of functions.
#pragma once

#include "document/answer.hpp"
#include "document/gctf.hpp"

#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

namespace onbeat::document {

/// What lines may name.
struct AssertionScope {
  std::vector<std::string> variables;  // of rows: "user.id"; then those that EXTRACT has bound
  std::size_t row_slots = 0;           // so many of them are of rows
  std::function<std::optional<std::string>(const std::string& name)> environment;
};

/// The assertions of one ASSERTS section. Immutable; any thread may read it.
class Assertions {
 public:
  Assertions();
  ~Assertions();
  Assertions(Assertions&&) noexcept;
  Assertions& operator=(Assertions&&) noexcept;

  /// Appends what is wrong to `diagnostics`.
  [[nodiscard]] static Assertions compile(const std::vector<AssertionLine>& lines,
                                          const AssertionScope& scope,
                                          std::vector<Diagnostic>& diagnostics);
  [[nodiscard]] std::size_t size() const noexcept;
  /// A line is left to jq: its answers are converted for it, some microseconds a line.
  [[nodiscard]] bool uses_jq() const noexcept;

 private:
  friend class AssertionRunner;
  friend class AssertionEvaluator;
  struct Line;
  std::vector<Line> lines_;
};

struct AssertionFailure {
  std::size_t line = 0;  // index in the section
  std::string text;      // the assertion
  std::string message;   // "false: .amount is 5"
};

/// Evaluates the assertions of a section; holds its jq programs and scratch memory. One a loop;
/// reentrant calls are not allowed.
class AssertionRunner {
 public:
  /// `assertions` must outlive it.
  explicit AssertionRunner(const Assertions& assertions);
  ~AssertionRunner();
  AssertionRunner(AssertionRunner&&) noexcept;

  /// The first line that does not hold. Allocates nothing for native lines that hold.
  [[nodiscard]] std::optional<AssertionFailure> run(const Answer& answer,
                                                    const Variables& variables);
  /// All lines that do not hold, to show them to a person.
  [[nodiscard]] std::vector<AssertionFailure> run_all(const Answer& answer,
                                                      const Variables& variables);

 private:
  struct State;
  std::unique_ptr<State> state_;
};

}  // namespace onbeat::document
