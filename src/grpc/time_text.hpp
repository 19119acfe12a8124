// Timestamp, Duration and FieldMask as JSON writes them
// (google/protobuf/{timestamp,duration,field_mask}.proto, "JSON Mapping").
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

namespace onbeat::grpc {

/// Both have a range of about 10,000 years; nanos of a duration have the sign of its seconds.
struct SecondsAndNanos {
  std::int64_t seconds = 0;
  std::int32_t nanos = 0;
};

/// RFC 3339, with 'Z' or an offset, up to 9 digits of a second: "2024-02-29T12:00:00.5Z".
[[nodiscard]] std::optional<SecondsAndNanos> parse_timestamp(std::string_view text) noexcept;
/// "3.5s", "-0.000000001s".
[[nodiscard]] std::optional<SecondsAndNanos> parse_duration(std::string_view text) noexcept;
/// With 0, 3, 6 or 9 digits of a second. Empty when out of range.
[[nodiscard]] std::string timestamp_text(SecondsAndNanos time);
[[nodiscard]] std::string duration_text(SecondsAndNanos duration);

/// A name of a field, or a path of names, from lowerCamelCase to the .proto file's spelling, and
/// back.
[[nodiscard]] std::string snake_case(std::string_view camel);
[[nodiscard]] std::string camel_case(std::string_view snake);

}  // namespace onbeat::grpc
