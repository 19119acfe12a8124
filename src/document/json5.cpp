#include "document/json5.hpp"

#include "document/utf8.hpp"

#include <fmt/format.h>

#include <charconv>
#include <cmath>
#include <limits>
#include <optional>
#include <set>
#include <utility>

namespace onbeat::document {
namespace {

using Kind = Json5Token::Kind;

bool is_digit(char c) { return c >= '0' && c <= '9'; }

void append_utf8(std::uint32_t code, std::string& out) {
  const auto put = [&](std::uint32_t byte) { out += static_cast<char>(byte); };
  if (code < 0x80) {
    put(code);
  } else if (code < 0x800) {
    put(0xc0 | (code >> 6));
    put(0x80 | (code & 0x3f));
  } else if (code < 0x10000) {
    put(0xe0 | (code >> 12));
    put(0x80 | ((code >> 6) & 0x3f));
    put(0x80 | (code & 0x3f));
  } else {
    put(0xf0 | (code >> 18));
    put(0x80 | ((code >> 12) & 0x3f));
    put(0x80 | ((code >> 6) & 0x3f));
    put(0x80 | (code & 0x3f));
  }
}

std::optional<std::uint32_t> hex(std::string_view digits, std::size_t count) {
  std::uint32_t code = 0;
  const char* const end = digits.data() + std::min(count, digits.size());
  const auto [stop, error] = std::from_chars(digits.data(), end, code, 16);
  if (digits.size() < count || error != std::errc{} || stop != end) return std::nullopt;
  return code;
}

/// Takes the escape behind a backslash off `rest`. Empty when all is well.
std::string_view append_escape(std::string_view& rest, std::string& out) {
  constexpr std::string_view kFrom = "bfnrtv0";
  constexpr std::string_view kTo("\b\f\n\r\t\v\0", 7);
  const char c = rest[0];
  rest.remove_prefix(1);
  if (c == '\n') return {};  // the line goes on
  if (c == 'u' || c == 'x') {
    const std::size_t digits = c == 'u' ? 4 : 2;
    auto code = hex(rest, digits);
    if (!code)
      return c == 'u' ? "\\u needs four hexadecimal digits" : "\\x needs two hexadecimal digits";
    rest.remove_prefix(digits);
    if (*code >= 0xd800 && *code < 0xdc00 && rest.starts_with("\\u")) {
      const auto low = hex(rest.substr(2), 4);
      if (low && *low >= 0xdc00 && *low < 0xe000) {
        code = 0x10000 + ((*code - 0xd800) << 10) + (*low - 0xdc00);
        rest.remove_prefix(6);
      }
    }
    if (*code >= 0xd800 && *code < 0xe000) return "half of a surrogate pair is no character";
    append_utf8(*code, out);
    return {};
  }
  const std::size_t found = kFrom.find(c);
  if (c == '0' && !rest.empty() && is_digit(rest[0])) return "octal escapes are not known";
  if (c >= '1' && c <= '9') return "a digit cannot be escaped";
  out += found == std::string_view::npos ? c : kTo[found];
  return {};
}

class Parser {
 public:
  Parser(std::string_view text, std::uint32_t base) : text_(text), base_(base), lexer_(text) {}

  Json5Body body() {
    advance();
    while (token_.kind != Kind::end) {
      JsonTree tree;
      tree_ = &tree;
      if (value(0) && ends_line()) {
        body_.values.push_back(std::move(tree));
      } else {
        recover();
      }
    }
    return std::move(body_);
  }

 private:
  /// To the next token that means something.
  void advance() {
    broke_ = false;
    while (true) {
      token_ = lexer_.next();
      if (token_.kind == Kind::line_break) broke_ = true;
      if (token_.kind == Kind::comment && token_.text.find('\n') != std::string_view::npos)
        broke_ = true;
      if (token_.kind != Kind::line_break && token_.kind != Kind::comment) return;
    }
  }

