#include "document/template.hpp"

#include <gtest/gtest.h>

#include <limits>
#include <map>
#include <regex>
#include <set>
#include <string>

namespace onbeat::document {
namespace {

Scope scope() {
  Scope scope;
  scope.variables = {"user.id", "user.name", "user.first-name", "token"};
  scope.environment = [](const std::string& name) -> std::optional<std::string> {
    if (name == "HOME") return "/home/a";
    if (name == "EVIL") return "a\r\nX: b";
    if (name == "QUOTE") return "say \"hi\"";
    if (name == "A}}B") return "braces";
    return std::nullopt;
  };
  return scope;
}

constexpr std::array<std::string_view, 4> kValues{"7", "Ann", "An", "t"};

RenderContext context(std::uint64_t arrival = 0, std::uint64_t seed = 1) {
  return {.seed = seed, .arrival = arrival, .unix_ms = 1'700'000'000'123, .values = kValues};
}

/// "column: message | hint; ..." or "accepted".
std::string refusals(std::string_view text, Place place = Place::text) {
  Scope names = scope();
  const auto compiled = Template::compile(text, place, names);
  if (compiled) return "accepted";
  std::string all;
  for (const options::GrammarError& error : compiled.error()) {
    all += (all.empty() ? "" : "; ") + std::to_string(error.column) + ": " + error.message +
           (error.hint.empty() ? "" : " | " + error.hint);
  }
  return all;
}

Template compiled(std::string_view text, Place place = Place::text) {
  Scope names = scope();
  auto result = Template::compile(text, place, names);
  EXPECT_TRUE(result) << refusals(text, place);
  return result ? std::move(*result) : Template();
}

std::string rendered(std::string_view text, Place place = Place::text,
                     const RenderContext& at = context()) {
  std::string out;
  const RenderFault fault = compiled(text, place).render(at, out);
  return fault == RenderFault::none ? out : std::string(to_string(fault));
}

TEST(Template, ATextWithoutVariablesIsItself) {
  for (const std::string_view text :
       {"", "plain", "{", "{{", "}}", "{{}}", "{{ }}", "{{1}}", "{{\"a\":{}}}", "{{#each x}}",
        "{{user.id", "{{user.id}", "{\"a\":{\"b\":1}}", "a\\b", "\\", "{{ . }}", "{ {user.id}}"}) {
    const Template literal = compiled(text);
    EXPECT_TRUE(literal.is_literal()) << text;
    EXPECT_EQ(literal.literal(), text);
    EXPECT_EQ(rendered(text), text);
  }
}

TEST(Template, Variables) {
  EXPECT_EQ(rendered("{{user.id}}"), "7");
  EXPECT_EQ(rendered("a{{ user.id }}b{{\tuser.name}}c"), "a7bAnnc");
  EXPECT_EQ(rendered("{{token}}{{token}}"), "tt");
  EXPECT_EQ(rendered("{{user.first-name}}"), "An") << "a column's name may be no identifier";
  EXPECT_EQ(rendered("{\"a\":{\"id\":{{user.id}}}}"), "{\"a\":{\"id\":7}}");
  EXPECT_EQ(rendered("{{{user.id}}}"), "{7}");
  EXPECT_EQ(rendered("{{1}}{{user.id}}"), "{{1}}7");
  EXPECT_FALSE(compiled("{{user.id}}").is_literal());
}

TEST(Template, ValuesAreNotScannedAgain) {
  const std::array<std::string_view, 1> values{"{{user.name}}"};
  EXPECT_EQ(rendered("{{user.id}}", Place::text, {.values = values}), "{{user.name}}");
}

TEST(Template, BackslashKeepsBraces) {
  EXPECT_EQ(rendered("\\{{user.id}}"), "{{user.id}}");
  EXPECT_EQ(rendered("a\\{{b}} {{user.id}}"), "a{{b}} 7");
  EXPECT_EQ(rendered("\\\\{{user.id}}"), "\\\\7") << "an escaped backslash of JSON stays one";
  EXPECT_EQ(rendered("\\\\\\{{user.id}}"), "\\\\{{user.id}}");
  EXPECT_TRUE(compiled("\\{{user.id}}").is_literal());
}

TEST(Template, AnAbsentValueIsAFaultAndLeavesTheBuffer) {
  const std::array<std::string_view, 2> values{"7", std::string_view{}};
  std::string out = "before";
  EXPECT_EQ(compiled("x{{user.id}}{{user.name}}").render({.values = values}, out),
            RenderFault::absent_value);
  EXPECT_EQ(out, "before");
  EXPECT_EQ(compiled("{{token}}").render({.values = values}, out), RenderFault::absent_value);
  const std::array<std::string_view, 2> empty{"7", ""};
  EXPECT_EQ(rendered("<{{user.name}}>", Place::text, {.values = empty}), "<>");
}

TEST(Template, AHeaderRefusesWhatCouldForgeAnother) {
  for (const std::string_view value : {std::string_view("a\rb"), std::string_view("a\nb"),
                                       std::string_view("a\r\nX: 1"), std::string_view("\0", 1)}) {
    const std::array<std::string_view, 1> values{value};
    std::string out;
    EXPECT_EQ(compiled("{{user.id}}", Place::field).render({.values = values}, out),
              RenderFault::forbidden);
    EXPECT_EQ(out, "");
    EXPECT_EQ(rendered("{{user.id}}", Place::text, {.values = values}), value);
  }
  EXPECT_EQ(refusals("{{env(\"EVIL\")}}", Place::field),
            "3: the environment variable \"EVIL\" holds a line break or a NUL byte | a header "
            "cannot");
}

TEST(Template, ATargetEncodesWhatCannotStandInOne) {
  const std::array<std::string_view, 1> values{"a b\r\n\"#\x7f\xc3\xa4/?&=%20~"};
  EXPECT_EQ(rendered("/x y/{{user.id}}", Place::target, {.values = values}),
            "/x y/a%20b%0D%0A%22%23%7F%C3%A4/?&=%20~");
}

TEST(Template, JsonStringsStayClosed) {
  const std::array<std::string_view, 1> values{"a\"\\\n\t\r\x01z"};
  const auto json = [&](std::string_view text) {
    return rendered(text, Place::json, {.values = values});
  };
  const std::string escaped = R"(a\"\\\n\t\r\u0001z)";
  EXPECT_EQ(json(R"({"a":"{{user.id}}"})"), "{\"a\":\"" + escaped + "\"}");
  EXPECT_EQ(json(R"({"a":{{user.id}}})"), "{\"a\":" + std::string(values[0]) + "}");
  EXPECT_EQ(json(R"({"q\"{{user.id}}":1})"), "{\"q\\\"" + escaped + "\":1}");
  EXPECT_EQ(json(R"({"q\\":{{user.id}}})"), "{\"q\\\\\":" + std::string(values[0]) + "}");
  EXPECT_EQ(rendered(R"(["{{env("QUOTE")}}"])", Place::json), R"(["say \"hi\""])");
  EXPECT_EQ(rendered(R"(["{{env("QUOTE")}}{{user.id}}"])", Place::json), R"(["say \"hi\"7"])")
      << "the value's quotes do not end the string";
}

