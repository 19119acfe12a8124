// Status codes of gRPC, and what stands for one when the peer has not said it: an HTTP status, or
// the error with which a stream was reset.
// Sources: grpc/doc/statuscodes.md, http-grpc-status-mapping.md, PROTOCOL-HTTP2.md ("Errors").
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

namespace onbeat::grpc {

enum class StatusCode : std::uint8_t {
  ok = 0,
  cancelled = 1,
  unknown = 2,
  invalid_argument = 3,
  deadline_exceeded = 4,
  not_found = 5,
  already_exists = 6,
  permission_denied = 7,
  resource_exhausted = 8,
  failed_precondition = 9,
  aborted = 10,
  out_of_range = 11,
  unimplemented = 12,
  internal = 13,
  unavailable = 14,
  data_loss = 15,
  unauthenticated = 16,
};
inline constexpr int kStatusCodes = 17;

/// "OK", "NotFound", "DeadlineExceeded".
[[nodiscard]] std::string_view to_string(StatusCode code) noexcept;

/// The value of grpc-status. A number that is no known code is `unknown`, as the protocol has it;
/// what is no number is nothing.
[[nodiscard]] std::optional<StatusCode> parse_status(std::string_view text) noexcept;

/// For a response without grpc-status.
[[nodiscard]] StatusCode from_http_status(int status) noexcept;

/// For a stream that ended with RST_STREAM(error_code) (RFC 9113, 7).
[[nodiscard]] StatusCode from_reset(std::uint32_t error_code) noexcept;

/// grpc-message: percent-decoded. An escape that is none stays as it is.
[[nodiscard]] std::string decode_message(std::string_view text);

}  // namespace onbeat::grpc
