#include "document/json_line.hpp"

#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

#include <string>
#include <vector>

namespace onbeat::document {
namespace {

/// "key=value;" a member, unescaped; then "column: fault" when there is one.
std::string walked(std::string_view line) {
  JsonWalk walk(line);
  JsonMember member;
  std::string result;
  while (walk.next(member)) {
    append_unescaped(member.key, result);
    result += '=';
    if (member.is_text) {
      append_unescaped(member.value, result);
    } else {
      result += member.value;
    }
    result += ';';
  }
  if (walk.fault().empty()) return result;
  return result + std::to_string(walk.fault_at() + 1) + ": " + std::string(walk.fault());
}

TEST(JsonLine, ValuesAsTheyAreWritten) {
  EXPECT_EQ(walked(R"({"a":1.10,"b":"x","c":null,"d":true,"e":[1, {"f":"}"}],"g":{}})"),
            R"(a=1.10;b=x;c=null;d=true;e=[1, {"f":"}"}];g={};)");
  EXPECT_EQ(walked(R"( { "id" : 123456789012345678901234567890 , "n":-0.5e+10 } )"),
            "id=123456789012345678901234567890;n=-0.5e+10;");
  EXPECT_EQ(walked("{}"), "");
  EXPECT_EQ(walked(" { } \r"), "");
}

TEST(JsonLine, Escapes) {
  EXPECT_EQ(walked(R"({"\u0061\"":"\\\/\b\f\n\r\t\u00e9\u20ac\ud83d\ude00"})"),
            "a\"=\\/\b\f\n\r\t\u00e9\u20ac\U0001f600;");
}

TEST(JsonLine, Refused) {
  const std::pair<std::string_view, std::string_view> cases[] = {
      {"", "1: an object is expected"},
      {"1", "1: an object is expected"},
      {"[{}]", "1: an array stands where an object is expected"},
      {"{", "2: a key in double quotes is expected"},
      {"{a:1}", "2: a key in double quotes is expected"},
      {R"({"a")", "5: a colon is expected"},
      {R"({"a":)", "6: a value is expected"},
      {R"({"a":1)", "7: the object is not closed"},
      {R"({"a":1,})", "a=1;8: a key in double quotes is expected"},
      {R"({"a":1 "b":2})", "a=1;8: a comma or } is expected"},
      {R"({"a":01})", "a=0;7: a comma or } is expected"},
      {R"({"a":1.})", "8: a digit is expected"},
      {R"({"a":1e})", "8: a digit is expected"},
      {R"({"a":-})", "7: a value is expected"},
      {R"({"a":tru})", "6: a value is expected"},
      {R"({"a":"x)", "6: the text is not closed"},
      {"{\"a\":\"x\ty\"}", "8: a control character must be escaped in a text"},
      {R"({"a":"\x"})", "7: unknown escape"},
      {R"({"a":"\ud800"})", "7: the escape is not a Unicode character"},
      {R"({"a":"\udc00"})", "7: the escape is not a Unicode character"},
      {R"({"a":"\ud83dx\ude00"})", "7: the escape is not a Unicode character"},
      {R"({"a":"\u12g4"})", "7: the escape is not a Unicode character"},
      {R"({"a":[1,]})", "9: a value is expected"},
      {R"({"a":[1 2]})", "9: a comma or ] is expected"},
      {R"({"a":{"b"}})", "10: a colon is expected"},
      {R"({"a":1}x)", "a=1;8: something follows the object; each line holds one"},
      {R"({}{})", "3: something follows the object; each line holds one"}};
  for (const auto& [line, refusal] : cases) EXPECT_EQ(walked(line), refusal) << line;
}

TEST(JsonLine, NestingIsLimited) {
  const auto nested = [](std::size_t depth) {
    return "{\"a\":" + std::string(depth, '[') + std::string(depth, ']') + "}";
  };
  EXPECT_EQ(walked(nested(256)), "a=" + nested(256).substr(5, 512) + ";");
  EXPECT_EQ(walked(nested(257)), "262: the value is nested too deeply");
}

/// Every cut, and every byte replaced, of lines that touch the whole grammar: it agrees with an
/// independent parser about what is JSON.
TEST(JsonLine, AgreesWithAnotherParser) {
  const std::vector<std::string> lines{
      R"({"a":1.5e-3,"b":"x\u00e9\n","c":[null,true,{"d":-0}],"e":{}})",
      R"({ "k" : [ [ ] , { "x" : "\ud83d\ude00" } ] , "l" : false })"};
  const auto agree = [](const std::string& line) {
    const auto other = nlohmann::json::parse(line, nullptr, false);
    const std::string own = walked(line);
    JsonWalk walk(line);
    JsonMember member;
    while (walk.next(member)) {
    }
    EXPECT_EQ(walk.fault().empty(), !other.is_discarded() && other.is_object()) << line;
  };
  for (const std::string& line : lines) {
    for (std::size_t cut = 0; cut <= line.size(); ++cut) agree(line.substr(0, cut));
    for (std::size_t at = 0; at < line.size(); ++at) {
      for (const char c : std::string_view("{}[]\",:\\u0-+.eEtnx \x01")) {
        std::string changed = line;
        changed[at] = c;
        agree(changed);
      }
    }
  }
}

}  // namespace
}  // namespace onbeat::document
