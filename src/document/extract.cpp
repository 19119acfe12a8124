#include "document/extract.hpp"

#include "document/expression_evaluator.hpp"
#include "document/jq_fallback.hpp"
#include "document/ternary.hpp"

#include <fmt/format.h>

#include <map>
#include <utility>

namespace onbeat::document {
namespace {

/// What both languages can say is jq's, unless it is as simple as a path.
bool prefers_native(const Expression& expression, std::string_view text) {
  switch (expression.nodes[expression.root].operation) {
    case Operation::message:
    case Operation::member:
    case Operation::item:
    case Operation::variable:
    case Operation::call:
    case Operation::cast:
    case Operation::constant:
      return true;
    default:
      return text.find('@') != std::string_view::npos || text.find('$') != std::string_view::npos;
  }
}

}  // namespace

struct Extractions::Line {
  ExtractLine source;
  std::string program;
  std::size_t bound = 0;
  std::optional<Expression> native;  // absent: a jq program
};

Extractions::Extractions() = default;
Extractions::~Extractions() = default;
Extractions::Extractions(Extractions&&) noexcept = default;
Extractions& Extractions::operator=(Extractions&&) noexcept = default;

std::size_t Extractions::size() const noexcept { return lines_.size(); }

Extractions Extractions::compile(const std::vector<ExtractLine>& lines,
                                 const std::vector<std::size_t>& bound, const AssertionScope& scope,
                                 std::vector<Diagnostic>& diagnostics) {
  Diagnostics out(diagnostics);
  Extractions result;
  for (std::size_t i = 0; i < lines.size(); ++i) {
    std::string program = rewrite_ternary(lines[i].expression);
    auto compiled = compile_line(program, lines[i].expression_at, scope, out);
    if (!compiled) continue;
    if (compiled->native && !prefers_native(*compiled->native, program) &&
        JqProgram::compile(program)) {
      compiled->native.reset();
    }
    result.lines_.push_back({lines[i], std::move(program), bound[i], std::move(compiled->native)});
  }
  return result;
}

struct ExtractionRunner::State {
  explicit State(const Extractions& of) : extractions(of) {
    for (std::size_t i = 0; i < of.lines_.size(); ++i) {
      if (of.lines_[i].native) continue;
      auto program = JqProgram::compile(of.lines_[i].program);
      if (program) programs.emplace(i, std::move(*program));
    }
  }

  /// Empty when all is well.
  std::string bind(std::size_t index, const Answer& answer, Variables& variables) {
    const Extractions::Line& line = extractions.lines_[index];
    if (!answer.message) return "there is no answer to read";
    if (line.native) {
      const JsonView value = evaluator.evaluate(*line.native, answer, variables);
      copied.clear();  // the value may be the variable's own
      copied.copy(value);
    } else {
      std::string fault = run_jq(index, answer);
      if (!fault.empty()) return fault;
    }
    variables.to_bind(line.bound).copy(copied.root());
    variables.bound(line.bound);
    return {};
  }

  std::string run_jq(std::size_t index, const Answer& answer) {
    const auto program = programs.find(index);
    if (program == programs.end()) return "the jq program cannot be compiled";
    bool found = false;
    const auto ran = program->second.run(answer.message, [&](const JsonTree& output) {
      found = true;
      copied.clear();
      copied.copy(output.root());
      return false;
    });
    if (!ran) return fmt::format("jq failed: {}", ran.error());
    return found ? std::string() : std::string("jq gave no output");
  }

  const Extractions& extractions;
  ExpressionEvaluator evaluator;
  std::map<std::size_t, JqProgram> programs;
  JsonTree copied;
};

ExtractionRunner::ExtractionRunner(const Extractions& extractions)
    : state_(std::make_unique<State>(extractions)) {}
ExtractionRunner::~ExtractionRunner() = default;
ExtractionRunner::ExtractionRunner(ExtractionRunner&&) noexcept = default;

std::optional<AssertionFailure> ExtractionRunner::run(const Answer& answer, Variables& variables) {
  for (std::size_t i = 0; i < state_->extractions.lines_.size(); ++i) {
    std::string fault = state_->bind(i, answer, variables);
    if (fault.empty()) continue;
    const ExtractLine& source = state_->extractions.lines_[i].source;
    return AssertionFailure{i, fmt::format("{} = {}", source.name, source.expression),
                            std::move(fault)};
  }
  return std::nullopt;
}

}  // namespace onbeat::document
