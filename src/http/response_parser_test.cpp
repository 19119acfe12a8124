#include "http/response_parser.hpp"

#include <gtest/gtest.h>

#include <string>
#include <vector>

namespace onbeat::http {
namespace {

using State = ResponseParser::State;

/// Everything that can be seen of a response.
struct Seen final : ResponseSink {
  void on_status(int code, std::string_view) override {
    statuses.push_back(code);
    fields.clear();
  }
  void on_field(std::string_view name, std::string_view value) override {
    fields.append(name).append("=").append(value).append(";");
  }
  void on_body(std::string_view part) override { body += part; }
  std::vector<int> statuses;
  std::string fields, body;
};

struct Result {
  State state = State::more;
  std::size_t consumed = 0;
  int status = 0;
  bool keep_alive = false;
  std::string fields, body;
  bool operator==(const Result&) const = default;
};

std::ostream& operator<<(std::ostream& out, const Result& result) {
  return out << static_cast<int>(result.state) << " after " << result.consumed << ", status "
             << result.status << ", keep " << result.keep_alive << ", " << result.fields << " "
             << result.body;
}

/// Feeds the pieces; `closes`: then the peer does.
Result parse(const std::vector<std::string_view>& pieces, bool to_head = false,
             bool closes = false) {
  ResponseParser parser;
  Seen seen;
  parser.begin(to_head, &seen);
  Result result;
  for (const std::string_view piece : pieces) {
    if (result.state != State::more) break;
    std::size_t consumed = 0;
    result.state = parser.feed(piece, consumed);
    result.consumed += consumed;
  }
  if (result.state == State::more && closes) result.state = parser.end_of_stream();
  if (result.state == State::failed) {
    EXPECT_FALSE(parser.error().empty());
    return {.state = State::failed};
  }
  result.status = parser.header_done() ? parser.status() : 0;
  result.keep_alive = result.state == State::complete && parser.keep_alive();
  result.fields = seen.fields;
  result.body = seen.body;
  return result;
}

/// In one piece; and cut at every byte, and byte by byte, the same.
Result parse_whole(std::string_view bytes, bool to_head = false, bool closes = false) {
  const Result whole = parse({bytes}, to_head, closes);
  for (std::size_t cut = 1; cut < bytes.size(); ++cut)
    EXPECT_EQ(parse({bytes.substr(0, cut), bytes.substr(cut)}, to_head, closes), whole) << cut;
  std::vector<std::string_view> single;
  for (std::size_t i = 0; i < bytes.size(); ++i) single.push_back(bytes.substr(i, 1));
  EXPECT_EQ(parse(single, to_head, closes), whole);
  return whole;
}

TEST(ResponseParser, H1_ChunksAndTrailerFields) {
  const std::string bytes =
      "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n5;name=\"a;b\"\r\nhello\r\nA\r\n world "
      "and\r\n"
      "000\r\nX-Sum: 11\r\n\r\n";
  const Result result = parse_whole(bytes + "HTTP/1.1 200 OK\r\n");
  EXPECT_EQ(result.state, State::complete);
  EXPECT_EQ(result.consumed, bytes.size());  // what follows is not taken
  EXPECT_EQ(result.body, "hello world and");
  EXPECT_TRUE(result.keep_alive);
}

TEST(ResponseParser, H1_ChunksWithoutABody) {
  const std::string bytes = "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n";
  const Result result = parse_whole(bytes + "HTTP");
  EXPECT_EQ(result.state, State::complete);
  EXPECT_EQ(result.consumed, bytes.size());
}

TEST(ResponseParser, H3_InterimResponsesArePassedOver) {
  const std::string bytes =
      "HTTP/1.1 100 Continue\r\n\r\nHTTP/1.1 103 Early Hints\r\nLink: a\r\n\r\n"
      "HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok";
  const Result result = parse_whole(bytes + "x");
  EXPECT_EQ(result, (Result{.state = State::complete,
                            .consumed = bytes.size(),
                            .status = 200,
                            .keep_alive = true,
                            .fields = "Content-Length=2;",
                            .body = "ok"}));
  EXPECT_EQ(parse_whole("HTTP/1.1 100 Continue\r\n\r\n").state, State::more);
  EXPECT_EQ(parse_whole("HTTP/1.1 100 Continue\r\n\r\n", false, true).state, State::failed);
}

TEST(ResponseParser, H4_H5_NoBody) {
  const std::string length = "HTTP/1.1 200 OK\r\nContent-Length: 357\r\n\r\n";
  EXPECT_EQ(parse_whole(length, true).state, State::complete);
  EXPECT_TRUE(parse_whole(length, true).keep_alive);
  EXPECT_EQ(parse_whole(length).state, State::more);
  const std::string chunked = "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n";
  EXPECT_EQ(parse_whole(chunked, true).state, State::complete);
  for (const std::string status : {"204", "304"})
    for (const std::string field :
         {"Content-Length: 7", "Content-Encoding: gzip", "Transfer-Encoding: chunked", "A: b"}) {
      const std::string bytes = "HTTP/1.1 " + status + " X\r\n" + field + "\r\n\r\n";
      const Result result = parse_whole(bytes + "HTTP");
      EXPECT_EQ(result.state, State::complete) << bytes;
      EXPECT_EQ(result.consumed, bytes.size()) << bytes;
      EXPECT_TRUE(result.keep_alive) << bytes;
    }
}

TEST(ResponseParser, H6_BodyUntilTheEnd) {
  const Result result = parse_whole("HTTP/1.1 200 OK\r\n\r\nall of it", false, true);
  EXPECT_EQ(result.state, State::complete);
  EXPECT_EQ(result.body, "all of it");
  EXPECT_FALSE(result.keep_alive);
  EXPECT_EQ(parse_whole("HTTP/1.1 200 OK\r\n\r\n", false, true).state, State::complete);
}

TEST(ResponseParser, H7_TooShort) {
  EXPECT_EQ(parse_whole("HTTP/1.1 200 OK\r\nContent-Length: 5\r\n\r\nfour", false, true).state,
            State::failed);
  for (const std::string_view tail : {"", "5", "5\r\n", "5\r\nhello", "5\r\nhello\r\n", "0\r\n"})
    EXPECT_EQ(
        parse_whole("HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n" + std::string(tail),
                    false, true)
            .state,
        State::failed)
        << tail;
}

// What ends such a body is not known (RFC 9112, 6.1): it is no response, whatever follows.
TEST(ResponseParser, H8_ATransferEncodingThatIsNoListOfCodings) {
  const auto of = [](std::string_view codings) {
    return parse_whole("HTTP/1.1 200 OK\r\nTransfer-Encoding: " + std::string(codings) +
                           "\r\n\r\n1\r\nx\r\n0\r\n\r\n",
                       false, true);
  };
  for (const std::string_view bad : {"chunk: gzip, chunked", "gzip chunked", "chunked;q",
                                     "chunked=1", "(chunked)", "gzip;q=1, chunked", "\"chunked\""})
    EXPECT_EQ(of(bad).state, State::failed) << bad;
  for (const std::string_view chunked : {"chunked", "gzip, chunked", ", x!y ,,\tCHUNKED ,"})
    EXPECT_EQ(of(chunked).body, "x") << chunked;
  // The end is that of the connection.
  for (const std::string_view unknown : {"gzip", "chunked, gzip", ""})
    EXPECT_EQ(of(unknown).body, "1\r\nx\r\n0\r\n\r\n") << unknown;
}

TEST(ResponseParser, H8_Garbage) {
  for (const std::string_view bytes :
       {"SSH-2.0-OpenSSH\r\n", "HTTP/1.1 abc\r\n\r\n", "HTTP/1.1 099 X\r\n\r\n",
        "HTTP/3.1 200 OK\r\n\r\n", "\r\n\r\n\r\n", "HTTP/1.1 200 OK\r\nno colon\r\n\r\n",
        "HTTP/1.1 200 OK\r\nContent-Length: -1\r\n\r\n",
        "HTTP/1.1 200 OK\r\nContent-Length: 99999999999999999999\r\n\r\n",
        "HTTP/1.1 200 OK\r\nContent-Length: 1\r\nContent-Length: 2\r\n\r\n",
        "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\nxyz\r\n",
        "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n1\r\nab\r\n0\r\n\r\n"})
    EXPECT_EQ(parse_whole(bytes).state, State::failed) << bytes;
}

TEST(ResponseParser, KeepsTheConnectionOnlyWhenBothWantTo) {
  const auto keeps = [](std::string_view version, std::string_view field) {
    return parse_whole(std::string(version) + " 200 OK\r\nContent-Length: 0\r\n" +
                       std::string(field) + "\r\n")
        .keep_alive;
  };
  EXPECT_TRUE(keeps("HTTP/1.1", ""));
  EXPECT_FALSE(keeps("HTTP/1.1", "Connection: close\r\n"));
  EXPECT_FALSE(keeps("HTTP/1.1", "Connection: foo, Close\r\n"));
  EXPECT_FALSE(keeps("HTTP/1.0", ""));
  EXPECT_TRUE(keeps("HTTP/1.0", "Connection: keep-alive\r\n"));
}

TEST(ResponseParser, OneAfterAnother) {
  ResponseParser parser;
  const std::string_view bytes =
      "HTTP/1.1 200 OK\r\nContent-Length: 1\r\n\r\naHTTP/1.1 404 No\r\nContent-Length: 1\r\n\r\nb";
  std::size_t first = 0, second = 0;
  parser.begin(false);
  EXPECT_FALSE(parser.begun());
  EXPECT_EQ(parser.feed(bytes, first), State::complete);
  EXPECT_EQ(parser.status(), 200);
  parser.begin(false);
  EXPECT_FALSE(parser.begun());
  EXPECT_EQ(parser.feed(bytes.substr(first), second), State::complete);
  EXPECT_EQ(parser.status(), 404);
  EXPECT_EQ(first + second, bytes.size());
}

TEST(ResponseParser, AHeaderHasALimit) {
  ResponseParser parser;
  parser.begin(false);
  std::size_t consumed = 0;
  std::size_t fed = 0;
  State state = parser.feed("HTTP/1.1 200 OK\r\n", consumed);
  const std::string field = "X-Field: " + std::string(1000, 'x') + "\r\n";
  for (; state == State::more && fed < (std::size_t{1} << 20); fed += field.size())
    state = parser.feed(field, consumed);
  EXPECT_EQ(state, State::failed);
  EXPECT_GE(fed, std::size_t{200} << 10);
}

}  // namespace
}  // namespace onbeat::http
