#include "document/assertion.hpp"

#include "document/assertion_text.hpp"
#include "document/extract.hpp"
#include "document/json5.hpp"
#include "document/ternary.hpp"

#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <array>

namespace onbeat::document {
namespace {

using testing::HasSubstr;

constexpr std::string_view kMessage = R"({
  "a": 1, "big": 9223372036854775807, "big_id": "123456789012345", "name": "Ann B", "none": null, "yes": true,
  "no": false, "items": [1, 2, {"k": "v"}], "o": {"x y": 5}, "at": "2024-06-01T12:00:00Z", "took": "1.5s",
  "id": "123e4567-e89b-42d3-a456-426614174000", "mail": "a.b@example.org", "url": "https://h.example:8443/p/q?x=1#f",
  "ip": "10.0.0.1", "b64": "aGk=", "json": "{\"k\": [7]}", "text60": "60.5", "empty": ""
})";

AssertionScope scope() {
  return {.variables = {"user.id", "token", "user"},
          .row_slots = 1,
          .environment = [](const std::string& name) -> std::optional<std::string> {
            if (name == "SET") return "value";
            return std::nullopt;
          }};
}

struct Judged {
  std::string compile;  // the first diagnostic
  std::string failure;  // empty: it holds
  bool jq = false;
};
Judged judge(std::string_view line, std::string_view message = kMessage) {
  std::vector<Diagnostic> diagnostics;
  const Assertions assertions =
      Assertions::compile({{std::string(line), {7, 1}}}, scope(), diagnostics);
  Judged judged{.jq = assertions.uses_jq()};
  if (!diagnostics.empty())
    judged.compile = fmt::format("{}:{} {} [{}]", diagnostics[0].at.line, diagnostics[0].at.column,
                                 diagnostics[0].message, diagnostics[0].hint);
  if (has_errors(diagnostics)) return judged;
  const Json5Body body = parse_json5(message);
  const std::array<MetadataItem, 2> headers{{{"x-id", "7"}, {"trace-bin", "\x01\xff"}}};
  const std::array<MetadataItem, 1> trailers{{{"t", "u"}}};
  const Answer answer{.message = body.values.at(0).root(),
                      .headers = headers,
                      .trailers = trailers,
                      .elapsed = std::chrono::microseconds(1500),
                      .total_elapsed = std::chrono::milliseconds(9),
                      .message_count = 3,
                      .index = 2};
  Variables variables(1, 2);
  const std::array<std::string_view, 1> row{"17"};
  variables.begin(row);
  variables.to_bind(0).text("secret");
  variables.bound(0);
  JsonTree& user = variables.to_bind(1);
  user.begin_object();
  user.key("age");
  user.integer(30);
  user.end();
  variables.bound(1);
  AssertionRunner runner(assertions);
  for (int again = 0; again < 2; ++again) {
    const auto failure = runner.run(answer, variables);
    judged.failure = failure ? failure->message : "";
  }
  return judged;
}
bool holds(std::string_view line) {
  const Judged judged = judge(line);
  EXPECT_EQ(judged.compile, "") << line;
  EXPECT_FALSE(judged.jq) << line;
  return judged.failure.empty();
}
bool jq_holds(std::string_view line) {
  const Judged judged = judge(line);
  EXPECT_EQ(judged.compile, "") << line;
  EXPECT_TRUE(judged.jq) << line;
  return judged.failure.empty();
}

