#include "http/request.hpp"

#include <strings.h>

#include <algorithm>

namespace onbeat::http {
namespace {

bool same_name(std::string_view a, std::string_view b) noexcept {
  return a.size() == b.size() && strncasecmp(a.data(), b.data(), a.size()) == 0;
}

bool has(const Fields& fields, std::string_view name) {
  return std::ranges::any_of(fields,
                             [name](const auto& field) { return same_name(field.first, name); });
}

// Methods whose request has a meaning for content: an empty one is told by its length (RFC
// 9110, 8.6).
bool expects_content(std::string_view method) {
  return method == "POST" || method == "PUT" || method == "PATCH";
}

}  // namespace

bool is_token(std::string_view text) noexcept {
  static constexpr std::string_view others = "!#$%&'*+-.^_`|~";
  return !text.empty() && std::ranges::all_of(text, [](char c) {
    return (c >= '0' && c <= '9') || (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') ||
           others.find(c) != std::string_view::npos;
  });
}

std::string invalid_field(std::string_view name, std::string_view value) {
  if (!is_token(name)) return "\"" + std::string(name) + "\" is not a header name";
  constexpr std::string_view forbidden("\r\n\0", 3);
  if (value.find_first_of(forbidden) != std::string_view::npos)
    return "the value of \"" + std::string(name) + "\" contains a line break or NUL";
  return {};
}

Request make_request(std::string_view method, const Url& url, const Fields& fields,
                     std::string_view body) {
  Request request;
  request.is_head = method == "HEAD";
  std::string& out = request.bytes;
  out.append(method).append(" ").append(url.target).append(" HTTP/1.1\r\n");
  const auto add = [&out](std::string_view name, std::string_view value) {
    out.append(name).append(": ").append(value).append("\r\n");
  };
  if (!has(fields, "Host")) add("Host", url.authority());
  if (!has(fields, "User-Agent")) add("User-Agent", "onbeat");
  if (!has(fields, "Accept")) add("Accept", "*/*");
  for (const auto& [name, value] : fields) add(name, value);
  if ((!body.empty() || expects_content(method)) && !has(fields, "Content-Length") &&
      !has(fields, "Transfer-Encoding"))
    add("Content-Length", std::to_string(body.size()));
  out.append("\r\n").append(body);
  return request;
}

}  // namespace onbeat::http