TEST(Template, Functions) {
  EXPECT_EQ(rendered("{{seq()}}-{{ seq ( ) }}", Place::text, context(41)), "41-41");
  EXPECT_EQ(rendered("{{now_ms()}}"), "1700000000123");
  EXPECT_EQ(rendered("{{env(\"HOME\")}}"), "/home/a");
  EXPECT_EQ(rendered("{{env(\"A}}B\")}}"), "braces");
  EXPECT_TRUE(compiled("{{env(\"HOME\")}}").is_literal());
  const std::regex uuid("[0-9a-f]{8}-[0-9a-f]{4}-4[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}");
  for (std::uint64_t n = 0; n < 100; ++n) {
    EXPECT_TRUE(std::regex_match(rendered("{{uuid()}}", Place::text, context(n)), uuid));
  }
  EXPECT_EQ(rendered("{{random(5,5)}}"), "5");
  EXPECT_EQ(rendered("{{random(-3,-3)}}"), "-3");
  EXPECT_EQ(rendered("{{random_string(3)}}").size(), 3U);
}

TEST(Template, RandomHitsEachNumberAlike) {
  std::map<std::string, int> seen;
  for (std::uint64_t n = 0; n < 4000; ++n) {
    ++seen[rendered("{{random(-1,2)}}", Place::text, context(n))];
  }
  ASSERT_EQ(seen.size(), 4U);
  for (const auto& [number, count] : seen) {
    EXPECT_NEAR(count, 1000, 150) << number;
  }
  EXPECT_TRUE(seen.contains("-1") && seen.contains("2"));
}

