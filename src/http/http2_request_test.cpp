#include "http/http2_request.hpp"

#include "http/request.hpp"

#include <gtest/gtest.h>

#include <string>

namespace onbeat::http {
namespace {

std::string text(const Http2Fields& fields) {
  std::string result;
  for (const nghttp2_nv& field : fields.view())
    result.append(Http2Fields::name(field)).append("=").append(Http2Fields::value(field)) += ';';
  return result;
}

TEST(Http2Fields, NamesInLowerCaseValuesAsTheyAre) {
  Http2Fields fields;
  fields.add(":Path", "/A%2Fb");
  fields.add("X-Key", "");
  EXPECT_EQ(text(fields), ":path=/A%2Fb;x-key=;");
}

TEST(Http2Fields, TheyFollowTheirBytes) {
  Http2Fields fields;
  std::string expected;
  for (int i = 0; i < 100; ++i) {
    fields.add("n" + std::to_string(i), std::string(static_cast<std::size_t>(i), 'v'));
    expected += "n" + std::to_string(i) + "=" + std::string(static_cast<std::size_t>(i), 'v') + ";";
  }
  EXPECT_EQ(text(fields), expected);
  const Http2Fields copy = fields;
  fields.truncate(2);
  fields.add("m", "w");
  EXPECT_EQ(text(fields), "n0=;n1=v;m=w;");
  EXPECT_EQ(text(copy), expected);
  Http2Fields moved = std::move(fields);
  EXPECT_EQ(text(moved), "n0=;n1=v;m=w;");
  moved = copy;
  EXPECT_EQ(text(moved), expected);
  moved.clear();
  EXPECT_EQ(moved.size(), 0U);
}

std::string translated(std::string_view bytes) {
  Http2Request request;
  request.fields.add("from", "before");
  translate(bytes, "https", request);
  return text(request.fields) + "|" + std::string(request.body);
}

TEST(Http2Request, TheSameAsInHttp1) {
  EXPECT_EQ(translated("POST /a%2Fb?q=%20%7B HTTP/1.1\r\nHost: h:81\r\nUser-Agent: onbeat\r\n"
                       "Content-Length: 4\r\n\r\nb\r\n\n"),
            ":method=POST;:scheme=https;:authority=h:81;:path=/a%2Fb?q=%20%7B;user-agent=onbeat;"
            "content-length=4;|b\r\n\n");
}

TEST(Http2Request, H11_H13_TheHostIsTheAuthorityOnce) {
  const auto url = parse_url("http://[::1]:8080/").value();
  EXPECT_NE(translated(make_request("GET", url, {}, "").bytes).find(":authority=[::1]:8080;"),
            std::string::npos);
  const std::string own =
      translated(make_request("GET", url, {{"X", "1"}, {"hOsT", "mine"}}, "").bytes);
  EXPECT_NE(own.find(":authority=mine;"), std::string::npos);
  EXPECT_EQ(own.find("host"), std::string::npos);
  EXPECT_EQ(own.find("::1"), std::string::npos);
}

TEST(Http2Request, WhatBelongsToTheConnectionIsLeftOut) {
  EXPECT_EQ(translated("GET / HTTP/1.1\r\nHost: h\r\nConnection: close\r\nKeep-Alive: 5\r\n"
                       "Proxy-Connection: x\r\nUpgrade: h2c\r\nTransfer-Encoding: chunked\r\n"
                       "TE: gzip\r\nTE: trailers\r\nhttp2-settings: AA\r\nX:  y \r\n\r\n"),
            ":method=GET;:scheme=https;:authority=h;:path=/;te=trailers;x=y;|");
}

TEST(Http2Request, AnyBytesAreTaken) {
  for (const std::string_view bytes : {"", "GET", "GET /", "GET / HTTP/1.1\r\n", "\r\n\r\n", ":"})
    EXPECT_NE(translated(bytes).find(":method="), std::string::npos);
}

}  // namespace
}  // namespace onbeat::http