  bool fail(std::string message, std::string hint = {}) {
    return fail_at(lexer_.offset_of(token_), std::move(message), std::move(hint));
  }
  bool fail_at(std::size_t offset, std::string message, std::string hint = {}) {
    body_.faults.push_back({base_ + offset, std::move(message), std::move(hint)});
    return false;
  }
  /// In the place of what is expected.
  bool unexpected(std::string_view expected) {
    if (token_.kind == Kind::fault) return fail(std::string(lexer_.fault()));
    if (token_.kind == Kind::end)
      return fail(fmt::format("{} is expected, the section ends", expected));
    return fail(fmt::format("{} is expected", expected));
  }

  bool ends_line() {
    if (broke_ || token_.kind == Kind::end) return true;
    if (token_.is(','))
      return fail("a comma between two messages", "each message begins on a line of its own");
    if (token_.kind == Kind::fault) return unexpected("");
    return fail("something follows the value", "each message begins on a line of its own");
  }

  /// After a fault: to the next line that begins with a bracket at its very beginning.
  void recover() {
    while (token_.kind != Kind::end) {
      const std::size_t at = lexer_.offset_of(token_);
      if (at > 0 && text_[at - 1] == '\n' && (token_.is('{') || token_.is('['))) return;
      advance();
    }
  }

  void stamp() { tree_->set_offset(base_ + static_cast<std::uint32_t>(lexer_.offset_of(token_))); }

  bool value(int depth) {
    stamp();
    if (token_.is('{') || token_.is('[')) {
      if (depth >= kDeepestJson) {
        return fail(fmt::format("nested deeper than {} levels", kDeepestJson));
      }
      return token_.is('{') ? object(depth) : array(depth);
    }
    if (token_.kind == Kind::text) {
      const std::size_t offset = tree_offset();
      std::string text;
      if (!unquote(text)) return false;
      tree_->set_offset(static_cast<std::uint32_t>(offset));
      tree_->text(text);
      advance();
      return true;
    }
    if (token_.kind != Kind::word) return unexpected("a value");
    return word();
  }

  std::size_t tree_offset() const { return base_ + lexer_.offset_of(token_); }

  bool unquote(std::string& out) {
    const std::size_t bad = invalid_utf8(token_.text);
    if (bad != std::string_view::npos) {
      return fail_at(lexer_.offset_of(token_) + bad, "the text is not UTF-8");
    }
    std::string_view rest = token_.text.substr(1, token_.text.size() - 2);
    while (!rest.empty()) {
      const std::size_t escape = std::min(rest.find('\\'), rest.size());
      out += rest.substr(0, escape);
      rest.remove_prefix(escape);
      if (rest.empty()) break;
      const auto at = static_cast<std::size_t>(rest.data() - text_.data());
      rest.remove_prefix(1);
      if (const auto fault = append_escape(rest, out); !fault.empty()) {
        return fail_at(at, std::string(fault));
      }
    }
    return true;
  }

  bool array(int depth) {
    const std::size_t open = lexer_.offset_of(token_);
    tree_->begin_array();
    advance();
    while (!token_.is(']')) {
      if (token_.kind == Kind::end) return fail_at(open, "the bracket is not closed");
      if (!value(depth + 1) || !separator(']', open)) return false;
    }
    tree_->end();
    advance();
    return true;
  }

  bool object(int depth) {
    const std::size_t open = lexer_.offset_of(token_);
    std::set<std::string, std::less<>> keys;
    tree_->begin_object();
    advance();
    while (!token_.is('}')) {
      if (token_.kind == Kind::end) return fail_at(open, "the brace is not closed");
      std::string key;
      if (!key_text(key)) return false;
      if (!keys.insert(key).second) return fail(fmt::format("the key {} stands twice", key));
      tree_->key(key);
      advance();
      if (!token_.is(':')) return unexpected("a colon");
      advance();
      if (!value(depth + 1) || !separator('}', open)) return false;
    }
    tree_->end();
    advance();
    return true;
  }

