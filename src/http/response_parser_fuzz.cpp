// Any bytes as a response. What comes of them does not depend on how they are cut; and where
// libhttp-parser calls a response well formed too, both see the same one. Input: a byte of flags
// (1: the answer to HEAD, 2: the peer closes at the end), a byte that the cuts are drawn from, then
// what the peer sends.
#include "http/response_parser.hpp"

#include <http_parser.h>

#include <algorithm>
#include <cstdint>
#include <cstdlib>
#include <string>
#include <string_view>

namespace {

using onbeat::http::ResponseParser;
using State = ResponseParser::State;

void require(bool condition) {
  if (!condition) std::abort();
}

struct Seen final : onbeat::http::ResponseSink {
  void on_status(int code, std::string_view) override {
    status = code;
    fields.clear();
  }
  void on_field(std::string_view name, std::string_view value) override {
    fields.append(name).append(":").append(value).append("\n");
  }
  void on_body(std::string_view part) override { body += part; }
  int status = 0;
  std::string fields, body;
  bool operator==(const Seen& other) const {
    return status == other.status && fields == other.fields && body == other.body;
  }
};

struct Outcome {
  State state = State::more;
  std::size_t consumed = 0;
  bool header_done = false, keep_alive = false;
  Seen seen;
};

/// `next_cut` says how long each piece is; 0: all that is left.
template <class NextCut>
Outcome parse(std::string_view bytes, bool to_head, bool closes, NextCut next_cut) {
  ResponseParser parser;
  Outcome outcome;
  parser.begin(to_head, &outcome.seen);
  while (!bytes.empty() && outcome.state == State::more) {
    const std::size_t cut = next_cut();
    const std::string_view piece = bytes.substr(0, cut == 0 ? bytes.size() : cut);
    // A copy of the piece's own size: reading past it is found.
    const std::string copy(piece);
    std::size_t consumed = 0;
    outcome.state = parser.feed(copy, consumed);
    require(outcome.state == State::failed || consumed <= piece.size());
    require(outcome.state != State::more || consumed == piece.size());
    if (outcome.state != State::failed) outcome.consumed += consumed;
    bytes.remove_prefix(piece.size());
  }
  if (outcome.state == State::more && closes) outcome.state = parser.end_of_stream();
  require(outcome.state != State::failed || !parser.error().empty());
  outcome.header_done = parser.header_done();
  if (outcome.state == State::complete) {
    require(outcome.header_done && parser.status() == outcome.seen.status);
    outcome.keep_alive = parser.keep_alive();
  }
  return outcome;
}

// --- the other parser ---

struct Other {
  int status = 0;
  std::string body;
  bool to_head = false, complete = false, keep_alive = false;
};

Other& other(http_parser* parser) { return *static_cast<Other*>(parser->data); }

Other parse_with_other(std::string_view bytes, bool to_head, bool closes) {
  http_parser_settings settings;
  http_parser_settings_init(&settings);
  settings.on_headers_complete = [](http_parser* parser) {
    const int status = static_cast<int>(parser->status_code);
    other(parser).status = status;
    // It would read what Content-Length says after 204 and 304 (RFC 9112, 6.3: they have no body).
    return other(parser).to_head || status == 204 || status == 304 ? 1 : 0;
  };
  settings.on_body = [](http_parser* parser, const char* at, std::size_t size) {
    other(parser).body.append(at, size);
    return 0;
  };
  settings.on_message_complete = [](http_parser* parser) {
    if (other(parser).status / 100 == 1 && other(parser).status != 101) return 0;
    other(parser).complete = true;
    other(parser).keep_alive = http_should_keep_alive(parser) != 0;
    return 1;  // the first final response is enough
  };
  Other result;
  result.to_head = to_head;
  http_parser parser;
  http_parser_init(&parser, HTTP_RESPONSE);
  parser.data = &result;
  const std::size_t taken = http_parser_execute(&parser, &settings, bytes.data(), bytes.size());
  if (!result.complete && HTTP_PARSER_ERRNO(&parser) == HPE_OK && taken == bytes.size() && closes)
    http_parser_execute(&parser, &settings, nullptr, 0);
  return result;
}

/// Whether RFC 9112 leaves no choice: libhttp-parser is lenient about much that may be refused, and
/// has ideas of its own about upgrades and interim responses.
bool outcome_is_defined(const Outcome& ours, const Other& theirs) {
  return ours.state == State::complete && theirs.complete && ours.seen.status >= 200;
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  if (size < 2) return 0;
  const bool to_head = (data[0] & 1) != 0;
  const bool closes = (data[0] & 2) != 0;
  std::uint32_t state = data[1] + 1U;
  const std::string_view bytes(reinterpret_cast<const char*>(data) + 2, size - 2);

  const Outcome whole = parse(bytes, to_head, closes, [] { return std::size_t{0}; });
  const auto same = [&whole, closes](const Outcome& cut) {
    if (cut.state != whole.state) {
      // A fault in what is not complete yet may be found later when it comes in pieces; the end
      // brings it out.
      return require(!closes && cut.state != State::complete && whole.state != State::complete);
    }
    if (whole.state == State::failed) return;
    require(cut.consumed == whole.consumed && cut.header_done == whole.header_done);
    // What has been seen of a header that is not complete may lag behind.
    if (whole.state == State::complete)
      require(cut.keep_alive == whole.keep_alive && cut.seen == whole.seen);
  };
  same(parse(bytes, to_head, closes, [] { return std::size_t{1}; }));
  same(parse(bytes, to_head, closes, [&state] {
    state = state * 1664525U + 1013904223U;
    return std::size_t{1} + (state >> 24) % 16;
  }));

  const Other theirs = parse_with_other(bytes, to_head, closes);
  if (outcome_is_defined(whole, theirs)) {
    require(whole.seen.status == theirs.status);
    require(whole.seen.body == theirs.body);
  }
  return 0;
}
