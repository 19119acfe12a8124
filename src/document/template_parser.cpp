#include "document/template_parser.hpp"

#include "document/json_tree.hpp"
#include "options/nearest.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <array>
#include <charconv>

namespace onbeat::document {
namespace {

constexpr std::array<std::string_view, 6> kFunctions{"seq",           "uuid",   "random",
                                                     "random_string", "now_ms", "env"};
constexpr std::string_view kFunctionsText =
    R"(functions are seq(), uuid(), random(1,100), random_string(16), now_ms(), env("NAME"))";
constexpr std::string_view kPlainBraces = R"(; \{{ stands for plain braces)";
constexpr std::int64_t kLongestRandomString = 1 << 16;

bool is_letter(char c) { return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '_'; }
bool is_digit(char c) { return c >= '0' && c <= '9'; }
bool is_blank(char c) { return c == ' ' || c == '\t'; }

std::string_view trimmed(std::string_view text) {
  while (!text.empty() && is_blank(text.front())) text.remove_prefix(1);
  while (!text.empty() && is_blank(text.back())) text.remove_suffix(1);
  return text;
}

/// The longest beginning that is a name, perhaps of several with dots between.
std::string_view leading_name(std::string_view text) {
  if (text.empty() || !is_letter(text.front())) return {};
  const auto end = std::ranges::find_if_not(
      text, [](char c) { return is_letter(c) || is_digit(c) || c == '.'; });
  return text.substr(0, static_cast<std::size_t>(end - text.begin()));
}

/// For messages: in double quotes, without control characters, a long tail left out.
std::string quote(std::string_view text) {
  constexpr std::size_t kLongest = 40;
  std::string quoted = "\"";
  for (const char c : text.substr(0, kLongest)) {
    quoted += static_cast<unsigned char>(c) < 0x20 || c == 0x7f ? '?' : c;
  }
  return quoted + (text.size() > kLongest ? "...\"" : "\"");
}

}  // namespace

std::expected<Template, Template::Errors> TemplateParser::parse() {
  while (at_ < text_.size()) {
    const std::size_t open = std::min(text_.find("{{", at_), text_.size());
    std::size_t backslashes = 0;
    while (backslashes < open - at_ && text_[open - 1 - backslashes] == '\\') ++backslashes;
    if (open < text_.size() && backslashes % 2 == 1) {
      literal(text_.substr(at_, open - 1 - at_));
      literal("{{");
      at_ = open + 2;
      continue;
    }
    literal(text_.substr(at_, open - at_));
    at_ = open;
    if (open == text_.size()) break;
    if (opens(open)) {
      placeholder();
    } else {
      literal(text_.substr(open, 1));
      ++at_;
    }
  }
  if (!errors_.empty()) return std::unexpected(std::move(errors_));
  return std::move(result_);
}

/// Whether the braces at `at` are meant as a placeholder: closed, and a name or a variable within.
bool TemplateParser::opens(std::size_t at) {
  const std::size_t end = closing(at + 2);
  if (end == std::string_view::npos) return false;
  const std::string_view inside = trimmed(text_.substr(at + 2, end - at - 2));
  return !leading_name(inside).empty() ||
         std::ranges::find(scope_.variables, inside) != scope_.variables.end();
}

/// The first "}}" at or after `at`, which never falls; npos: none.
std::size_t TemplateParser::closing(std::size_t at) {
  if (closing_ < at) closing_ = text_.find("}}", at);
  return closing_;
}

void TemplateParser::literal(std::string_view text) {
  if (place_ == Place::json_text) return append_json_escaped(text, result_.literals_);
  result_.literals_ += text;
  if (place_ != Place::json) return;
  for (const char c : text) {
    if (after_backslash_) {
      after_backslash_ = false;
    } else if (in_string_ && c == '\\') {
      after_backslash_ = true;
    } else if (c == '"') {
      in_string_ = !in_string_;
    }
  }
}

void TemplateParser::placeholder() {
  const std::size_t end = closing(at_ + 2);
  const std::string_view inside = trimmed(text_.substr(at_ + 2, end - at_ - 2));
  const auto inside_at = static_cast<std::size_t>(inside.data() - text_.data());
  const std::string_view name = leading_name(inside);
  at_ = inside_at + name.size();
  skip_blanks();
  const bool is_variable = std::ranges::find(scope_.variables, inside) != scope_.variables.end();
  if (!is_variable && peek() == '(') {
    if (call(name, inside_at)) return;
  } else if (is_variable || name.size() == inside.size()) {
    named(inside, inside_at);
  } else {
    fail(inside_at, fmt::format("{} is neither a variable nor a function", quote(inside)),
         std::string(R"({{user.id}} or {{uuid()}})") + std::string(kPlainBraces));
  }
  at_ = end + 2;
}

void TemplateParser::named(std::string_view name, std::size_t at) {
  const auto found = std::ranges::find(scope_.variables, name);
  if (found == scope_.variables.end()) {
    unknown_variable(name, at);
    return;
  }
  add({.kind = Kind::variable,
       .slot = static_cast<std::uint32_t>(found - scope_.variables.begin())});
}

void TemplateParser::unknown_variable(std::string_view name, std::size_t at) {
  const std::string_view source = name.substr(0, name.find('.'));
  if (std::ranges::find(scope_.unread, source) != scope_.unread.end()) return;
  constexpr std::size_t kMostShown = 8;
  const std::vector<std::string_view> known(scope_.variables.begin(), scope_.variables.end());
  std::string hint;
  if (std::ranges::find(kFunctions, name) != kFunctions.end()) {
    hint = fmt::format("a function needs parentheses: {{{{{}()}}}}", name);
  } else if (const auto nearest = options::nearest(name, known)) {
    hint = fmt::format("did you mean {}?", *nearest);
  } else if (known.empty()) {
    hint = "variables come from a data file" + std::string(kPlainBraces);
  } else {
    const std::span shown = std::span(known).first(std::min(known.size(), kMostShown));
    hint = fmt::format("there {} {}{}", known.size() == 1 ? "is" : "are", fmt::join(shown, ", "),
                       known.size() > kMostShown ? ", ..." : "");
  }
  fail(at, fmt::format("unknown variable {}", quote(name)), std::move(hint));
}

/// At the parenthesis. True: at_ is behind the closing braces; false: something was wrong.
bool TemplateParser::call(std::string_view name, std::size_t name_at) {
  Call call{.name = name, .name_at = name_at, .numbers = {}, .quoted = {}};
  if (std::ranges::find(kFunctions, name) == kFunctions.end()) {
    const auto nearest = options::nearest(name, kFunctions);
    fail(name_at, fmt::format("unknown function {}", quote(name)),
         nearest ? fmt::format("did you mean {}()?", *nearest) : std::string(kFunctionsText));
    return false;
  }
  ++at_;
  if (!arguments(call) || !closed()) return false;
  function(call);
  return true;
}

bool TemplateParser::arguments(Call& call) {
  skip_blanks();
  if (peek() == ')') {
    ++at_;
    return true;
  }
  while (true) {
    skip_blanks();
    if (!argument(call)) return false;
    skip_blanks();
    if (peek() == ')') {
      ++at_;
      return true;
    }
    if (peek() != ',') {
      fail(at_, "a comma or a closing parenthesis is expected");
      return false;
    }
    ++at_;
  }
}

bool TemplateParser::argument(Call& call) {
  if (peek() != '"') return number(call.numbers.emplace_back());
  const std::size_t close = text_.find('"', at_ + 1);
  if (close == std::string_view::npos) {
    fail(at_, "the text is not closed");
    return false;
  }
  call.quoted = text_.substr(at_ + 1, close - at_ - 1);
  at_ = close + 1;
  return true;
}

bool TemplateParser::number(std::int64_t& value) {
  const char* const begin = text_.data() + at_;
  const auto [end, error] = std::from_chars(begin, text_.data() + text_.size(), value);
  const bool whole = error == std::errc{} && !(end < text_.data() + text_.size() && *end == '.');
  if (!whole) {
    fail(at_, error == std::errc::result_out_of_range
                  ? "the number is too large"
                  : "a whole number or a text in double quotes is expected");
    return false;
  }
  at_ += static_cast<std::size_t>(end - begin);
  return true;
}

bool TemplateParser::closed() {
  skip_blanks();
  if (rest().starts_with("}}")) {
    at_ += 2;
    return true;
  }
  fail(at_, "}} is expected");
  return false;
}

void TemplateParser::function(const Call& call) {
  if (call.name == "random") return random(call);
  if (call.name == "random_string") return random_string(call);
  if (call.name == "env") return environment(call);
  if (!call.numbers.empty() || call.quoted) {
    fail(call.name_at, fmt::format("{} takes no arguments", call.name),
         fmt::format("{{{{{}()}}}}", call.name));
    return;
  }
  add({.kind = call.name == "seq" ? Kind::seq : call.name == "uuid" ? Kind::uuid : Kind::now_ms});
}

void TemplateParser::random(const Call& call) {
  if (call.numbers.size() != 2 || call.quoted) {
    fail(call.name_at, "random takes two whole numbers", "{{random(1,100)}}");
    return;
  }
  const std::int64_t low = call.numbers[0];
  const std::int64_t high = call.numbers[1];
  if (low > high) {
    fail(call.name_at, "random's first number is above its second",
         fmt::format("{{{{random({},{})}}}}", high, low));
    return;
  }
  // 0 when all of 64 bits are asked for.
  const std::uint64_t range =
      static_cast<std::uint64_t>(high) - static_cast<std::uint64_t>(low) + 1;
  add({.kind = Kind::random, .low = low, .range = range});
}

void TemplateParser::random_string(const Call& call) {
  if (call.numbers.size() != 1 || call.quoted || call.numbers[0] < 1 ||
      call.numbers[0] > kLongestRandomString) {
    fail(call.name_at, "random_string takes its length, from 1 to 65536", "{{random_string(16)}}");
    return;
  }
  add({.kind = Kind::random_string, .range = static_cast<std::uint64_t>(call.numbers[0])});
}

void TemplateParser::environment(const Call& call) {
  if (!call.quoted || call.quoted->empty() || !call.numbers.empty()) {
    fail(call.name_at, "env takes the name of an environment variable in double quotes",
         R"({{env("NAME")}})");
    return;
  }
  const auto value = scope_.environment ? scope_.environment(*call.quoted) : std::nullopt;
  if (!value) {
    fail(call.name_at, fmt::format("the environment variable {} is not set", quote(*call.quoted)));
    return;
  }
  if (Template::append_guarded(*value, guard(), result_.literals_) != RenderFault::none) {
    fail(call.name_at,
         fmt::format("the environment variable {} holds a line break or a NUL byte",
                     quote(*call.quoted)),
         "a header cannot");
  }
}

Template::Guard TemplateParser::guard() const {
  switch (place_) {
    case Place::json:
      return in_string_ ? Template::Guard::json_string : Template::Guard::none;
    case Place::json_text:
      return Template::Guard::json_string;
    case Place::field:
      return Template::Guard::field;
    case Place::target:
      return Template::Guard::target;
    case Place::text:
      break;
  }
  return Template::Guard::none;
}

void TemplateParser::add(Piece piece) {
  piece.guard = guard();
  piece.literal_end = result_.literals_.size();
  if (piece.kind != Kind::variable) piece.position = scope_.next_position++;
  result_.pieces_.push_back(piece);
}

void TemplateParser::fail(std::size_t at, std::string message, std::string hint) {
  errors_.push_back({std::move(message), at + 1, std::move(hint)});
}

void TemplateParser::skip_blanks() {
  while (is_blank(peek())) ++at_;
}

}  // namespace onbeat::document
