#include "http/redirect.hpp"

#include <algorithm>
#include <array>
#include <string>
#include <vector>

namespace onbeat::http {
namespace {

constexpr std::string_view kProxyAuthorization = "Proxy-Authorization";

bool same_origin(const Url& a, const Url& b) {
  return a.scheme == b.scheme && a.host == b.host && a.port == b.port;
}

// RFC 3986, 5.2.4, of a path without its query.
std::string without_dots(std::string_view path) {
  std::vector<std::string_view> kept;
  bool folder = false;
  for (std::size_t at = 1; at <= path.size();) {
    const std::size_t end = std::min(path.find('/', at), path.size());
    const std::string_view segment = path.substr(at, end - at);
    folder = segment == "." || segment == "..";
    if (segment == "..") {
      if (!kept.empty()) kept.pop_back();
    } else if (segment != ".") {
      kept.push_back(segment);
    }
    at = end + 1;
  }
  std::string result;
  for (const std::string_view segment : kept) result.append("/").append(segment);
  if (folder || result.empty()) result += '/';
  return result;
}

}  // namespace

std::optional<Url> resolve_reference(const Url& base, std::string_view location) {
  location = location.substr(0, location.find('#'));
  if (location.empty()) return std::nullopt;
  const auto colon = location.find(':');
  const bool has_scheme = colon != std::string_view::npos && colon < location.find_first_of("/?#");
  if (has_scheme || location.starts_with("//")) {
    const std::string text =
        has_scheme ? std::string(location) : base.scheme + ":" + std::string(location);
    if (text.find("://") == std::string::npos) return std::nullopt;
    auto url = parse_url(text);
    return url ? std::optional(std::move(*url)) : std::nullopt;
  }
  if (location.find_first_of(std::string_view(" \t\r\n\0", 5)) != std::string_view::npos)
    return std::nullopt;
  Url url = base;
  const std::string_view base_path = std::string_view(base.target).substr(0, base.target.find('?'));
  if (location.starts_with('?')) {
    url.target = std::string(base_path).append(location);
    return url;
  }
  const std::string_view path = location.substr(0, location.find('?'));
  std::string merged =
      path.starts_with('/')
          ? std::string(path)
          : std::string(base_path.substr(0, base_path.rfind('/') + 1)).append(path);
  url.target = without_dots(merged).append(location.substr(path.size()));
  return url;
}

Request redirected(std::string_view sent, int status, const Url& from, const Url& to,
                   const RequestForm& form) {
  const std::size_t head_end = sent.find("\r\n\r\n");
  std::string_view head = sent.substr(0, head_end);
  std::string_view method = head.substr(0, head.find(' '));
  const bool drops_body =
      method != "HEAD" && (status == 303 || (status <= 302 && method == "POST"));
  if (drops_body) method = "GET";
  constexpr std::array<std::string_view, 3> of_body{"Content-Length", "Content-Type",
                                                    "Transfer-Encoding"};
  constexpr std::array<std::string_view, 3> of_origin{"Authorization", "Cookie", "Host"};
  const bool elsewhere = !same_origin(from, to);
  const auto dropped = [&](std::string_view name) {
    const auto is = [name](std::string_view other) { return same_name(name, other); };
    return same_name(name, kProxyAuthorization) ||
           (drops_body && std::ranges::any_of(of_body, is)) ||
           (elsewhere && std::ranges::any_of(of_origin, is));
  };

  Request request;
  request.is_head = method == "HEAD";
  std::string& out = request.bytes;
  out.append(method).append(" ");
  if (form.absolute_target) out.append(to.scheme).append("://").append(to.authority());
  out.append(to.target).append(" HTTP/1.1\r\n");
  if (elsewhere) out.append("Host: ").append(to.authority()).append("\r\n");
  for (const auto& [name, value] : form.standard_fields)
    if (same_name(name, kProxyAuthorization))
      out.append(name).append(": ").append(value).append("\r\n");
  head.remove_prefix(std::min(head.find("\r\n"), head.size() - 2) + 2);
  while (!head.empty()) {
    const std::string_view line = head.substr(0, head.find("\r\n"));
    if (!dropped(line.substr(0, line.find(':')))) out.append(line).append("\r\n");
    head.remove_prefix(std::min(line.size() + 2, head.size()));
  }
  out.append("\r\n");
  if (!drops_body) out.append(sent.substr(head_end + 4));
  return request;
}

}  // namespace onbeat::http
