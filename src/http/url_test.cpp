#include "http/url.hpp"

#include <gtest/gtest.h>

namespace onbeat::http {
namespace {

TEST(Url, TakesItsPartsAsTheyAre) {
  const Url url = parse_url("HTTPS://me:p%40w@Host.test:8443/a%2Fb?q=%20%7B#part").value();
  EXPECT_EQ(url.scheme, "https");
  EXPECT_EQ(url.user, "me:p%40w");
  EXPECT_EQ(url.host, "Host.test");
  EXPECT_EQ(url.port, 8443);
  EXPECT_EQ(url.target, "/a%2Fb?q=%20%7B");  // H12: byte for byte
  EXPECT_EQ(url.to_string(), "https://Host.test:8443/a%2Fb?q=%20%7B");
}

TEST(Url, FillsInWhatIsMissing) {
  EXPECT_EQ(parse_url("h")->to_string(), "http://h/");
  EXPECT_EQ(parse_url("h:81/x")->port, 81);
  EXPECT_EQ(parse_url("http://h?q")->target, "/?q");
  EXPECT_EQ(parse_url("https://h")->port, 443);
  EXPECT_EQ(parse_url("http://h/a?u=http://b/")->target, "/a?u=http://b/");
  EXPECT_EQ(parse_url("h/a?u=http://b/")->target, "/a?u=http://b/");
  EXPECT_EQ(parse_url("http://a:b@c@h/")->user, "a:b@c");
}

TEST(Url, H11_AuthorityOfAnIpv6Literal) {
  EXPECT_EQ(parse_url("http://[::1]:8080/")->authority(), "[::1]:8080");
  EXPECT_EQ(parse_url("http://[::1]:80/")->authority(), "[::1]");
  EXPECT_EQ(parse_url("https://[::1]:80/")->authority(), "[::1]:80");
  EXPECT_EQ(parse_url("http://[::1]")->host, "::1");
}

TEST(Url, RefusalsPointAtTheirPlace) {
  struct Case {
    std::string_view text;
    std::size_t column;
  };
  for (const auto& [text, column] :
       {Case{"ftp://h/", 0}, Case{"http:///x", 7}, Case{"http://h:0/", 9},
        Case{"http://h:65536/", 9}, Case{"http://h:8o/", 9}, Case{"http://h/a b", 10},
        Case{"http://h/\x7f", 9}, Case{"http://[::1/", 7}, Case{"http://[::1]x/", 12},
        Case{"http://h/\n", 9}, Case{"", 0}, Case{"http://me:pw@/", 13}}) {
    const auto result = parse_url(text);
    ASSERT_FALSE(result.has_value()) << text;
    EXPECT_EQ(result.error().column, column) << text;
    EXPECT_FALSE(result.error().message.empty());
  }
}

TEST(Url, VariablesMayStandInTheTarget) {
  EXPECT_EQ(parse_url("http://h/{{ f(a, \"b#c\") }}/x?y={{z}}", true)->target,
            "/{{ f(a, \"b#c\") }}/x?y={{z}}");
  EXPECT_FALSE(parse_url("http://h/{{ a }}"));
  EXPECT_FALSE(parse_url("http://{{host}}/", true));
  EXPECT_FALSE(parse_url("http://h/{{ a", true));
}

}  // namespace
}  // namespace onbeat::http
