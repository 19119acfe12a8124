#include "http/request.hpp"

#include <gtest/gtest.h>

#include <string>

namespace onbeat::http {
namespace {

std::string bytes(std::string_view method, std::string_view target, const Fields& fields = {},
                  std::string_view body = {}, const RequestForm& form = {}) {
  return make_request(method, parse_url(target).value(), fields, body, form).bytes;
}

TEST(Request, HasWhatEachRequestNeeds) {
  EXPECT_EQ(bytes("GET", "http://h:81/a%2Fb?q=%20"),
            "GET /a%2Fb?q=%20 HTTP/1.1\r\nHost: h:81\r\nUser-Agent: onbeat\r\nAccept: */*\r\n\r\n");
  EXPECT_TRUE(make_request("HEAD", parse_url("h").value(), {}, "").is_head);
  EXPECT_FALSE(make_request("GET", parse_url("h").value(), {}, "").is_head);
}

TEST(Request, H13_TheUsersFieldsReplaceTheStandardOnes) {
  EXPECT_EQ(bytes("GET", "http://h/", {{"hOST", "other:1"}, {"accept", "x/y"}, {"User-Agent", ""}}),
            "GET / HTTP/1.1\r\nhOST: other:1\r\naccept: x/y\r\nUser-Agent: \r\n\r\n");
  RequestForm form;
  form.user_agent = "me";
  form.standard_fields = {{"Authorization", "Basic x"}, {"Connection", "close"}};
  EXPECT_EQ(bytes("GET", "http://h/", {{"authorization", "y"}}, "", form),
            "GET / HTTP/1.1\r\nHost: h\r\nUser-Agent: me\r\nAccept: */*\r\nConnection: close\r\n"
            "authorization: y\r\n\r\n");
}

TEST(Request, TellsTheLengthOfItsBody) {
  const Fields plain{{"Host", "h"}, {"Accept", "a"}, {"User-Agent", "u"}};
  const std::string head = " / HTTP/1.1\r\nHost: h\r\nAccept: a\r\nUser-Agent: u\r\n";
  EXPECT_EQ(bytes("GET", "h", plain, "abc"), "GET" + head + "Content-Length: 3\r\n\r\nabc");
  EXPECT_EQ(bytes("DELETE", "h", plain), "DELETE" + head + "\r\n");
  // Empty content is told where content is expected (RFC 9110, 8.6).
  for (const std::string method : {"POST", "PUT", "PATCH"})
    EXPECT_EQ(bytes(method, "h", plain), method + head + "Content-Length: 0\r\n\r\n");
  Fields own = plain;
  own.emplace_back("content-length", "9");
  EXPECT_EQ(bytes("POST", "h", own, "abc"), "POST" + head + "content-length: 9\r\n\r\nabc");
  own.back() = {"Transfer-Encoding", "chunked"};
  EXPECT_EQ(bytes("POST", "h", own, "0\r\n\r\n"),
            "POST" + head + "Transfer-Encoding: chunked\r\n\r\n0\r\n\r\n");
}

TEST(Request, AbsoluteForAProxy) {
  RequestForm form;
  form.absolute_target = true;
  EXPECT_TRUE(bytes("GET", "http://me:pw@[::1]:81/a?b", {}, "", form)
                  .starts_with("GET http://[::1]:81/a?b HTTP/1.1\r\nHost: [::1]:81\r\n"));
}

TEST(Request, FieldsThatWouldBreakOut) {
  EXPECT_EQ(invalid_field("X-A", "a b\tc \xc3\xa4"), "");
  for (const std::string_view value :
       {std::string_view("a\r\nB: c"), std::string_view("a\n"), std::string_view("a\0b", 3)})
    EXPECT_NE(invalid_field("A", value), "");
  for (const std::string_view name : {"", "A B", "A:", "\xc3\xa4", "(A)"})
    EXPECT_NE(invalid_field(name, "x"), "") << name;
  EXPECT_TRUE(is_token("!#$%&'*+-.^_`|~09azAZ"));
}

}  // namespace
}  // namespace onbeat::http
