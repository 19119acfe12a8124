#include "document/json_line.hpp"

namespace onbeat::document {
namespace {

constexpr int kDeepest = 256;

bool is_digit(char c) noexcept { return c >= '0' && c <= '9'; }

int hex_value(char c) noexcept {
  if (is_digit(c)) return c - '0';
  if (c >= 'a' && c <= 'f') return c - 'a' + 10;
  if (c >= 'A' && c <= 'F') return c - 'A' + 10;
  return -1;
}

bool is_high(unsigned unit) noexcept { return unit >= 0xd800 && unit <= 0xdbff; }
bool is_low(unsigned unit) noexcept { return unit >= 0xdc00 && unit <= 0xdfff; }

void append_code_point(unsigned code, std::string& out) {
  const auto byte = [&](unsigned value) { out += static_cast<char>(value); };
  if (code < 0x80) {
    byte(code);
  } else if (code < 0x800) {
    byte(0xc0 | code >> 6);
    byte(0x80 | (code & 0x3f));
  } else if (code < 0x10000) {
    byte(0xe0 | code >> 12);
    byte(0x80 | (code >> 6 & 0x3f));
    byte(0x80 | (code & 0x3f));
  } else {
    byte(0xf0 | code >> 18);
    byte(0x80 | (code >> 12 & 0x3f));
    byte(0x80 | (code >> 6 & 0x3f));
    byte(0x80 | (code & 0x3f));
  }
}

unsigned code_unit(std::string_view four) noexcept {
  unsigned value = 0;
  for (const char c : four) value = value * 16 + static_cast<unsigned>(hex_value(c));
  return value;
}

}  // namespace

bool JsonWalk::fail(std::string_view fault) noexcept {
  fault_ = fault;
  return false;
}

void JsonWalk::skip_blanks() noexcept {
  while (peek() == ' ' || peek() == '\t' || peek() == '\r') ++at_;
}

bool JsonWalk::begin() noexcept {
  skip_blanks();
  if (peek() == '[') return fail("an array stands where an object is expected");
  if (peek() != '{') return fail("an object is expected");
  ++at_;
  started_ = true;
  skip_blanks();
  return peek() == '}' ? finish() : true;
}

/// The end of the object: nothing but blanks may follow. False, as there is no further member.
bool JsonWalk::finish() noexcept {
  ++at_;
  skip_blanks();
  if (at_ != line_.size()) fail("something follows the object; each line holds one");
  return false;
}

bool JsonWalk::next(JsonMember& member) noexcept {
  if (!fault_.empty() || at_ == line_.size()) {
    return started_ || !fault_.empty() ? false : fail("an object is expected");
  }
  if (!started_) {
    if (!begin()) return false;
  } else {
    skip_blanks();
    if (peek() == '}') return finish();
    if (peek() != ',') return fail("a comma or } is expected");
    ++at_;
    skip_blanks();
  }
  if (peek() != '"') return fail("a key in double quotes is expected");
  member.key_at = at_;
  if (!text(member.key, member.key_escaped)) return false;
  skip_blanks();
  if (peek() != ':') return fail("a colon is expected");
  ++at_;
  skip_blanks();
  member.is_text = peek() == '"';
  member.escaped = false;
  if (member.is_text) {
    if (!text(member.value, member.escaped)) return false;
  } else {
    const std::size_t begin = at_;
    if (!skip_value(0)) return false;
    member.value = line_.substr(begin, at_ - begin);
  }
  skip_blanks();
  if (at_ == line_.size()) return fail("the object is not closed");
  return true;
}

bool JsonWalk::text(std::string_view& between, bool& escaped) noexcept {
  const std::size_t open = at_++;
  escaped = false;
  while (at_ < line_.size()) {
    const char c = line_[at_];
    if (c == '"') {
      between = line_.substr(open + 1, at_ - open - 1);
      ++at_;
      return true;
    }
    if (static_cast<unsigned char>(c) < 0x20) {
      return fail("a control character must be escaped in a text");
    }
    if (c == '\\') {
      escaped = true;
      if (!escape()) return false;
    } else {
      ++at_;
    }
  }
  at_ = open;
  return fail("the text is not closed");
}

bool JsonWalk::escape() noexcept {
  const std::size_t begin = at_++;
  if (peek() != 'u') {
    if (at_ < line_.size() && std::string_view("\"\\/bfnrt").contains(line_[at_])) {
      ++at_;
      return true;
    }
    at_ = begin;
    return fail("unknown escape");
  }
  ++at_;
  unsigned unit = 0;
  unsigned low = 0;
  bool sound = hex_digits(unit) && !is_low(unit);
  if (sound && is_high(unit)) {
    sound = line_.substr(at_).starts_with("\\u");
    if (sound) at_ += 2;
    sound = sound && hex_digits(low) && is_low(low);
  }
  if (sound) return true;
  at_ = begin;
  return fail("the escape is not a Unicode character");
}

bool JsonWalk::hex_digits(unsigned& value) noexcept {
  if (line_.size() - at_ < 4) return false;
  for (std::size_t i = 0; i < 4; ++i) {
    if (hex_value(line_[at_ + i]) < 0) return false;
  }
  value = code_unit(line_.substr(at_, 4));
  at_ += 4;
  return true;
}

bool JsonWalk::number() noexcept {
  const auto digits = [this] {
    const std::size_t begin = at_;
    while (is_digit(peek())) ++at_;
    return at_ > begin;
  };
  if (peek() == '-') ++at_;
  if (peek() == '0') {
    ++at_;
  } else if (!digits()) {
    return fail("a value is expected");
  }
  if (peek() == '.') {
    ++at_;
    if (!digits()) return fail("a digit is expected");
  }
  if (peek() == 'e' || peek() == 'E') {
    ++at_;
    if (peek() == '+' || peek() == '-') ++at_;
    if (!digits()) return fail("a digit is expected");
  }
  return true;
}

bool JsonWalk::word(std::string_view expected) noexcept {
  if (!line_.substr(at_).starts_with(expected)) return fail("a value is expected");
  at_ += expected.size();
  return true;
}

bool JsonWalk::skip_value(int depth) noexcept {
  std::string_view between;
  bool escaped = false;
  switch (peek()) {
    case '"':
      return text(between, escaped);
    case '{':
    case '[':
      return skip_nested(depth);
    case 't':
      return word("true");
    case 'f':
      return word("false");
    case 'n':
      return word("null");
    default:
      return number();
  }
}

bool JsonWalk::skip_nested(int depth) noexcept {
  if (depth == kDeepest) return fail("the value is nested too deeply");
  const bool is_object = peek() == '{';
  const char close = is_object ? '}' : ']';
  std::string_view between;
  bool escaped = false;
  ++at_;
  skip_blanks();
  if (peek() == close) {
    ++at_;
    return true;
  }
  while (true) {
    skip_blanks();
    if (is_object) {
      if (peek() != '"') return fail("a key in double quotes is expected");
      if (!text(between, escaped)) return false;
      skip_blanks();
      if (peek() != ':') return fail("a colon is expected");
      ++at_;
      skip_blanks();
    }
    if (!skip_value(depth + 1)) return false;
    skip_blanks();
    if (peek() == close) {
      ++at_;
      return true;
    }
    if (peek() != ',')
      return fail(is_object ? "a comma or } is expected" : "a comma or ] is expected");
    ++at_;
  }
}

void append_unescaped(std::string_view text, std::string& out) {
  for (std::size_t i = 0; i < text.size(); ++i) {
    if (text[i] != '\\') {
      out += text[i];
      continue;
    }
    switch (const char c = text[++i]) {
      case 'b':
        out += '\b';
        break;
      case 'f':
        out += '\f';
        break;
      case 'n':
        out += '\n';
        break;
      case 'r':
        out += '\r';
        break;
      case 't':
        out += '\t';
        break;
      case 'u': {
        unsigned code = code_unit(text.substr(i + 1, 4));
        i += 4;
        if (is_high(code)) {
          code = 0x10000 + ((code - 0xd800) << 10) + (code_unit(text.substr(i + 3, 4)) - 0xdc00);
          i += 6;
        }
        append_code_point(code, out);
        break;
      }
      default:
        out += c;
    }
  }
}

}  // namespace onbeat::document
