// Endpoints as people write them: a URL, a JSON object, a block of a URL file.
#pragma once

#include "options/grammar.hpp"
#include "options/http_grammar.hpp"
#include "options/settings.hpp"

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace onbeat::options {

struct EndpointText {
  std::string name;
  std::uint32_t weight = 1;
  std::string url;
  std::string method;  // empty: not given
  std::vector<Header> headers;
  std::optional<std::string> body;
  std::string body_path;  // the body is a file's content; empty: it is not
  bool operator==(const EndpointText&) const = default;
};

/// "URL", "3=URL" with a weight, or one JSON object (RFC 8259) with the keys url, method, name,
/// weight, header (an object of texts or lists of texts), and one of body (base64, as vegeta has
/// it), body_text and body_file. Errors quote no values.
Parsing<EndpointText> parse_endpoint(std::string_view text);
/// The JSON object that parse_endpoint reads as `endpoint`.
std::string endpoint_json(const EndpointText& endpoint);

struct UrlFile {
  struct Entry {
    EndpointText endpoint;
    std::string origin;  // "urls.txt:3"
  };
  std::vector<Entry> entries;
  std::vector<Problem> problems;
};
/// Endpoints one after another, each either a JSON object on a line of its own, a URL on a line of
/// its own, or a block
///
///   POST 3=http://127.0.0.1:8080/orders
///   Content-Type: application/json
///   @order.json
///
/// whose header lines are taken literally and whose last line, if it begins with "@", names the
/// file of the body. Lines that begin with "#" and blank lines are skipped; a blank line ends a
/// block. `path` is for messages.
UrlFile parse_url_file(std::string_view text, const std::string& path);

}  // namespace onbeat::options
