// A request, made ready once: the bytes that go on the wire.
#pragma once

#include "http/url.hpp"

#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace onbeat::http {

using Fields = std::vector<std::pair<std::string, std::string>>;

struct Request {
  std::string bytes;     // head and body
  bool is_head = false;  // the response to HEAD has no body
};

/// Host, User-Agent, Accept and Content-Length are added unless `fields` has them; a field of the
/// user's own stands as given, once. A field with an empty value after "Name:" is sent empty.
/// Fields must hold no CR, LF or NUL: see invalid_field().
[[nodiscard]] Request make_request(std::string_view method, const Url& url, const Fields& fields,
                                   std::string_view body);

/// What is wrong with a field, or empty.
[[nodiscard]] std::string invalid_field(std::string_view name, std::string_view value);
/// Whether `text` is a token (RFC 9110, 5.6.2), as methods and field names are.
[[nodiscard]] bool is_token(std::string_view text) noexcept;

}  // namespace onbeat::http
