// JSON as people write it by hand (JSON5 and a little more): keys without quotes, texts in single
// quotes, trailing commas, comments of three kinds (//, #, /* */), 1_000, 0xFF, Infinity, NaN. No
// I/O.
//
// A body may hold several values; each then begins on a line of its own. Depth is limited, so that
// no text can exhaust the stack.
#pragma once

#include "document/json_tree.hpp"

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace onbeat::document {

struct Json5Token {
  enum class Kind : std::uint8_t {
    end,
    comment,      // of a line or a block
    line_break,   // one or more
    punctuation,  // { } [ ] : ,
    text,         // with its quotes
    word,         // a key, a literal, or a number, with its sign
    fault,        // `text` is where it begins; Json5Lexer::fault() says what it is
  };
  Kind kind = Kind::end;
  std::string_view text;
  [[nodiscard]] bool is(char punctuation) const noexcept {
    return kind == Kind::punctuation && text[0] == punctuation;
  }
};

class Json5Lexer {
 public:
  explicit Json5Lexer(std::string_view text) noexcept : text_(text) {}
  [[nodiscard]] Json5Token next();
  /// A sentence without a full stop.
  [[nodiscard]] std::string_view fault() const noexcept { return fault_; }
  [[nodiscard]] std::size_t offset_of(const Json5Token& token) const noexcept {
    return static_cast<std::size_t>(token.text.data() - text_.data());
  }

 private:
  [[nodiscard]] Json5Token take(Json5Token::Kind kind, std::size_t size);
  [[nodiscard]] Json5Token fail(std::string_view fault, std::size_t size);
  [[nodiscard]] Json5Token quoted();
  [[nodiscard]] Json5Token comment();
  [[nodiscard]] Json5Token breaks();
  std::string_view text_;
  std::size_t at_ = 0;
  std::string_view fault_;
};

struct Json5Fault {
  std::size_t offset = 0;
  std::string message;
  std::string hint;
};

inline constexpr int kDeepestJson = 256;

/// All values of a body; offsets of values and faults count from `base`. Reading goes on at the
/// next line that begins a value after a fault, so that several are found at once.
struct Json5Body {
  std::vector<JsonTree> values;
  std::vector<Json5Fault> faults;
};
[[nodiscard]] Json5Body parse_json5(std::string_view text, std::uint32_t base = 0);

}  // namespace onbeat::document