TEST(Assertions, NativeLinesThatHold) {
  for (const std::string_view line : {".a == 1",
                                      ".a == 1.0",
                                      ".a != 2",
                                      ".a < 2",
                                      ".a <= 1",
                                      ".a > 0 and .a >= 1",
                                      ".name",
                                      ".yes",
                                      "not .no",
                                      "!.no",
                                      "!!.yes",
                                      ".no | not",
                                      ".no or .yes",
                                      ".no xor .yes",
                                      "not (.yes xor .yes)",
                                      ".items[0] == 1",
                                      ".items[-1].k == \"v\"",
                                      ".o[\"x y\"] == 5",
                                      ".o.\"x y\" == 5",
                                      ".none == null",
                                      ".missing == null",
                                      ".missing.deeper[3] == null",
                                      ".items == [1, 2, {k: 'v'}]",
                                      ".name contains 'nn'",
                                      ".items contains 2",
                                      ".items contains {k: \"v\"}",
                                      ".o contains \"x y\"",
                                      ".name startsWith \"Ann\"",
                                      ".name endswith 'B'",
                                      ".name matches \"^A.n\"",
                                      ".name matches /ann\\sb/i",
                                      ".a == 1 or .b == 2 and .c == 3",
                                      "if .yes then .a == 1 else false end",
                                      ".big == 9223372036854775807",
                                      ".a == 1_0 or true == .yes",
                                      ". contains \"a\"",
                                      ".a? == 1"}) {
    EXPECT_TRUE(holds(line)) << line;
  }
}

TEST(Assertions, NativeLinesThatDoNot) {
  for (const std::string_view line :
       {".a == 2", ".name < \"B\"", ".name > 1", ".none", ".missing", ".no", "not .a", ".a | not",
        ".big == 9223372036854775806", ".items contains 3", ".name contains 1",
        ".name matches /ann/", ".a == \"1\"", ".yes xor .yes", ".items == [1, 2]"}) {
    EXPECT_FALSE(holds(line)) << line;
  }
}

TEST(Assertions, Casts) {
  for (const std::string_view line : {".big_id:number > 100",
                                      ".big_id:number == 123456789012345",
                                      ".big_id:uint > 0",
                                      ".text60:number == 60.5",
                                      ".name:number == null",
                                      ".text60:uint == null",
                                      ".a:string == \"1\"",
                                      ".id:uuid",
                                      ".mail:email",
                                      ".url:url",
                                      ".ip:ip",
                                      ".name:uuid == null",
                                      ".at:timestamp >= \"2024-01-01\"",
                                      ".at:timestamp < \"2024-06-01T12:00:00.5+00:00\"",
                                      "\"2024-06-02\" > .at:timestamp",
                                      ".took:duration > 1",
                                      ".took:duration < \"2s\"",
                                      ".json:json == {k: [7]}",
                                      ".json:yaml == {k: [7]}",
                                      ".yes:bool"}) {
    EXPECT_TRUE(holds(line)) << line;
  }
  EXPECT_FALSE(holds(".at:timestamp >= \"2025-01-01\""));
}

TEST(Assertions, Functions) {
  for (const std::string_view line : {"@is_uuid(.id)",
                                      "@is_email(.mail)",
                                      "@is_url(.url)",
                                      "@is_ip(.ip)",
                                      "@is_timestamp(.at)",
                                      "@is_base64(.b64)",
                                      "@is_json(.json)",
                                      "@is_empty(.empty)",
                                      "@is_empty(.missing)",
                                      "@has_value(.name)",
                                      "not @has_value(.none)",
                                      "@len(.name) == 5",
                                      "@len(.items) == 3",
                                      "@len(.a) == null",
                                      "@regex(.name, \"A\")",
                                      "@env(\"SET\") == \"value\" and .a",
                                      "@env(\"UNSET\", \"d\") == \"d\" and .a",
                                      "@header(\"X-Id\") == \"7\"",
                                      "@header(\"trace-bin\") == \"01ff\"",
                                      "@header(\"no\") == null",
                                      "@has_header(\"x-id\")",
                                      "@trailer('t') == 'u'",
                                      "@has_trailer(\"T\")",
                                      "@elapsed_ms() == 1.5",
                                      "@total_elapsed_ms() == 9",
                                      "@scope.message_count() == 3",
                                      "@scope.index() == 2",
                                      "@url.host(.url) == \"h.example\"",
                                      "@url.port(.url) == 8443",
                                      "@url.path(.url) == \"/p/q\"",
                                      "@url.scheme(.url) == 'https'",
                                      "@url.query(.url) == 'x=1'",
                                      "@url.fragment(.url) == 'f'",
                                      "@email.local_part(.mail) == 'a.b'",
                                      "@email.domain(.mail) == 'example.org'",
                                      "@ip.version(.ip) == 4",
                                      "@uuid.version(.id) == 4",
                                      "@json.key(.json, 'k') == [7]",
                                      "@schema({type: 'object', required: ['a'], properties: {a: "
                                      "{type: 'integer', minimum: 1}}})",
                                      "@schema(.items, {type: 'array', minItems: 3})",
                                      "not @schema(.a, {type: 'string'})"}) {
    EXPECT_TRUE(holds(line)) << line;
  }
}

