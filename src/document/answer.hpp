// What assertions and extractions may read: the answer so far, and the variables of a chain.
#pragma once

#include "document/gctf.hpp"
#include "document/json_tree.hpp"

#include <cstdint>
#include <span>
#include <string_view>
#include <vector>

namespace onbeat::document {

struct MetadataItem {
  std::string_view name;   // in lower case
  std::string_view value;  // of a "-bin" name: the bytes themselves
};

/// Borrowed for the length of a call.
struct Answer {
  /// The message under judgement; of a failed call {"code", "message", "details"}; may be missing.
  JsonView message;
  std::span<const MetadataItem> headers, trailers;
  Duration elapsed{};               // of this scope: since the step before
  Duration total_elapsed{};         // of all scopes of the call
  std::uint64_t message_count = 0;  // in this scope
  std::uint64_t index = 0;          // of the message in this scope, from 1
};

/// The values of a chain's variables while it runs: a row's columns, then what EXTRACT bound. One a
/// worker; slots are those of PreparedChain::scope().
class Variables {
 public:
  /// `row_slots` variables come from rows, `bound` from EXTRACT.
  Variables(std::size_t row_slots, std::size_t bound);

  /// Before each iteration: the row (borrowed until the next one), and nothing extracted.
  void begin(std::span<const std::string_view> row);
  /// For RenderContext::values.
  [[nodiscard]] std::span<const std::string_view> values() const noexcept { return values_; }
  /// The tree for a bound variable, cleared; bound(n) when it is built.
  [[nodiscard]] JsonTree& to_bind(std::size_t n);
  void bound(std::size_t n);
  /// Of a variable that EXTRACT bound; empty before that.
  [[nodiscard]] const JsonTree& tree(std::size_t n) const noexcept { return trees_[n]; }
  [[nodiscard]] std::size_t row_slots() const noexcept { return row_slots_; }

 private:
  std::size_t row_slots_;
  /// A bound variable has two slots: as a text, for the inside of strings, and as JSON.
  std::vector<std::string_view> values_;
  std::vector<JsonTree> trees_;
  std::vector<std::string> texts_, jsons_;
};

}  // namespace onbeat::document
