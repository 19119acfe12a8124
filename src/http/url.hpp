// http URLs as they are given on the command line.
#pragma once

#include <cstdint>
#include <expected>
#include <string>
#include <string_view>

namespace onbeat::http {

struct Url {
  std::string scheme;  // "http" or "https", lower case
  std::string user;    // "name:password", still percent-encoded; empty without
  std::string host;    // without brackets
  std::uint16_t port = 0;
  std::string target;  // path and query, byte for byte as given; "/" when empty

  /// As the Host field wants it: IPv6 in brackets, the port only when it is not the scheme's own
  /// (RFC 9110, 7.2).
  [[nodiscard]] std::string authority() const;
  /// Without user and password.
  [[nodiscard]] std::string to_string() const;
};

struct UrlError {
  std::string message;
  std::size_t column = 0;  // from 0
};

/// A missing scheme means http. Refused: other schemes, an empty host, bytes that may not stand in
/// a request line (space, control characters; `with_templates`: but inside {{...}}), ports outside
/// 1..65535. The fragment is dropped.
[[nodiscard]] std::expected<Url, UrlError> parse_url(std::string_view text,
                                                     bool with_templates = false);

/// %XX as the byte that it stands for; what is no such escape stays as it is.
[[nodiscard]] std::string percent_decoded(std::string_view text);

}  // namespace onbeat::http
