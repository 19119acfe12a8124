#include "http/request.hpp"

#include <strings.h>

#include <algorithm>

namespace onbeat::http {
namespace {

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

bool same_name(std::string_view a, std::string_view b) noexcept {
  return a.size() == b.size() && strncasecmp(a.data(), b.data(), a.size()) == 0;
}

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

std::vector<RequestPart> request_head(std::string_view method, const Url& url, const Fields& fields,
                                      bool has_body, const RequestForm& form) {
  using Kind = RequestPart::Kind;
  std::vector<RequestPart> parts;
  const auto literal = [&parts](std::string_view text) {
    if (parts.empty() || parts.back().kind != Kind::literal) parts.push_back({Kind::literal, {}});
    parts.back().text += text;
  };
  const auto standard = [&](std::string_view name, std::string_view value) {
    if (has(fields, name)) return;
    literal(name);
    literal(": ");
    literal(value);
    literal("\r\n");
  };
  literal(method);
  literal(" ");
  if (form.absolute_target) literal(url.scheme + "://" + url.authority());
  parts.push_back({Kind::target, url.target});
  literal(" HTTP/1.1\r\n");
  standard("Host", url.authority());
  standard("User-Agent", form.user_agent);
  standard("Accept", "*/*");
  for (const auto& [name, value] : form.standard_fields) standard(name, value);
  for (const auto& [name, value] : fields) {
    literal(name);
    literal(": ");
    parts.push_back({Kind::value, value});
    literal("\r\n");
  }
  if ((has_body || expects_content(method)) && !has(fields, "Content-Length") &&
      !has(fields, "Transfer-Encoding")) {
    literal("Content-Length: ");
    parts.push_back({Kind::body_size, {}});
    literal("\r\n");
  }
  literal("\r\n");
  return parts;
}

Request make_request(std::string_view method, const Url& url, const Fields& fields,
                     std::string_view body, const RequestForm& form) {
  Request request;
  request.is_head = method == "HEAD";
  for (const RequestPart& part : request_head(method, url, fields, !body.empty(), form))
    request.bytes +=
        part.kind == RequestPart::Kind::body_size ? std::to_string(body.size()) : part.text;
  request.bytes += body;
  return request;
}

}  // namespace onbeat::http
