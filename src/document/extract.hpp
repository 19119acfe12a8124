// EXTRACT: variables of a chain out of an answer. An expression is a jq program over the last
// message, a plain path (read without jq), a function call such as @header("x"), or a C-style
// ternary of those, `c ? a : b`, which becomes jq's if-then-else (ternary.hpp).
#pragma once

#include "document/answer.hpp"
#include "document/assertion.hpp"
#include "document/gctf.hpp"

#include <memory>
#include <vector>

namespace onbeat::document {

/// The lines of one EXTRACT section. Immutable; any thread may read it.
class Extractions {
 public:
  Extractions();
  ~Extractions();
  Extractions(Extractions&&) noexcept;
  Extractions& operator=(Extractions&&) noexcept;

  /// `bound`: the index among the chain's bound variables, for each line. Appends what is wrong to
  /// `diagnostics`.
  [[nodiscard]] static Extractions compile(const std::vector<ExtractLine>& lines,
                                           const std::vector<std::size_t>& bound,
                                           const AssertionScope& scope,
                                           std::vector<Diagnostic>& diagnostics);
  [[nodiscard]] std::size_t size() const noexcept;

 private:
  friend class ExtractionRunner;
  struct Line;
  std::vector<Line> lines_;
};

/// One a loop, like AssertionRunner.
class ExtractionRunner {
 public:
  explicit ExtractionRunner(const Extractions& extractions);
  ~ExtractionRunner();
  ExtractionRunner(ExtractionRunner&&) noexcept;

  /// Binds all lines; or says which one has no output, or why it failed.
  [[nodiscard]] std::optional<AssertionFailure> run(const Answer& answer, Variables& variables);

 private:
  struct State;
  std::unique_ptr<State> state_;
};

}  // namespace onbeat::document
