// Whether an answer is what a document expects.
//
// An expected "*" matches whatever is present. A key that only the expected object has is fine when
// its value is a default (null, false, 0, "", [], {}): protobuf omits those. A key that only the
// actual object has, and items beyond the expected ones, are differences unless `partial`. Numbers:
// within `tolerance`; without one integers exactly, others within a relative 1e-9.
// `unordered_arrays` finds each expected item, in order, an unused actual one: an equal one before
// one that only matches. Keys in `redact` are taken out of the actual value at any depth.
//
// Pure functions; nothing is allocated for what matches, except that unordered arrays need a mark
// for each item.
#pragma once

#include "document/gctf.hpp"
#include "document/json_tree.hpp"

#include <optional>
#include <string>

namespace onbeat::document {

struct Difference {
  std::string path;     // ".items[2].price"; "." is the whole value
  std::string message;  // "expected 5, got 7"
};
/// "at .items[2].price: expected 5, got 7".
[[nodiscard]] std::string to_string(const Difference& difference);

/// The first difference in the order of the expected value.
[[nodiscard]] std::optional<Difference> find_difference(const JsonView& expected,
                                                        const JsonView& actual,
                                                        const MatchOptions& options);

/// The status of a failed call, {"code": 5, "message": "...", "details": [...]}, against an ERROR
/// section. A code may be expected by its name ("NOT_FOUND", "NotFound"). An expected text is
/// compared with the message alone. Not `partial`: whatever the server sent must be expected.
/// `partial`: what is expected must be there, details in any order. Spellings of keys in details
/// (snake_case, camelCase) are the same.
[[nodiscard]] std::optional<Difference> find_error_difference(const JsonView& expected,
                                                              const JsonView& actual,
                                                              const MatchOptions& options);

}  // namespace onbeat::document