TEST(Template, RandomOverAllOf64Bits) {
  const std::string text = "{{random(-9223372036854775808,9223372036854775807)}}";
  std::set<std::string> seen;
  bool negative = false;
  for (std::uint64_t n = 0; n < 50; ++n) {
    seen.insert(rendered(text, Place::text, context(n)));
    negative = negative || seen.begin()->starts_with('-');
  }
  EXPECT_EQ(seen.size(), 50U);
  EXPECT_TRUE(negative);
}

TEST(Template, RandomStringUsesAllLettersAndDigits) {
  std::set<char> seen;
  std::set<std::string> texts;
  for (std::uint64_t n = 0; n < 200; ++n) {
    const std::string text = rendered("{{random_string(32)}}", Place::text, context(n));
    ASSERT_EQ(text.size(), 32U);
    seen.insert(text.begin(), text.end());
    texts.insert(text);
  }
  EXPECT_EQ(seen.size(), 62U);
  EXPECT_EQ(texts.size(), 200U);
}

TEST(Template, TheSameForTheSameSeedAndArrivalOnly) {
  const std::string text = "{{uuid()}} {{random(1,1000000000)}} {{random_string(20)}}";
  std::set<std::string> texts;
  for (std::uint64_t seed = 0; seed < 20; ++seed) {
    for (std::uint64_t n = 0; n < 20; ++n) {
      const std::string once = rendered(text, Place::text, context(n, seed));
      EXPECT_EQ(once, rendered(text, Place::text, context(n, seed)));
      texts.insert(once);
    }
  }
  EXPECT_EQ(texts.size(), 400U);
  EXPECT_EQ(rendered("{{uuid()}}"), "738d392c-f626-46e6-a3f5-4bce1852a3c8")
      << "a seed's texts are part of what a report promises to repeat";
}

TEST(Template, EachFunctionOfARequestDrawsItsOwn) {
  Scope names = scope();
  const auto first = Template::compile("{{uuid()}}{{uuid()}}", Place::text, names);
  const auto second = Template::compile("{{uuid()}}", Place::text, names);
  std::string a;
  std::string b;
  ASSERT_EQ(first->render(context(), a), RenderFault::none);
  ASSERT_EQ(second->render(context(), b), RenderFault::none);
  EXPECT_NE(a.substr(0, 36), a.substr(36));
  EXPECT_NE(a.substr(0, 36), b);
  EXPECT_NE(a.substr(36), b);
}

TEST(Template, WhatItNeeds) {
  EXPECT_EQ(compiled("{{token}}{{user.id}}{{token}}").slots(), (std::vector<std::uint32_t>{0, 3}));
  EXPECT_TRUE(compiled("{{seq()}}{{now_ms()}}").uses_clock());
  EXPECT_FALSE(compiled("{{seq()}}{{user.id}}").uses_clock());
}

