// Redirects (RFC 9110, 15.4).
#pragma once

#include "http/request.hpp"
#include "http/url.hpp"

#include <optional>
#include <string_view>

namespace onbeat::http {

/// Whether a status asks to go to its Location: 301, 302, 303, 307, 308.
[[nodiscard]] constexpr bool is_redirect(int status) noexcept {
  return status == 301 || status == 302 || status == 303 || status == 307 || status == 308;
}

/// Where a Location leads from `base` (RFC 3986, 5.2); nothing when it is empty or no http URL.
[[nodiscard]] std::optional<Url> resolve_reference(const Url& base, std::string_view location);

/// The request that follows `sent` (its bytes on the wire, to `from`) after `status`: 307 and 308
/// repeat method and body; 303, and 301 and 302 after POST, become GET without one. Host is that of
/// `to`; credentials and the user's own Host do not go to another origin. Of `form` counts what a
/// proxy wants on the way to `to`: the absolute target, and its Proxy-Authorization, which goes
/// nowhere else.
[[nodiscard]] Request redirected(std::string_view sent, int status, const Url& from, const Url& to,
                                 const RequestForm& form = {});

}  // namespace onbeat::http
