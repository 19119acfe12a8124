// Texts with variables: {{user.id}} is a value of the arrival's row, {{uuid()}} a function.
//
//   seq()                the arrival's number, from 0; the same in all texts of one request
//   uuid()               a random UUID (version 4)
//   random(1,100)        a random whole number, both ends included
//   random_string(16)    random letters and digits
//   now_ms()             Unix time in milliseconds, when the request is rendered
//   env("NAME")          the environment variable, read once, when the text is compiled
//
// Blanks inside the braces do not matter. Braces in which no name can stand ({{1}}, {{"a"}}) and
// braces that are not closed are plain text; "\{{" is "{{" (after an even number of backslashes
// the braces keep their meaning). A value is never scanned again. Random values are pure functions
// of the run's seed, the arrival and the place in the request: two runs send the same texts, on
// any number of threads.
#pragma once

#include "options/grammar.hpp"

#include <cstdint>
#include <expected>
#include <functional>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace onbeat::document {

/// What a value must not break.
enum class Place : std::uint8_t {
  text,       // values stand as they are
  json,       // the text is JSON: inside its strings, values are escaped
  json_text,  // all of it stands between the quotes of a JSON string: it is escaped, too
  field,      // a header: a value with CR, LF or NUL is refused (it could forge another header)
  target,     // a request target: what cannot stand in one is percent-encoded
};

/// What the texts of one kind of request may name, and what they share.
struct Scope {
  std::vector<std::string> variables;  // "user.id"; the index is the variable's slot
  std::function<std::optional<std::string>(const std::string& name)> environment;
  /// Sources that could not be read, a problem of its own: any variable of theirs is taken.
  std::vector<std::string> unread;
  /// Counts random functions over all texts of a request, so that each draws its own values.
  std::uint32_t next_position = 0;
};

struct RenderContext {
  std::uint64_t seed = 0;  // of the run
  std::uint64_t arrival = 0;
  std::int64_t unix_ms = 0;                  // used only where uses_clock()
  std::span<const std::string_view> values;  // by slot; one without data is absent
};

enum class RenderFault : std::uint8_t {
  none,
  absent_value,  // the row has no such value
  forbidden,     // CR, LF or NUL in a header
};
/// "template_absent_value", "template_forbidden_byte": classes of errors; "none".
[[nodiscard]] std::string_view to_string(RenderFault fault) noexcept;

/// Immutable once compiled; any thread may render it.
class Template {
 public:
  using Errors = std::vector<options::GrammarError>;

  /// All that is wrong at once; columns are in bytes of `text`, from 1. Hints never quote a value.
  [[nodiscard]] static std::expected<Template, Errors> compile(std::string_view text, Place place,
                                                               Scope& scope);

  /// Nothing varies: literal() is the whole text.
  [[nodiscard]] bool is_literal() const noexcept { return pieces_.empty(); }
  [[nodiscard]] const std::string& literal() const noexcept { return literals_; }
  [[nodiscard]] bool uses_clock() const noexcept;
  /// The slots of its variables, rising, each once.
  [[nodiscard]] std::vector<std::uint32_t> slots() const;

  /// Appends the text; allocates only when `out` must grow. After a fault `out` is as it was.
  [[nodiscard]] RenderFault render(const RenderContext& context, std::string& out) const;

 private:
  friend class TemplateParser;
  enum class Kind : std::uint8_t { variable, seq, uuid, random, random_string, now_ms };
  enum class Guard : std::uint8_t { none, json_string, field, target };
  /// A piece that varies, and how much of literals_ precedes it.
  struct Piece {
    Kind kind = Kind::variable;
    Guard guard = Guard::none;
    std::uint32_t slot = 0;      // of a variable
    std::uint32_t position = 0;  // of a random function
    std::size_t literal_end = 0;
    std::int64_t low = 0;  // of random()
    std::uint64_t range =
        0;  // of random(): how many numbers, 0: all of 64 bits; length of a string
  };
  static RenderFault append_guarded(std::string_view value, Guard guard, std::string& out);
  static void append_function(const Piece& piece, const RenderContext& context, std::string& out);

  std::string literals_;
  std::vector<Piece> pieces_;
};

}  // namespace onbeat::document
