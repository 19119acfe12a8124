#include "http/redirect.hpp"

#include <gtest/gtest.h>

#include <string>

namespace onbeat::http {
namespace {

Url url(std::string_view text) { return parse_url(text).value(); }

std::string resolved(std::string_view base, std::string_view location) {
  const auto result = resolve_reference(url(base), location);
  return result ? result->to_string() : "none";
}

TEST(Redirect, ResolvesReferences) {
  // RFC 3986, 5.4.1 and 5.4.2, without what the scheme excludes.
  struct Case {
    std::string_view location, result;
  };
  for (const auto& [location, result] : {
           Case{"g", "http://a/b/c/g"},
           Case{"./g", "http://a/b/c/g"},
           Case{"g/", "http://a/b/c/g/"},
           Case{"/g", "http://a/g"},
           Case{"//g", "http://g/"},
           Case{"?y", "http://a/b/c/d;p?y"},
           Case{"g?y", "http://a/b/c/g?y"},
           Case{"g#s", "http://a/b/c/g"},
           Case{"g?y#s", "http://a/b/c/g?y"},
           Case{";x", "http://a/b/c/;x"},
           Case{".", "http://a/b/c/"},
           Case{"..", "http://a/b/"},
           Case{"../", "http://a/b/"},
           Case{"../g", "http://a/b/g"},
           Case{"../..", "http://a/"},
           Case{"../../g", "http://a/g"},
           Case{"../../../../g", "http://a/g"},
           Case{"/./g", "http://a/g"},
           Case{"/../g", "http://a/g"},
           Case{"g.", "http://a/b/c/g."},
           Case{"..g", "http://a/b/c/..g"},
           Case{"./g/.", "http://a/b/c/g/"},
           Case{"g/./h", "http://a/b/c/g/h"},
           Case{"g/../h", "http://a/b/c/h"},
           Case{"g?y/../x", "http://a/b/c/g?y/../x"},
           Case{"a%2Fb//c", "http://a/b/c/a%2Fb//c"},
           Case{"https://h:8443/x?y", "https://h:8443/x?y"},
           Case{"HTTP://h", "http://h/"},
           Case{"//[::1]:81/x", "http://[::1]:81/x"},
       })
    EXPECT_EQ(resolved("http://a/b/c/d;p?q", location), result) << location;
  EXPECT_EQ(resolved("https://a:444/b", "/g"), "https://a:444/g");
}

TEST(Redirect, H14_LeadsNowhere) {
  for (const std::string_view location : {"", "#only", "mailto:a@b", "ftp://a/b", "http://",
                                          "http://a:0/", "http:", "a b", "a\r\nX: y"})
    EXPECT_EQ(resolved("http://a/b", location), "none") << location;
  for (const int status : {200, 300, 304, 305, 306, 400}) EXPECT_FALSE(is_redirect(status));
}

const std::string kPost =
    "POST /a HTTP/1.1\r\nHost: a\r\nContent-Type: x/y\r\nContent-Length: 4\r\nX-Kept: "
    "1\r\n\r\nbody";
const std::string kGet = "GET /b HTTP/1.1\r\nHost: a\r\nX-Kept: 1\r\n\r\n";

TEST(Redirect, H15_MethodAndBodyByStatus) {
  const auto follow = [](std::string sent, int status) {
    const Request request = redirected(sent, status, url("http://a/a"), url("http://a/b"));
    EXPECT_EQ(request.is_head, sent.starts_with("HEAD"));
    return request.bytes;
  };
  std::string repeated = kPost;
  repeated.replace(repeated.find("/a"), 2, "/b");
  EXPECT_EQ(follow(kPost, 307), repeated);
  EXPECT_EQ(follow(kPost, 308), repeated);
  for (const int status : {301, 302, 303}) EXPECT_EQ(follow(kPost, status), kGet) << status;
  // Only POST changes after 301 and 302; HEAD never.
  std::string put = kPost, put_repeated = repeated;
  put.replace(0, 4, "PUT");
  put_repeated.replace(0, 4, "PUT");
  EXPECT_EQ(follow(put, 301), put_repeated);
  EXPECT_EQ(follow(put, 303), kGet);
  EXPECT_EQ(follow("HEAD /a HTTP/1.1\r\nHost: a\r\n\r\n", 303),
            "HEAD /b HTTP/1.1\r\nHost: a\r\n\r\n");
}

TEST(Redirect, SecretsStayWithTheirOrigin) {
  const std::string sent =
      "GET /a HTTP/1.1\r\nHost: own\r\nauthorization: Basic x\r\nCookie: c\r\nX-Kept: 1\r\n\r\n";
  const auto to = [&sent](std::string_view target) {
    return redirected(sent, 302, url("http://a/a"), url(target)).bytes;
  };
  EXPECT_EQ(
      to("http://a/b"),
      "GET /b HTTP/1.1\r\nHost: own\r\nauthorization: Basic x\r\nCookie: c\r\nX-Kept: 1\r\n\r\n");
  EXPECT_EQ(to("http://b/b"), "GET /b HTTP/1.1\r\nHost: b\r\nX-Kept: 1\r\n\r\n");
  EXPECT_EQ(to("http://a:81/b"), "GET /b HTTP/1.1\r\nHost: a:81\r\nX-Kept: 1\r\n\r\n");
  EXPECT_EQ(to("https://a/b"), "GET /b HTTP/1.1\r\nHost: a\r\nX-Kept: 1\r\n\r\n");
}

TEST(Redirect, WhatAProxyWantsGoesToItAlone) {
  const std::string sent =
      "GET http://a/a HTTP/1.1\r\nHost: a\r\nProxy-Authorization: Basic x\r\n\r\n";
  RequestForm form;
  form.absolute_target = true;
  form.standard_fields = {{"Proxy-Authorization", "Basic x"}, {"Authorization", "Basic y"}};
  EXPECT_EQ(redirected(sent, 302, url("http://a/a"), url("http://a/b"), form).bytes,
            "GET http://a/b HTTP/1.1\r\nProxy-Authorization: Basic x\r\nHost: a\r\n\r\n");
  EXPECT_EQ(redirected(sent, 302, url("http://a/a"), url("https://b/b")).bytes,
            "GET /b HTTP/1.1\r\nHost: b\r\n\r\n");
}

}  // namespace
}  // namespace onbeat::http
