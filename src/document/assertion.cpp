#include "document/assertion.hpp"

#include "document/diagnostics.hpp"
#include "document/expression.hpp"
#include "document/expression_evaluator.hpp"
#include "document/jq_fallback.hpp"

#include <fmt/format.h>

#include <map>
#include <utility>

namespace onbeat::document {

struct Assertions::Line {
  AssertionLine source;
  std::optional<Expression> native;  // absent: a jq program
};

Assertions::Assertions() = default;
Assertions::~Assertions() = default;
Assertions::Assertions(Assertions&&) noexcept = default;
Assertions& Assertions::operator=(Assertions&&) noexcept = default;

std::size_t Assertions::size() const noexcept { return lines_.size(); }

bool Assertions::uses_jq() const noexcept {
  for (const Line& line : lines_) {
    if (!line.native) return true;
  }
  return false;
}

Assertions Assertions::compile(const std::vector<AssertionLine>& lines, const AssertionScope& scope,
                               std::vector<Diagnostic>& diagnostics) {
  Diagnostics out(diagnostics);
  Assertions result;
  for (const AssertionLine& line : lines) {
    auto compiled = compile_line(line.text, line.at, scope, out);
    if (!compiled) continue;
    if (compiled->native && !compiled->native->reads_answer) {
      out.warning("constant_assertion", line.at, "the assertion reads nothing of the answer");
    }
    result.lines_.push_back({line, std::move(compiled->native)});
  }
  return result;
}

struct AssertionRunner::State {
  explicit State(const Assertions& of) : assertions(of) {
    for (std::size_t i = 0; i < of.lines_.size(); ++i) {
      if (of.lines_[i].native) continue;
      auto program = JqProgram::compile(of.lines_[i].source.text);
      if (program) programs.emplace(i, std::move(*program));
    }
  }

  std::optional<AssertionFailure> judge(std::size_t index, const Answer& answer,
                                        const Variables& variables) {
    const Assertions::Line& line = assertions.lines_[index];
    if (line.native) {
      if (is_true(evaluator.evaluate(*line.native, answer, variables))) return std::nullopt;
      return AssertionFailure{index, line.source.text, evaluator.explain(line.source.text)};
    }
    std::string message = run_jq(index, answer);
    if (message.empty()) return std::nullopt;
    return AssertionFailure{index, line.source.text, std::move(message)};
  }

  /// Empty when it holds.
  std::string run_jq(std::size_t index, const Answer& answer) {
    const auto program = programs.find(index);
    if (program == programs.end()) return "the jq program cannot be compiled";
    std::string message = "jq gave no output";
    const auto ran = program->second.run(answer.message, [&](const JsonTree& output) {
      const bool holds = is_true(output.root());
      message.clear();
      if (!holds) {
        message = "jq gave ";
        append_json(output.root(), message);
      }
      return holds;
    });
    return ran ? message : fmt::format("jq failed: {}", ran.error());
  }

  const Assertions& assertions;
  ExpressionEvaluator evaluator;
  std::map<std::size_t, JqProgram> programs;
};

AssertionRunner::AssertionRunner(const Assertions& assertions)
    : state_(std::make_unique<State>(assertions)) {}
AssertionRunner::~AssertionRunner() = default;
AssertionRunner::AssertionRunner(AssertionRunner&&) noexcept = default;

std::optional<AssertionFailure> AssertionRunner::run(const Answer& answer,
                                                     const Variables& variables) {
  for (std::size_t i = 0; i < state_->assertions.lines_.size(); ++i) {
    if (auto failure = state_->judge(i, answer, variables)) return failure;
  }
  return std::nullopt;
}

std::vector<AssertionFailure> AssertionRunner::run_all(const Answer& answer,
                                                       const Variables& variables) {
  std::vector<AssertionFailure> failures;
  for (std::size_t i = 0; i < state_->assertions.lines_.size(); ++i) {
    if (auto failure = state_->judge(i, answer, variables)) failures.push_back(std::move(*failure));
  }
  return failures;
}

}  // namespace onbeat::document
