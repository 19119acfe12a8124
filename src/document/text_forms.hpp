// Forms that texts may have: UUIDs, addresses, times. Pure functions, no allocation.
#pragma once

#include <cstdint>
#include <optional>
#include <string_view>

namespace onbeat::document {

[[nodiscard]] bool is_uuid(std::string_view text) noexcept;      // RFC 9562, any version
[[nodiscard]] int uuid_version(std::string_view text) noexcept;  // 0: no UUID
[[nodiscard]] bool is_email(std::string_view text) noexcept;     // local@domain, as mail is sent
[[nodiscard]] int ip_version(std::string_view text) noexcept;    // 4, 6; 0: no address
[[nodiscard]] bool is_base64(std::string_view text) noexcept;    // RFC 4648, with its padding
[[nodiscard]] std::size_t code_points(std::string_view text) noexcept;

/// The parts of an absolute URL (RFC 3986); a part that is absent is empty and has no data.
struct UrlParts {
  std::string_view scheme, host, port, path, query, fragment;
};
[[nodiscard]] std::optional<UrlParts> url_parts(std::string_view text) noexcept;

/// Nanoseconds since 1970 (UTC) of an RFC 3339 time, or of a date alone when `date_too`; nothing
/// outside the years 1678 to 2261.
[[nodiscard]] std::optional<std::int64_t> parse_timestamp(std::string_view text,
                                                          bool date_too = false) noexcept;

}  // namespace onbeat::document