TEST(Template, Refused) {
  constexpr std::string_view kFunctions =
      " | functions are seq(), uuid(), random(1,100), random_string(16), now_ms(), env(\"NAME\")";
  constexpr std::string_view kBraces = " | {{user.id}} or {{uuid()}}; \\{{ stands for plain braces";
  const std::pair<std::string_view, std::string> cases[] = {
      {"a{{ usr.id }}", "5: unknown variable \"usr.id\" | did you mean user.id?"},
      {"{{x}}", "3: unknown variable \"x\" | there are user.id, user.name, user.first-name, token"},
      {"{{uuid}}", "3: unknown variable \"uuid\" | a function needs parentheses: {{uuid()}}"},
      {"{{user-id}}", "3: \"user-id\" is neither a variable nor a function" + std::string(kBraces)},
      {"{{a\nb}}", "3: \"a?b\" is neither a variable nor a function" + std::string(kBraces)},
      {"{{uid()}}", "3: unknown function \"uid\" | did you mean uuid()?"},
      {"{{base64(1)}}", "3: unknown function \"base64\"" + std::string(kFunctions)},
      {"{{uuid(1)}}", "3: uuid takes no arguments | {{uuid()}}"},
      {"{{seq(\"a\")}}", "3: seq takes no arguments | {{seq()}}"},
      {"{{uuid(}}", "8: a whole number or a text in double quotes is expected"},
      {"{{uuid()x}}", "9: }} is expected"},
      {"{{random()}}", "3: random takes two whole numbers | {{random(1,100)}}"},
      {"{{random(1)}}", "3: random takes two whole numbers | {{random(1,100)}}"},
      {"{{random(1,2,3)}}", "3: random takes two whole numbers | {{random(1,100)}}"},
      {"{{random(2,1)}}", "3: random's first number is above its second | {{random(1,2)}}"},
      {"{{random(0.5,1)}}", "10: a whole number or a text in double quotes is expected"},
      {"{{random(1 2)}}", "12: a comma or a closing parenthesis is expected"},
      {"{{random(1,99999999999999999999)}}", "12: the number is too large"},
      {"{{random_string(0)}}",
       "3: random_string takes its length, from 1 to 65536 | {{random_string(16)}}"},
      {"{{random_string(65537)}}",
       "3: random_string takes its length, from 1 to 65536 | {{random_string(16)}}"},
      {"{{env(NAME)}}", "7: a whole number or a text in double quotes is expected"},
      {"{{env(\"NAME)}}", "7: the text is not closed"},
      {"{{env()}}",
       "3: env takes the name of an environment variable in double quotes | {{env(\"NAME\")}}"},
      {"{{env(\"NONE\")}}", "3: the environment variable \"NONE\" is not set"}};
  for (const auto& [text, refusal] : cases) EXPECT_EQ(refusals(text), refusal) << text;
}

TEST(Template, AllThatIsWrongIsSaidAtOnce) {
  EXPECT_EQ(refusals("{{usr.id}}/{{uid()}}{{user.id}}{{random(2,1)}}"),
            "3: unknown variable \"usr.id\" | did you mean user.id?; "
            "14: unknown function \"uid\" | did you mean uuid()?; "
            "34: random's first number is above its second | {{random(1,2)}}");
}

TEST(Template, WithoutDataTheHintSaysWhereVariablesComeFrom) {
  Scope none;
  const auto compiled = Template::compile("{{name}}", Place::text, none);
  ASSERT_FALSE(compiled);
  EXPECT_EQ(compiled.error().front().hint,
            "variables come from a data file; \\{{ stands for plain braces");
}

TEST(Template, VariablesOfASourceThatCouldNotBeReadAreNoFurtherProblem) {
  Scope scope;
  scope.unread = {"user"};
  EXPECT_TRUE(Template::compile("{{user.id}}", Place::text, scope));
  EXPECT_FALSE(Template::compile("{{users.id}}", Place::text, scope));
}

TEST(Template, ManyOpenBracesTakeLinearTime) {
  std::string text(std::size_t{1} << 21, '{');
  text += "}}";
  EXPECT_EQ(compiled(text).literal(), text);
}

}  // namespace
}  // namespace onbeat::document
