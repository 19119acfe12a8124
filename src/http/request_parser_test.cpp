#include "http/request_parser.hpp"

#include <gtest/gtest.h>

#include <string>

namespace onbeat::http {
namespace {

using State = RequestParser::State;

const std::string kChunked =
    "PUT /a%2Fb?q HTTP/1.1\r\nHost: h\r\nTransfer-Encoding: chunked\r\n\r\n"
    "3\r\nabc\r\n4;x=y\r\ndefg\r\n0\r\nX-T: 1\r\n\r\n";
const std::string kSized =
    "POST / HTTP/1.1\r\nexpect: 100-continue\r\nContent-Length: 4\r\n\r\nwxyz";

// Feeds `bytes` in two pieces; returns how many of them the request took.
std::size_t feed(RequestParser& parser, const std::string& bytes, std::size_t cut) {
  const std::string_view all = bytes;
  std::size_t first = 0, second = 0;
  parser.begin();
  State state = parser.feed(all.substr(0, cut), first);
  if (state == State::complete) return first;
  EXPECT_EQ(state, State::more);
  EXPECT_EQ(first, cut);
  EXPECT_EQ(parser.begun(), cut > 0);
  state = parser.feed(all.substr(cut), second);
  EXPECT_EQ(state, State::complete) << parser.error();
  return first + second;
}

TEST(RequestParser, CutAtEveryByteItReadsTheSame) {
  RequestParser parser;
  for (const std::string& request : {kChunked, kSized}) {
    for (std::size_t cut = 0; cut <= request.size(); ++cut) {
      ASSERT_EQ(feed(parser, request + "GET / next", cut), request.size()) << cut;
      EXPECT_FALSE(parser.begun());
      const ReceivedRequest& got = parser.request();
      EXPECT_EQ(got.head, request.substr(0, request.find("\r\n\r\n") + 4)) << cut;
      EXPECT_EQ(got.body, got.method == "PUT" ? "abcdefg" : "wxyz");
      EXPECT_EQ(got.body_bytes, got.body.size());
    }
  }
}

TEST(RequestParser, TellsWhatWasAsked) {
  RequestParser parser;
  feed(parser, kChunked, 0);
  EXPECT_EQ(parser.request().method, "PUT");
  EXPECT_EQ(parser.request().target, "/a%2Fb?q");
  EXPECT_EQ(*parser.request().field("HOST"), "h");
  EXPECT_EQ(parser.request().field("Nothing"), nullptr);
  EXPECT_TRUE(parser.request().keep_alive);
  EXPECT_FALSE(parser.request().expects_continue);
  feed(parser, kSized, 0);
  EXPECT_TRUE(parser.request().expects_continue);
  EXPECT_EQ(parser.request().field("Host"), nullptr);  // nothing of the request before
  feed(parser, "GET / HTTP/1.1\r\nConnection: close\r\n\r\n", 0);
  EXPECT_FALSE(parser.request().keep_alive);
  feed(parser, "GET / HTTP/1.0\r\n\r\n", 0);
  EXPECT_FALSE(parser.request().keep_alive);
  EXPECT_EQ(parser.request().version, 10);
}

TEST(RequestParser, KeepsTheBeginningOfALongBodyAndCountsAll) {
  RequestParser parser;
  feed(parser, "POST / HTTP/1.1\r\nContent-Length: 100000\r\n\r\n" + std::string(100'000, 'b'), 50);
  EXPECT_EQ(parser.request().body, std::string(ReceivedRequest::kBodyKept, 'b'));
  EXPECT_EQ(parser.request().body_bytes, 100'000U);
}

TEST(RequestParser, RefusesWhatIsNoRequest) {
  for (const std::string bytes :
       {"nonsense\r\n\r\n", "GET / HTTP/9.9\r\n\r\n", "GET / HTTP/1.1\r\nbad field\r\n\r\n",
        "POST / HTTP/1.1\r\nContent-Length: x\r\n\r\n"}) {
    RequestParser parser;
    std::size_t used = 0;
    EXPECT_EQ(parser.feed(bytes, used), State::failed) << bytes;
    EXPECT_FALSE(parser.error().empty());
  }
  RequestParser parser;
  std::size_t used = 0;
  EXPECT_EQ(parser.feed("GET / HTTP/1.1\r\nX: " + std::string(100'000, 'x'), used), State::failed);
}

}  // namespace
}  // namespace onbeat::http