  bool key_text(std::string& key) {
    if (token_.kind == Kind::text) return unquote(key);
    if (token_.kind != Kind::word) return unexpected("a key");
    if (invalid_utf8(token_.text) != std::string_view::npos) return fail("the key is not UTF-8");
    const auto is_name = [](char c) {
      return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || is_digit(c) || c == '_' ||
             c == '$' || static_cast<unsigned char>(c) >= 0x80;
    };
    for (const char c : token_.text) {
      if (!is_name(c)) return fail("the key needs quotes", fmt::format("\"{}\"", token_.text));
    }
    if (is_digit(token_.text[0]))
      return fail("the key needs quotes", fmt::format("\"{}\"", token_.text));
    key = token_.text;
    return true;
  }

  bool separator(char closing, std::size_t open) {
    if (token_.is(closing)) return true;
    if (token_.kind == Kind::end) {
      return fail_at(open,
                     closing == ']' ? "the bracket is not closed" : "the brace is not closed");
    }
    if (!token_.is(',')) return unexpected(closing == ']' ? "a comma or ]" : "a comma or }");
    advance();
    return true;
  }

  bool word() {
    const std::string_view text = token_.text;
    if (text == "null") {
      tree_->null();
    } else if (text == "true" || text == "false") {
      tree_->boolean(text == "true");
    } else if (!number(text)) {
      const bool numeric = is_digit(text[0]) || text[0] == '-' || text[0] == '+' || text[0] == '.';
      return numeric ? fail("the number is not well-formed")
                     : fail(fmt::format("{} is no value", text), "texts need quotes");
    }
    advance();
    return true;
  }

  bool number(std::string_view text) {
    const bool negative = text.starts_with('-');
    if (negative || text.starts_with('+')) text.remove_prefix(1);
    const double sign = negative ? -1 : 1;
    if (text == "Infinity" || text == "NaN") {
      tree_->real(sign * (text == "NaN" ? std::numeric_limits<double>::quiet_NaN()
                                        : std::numeric_limits<double>::infinity()));
      return true;
    }
    const bool is_hex = text.starts_with("0x") || text.starts_with("0X");
    const auto digit = [&](char c) {
      return is_digit(c) || (is_hex && std::string_view("abcdefABCDEF").find(c) != text.npos);
    };
    std::string digits;
    for (std::size_t i = 0; i < text.size(); ++i) {
      if (text[i] != '_') {
        digits += text[i];
      } else if (i == 0 || i + 1 == text.size() || !digit(text[i - 1]) || !digit(text[i + 1])) {
        return false;
      }
    }
    if (is_hex) digits.erase(0, 2);
    if (digits == ".") return false;
    if (digits.empty() || (!is_hex && !is_digit(digits[0]) && digits[0] != '.')) return false;
    const char* const end = digits.data() + digits.size();
    std::uint64_t whole = 0;
    if (const auto [stop, error] = std::from_chars(digits.data(), end, whole, is_hex ? 16 : 10);
        error == std::errc{} && stop == end) {
      return integer(whole, negative);
    }
    if (is_hex) return false;
    if (!is_digit(digits.back()) && digits.back() != '.') return false;
    if (digits.back() == '.') digits += '0';
    if (digits[0] == '.') digits.insert(0, 1, '0');
    double real = 0;
    const char* const last = digits.data() + digits.size();
    const auto [stop, error] = std::from_chars(digits.data(), last, real);
    if (stop != last || error == std::errc::invalid_argument) return false;
    if (error == std::errc::result_out_of_range) real = std::strtod(digits.c_str(), nullptr);
    tree_->real(sign * real);
    return true;
  }

  bool integer(std::uint64_t whole, bool negative) {
    constexpr std::uint64_t kLowest = std::uint64_t{1} << 63;
    if (!negative) {
      tree_->natural(whole);
    } else if (whole == 0) {
      tree_->real(-0.0);
    } else if (whole <= kLowest) {
      tree_->integer(static_cast<std::int64_t>(0 - whole));
    } else {
      tree_->real(-static_cast<double>(whole));
    }
    return true;
  }

  std::string_view text_;
  std::uint32_t base_;
  Json5Lexer lexer_;
  Json5Token token_;
  bool broke_ = false;
  JsonTree* tree_ = nullptr;
  Json5Body body_;
};

}  // namespace

Json5Body parse_json5(std::string_view text, std::uint32_t base) {
  return Parser(text, base).body();
}

}  // namespace onbeat::document
