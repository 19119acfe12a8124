// Secrets are taken out here, once, when a report is filled: no writer ever sees them.
#pragma once

#include "run/report.hpp"

#include <string>
#include <string_view>

namespace onbeat::run {

/// What stands in a secret's place.
inline constexpr std::string_view kRedacted = "***";

/// The password of the user info, and the values of query parameters that are named like keys
/// (token, api_key, password, signature, ...), replaced; the rest byte for byte. Any text is
/// accepted, URL or not.
[[nodiscard]] std::string redact_url(std::string_view url);

/// Whether the value of a header of that name is a secret: Authorization, Proxy-Authorization,
/// Cookie, Set-Cookie, and names with api-key, token, secret or password in them. Letters in any
/// case.
[[nodiscard]] bool is_secret_header(std::string_view name);
/// "Name: value", with the value replaced when it is a secret; other values are redacted as URLs.
[[nodiscard]] std::string redact_header(std::string_view line);

/// An option as the report may show it: headers, users, tokens and everything with a URL in it.
[[nodiscard]] OptionValue redact(OptionValue option);

}  // namespace onbeat::run
