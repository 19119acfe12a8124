#include "report/escape.hpp"

#include <gtest/gtest.h>

namespace onbeat::report {
namespace {

using namespace std::string_literals;

TEST(Escape, Utf8IsKeptAndTheRestReplaced) {
  for (const char* good :
       {"", "abc", "\xC3\xA9", "\xE2\x82\xAC", "\xF0\x9F\x98\x80", "\xED\x9F\xBF"}) {
    EXPECT_EQ(valid_utf8(good), good);
  }
  const std::string r = "\xEF\xBF\xBD";
  EXPECT_EQ(valid_utf8("a\xFFz"), "a" + r + "z");
  EXPECT_EQ(valid_utf8("\xC0\xAF"), r + r);                  // overlong
  EXPECT_EQ(valid_utf8("\xED\xA0\x80"), r + r + r);          // a surrogate
  EXPECT_EQ(valid_utf8("\xF4\x90\x80\x80"), r + r + r + r);  // beyond U+10FFFF
  EXPECT_EQ(valid_utf8("\xE2\x82"), r + r);                  // cut short
  EXPECT_EQ(valid_utf8("\xE2\x82z"), r + r + "z");
}

TEST(Escape, TerminalsGetNoControlCharacters) {
  const std::string r = "\xEF\xBF\xBD";
  EXPECT_EQ(for_terminal("a\x1b[31mb\n\x7f\xC2\x9B"), "a" + r + "[31mb" + r + r + r);
  EXPECT_EQ(for_terminal("\xC2\xA9"), "\xC2\xA9");
}

TEST(Escape, Html) {
  EXPECT_EQ(for_html("<a href='x' b=\"y\">&"), "&lt;a href=&#39;x&#39; b=&quot;y&quot;&gt;&amp;");
  const std::string r = "\xEF\xBF\xBD";
  EXPECT_EQ(for_html("\0\x1b\x7f\xC2\x85\r"s), r + r + r + r + r);
  EXPECT_EQ(for_html("a\tb\n"), "a\tb\n");
  for (const char* none : {"\xEF\xBF\xBE", "\xEF\xBF\xBF", "\xEF\xB7\x90", "\xF0\x9F\xBF\xBE"})
    EXPECT_EQ(for_html(none), r);
  for (const char* good : {"\xEF\xBF\xBD", "\xEF\xB7\xB0", "\xF0\x9F\xBE\xBF", "\xE2\xBF\xBF"})
    EXPECT_EQ(for_html(good), good);
}

TEST(Escape, Csv) {
  EXPECT_EQ(for_csv("plain text"), "plain text");
  EXPECT_EQ(for_csv("a,b"), "\"a,b\"");
  EXPECT_EQ(for_csv("a\"b"), "\"a\"\"b\"");
  EXPECT_EQ(for_csv("a\nb"), "\"a\nb\"");
  EXPECT_EQ(for_csv("=cmd()"), "'=cmd()");
  EXPECT_EQ(for_csv("-1,2"), "\"'-1,2\"");
}

TEST(Escape, Shortening) {
  EXPECT_EQ(shortened("abcdef", 6), "abcdef");
  EXPECT_EQ(shortened("abcdefg", 6), "abc...");
  EXPECT_EQ(shortened("\xC3\xA9\xC3\xA9\xC3\xA9\xC3\xA9\xC3\xA9", 4), "\xC3\xA9...");
  EXPECT_EQ(width_of("\xC3\xA9x"), 2u);
}

}  // namespace
}  // namespace onbeat::report
