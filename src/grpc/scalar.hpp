// Single values of fields, from the text or the number that stands for them in JSON to the bytes of
// the wire format (protobuf.dev/programming-guides/encoding). For the files that make messages.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

namespace google::protobuf {
class EnumDescriptor;
class FieldDescriptor;
}  // namespace google::protobuf

namespace onbeat::grpc {

/// What a value must become. Messages whose JSON is a string are values too.
enum class ScalarKind : std::uint8_t {
  int32,
  int64,
  uint32,
  uint64,
  sint32,
  sint64,
  fixed32,
  fixed64,
  sfixed32,
  sfixed64,
  real32,
  real64,
  boolean,
  enumeration,
  text,
  bytes,
  timestamp,
  duration,
  field_mask,
};

struct Scalar {
  ScalarKind kind = ScalarKind::text;
  const google::protobuf::EnumDescriptor* values = nullptr;  // of an enumeration
};

void append_varint(std::string& out, std::uint64_t value);

/// Appends the value without its tag: for text, bytes and the messages with their length. Empty:
/// done; else what was expected instead ("an int32"), and `out` is as it was.
[[nodiscard]] std::string_view append_text(const Scalar& scalar, std::string_view text,
                                           std::string& out);
[[nodiscard]] std::string_view append_boolean(const Scalar& scalar, bool value, std::string& out);
[[nodiscard]] std::string_view append_integer(const Scalar& scalar, std::int64_t value,
                                              std::string& out);
[[nodiscard]] std::string_view append_unsigned(const Scalar& scalar, std::uint64_t value,
                                               std::string& out);
[[nodiscard]] std::string_view append_real(const Scalar& scalar, double value, std::string& out);
/// What is expected of it, in words.
[[nodiscard]] std::string_view expected_text(const Scalar& scalar) noexcept;

}  // namespace onbeat::grpc
