// RFC 4648, section 4.
#include "options/http_grammar.hpp"
#include "options/scan.hpp"

#include <array>
#include <cstdint>

namespace onbeat::options {
namespace {

constexpr std::string_view kLetters =
    "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";

constexpr std::array<std::int8_t, 256> decoding() {
  std::array<std::int8_t, 256> values{};
  values.fill(-1);
  for (std::size_t i = 0; i < kLetters.size(); ++i) {
    values[static_cast<unsigned char>(kLetters[i])] = static_cast<std::int8_t>(i);
  }
  return values;
}

}  // namespace

std::string base64_encode(std::string_view bytes) {
  std::string text;
  text.reserve((bytes.size() + 2) / 3 * 4);
  for (std::size_t at = 0; at < bytes.size(); at += 3) {
    std::uint32_t group = 0;
    for (std::size_t i = 0; i < 3; ++i) {
      group = group << 8 | (at + i < bytes.size() ? static_cast<unsigned char>(bytes[at + i]) : 0);
    }
    for (std::size_t i = 0; i < 4; ++i) {
      text += at + i > bytes.size() ? '=' : kLetters[group >> (18 - 6 * i) & 63];
    }
  }
  return text;
}

Parsing<std::string> base64_decode(std::string_view text) {
  static constexpr auto kValues = decoding();
  if (text.size() % 4 != 0) {
    return Scanner::fail_at(text.size(), "base64 comes in groups of four, padded with \"=\"");
  }
  std::string_view digits = text;
  for (int i = 0; i < 2 && digits.ends_with('='); ++i) digits.remove_suffix(1);
  std::string bytes;
  bytes.reserve(text.size() / 4 * 3);
  std::uint32_t group = 0;
  for (std::size_t i = 0; i < digits.size(); ++i) {
    const int value = kValues[static_cast<unsigned char>(digits[i])];
    if (value < 0) return Scanner::fail_at(i, "not a letter of base64");
    group = group << 6 | static_cast<std::uint32_t>(value);
    if (i % 4 == 3) {
      for (const int shift : {16, 8, 0}) bytes += static_cast<char>(group >> shift & 0xff);
    }
  }
  const std::size_t left = digits.size() % 4;
  if (left == 2) bytes += static_cast<char>(group >> 4 & 0xff);
  if (left == 3) {
    bytes += static_cast<char>(group >> 10 & 0xff);
    bytes += static_cast<char>(group >> 2 & 0xff);
  }
  return bytes;
}

}  // namespace onbeat::options
