// A request, made ready once: the bytes that go on the wire.
#pragma once

#include "http/url.hpp"

#include <cstdint>
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

/// What stands in a request beside method, target, fields and body.
struct RequestForm {
  std::string user_agent = "onbeat";
  /// The whole URL as the target, as a proxy wants it (RFC 9112, 3.2.2).
  bool absolute_target = false;
  /// Added unless the user's own fields have them.
  Fields standard_fields;
};

/// A piece of a request: fixed, or a text of the user's in which variables may stand.
struct RequestPart {
  enum class Kind : std::uint8_t { literal, target, value, body_size };
  Kind kind = Kind::literal;
  std::string text;
};

/// The head of a request, piece by piece. Host, User-Agent, Accept and Content-Length are added
/// unless `fields` has them; a field of the user's own stands as given, once. Fields must hold no
/// CR, LF or NUL: see invalid_field().
[[nodiscard]] std::vector<RequestPart> request_head(std::string_view method, const Url& url,
                                                    const Fields& fields, bool has_body,
                                                    const RequestForm& form = {});

/// The whole request, when nothing in it varies.
[[nodiscard]] Request make_request(std::string_view method, const Url& url, const Fields& fields,
                                   std::string_view body, const RequestForm& form = {});

/// Of fields: in any case (RFC 9110, 5.1).
[[nodiscard]] bool same_name(std::string_view a, std::string_view b) noexcept;
/// What is wrong with a field, or empty.
[[nodiscard]] std::string invalid_field(std::string_view name, std::string_view value);
/// Whether `text` is a token (RFC 9110, 5.6.2), as methods and field names are.
[[nodiscard]] bool is_token(std::string_view text) noexcept;

}  // namespace onbeat::http
