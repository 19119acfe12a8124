#include "grpc/status.hpp"

#include <array>
#include <charconv>

namespace onbeat::grpc {
namespace {

constexpr std::array<std::string_view, kStatusCodes> kNames{
    "OK",       "Cancelled",      "Unknown",          "InvalidArgument",   "DeadlineExceeded",
    "NotFound", "AlreadyExists",  "PermissionDenied", "ResourceExhausted", "FailedPrecondition",
    "Aborted",  "OutOfRange",     "Unimplemented",    "Internal",          "Unavailable",
    "DataLoss", "Unauthenticated"};

int hex_digit(char letter) noexcept {
  if (letter >= '0' && letter <= '9') return letter - '0';
  if (letter >= 'a' && letter <= 'f') return letter - 'a' + 10;
  if (letter >= 'A' && letter <= 'F') return letter - 'A' + 10;
  return -1;
}

}  // namespace

std::string_view to_string(StatusCode code) noexcept {
  return kNames[static_cast<std::size_t>(code)];
}

std::optional<StatusCode> parse_status(std::string_view text) noexcept {
  unsigned number = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), number);
  if (error == std::errc::invalid_argument || end != text.data() + text.size()) return {};
  if (error != std::errc{} || number >= kStatusCodes) return StatusCode::unknown;
  return static_cast<StatusCode>(number);
}

StatusCode from_http_status(int status) noexcept {
  switch (status) {
    case 400:
      return StatusCode::internal;
    case 401:
      return StatusCode::unauthenticated;
    case 403:
      return StatusCode::permission_denied;
    case 404:
      return StatusCode::unimplemented;
    case 429:
    case 502:
    case 503:
    case 504:
      return StatusCode::unavailable;
    default:
      return StatusCode::unknown;
  }
}

StatusCode from_reset(std::uint32_t error_code) noexcept {
  switch (error_code) {
    case 0x7:  // REFUSED_STREAM
      return StatusCode::unavailable;
    case 0x8:  // CANCEL
      return StatusCode::cancelled;
    case 0xb:  // ENHANCE_YOUR_CALM
      return StatusCode::resource_exhausted;
    case 0xc:  // INADEQUATE_SECURITY
      return StatusCode::permission_denied;
    case 0x5:  // STREAM_CLOSED
    case 0xd:  // HTTP_1_1_REQUIRED
      return StatusCode::unknown;
    default:
      return error_code < 0xe ? StatusCode::internal : StatusCode::unknown;
  }
}

std::string decode_message(std::string_view text) {
  std::string decoded;
  decoded.reserve(text.size());
  for (std::size_t i = 0; i < text.size(); ++i) {
    if (text[i] == '%' && i + 2 < text.size()) {
      const int high = hex_digit(text[i + 1]);
      const int low = hex_digit(text[i + 2]);
      if (high >= 0 && low >= 0) {
        decoded += static_cast<char>(high * 16 + low);
        i += 2;
        continue;
      }
    }
    decoded += text[i];
  }
  return decoded;
}

}  // namespace onbeat::grpc
