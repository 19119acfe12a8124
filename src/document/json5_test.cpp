#include "document/json5.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>

namespace onbeat::document {
namespace {

using testing::ElementsAre;
using testing::IsEmpty;

std::vector<std::string> values(std::string_view text) {
  const Json5Body body = parse_json5(text);
  for (const Json5Fault& fault : body.faults)
    ADD_FAILURE() << fault.offset << ": " << fault.message << " in " << text;
  std::vector<std::string> out;
  for (const JsonTree& value : body.values) append_json(value.root(), out.emplace_back());
  return out;
}
std::vector<std::string> faults(std::string_view text) {
  std::vector<std::string> out;
  for (const Json5Fault& fault : parse_json5(text).faults) {
    out.push_back(std::to_string(fault.offset) + " " + fault.message);
  }
  return out;
}

TEST(Json5, ReadsWhatPeopleWrite) {
  EXPECT_THAT(values(R"({ a: 1, 'b': "x", "c": [true, false, null,], $d_1: {}, })"),
              ElementsAre(R"({"a":1,"b":"x","c":[true,false,null],"$d_1":{}})"));
  EXPECT_THAT(values("# c\n// d\n /* { \n } */ [1 /* x */, // y\n 2 # z\n]"), ElementsAre("[1,2]"));
  EXPECT_THAT(values("  \n # nothing\n"), IsEmpty());
}

TEST(Json5, IntegersAreExact) {
  EXPECT_THAT(
      values(
          "[9223372036854775807, -9223372036854775808, 18446744073709551615, 1_000, 0xFF, -0x10]"),
      ElementsAre("[9223372036854775807,-9223372036854775808,18446744073709551615,1000,255,-16]"));
  EXPECT_THAT(values("[1.5, .5, 5., 1e3, +2, 1_0.2_5, 18446744073709551616]"),
              ElementsAre("[1.5,0.5,5,1000,2,10.25,1.8446744073709552e+19]"));
  EXPECT_THAT(values("[Infinity, -Infinity, NaN]"),
              ElementsAre(R"(["Infinity","-Infinity","NaN"])"));
}

TEST(Json5, ReadsEscapes) {
  EXPECT_THAT(values(R"(['\'', "a\"b", '\n\t\\\/', "\u00e4\x41", "\ud83d\ude00", 'a\
b'])"),
              ElementsAre("[\"'\",\"a\\\"b\",\"\\n\\t\\\\/\",\"\u00e4A\",\"\U0001F600\",\"ab\"]"));
  EXPECT_THAT(values(R"(["[[[{{{", 'a # b // c'])"), ElementsAre(R"(["[[[{{{","a # b // c"])"));
}

TEST(Json5, SeveralValuesBeginOnLinesOfTheirOwn) {
  EXPECT_THAT(values("{a: 1}\n{a:\n2} # end\n\n{a: /* } \n*/ 3}"),
              ElementsAre(R"({"a":1})", R"({"a":2})", R"({"a":3})"));
  EXPECT_THAT(faults("{} {}"), ElementsAre("3 something follows the value"));
  EXPECT_THAT(faults("{},\n{}"), ElementsAre("2 a comma between two messages"));
}

TEST(Json5, SaysWhatIsWrongAndWhere) {
  EXPECT_THAT(faults("{ a 1 }"), ElementsAre("4 a colon is expected"));
  EXPECT_THAT(faults("[1 2]"), ElementsAre("3 a comma or ] is expected"));
  EXPECT_THAT(faults("{ a: x }"), ElementsAre("5 x is no value"));
  EXPECT_THAT(faults("{ a: 'x }"), ElementsAre("5 the text is not closed"));
  EXPECT_THAT(faults("{ a: 'x \n}"), ElementsAre("5 the text is not closed on its line"));
  EXPECT_THAT(faults("{ a: 1"), ElementsAre("0 the brace is not closed"));
  EXPECT_THAT(faults("[ /* x ]"), ElementsAre("2 the comment is not closed"));
  EXPECT_THAT(faults("{ a: 1, a: 2 }"), ElementsAre("8 the key a stands twice"));
  EXPECT_THAT(faults("{ \xe2: 1 }"), ElementsAre("2 the key is not UTF-8"));
  EXPECT_THAT(faults("{ a-b: 1 }"), ElementsAre("2 the key needs quotes"));
  EXPECT_THAT(faults(R"(["\ud800", 1])"),
              ElementsAre("2 half of a surrogate pair is no character"));
  for (const std::string_view number :
       {".", "-.", "1__0", "_1", "1_", "0x", "1e", "1.2.3", "--1", "01x", "1_e3"}) {
    EXPECT_EQ(faults(number).size(), 1U) << number;
  }
  EXPECT_THAT(faults("{ a: }\n{ b: 1 }\n{ c: ] }\n"),
              ElementsAre("5 a value is expected", "21 a value is expected"));
}

TEST(Json5, DepthIsLimited) {
  EXPECT_THAT(faults(std::string(20'000, '[')), ElementsAre("256 nested deeper than 256 levels"));
  std::string deepest = std::string(256, '[') + std::string(256, ']');
  EXPECT_THAT(faults(deepest), IsEmpty());
}

TEST(Json5, ValuesKnowWhereTheyStand) {
  const Json5Body body = parse_json5("{ a: [ 1, 'x' ] }", 100);
  const JsonView list = body.values.at(0).root().find("a");
  EXPECT_EQ(list.offset(), 105U);
  EXPECT_EQ(list.item(1).offset(), 110U);
}

TEST(JsonTree, ComparesNumbersExactly) {
  const auto order = [](std::string_view a, std::string_view b) {
    const Json5Body x = parse_json5(a);
    const Json5Body y = parse_json5(b);
    return compare_numbers(x.values.at(0).root(), y.values.at(0).root());
  };
  EXPECT_EQ(order("9223372036854775807", "9223372036854775806"), 1);
  EXPECT_EQ(order("9223372036854775807", "9223372036854775808"), -1);
  EXPECT_EQ(order("60", "60.0"), 0);
  EXPECT_EQ(order("9007199254740993", "9007199254740992.0"), 1);
  EXPECT_EQ(order("18446744073709551615", "1.8446744073709552e19"), -1);
  EXPECT_EQ(order("-1", "18446744073709551615"), -1);
  EXPECT_EQ(order("1", "NaN"), 2);
  EXPECT_EQ(order("1", "'1'"), 2);
}

TEST(JsonTree, KeepsItsMemoryWhenItIsCleared) {
  JsonTree tree;
  for (int round = 0; round < 2; ++round) {
    tree.clear();
    tree.begin_object();
    tree.key("a");
    tree.begin_array();
    tree.integer(1);
    tree.text("two");
    tree.end();
    tree.key("b");
    tree.natural(UINT64_MAX);
    tree.end();
  }
  std::string out;
  append_json(tree.root(), out);
  EXPECT_EQ(out, R"({"a":[1,"two"],"b":18446744073709551615})");
  EXPECT_EQ(tree.root().find("a").item(1).text(), "two");
  EXPECT_FALSE(tree.root().find("c"));
  EXPECT_FALSE(tree.root().item(0));
  JsonTree copy;
  copy.copy(tree.root());
  out.clear();
  append_plain(copy.root().find("a").item(1), out);
  EXPECT_EQ(out, "two");
}

}  // namespace
}  // namespace onbeat::document
