#include "http/url.hpp"

#include <algorithm>
#include <cctype>
#include <charconv>

namespace onbeat::http {
namespace {

std::string lower(std::string_view text) {
  std::string result(text);
  std::ranges::transform(result, result.begin(),
                         [](unsigned char c) { return static_cast<char>(std::tolower(c)); });
  return result;
}

std::uint16_t default_port(std::string_view scheme) { return scheme == "https" ? 443 : 80; }

std::string bracketed(const std::string& host) {
  return host.find(':') == std::string::npos ? host : "[" + host + "]";
}

}  // namespace

std::string Url::authority() const {
  const std::string name = bracketed(host);
  return port == default_port(scheme) ? name : name + ":" + std::to_string(port);
}

std::string Url::to_string() const { return scheme + "://" + authority() + target; }

std::expected<Url, UrlError> parse_url(std::string_view text, bool with_templates) {
  for (std::size_t i = 0; i < text.size(); ++i) {
    if (with_templates && text.substr(i).starts_with("{{")) {
      const auto close = text.find("}}", i);
      if (close != std::string_view::npos) i = close;
      continue;
    }
    const auto c = static_cast<unsigned char>(text[i]);
    if (c <= 0x20 || c == 0x7f)
      return std::unexpected(UrlError{
          "a URL must not contain spaces or control characters; write them as %20 and so on", i});
  }
  Url url;
  std::size_t at = 0;
  if (const auto mark = text.find("://");
      mark != std::string_view::npos && mark < text.find_first_of("/?#") + 1) {
    url.scheme = lower(text.substr(0, mark));
    at = mark + 3;
  } else {
    url.scheme = "http";
  }
  if (url.scheme != "http" && url.scheme != "https")
    return std::unexpected(
        UrlError{"the scheme \"" + url.scheme + "\" is not known; use http or https", 0});

  const auto authority_end = std::min(text.find_first_of("/?#", at), text.size());
  std::string_view authority = text.substr(at, authority_end - at);
  if (const auto sign = authority.rfind('@'); sign != std::string_view::npos) {
    url.user = authority.substr(0, sign);
    authority.remove_prefix(sign + 1);
    at += sign + 1;
  }

  std::string_view port;
  if (authority.starts_with('[')) {
    const auto close = authority.find(']');
    if (close == std::string_view::npos)
      return std::unexpected(UrlError{"the IPv6 address lacks its \"]\"", at});
    url.host = authority.substr(1, close - 1);
    port = authority.substr(close + 1);
    if (!port.empty() && port[0] != ':')
      return std::unexpected(UrlError{"after \"]\" only \":port\" may follow", at + close + 1});
  } else {
    const auto colon = authority.find(':');
    url.host = authority.substr(0, colon);
    port = colon == std::string_view::npos ? std::string_view{} : authority.substr(colon);
  }
  if (url.host.empty())
    return std::unexpected(UrlError{"the host is missing: http://HOST[:PORT]/PATH", at});
  if (url.host.find_first_of("{}") != std::string::npos)
    return std::unexpected(
        UrlError{"the host cannot vary: connections are opened to it first", at});
  url.port = default_port(url.scheme);
  if (!port.empty()) {
    port.remove_prefix(1);
    unsigned value = 0;
    const auto [end, error] = std::from_chars(port.data(), port.data() + port.size(), value);
    if (error != std::errc{} || end != port.data() + port.size() || value == 0 || value > 65535)
      return std::unexpected(
          UrlError{"the port \"" + std::string(port) + "\" is not a number from 1 to 65535",
                   authority_end - port.size()});
    url.port = static_cast<std::uint16_t>(value);
  }

  std::string_view rest = text.substr(authority_end);
  if (const auto hash = rest.find('#'); !with_templates || rest.find("{{") > hash)
    rest = rest.substr(0, hash);
  if (!rest.starts_with('/')) url.target = "/";
  url.target += rest;
  return url;
}

std::string percent_decoded(std::string_view text) {
  std::string decoded;
  for (std::size_t i = 0; i < text.size(); ++i) {
    unsigned value = 0;
    if (text[i] == '%' && i + 2 < text.size() &&
        std::from_chars(&text[i + 1], &text[i + 3], value, 16).ptr == &text[i + 3]) {
      decoded += static_cast<char>(value);
      i += 2;
    } else {
      decoded += text[i];
    }
  }
  return decoded;
}

}  // namespace onbeat::http
