#include "grpc/message_reader.hpp"

#include <array>
#include <charconv>
#include <cmath>

namespace onbeat::grpc {

void JsonText::separate() {
  if (!first_) out_ += ',';
  first_ = false;
}

void JsonText::begin_object() {
  separate();
  out_ += '{';
  first_ = true;
}

void JsonText::key(std::string_view name) {
  separate();
  append_string(name);
  out_ += ':';
  first_ = true;
}

void JsonText::end_object() {
  out_ += '}';
  first_ = false;
}

void JsonText::begin_array() {
  separate();
  out_ += '[';
  first_ = true;
}

void JsonText::end_array() {
  out_ += ']';
  first_ = false;
}

void JsonText::null() {
  separate();
  out_ += "null";
}

void JsonText::boolean(bool value) {
  separate();
  out_ += value ? "true" : "false";
}

void JsonText::integer(std::int64_t value) {
  separate();
  std::array<char, 24> digits;
  out_.append(digits.data(), std::to_chars(digits.begin(), digits.end(), value).ptr);
}

void JsonText::real(double value) {
  separate();
  std::array<char, 32> digits;
  out_.append(digits.data(), std::to_chars(digits.begin(), digits.end(), value).ptr);
}

void JsonText::text(std::string_view value) {
  separate();
  append_string(value);
}

void JsonText::append_string(std::string_view value) {
  constexpr std::string_view kHex = "0123456789abcdef";
  out_ += '"';
  std::size_t begin = 0;  // of what needs no escape
  for (std::size_t i = 0; i < value.size(); ++i) {
    const auto byte = static_cast<unsigned char>(value[i]);
    if (byte >= 0x20 && byte != '"' && byte != '\\') continue;
    out_.append(value, begin, i - begin);
    begin = i + 1;
    out_ += '\\';
    if (byte == '\n') {
      out_ += 'n';
    } else if (byte < 0x20) {
      out_ += "u00";
      out_ += kHex[byte >> 4];
      out_ += kHex[byte & 15];
    } else {
      out_ += value[i];
    }
  }
  out_.append(value, begin);
  out_ += '"';
}

}  // namespace onbeat::grpc