TEST(Assertions, Variables) {
  EXPECT_TRUE(holds("$token == \"secret\""));
  EXPECT_TRUE(holds("$user.id == \"17\"")) << "a column of the row";
  EXPECT_TRUE(holds("$user.age == 30")) << "a member of what EXTRACT bound";
  EXPECT_TRUE(holds("$user[\"age\"] > 29"));
}

TEST(Assertions, WhatIsNotNativeIsJq) {
  for (const std::string_view line :
       {".items | length == 3", ".items[] | . != null", ".value // \"default\" == \"default\"",
        ".a + 1 == 2", "[.items[] | numbers] | add == 3", ".name | test(\"Ann\")",
        ".json | fromjson | .k[0] == 7"}) {
    EXPECT_TRUE(jq_holds(line)) << line;
  }
  EXPECT_FALSE(jq_holds(".items | length == 2"));
  EXPECT_EQ(judge(".items | length == 2").failure, "jq gave false");
  EXPECT_EQ(judge("empty").failure, "jq gave no output");
  EXPECT_EQ(judge(".items[] | . == 1").failure, "jq gave false") << "all outputs must hold";
  EXPECT_THAT(judge(".a | length | error(\"x\")").failure, HasSubstr("jq failed: x"));
}

TEST(Assertions, RefusesWhatIsNeither) {
  EXPECT_EQ(judge(".a = 1").compile, "7:4 = is no comparison [== compares]");
  EXPECT_EQ(judge(".a | .b = 1").compile, "7:9 = is no comparison [== compares]");
  EXPECT_EQ(judge(".a |= 1").compile, "7:5 = is no comparison [== compares]");
  EXPECT_THAT(judge(".a ==").compile, HasSubstr("7:6 a value is expected, the line ends"));
  EXPECT_THAT(judge(".a and").compile, HasSubstr("a value is expected"));
  EXPECT_EQ(judge("@lenn(.a) == 1").compile, "7:1 unknown function @lenn [did you mean @len?]");
  EXPECT_THAT(judge("@len() == 1").compile, HasSubstr("@len takes 1 argument"));
  EXPECT_THAT(judge(".name matches \"(\"").compile,
              HasSubstr("the regular expression is malformed"));
  EXPECT_THAT(judge(".a | @header(\"x\") == 1").compile,
              HasSubstr("7:6 an @function cannot stand in a jq program"));
  EXPECT_THAT(judge(".a == {{x}}").compile, HasSubstr("7:7 placeholders are not replaced here"));
  EXPECT_THAT(judge("$tokn == 1").compile, HasSubstr("did you mean $token?"));
  EXPECT_THAT(judge("@schema({typ: 'x'})").compile, HasSubstr("keyword typ is not known"));
  EXPECT_THAT(judge("@is_empty(.a) and @empty(.b)").compile,
              HasSubstr("7:19 @empty is deprecated [@is_empty]"));
  EXPECT_THAT(judge("1 == 1").compile, HasSubstr("reads nothing of the answer"));
  EXPECT_THAT(judge(std::string(1000, '!') + ".a").compile, HasSubstr("nested deeper than 256"));
  EXPECT_THAT(judge(std::string(100'000, '(') + ".a").compile, HasSubstr("nested deeper than 256"));
}

TEST(Assertions, SayWhatTheyFound) {
  EXPECT_EQ(judge(".a == 2").failure, ".a is 1");
  EXPECT_EQ(judge(".yes and .items[2].k == \"w\"").failure, ".items[2].k is \"v\"");
  EXPECT_EQ(judge(".no or .a > 5").failure, ".no is false; .a is 1");
  EXPECT_EQ(judge("@len(.name) == @len(.items)").failure, "@len(.name) is 5, @len(.items) is 3");
  EXPECT_EQ(judge("@has_header(\"no\")").failure, "@has_header(\"no\") is false");
}

TEST(Assertions, CommentsEndALine) {
  EXPECT_EQ(without_comment("  .a == 1 # note"), ".a == 1");
  EXPECT_EQ(without_comment(".a == \"#\" # note"), ".a == \"#\"");
  EXPECT_EQ(without_comment("@elapsed_ms() >= 10 // note"), "@elapsed_ms() >= 10");
  EXPECT_EQ(without_comment(".value // \"default\" == \"x\""), ".value // \"default\" == \"x\"");
  EXPECT_EQ(without_comment(".a == 1//2"), ".a == 1//2");
  EXPECT_EQ(without_comment(".a // false"), ".a // false");
  EXPECT_EQ(without_comment(".a // false alarm"), ".a");
  EXPECT_EQ(without_comment(".a matches /#\\/x/ # y"), ".a matches /#\\/x/");
  EXPECT_EQ(without_comment("// all"), "");
}

TEST(Ternary, BecomesIfThenElse) {
  EXPECT_EQ(rewrite_ternary(".a ? .b : .c"), "if .a then .b else .c end");
  EXPECT_EQ(rewrite_ternary(".a ? 1 : .b ? 2 : 3"),
            "if .a then 1 else if .b then 2 else 3 end end");
  EXPECT_EQ(rewrite_ternary(".a ? .b ? 1 : 2 : 3"),
            "if .a then if .b then 1 else 2 end else 3 end");
  EXPECT_EQ(rewrite_ternary(".a == \"? :\" ? \"x:(\" : {a: 1}"),
            "if .a == \"? :\" then \"x:(\" else {a: 1} end");
  EXPECT_EQ(rewrite_ternary("(.a ? 1 : 2) + 1"), "(if .a then 1 else 2 end) + 1");
  EXPECT_EQ(rewrite_ternary(".a? | .b"), ".a? | .b");
  EXPECT_EQ(rewrite_ternary(".a ? .b? : .c"), "if .a then .b? else .c end");
  const std::string deep = std::string(100'000, '(') + "a ? b : c" + std::string(100'000, ')');
  EXPECT_EQ(rewrite_ternary(deep), deep);
}

std::string extracted(std::string_view expression) {
  std::vector<Diagnostic> diagnostics;
  const Extractions extractions =
      Extractions::compile({{"x", "", std::string(expression), {}, {}}}, {0}, scope(), diagnostics);
  if (has_errors(diagnostics)) return diagnostics[0].message;
  const Json5Body body = parse_json5(kMessage);
  const std::array<MetadataItem, 1> headers{{{"x-id", "7"}}};
  Variables variables(1, 2);
  variables.begin({});
  ExtractionRunner runner(extractions);
  const auto failure =
      runner.run({.message = body.values.at(0).root(), .headers = headers}, variables);
  if (failure) return failure->text + ": " + failure->message;
  return std::string(variables.values()[2]);
}

TEST(Extract, BindsTheFirstOutput) {
  EXPECT_EQ(extracted(".items[2]"), R"({"k":"v"})");
  EXPECT_EQ(extracted(".name"), R"("Ann B")");
  EXPECT_EQ(extracted(".items[]"), "1");
  EXPECT_EQ(extracted(".items | map(numbers) | add"), "3");
  EXPECT_EQ(extracted("@header(\"x-id\")"), "\"7\"");
  EXPECT_EQ(extracted(".yes ? .a : .b"), "1");
  EXPECT_EQ(extracted(".big"), "9223372036854775807") << "paths are exact";
  EXPECT_EQ(extracted("@has_header(\"x-id\") ? \"there\" : \"not\""), "\"there\"");
  EXPECT_EQ(extracted(".name < \"B\""), "true") << "as jq orders";
  EXPECT_EQ(extracted("empty"), "x = empty: jq gave no output");
  EXPECT_THAT(extracted(".a | keys"), HasSubstr("x = .a | keys: jq failed"));
  EXPECT_THAT(extracted(".a |"), HasSubstr("not is expected"));
}

}  // namespace
}  // namespace onbeat::document
