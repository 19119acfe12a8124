// One JSON object on a line (NDJSON): its members, each value as it is written, so that a number
// keeps its digits. Strict RFC 8259. No I/O, no allocation.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

namespace onbeat::document {

struct JsonMember {
  std::string_view key;      // between its quotes, escapes as written
  std::string_view value;    // as written; of a text what is between its quotes
  bool key_escaped = false;  // `key` holds escapes
  bool is_text = false;
  bool escaped = false;    // `value` is a text with escapes
  std::size_t key_at = 0;  // offset of the key in the line
};

/// Walks over the members of the object that `line` is. Usage: while (walk.next(member)) ...;
/// afterwards fault() is empty or says what is wrong at fault_at().
class JsonWalk {
 public:
  explicit JsonWalk(std::string_view line) noexcept : line_(line) {}
  [[nodiscard]] bool next(JsonMember& member) noexcept;
  /// A plain sentence without a full stop; empty: none.
  [[nodiscard]] std::string_view fault() const noexcept { return fault_; }
  [[nodiscard]] std::size_t fault_at() const noexcept { return at_; }

 private:
  bool fail(std::string_view fault) noexcept;
  bool begin() noexcept;
  bool finish() noexcept;
  void skip_blanks() noexcept;
  [[nodiscard]] char peek() const noexcept { return at_ < line_.size() ? line_[at_] : '\0'; }
  bool text(std::string_view& between, bool& escaped) noexcept;
  bool escape() noexcept;
  bool hex_digits(unsigned& value) noexcept;
  bool number() noexcept;
  bool word(std::string_view expected) noexcept;
  bool skip_value(int depth) noexcept;
  bool skip_nested(int depth) noexcept;

  std::string_view line_;
  std::size_t at_ = 0;
  bool started_ = false;
  std::string_view fault_;
};

/// Appends a text whose escapes JsonWalk has accepted, as UTF-8.
void append_unescaped(std::string_view text, std::string& out);

}  // namespace onbeat::document
