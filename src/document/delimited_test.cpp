#include "document/delimited.hpp"

#include "document/utf8.hpp"

#include <gtest/gtest.h>

#include <random>
#include <string>
#include <vector>

namespace onbeat::document {
namespace {

using Rows = std::vector<std::vector<std::string>>;

Rows rows_of(std::string_view text, char delimiter = ',') {
  Rows rows;
  std::size_t at = 0;
  while (at < text.size()) {
    auto& row = rows.emplace_back();
    Field field;
    do {
      field = next_field(text, at, delimiter);
      EXPECT_EQ(field.fault, FieldFault::none) << text;
      append_value(field, row.emplace_back());
      at = field.next;
    } while (!field.ends_row);
  }
  return rows;
}

TEST(Delimited, Fields) {
  EXPECT_EQ(rows_of("a,b,c\n1,,3\n"), (Rows{{"a", "b", "c"}, {"1", "", "3"}}));
  EXPECT_EQ(rows_of("a,b\r\n1,2\r\n"), (Rows{{"a", "b"}, {"1", "2"}}));
  EXPECT_EQ(rows_of("a,b"), (Rows{{"a", "b"}}));
  EXPECT_EQ(rows_of("a,"), (Rows{{"a", ""}})) << "the last field is empty, not missing";
  EXPECT_EQ(rows_of("a\tb,c\n", '\t'), (Rows{{"a", "b,c"}}));
  EXPECT_EQ(rows_of("a\rb\n"), (Rows{{"a\rb"}})) << "CR alone is no line break";
}

TEST(Delimited, Quotes) {
  EXPECT_EQ(rows_of("\"a,b\",\"c\"\"d\",\"\"\n"), (Rows{{"a,b", "c\"d", ""}}));
  EXPECT_EQ(rows_of("\"a\nb\r\nc\",d\r\n"), (Rows{{"a\nb\r\nc", "d"}}));
  EXPECT_EQ(rows_of("\"\"\"\"\n"), (Rows{{"\""}}));
  EXPECT_EQ(rows_of("5\" pipe,a\"b\"\n"), (Rows{{"5\" pipe", "a\"b\""}}));
  EXPECT_EQ(rows_of("\"a\"\r\n"), (Rows{{"a"}}));
}

TEST(Delimited, Faults) {
  const Field open = next_field("x,\"abc\n", 2, ',');
  EXPECT_EQ(open.fault, FieldFault::open_quote);
  EXPECT_EQ(open.fault_at, 2U);
  const Field after = next_field("\"a\" ,b", 0, ',');
  EXPECT_EQ(after.fault, FieldFault::text_after_quote);
  EXPECT_EQ(after.fault_at, 3U);
  EXPECT_EQ(after.next, 5U) << "what follows can still be read";
}

TEST(Delimited, SkippedLines) {
  EXPECT_EQ(skipped_lines("\n\r\n# a\nb", false), 7U);
  EXPECT_EQ(skipped_lines("# a", false), 0U) << "the comment may go on";
  EXPECT_EQ(skipped_lines("# a", true), 3U);
  EXPECT_EQ(skipped_lines(" \n", true), 0U) << "a blank may be a value";
}

/// What is written by the rules reads back as it was, whatever it holds.
TEST(Delimited, RoundTrip) {
  std::mt19937 random(7);
  constexpr std::string_view kBytes = "ab,\"\n\r\t#; ";
  for (int round = 0; round < 2000; ++round) {
    std::vector<std::string> row(1 + random() % 4);
    std::string text;
    for (std::string& value : row) {
      for (std::size_t length = random() % 6; length > 0; --length) {
        value += kBytes[random() % kBytes.size()];
      }
      std::string quoted = "\"";
      for (const char c : value) quoted += c == '"' ? "\"\"" : std::string(1, c);
      text += (text.empty() ? "" : ",") + quoted + "\"";
    }
    text += random() % 2 == 0 ? "\n" : "\r\n";
    EXPECT_EQ(rows_of(text), (Rows{row})) << text;
  }
}

TEST(Utf8, WellFormed) {
  for (const std::string_view text :
       {"", "ascii", "\u00e9\u20ac\U0001f600", "12345678\u00e912345678"}) {
    EXPECT_EQ(invalid_utf8(text), std::string_view::npos) << text;
  }
}

TEST(Utf8, TheFirstFaultIsFound) {
  const std::pair<std::string_view, std::size_t> cases[] = {
      {"\x80", 0},         {"a\xe9z", 1},           {"\xc0\x80", 0},         {"\xe0\x9f\x80", 0},
      {"\xed\xa0\x80", 0}, {"\xf0\x8f\xbf\xbf", 0}, {"\xf4\x90\x80\x80", 0}, {"\xf5", 0},
      {"12345678\xff", 8}, {"ok\xc3", 2},           {"1234567\xc3", 7},      {"\xe2\x82", 0}};
  for (const auto& [text, at] : cases) EXPECT_EQ(invalid_utf8(text), at) << text;
}

}  // namespace
}  // namespace onbeat::document
