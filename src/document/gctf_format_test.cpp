#include "document/gctf_format.hpp"

#include "document/json5_format.hpp"

#include <gtest/gtest.h>

namespace onbeat::document {
namespace {

std::string formatted(std::string_view text) {
  const auto once = format_gctf("x.gctf", text);
  if (!once) return "error: " + once.error()[0].message;
  const auto twice = format_gctf("x.gctf", *once);
  EXPECT_TRUE(twice && *twice == *once) << *once;
  return *once;
}
std::string json(std::string_view text) {
  const std::string once = format_json5(text);
  EXPECT_EQ(format_json5(once), once);
  return once;
}

TEST(FormatJson5, KeepsLinesAndComments) {
  EXPECT_EQ(json("{a:1,'b':\"x\",}"), R"({ "a": 1, "b": "x" })");
  EXPECT_EQ(json("[ 1,2 , ]"), "[1, 2]");
  EXPECT_EQ(json("{}"), "{}");
  EXPECT_EQ(json("{ }\n\n\n[\n]"), "{}\n\n[]");
  EXPECT_EQ(json("# top\n{ // opens\n a: 1, // one\n\n\n /* two */ b: [ 0xFF, 1e3, Infinity, +.5 ] "
                 "# list\n , c: {d: 'it\\'s'}\n // end\n} // closed\n# last"),
            R"(# top
{
  // opens
  "a": 1,  // one

  /* two */
  "b": [0xFF, 1e3, Infinity, +.5],  # list
  "c": { "d": "it's" }
  // end
}  // closed
# last)");
  EXPECT_EQ(json("{a: {b: [1,\n2]}}"),
            "{\n  \"a\": {\n    \"b\": [\n      1,\n      2\n    ]\n  }\n}");
  EXPECT_EQ(json("{ a /* k */ : /* v */ 1 }"), "{\n  /* k */\n  /* v */\n  \"a\": 1\n}");
  EXPECT_EQ(json("[ /* only */ ]"), "[\n  /* only */\n]");
}

TEST(FormatJson5, KeepsTheSpellingOfTexts) {
  EXPECT_EQ(json(R"(["\u00e4", '\u00e4', "a\x41", "\/"])"),
            "[\"\\u00e4\", \"\u00e4\", \"aA\", \"\\/\"]");
}

TEST(FormatGctf, IsCanonical) {
  EXPECT_EQ(formatted(R"(

# about this file

--- BENCH ---
mode :   open
sources:
    - name: a   
      # kept
      file: a.csv
--- ENDPOINT ---
  a.B/C  
---HEADERS---
x : 1


# two
y:2
# of the address
--- ADDRESS ---
h:1
--- REQUEST ---

{a:1}
# behind

#[timeout( 2 )]
# above
---RESPONSE   partial   redact=["a",  "b"]---
{}
--- EXTRACT ---
t:string=.x == "="  # note
--- ASSERTS ---
   .a == 1   # why
)"),
            R"(# about this file

--- BENCH ---
mode: open
sources:
    - name: a
      # kept
      file: a.csv

# of the address
--- ADDRESS ---
h:1

--- ENDPOINT ---
a.B/C

--- REQUEST_HEADERS ---
x: 1

# two
y: 2

--- REQUEST ---
{ "a": 1 }
# behind

# above
#[timeout( 2 )]
--- RESPONSE partial redact=["a", "b"] ---
{}

--- EXTRACT ---
t:string = .x == "="  # note

--- ASSERTS ---
.a == 1   # why
)");
}

TEST(FormatGctf, LeavesChainsAndAttributesInTheirOrder) {
  const std::string_view chain = R"(--- ENDPOINT ---
a.B/C

--- RESPONSE ---
{}

--- ADDRESS ---
h:2

--- ENDPOINT ---
a.B/D

--- RESPONSE ---
{}
)";
  EXPECT_EQ(formatted(chain), chain);
  const std::string_view attributes = R"(--- ENDPOINT ---
a.B/C

#[timeout(2)]
--- ADDRESS ---
h:2

--- RESPONSE ---
{}
)";
  EXPECT_EQ(formatted(attributes), attributes);
}

TEST(FormatGctf, RefusesWhatHasErrors) {
  EXPECT_EQ(formatted("--- ENDPOINT ---\na.B/C\n--- RESPONSE ---\n{\n"),
            "error: the brace is not closed");
}

TEST(FormatGctf, TakesCarriageReturnsOut) {
  EXPECT_EQ(formatted("--- ENDPOINT ---\r\na.B/C\r\n--- RESPONSE ---\r\n{}\r\n"),
            "--- ENDPOINT ---\na.B/C\n\n--- RESPONSE ---\n{}\n");
}

}  // namespace
}  // namespace onbeat::document
