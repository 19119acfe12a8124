// A chain made ready to run: what it sends as templates, what it expects and asserts compiled. Made
// once before the run; any thread may read it.
//
//   auto prepared = PreparedChain::prepare(chain, source.variables(), environment);
//   Variables variables = (*prepared)->make_variables();                   // one a worker
//   variables.begin(*reader.row(n));                                       // each iteration
//   step.requests[0].render({seed, n, unix_ms, variables.values()}, scratch, out);   // strict JSON
//   ... step.expected[0].difference(actual, context, scratch_tree) ...
#pragma once

#include "document/assertion.hpp"
#include "document/compare.hpp"
#include "document/extract.hpp"
#include "document/message_template.hpp"

#include <expected>
#include <memory>
#include <utility>

namespace onbeat::document {

/// An expected message. A placeholder that names nothing is plain text.
class Expectation {
 public:
  /// Borrows `tree` and `match`.
  Expectation(const JsonTree& tree, const MatchOptions& match, bool is_error, Scope& scope);
  [[nodiscard]] const JsonTree& tree() const noexcept { return *tree_; }
  /// Adds the variables that it names.
  void add_slots(std::vector<std::uint32_t>& slots) const;
  [[nodiscard]] bool uses_clock() const noexcept;

  /// `scratch` is used when the expectation has placeholders.
  [[nodiscard]] std::optional<Difference> difference(const JsonView& actual,
                                                     const RenderContext& context,
                                                     JsonTree& scratch) const;

 private:
  void collect(const JsonView& value, Scope& scope);
  void fill(const JsonView& value, const RenderContext& context, JsonTree& out,
            std::size_t& next) const;
  const JsonTree* tree_;
  const MatchOptions* match_;
  bool is_error_;
  std::vector<std::optional<Template>> texts_;  // of each string, in order; empty: none varies
  std::vector<bool> typed_;                     // the template gives JSON, not a text
};

struct PreparedStep {
  const Step* step = nullptr;
  std::vector<MessageTemplate> requests;  // of REQUEST: strict JSON
  std::vector<Expectation> expected;      // of RESPONSE, ERROR
  Assertions assertions;                  // of ASSERTS
  Extractions extractions;                // of EXTRACT
};

struct PreparedDocument {
  const Document* document = nullptr;
  std::vector<std::pair<std::string, Template>> headers;  // names in lower case
  std::vector<PreparedStep> steps;
};

class PreparedChain {
 public:
  /// `row_variables`: "user.id" for each column of the rows, in order. `chain` must outlive it. A
  /// placeholder in a REQUEST or a header that nothing binds is an error.
  [[nodiscard]] static std::expected<std::unique_ptr<const PreparedChain>, std::vector<Diagnostic>>
  prepare(const Chain& chain, std::vector<std::string> row_variables,
          const std::function<std::optional<std::string>(const std::string&)>& environment);

  /// All that prepare() would say, warnings too.
  [[nodiscard]] static std::vector<Diagnostic> examine(
      const Chain& chain, std::vector<std::string> row_variables,
      const std::function<std::optional<std::string>(const std::string&)>& environment);

  [[nodiscard]] const std::vector<PreparedDocument>& documents() const noexcept {
    return documents_;
  }
  /// The columns of the rows that are named anywhere, rising: for DataReader.
  [[nodiscard]] const std::vector<std::uint32_t>& row_slots() const noexcept { return used_; }
  [[nodiscard]] bool uses_clock() const noexcept { return uses_clock_; }
  [[nodiscard]] Variables make_variables() const;

 private:
  friend class ChainPreparation;
  PreparedChain() = default;
  std::vector<PreparedDocument> documents_;
  std::vector<std::uint32_t> used_;
  std::size_t rows_ = 0, bound_ = 0;
  bool uses_clock_ = false;
};

}  // namespace onbeat::document
