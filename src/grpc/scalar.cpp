#include "grpc/scalar.hpp"

#include "grpc/metadata.hpp"
#include "grpc/time_text.hpp"

#include <google/protobuf/descriptor.h>

#include <bit>
#include <charconv>
#include <cmath>
#include <cstring>
#include <limits>
#include <optional>

namespace onbeat::grpc {
namespace {

constexpr std::string_view kExpected[] = {
    "an int32 (-2147483648 to 2147483647)",
    "an int64",
    "a uint32 (0 to 4294967295)",
    "a uint64",
    "a sint32 (-2147483648 to 2147483647)",
    "a sint64",
    "a fixed32 (0 to 4294967295)",
    "a fixed64",
    "an sfixed32 (-2147483648 to 2147483647)",
    "an sfixed64",
    "a float",
    "a double",
    "true or false",
    "a name or a number of the enum",
    "a string in UTF-8",
    "bytes in base64",
    "a time as RFC 3339 has it (\"2024-01-31T12:00:00Z\")",
    "a duration (\"1.5s\")",
    "a field mask (\"user.displayName,photo\")",
};

std::string_view expected(ScalarKind kind) noexcept {
  return kExpected[static_cast<std::size_t>(kind)];
}

template <class Number>
void append_little(std::string& out, Number value) {
  static_assert(std::endian::native == std::endian::little);
  char bytes[sizeof value];
  std::memcpy(bytes, &value, sizeof value);
  out.append(bytes, sizeof value);
}

void append_sized(std::string& out, std::string_view bytes) {
  append_varint(out, bytes.size());
  out.append(bytes);
}

std::uint64_t zigzag(std::int64_t value) noexcept {
  return static_cast<std::uint64_t>(value) << 1 ^ static_cast<std::uint64_t>(value >> 63);
}

bool fits_int32(std::int64_t value) noexcept {
  return value >= std::numeric_limits<std::int32_t>::min() &&
         value <= std::numeric_limits<std::int32_t>::max();
}

/// Two fields, both left out when 0: Timestamp and Duration alike.
void append_time(SecondsAndNanos time, std::string& out) {
  std::string body;  // at most 21 bytes: within the string itself, or nearly
  if (time.seconds != 0) {
    body += '\x08';
    append_varint(body, static_cast<std::uint64_t>(time.seconds));
  }
  if (time.nanos != 0) {
    body += '\x10';
    append_varint(body, static_cast<std::uint64_t>(std::int64_t{time.nanos}));
  }
  append_sized(out, body);
}

void append_field_mask(std::string_view text, std::string& out) {
  std::string body;
  while (!text.empty()) {
    const std::size_t comma = text.find(',');
    body += '\x0a';
    append_sized(body, snake_case(text.substr(0, comma)));
    text.remove_prefix(comma == std::string_view::npos ? text.size() : comma + 1);
  }
  append_sized(out, body);
}

std::optional<double> parse_real(std::string_view text) noexcept {
  if (text == "NaN") return std::numeric_limits<double>::quiet_NaN();
  if (text == "Infinity") return std::numeric_limits<double>::infinity();
  if (text == "-Infinity") return -std::numeric_limits<double>::infinity();
  const bool starts_as_number =
      !text.empty() && (text[0] == '-' || (text[0] >= '0' && text[0] <= '9'));
  if (!starts_as_number || (text.size() > 1 && text[0] == '-' && text[1] == 'i')) return {};
  double value = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (error != std::errc{} || end != text.data() + text.size() || !std::isfinite(value)) return {};
  return value;
}

template <class Integer>
bool parse_whole(std::string_view text, Integer& value) noexcept {
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  return error == std::errc{} && end == text.data() + text.size();
}

std::string_view append_number_text(const Scalar& scalar, std::string_view text, std::string& out) {
  if (std::int64_t whole = 0; parse_whole(text, whole)) return append_integer(scalar, whole, out);
  if (std::uint64_t whole = 0; parse_whole(text, whole)) return append_unsigned(scalar, whole, out);
  const auto real = parse_real(text);
  return real ? append_real(scalar, *real, out) : expected(scalar.kind);
}

bool valid_utf8(std::string_view text) noexcept {
  for (std::size_t i = 0; i < text.size();) {
    const auto lead = static_cast<unsigned char>(text[i]);
    if (lead < 0x80) {
      ++i;
      continue;
    }
    const std::size_t size = lead >= 0xf0 ? 4 : lead >= 0xe0 ? 3 : 2;
    if (lead < 0xc2 || lead > 0xf4 || text.size() - i < size) return false;
    std::uint32_t point = lead & (0x7fU >> size);
    for (std::size_t k = 1; k < size; ++k) {
      const auto next = static_cast<unsigned char>(text[i + k]);
      if ((next & 0xc0) != 0x80) return false;
      point = point << 6 | (next & 0x3f);
    }
    constexpr std::uint32_t kLeast[] = {0x80, 0x800, 0x10000};
    if (point < kLeast[size - 2] || point > 0x10ffff || (point >= 0xd800 && point < 0xe000))
      return false;
    i += size;
  }
  return true;
}

}  // namespace

void append_varint(std::string& out, std::uint64_t value) {
  while (value >= 0x80) {
    out += static_cast<char>(value | 0x80);
    value >>= 7;
  }
  out += static_cast<char>(value);
}

std::string_view append_text(const Scalar& scalar, std::string_view text, std::string& out) {
  switch (scalar.kind) {
    case ScalarKind::text:
      if (!valid_utf8(text)) return expected(scalar.kind);
      append_sized(out, text);
      return {};
    case ScalarKind::bytes: {
      const auto bytes = decode_binary(text);
      if (!bytes) return expected(scalar.kind);
      append_sized(out, *bytes);
      return {};
    }
    case ScalarKind::boolean:
      if (text != "true" && text != "false") return expected(scalar.kind);
      out += text == "true" ? '\1' : '\0';
      return {};
    case ScalarKind::enumeration:
      if (const auto* value = scalar.values->FindValueByName(std::string(text))) {
        append_varint(out, static_cast<std::uint64_t>(std::int64_t{value->number()}));
        return {};
      }
      return append_number_text(scalar, text, out);
    case ScalarKind::timestamp: {
      const auto time = parse_timestamp(text);
      if (!time) return expected(scalar.kind);
      append_time(*time, out);
      return {};
    }
    case ScalarKind::duration: {
      const auto duration = parse_duration(text);
      if (!duration) return expected(scalar.kind);
      append_time(*duration, out);
      return {};
    }
    case ScalarKind::field_mask:
      append_field_mask(text, out);
      return {};
    default:
      return append_number_text(scalar, text, out);
  }
}

std::string_view expected_text(const Scalar& scalar) noexcept { return expected(scalar.kind); }

std::string_view append_boolean(const Scalar& scalar, bool value, std::string& out) {
  if (scalar.kind != ScalarKind::boolean) return expected(scalar.kind);
  out += value ? '\1' : '\0';
  return {};
}

std::string_view append_integer(const Scalar& scalar, std::int64_t value, std::string& out) {
  const auto as_unsigned = static_cast<std::uint64_t>(value);
  switch (scalar.kind) {
    case ScalarKind::int32:
    case ScalarKind::enumeration:
      if (!fits_int32(value)) return expected(scalar.kind);
      append_varint(out, as_unsigned);
      return {};
    case ScalarKind::int64:
      append_varint(out, as_unsigned);
      return {};
    case ScalarKind::sint32:
      if (!fits_int32(value)) return expected(scalar.kind);
      append_varint(out, zigzag(value));
      return {};
    case ScalarKind::sint64:
      append_varint(out, zigzag(value));
      return {};
    case ScalarKind::sfixed32:
      if (!fits_int32(value)) return expected(scalar.kind);
      append_little(out, static_cast<std::int32_t>(value));
      return {};
    case ScalarKind::sfixed64:
      append_little(out, value);
      return {};
    case ScalarKind::uint32:
    case ScalarKind::uint64:
    case ScalarKind::fixed32:
    case ScalarKind::fixed64:
      return value < 0 ? expected(scalar.kind) : append_unsigned(scalar, as_unsigned, out);
    case ScalarKind::real32:
    case ScalarKind::real64:
      return append_real(scalar, static_cast<double>(value), out);
    default:
      return expected(scalar.kind);
  }
}

std::string_view append_unsigned(const Scalar& scalar, std::uint64_t value, std::string& out) {
  switch (scalar.kind) {
    case ScalarKind::uint64:
      append_varint(out, value);
      return {};
    case ScalarKind::fixed64:
      append_little(out, value);
      return {};
    case ScalarKind::uint32:
    case ScalarKind::fixed32:
      if (value > std::numeric_limits<std::uint32_t>::max()) return expected(scalar.kind);
      if (scalar.kind == ScalarKind::uint32) {
        append_varint(out, value);
      } else {
        append_little(out, static_cast<std::uint32_t>(value));
      }
      return {};
    case ScalarKind::real32:
    case ScalarKind::real64:
      return append_real(scalar, static_cast<double>(value), out);
    default:
      if (value > static_cast<std::uint64_t>(std::numeric_limits<std::int64_t>::max()))
        return expected(scalar.kind);
      return append_integer(scalar, static_cast<std::int64_t>(value), out);
  }
}

std::string_view append_real(const Scalar& scalar, double value, std::string& out) {
  if (scalar.kind == ScalarKind::real64) {
    append_little(out, value);
    return {};
  }
  if (scalar.kind == ScalarKind::real32) {
    if (std::isfinite(value) && std::abs(value) > std::numeric_limits<float>::max())
      return expected(scalar.kind);
    append_little(out, static_cast<float>(value));
    return {};
  }
  // 1e3 and 5.0 are whole numbers too.
  if (value != std::trunc(value)) return expected(scalar.kind);
  if (value >= -0x1p63 && value < 0x1p63)
    return append_integer(scalar, static_cast<std::int64_t>(value), out);
  if (value >= 0 && value < 0x1p64)
    return append_unsigned(scalar, static_cast<std::uint64_t>(value), out);
  return expected(scalar.kind);
}

}  // namespace onbeat::grpc
