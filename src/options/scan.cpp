#include "options/scan.hpp"

#include <fmt/format.h>

#include <charconv>
#include <cmath>

namespace onbeat::options {
namespace {

bool is_digit(char c) { return c >= '0' && c <= '9'; }
bool is_letter(char c) { return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '_'; }
bool is_word(char c) { return is_letter(c) || c == '%' || static_cast<unsigned char>(c) >= 0x80; }

bool same_letters(std::string_view text, std::string_view lower) {
  if (text.size() < lower.size()) return false;
  for (std::size_t i = 0; i < lower.size(); ++i) {
    if ((text[i] | 0x20) != lower[i]) return false;
  }
  return text.size() == lower.size() || !is_letter(text[lower.size()]);
}

}  // namespace

std::string quote(std::string_view text) {
  constexpr std::size_t kShown = 60;
  std::string shown = "\"";
  for (const char c : text.substr(0, kShown)) {
    const bool control = static_cast<unsigned char>(c) < 0x20 || c == 0x7f;
    shown += control ? '?' : c;
  }
  return shown + (text.size() > kShown ? "...\"" : "\"");
}

void Scanner::skip_spaces() {
  while (peek() == ' ' || peek() == '\t') ++at_;
}

bool Scanner::take(std::string_view expected) {
  if (!rest().starts_with(expected)) return false;
  at_ += expected.size();
  return true;
}

std::string_view Scanner::word() {
  const std::size_t start = at_;
  while (is_word(peek())) ++at_;
  return text_.substr(start, at_ - start);
}

std::string_view Scanner::name() {
  const std::size_t start = at_;
  if (!is_letter(peek())) return {};
  while (is_letter(peek()) || is_digit(peek())) ++at_;
  return text_.substr(start, at_ - start);
}

Parsing<double> Scanner::number(std::string_view what) {
  const std::size_t start = at_;
  const std::size_t sign = peek() == '-' || peek() == '+' ? 1 : 0;
  for (const std::string_view word : {"nan", "inf", "infinity", "unlimited"}) {
    if (same_letters(rest().substr(sign), word)) {
      return fail(fmt::format("{} must be a finite number, not {}", what,
                              rest().substr(0, sign + word.size())));
    }
  }
  if (peek() == '-') return fail(fmt::format("{} cannot be negative", what));
  if (!is_digit(peek())) {
    if (at_end()) return fail(fmt::format("{} is missing", what));
    return fail(
        fmt::format("{} starts with a digit, not with {}", what, quote(rest().substr(0, 1))));
  }
  std::string digits;
  const auto take_digits = [&] {
    while (is_digit(peek()) || (peek() == '_' && is_digit(peek(1)))) {
      if (peek() != '_') digits += peek();
      ++at_;
    }
  };
  take_digits();
  if (peek() == '.' && is_digit(peek(1))) {
    digits += '.';
    ++at_;
    take_digits();
  }
  const bool exponent_sign = peek(1) == '-' || peek(1) == '+';
  if ((peek() | 0x20) == 'e' && is_digit(peek(exponent_sign ? 2 : 1))) {
    digits += 'e';
    ++at_;
    if (exponent_sign) {
      digits += peek();
      ++at_;
    }
    take_digits();
  }
  double value = 0;
  const auto parsed = std::from_chars(digits.data(), digits.data() + digits.size(), value);
  if (parsed.ec != std::errc{} || !std::isfinite(value)) {
    return fail_at(start, fmt::format("{} of {} is out of range", what,
                                      quote(text_.substr(start, at_ - start))));
  }
  return value;
}

Parsing<std::string> Scanner::quoted() {
  const std::size_t start = at_;
  if (!take("\"")) return fail("a name in double quotes is missing");
  std::string text;
  while (!at_end()) {
    char c = text_[at_++];
    if (c == '"') return text;
    if (c == '\\' && (peek() == '"' || peek() == '\\')) c = text_[at_++];
    text += c;
  }
  return fail_at(start, "the closing quote is missing");
}

Parsing<bool> Scanner::expect_end(std::string_view after) {
  skip_spaces();
  if (at_end()) return true;
  return fail(fmt::format("{} does not belong after {}", quote(rest()), after));
}

}  // namespace onbeat::options
