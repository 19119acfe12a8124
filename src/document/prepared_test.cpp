#include "document/prepared.hpp"

#include "document/json5.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <array>

namespace onbeat::document {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;

constexpr std::string_view kChain = R"(--- ENDPOINT ---
a.B/C
--- REQUEST_HEADERS ---
X-User: {{ user.id }}-{{seq()}}
--- REQUEST ---
{ id: "{{user.id}}", text: 'say "{{user.name}}" \n {{env("HOME")}}', open: "{{ x", plain: [{a: {}}] }
{ two: 2 }
--- RESPONSE ---
{ id: "{{user.id}}", other: "{{unknown}}" }
--- EXTRACT ---
session = .session
count = .n
--- ENDPOINT ---
a.B/D
--- REQUEST ---
{ session: "{{session}}", text: "n={{count}} {{session}}" }
--- RESPONSE ---
{ n: "{{count}}", s: "<{{count}}>" }
--- ASSERTS ---
$count == 5
)";

std::optional<std::string> environment(const std::string&) { return "/home"; }

JsonTree value(std::string_view text) { return std::move(parse_json5(text).values.at(0)); }

class Prepared : public testing::Test {
 protected:
  Prepared() : parsed_(parse_gctf("x.gctf", kChain)) {
    EXPECT_FALSE(has_errors(parsed_.diagnostics));
    auto prepared =
        PreparedChain::prepare(parsed_.chain, {"user.id", "user.name", "user.age"}, environment);
    if (!prepared) {
      ADD_FAILURE() << prepared.error()[0].message;
      return;
    }
    prepared_ = std::move(*prepared);
    variables_.emplace(prepared_->make_variables());
    variables_->begin(row_);
  }
  std::string render(const MessageTemplate& message) {
    std::string scratch;
    std::string out;
    EXPECT_EQ(message.render(context(), scratch, out), RenderFault::none);
    return out;
  }
  RenderContext context() {
    return {.seed = 1, .arrival = 4, .unix_ms = 0, .values = variables_->values()};
  }
  const PreparedStep& step(std::size_t document, std::size_t at) {
    return prepared_->documents()[document].steps[at];
  }

  std::array<std::string_view, 3> row_{"7", "A\"B", ""};
  Parsed parsed_;
  std::unique_ptr<const PreparedChain> prepared_;
  std::optional<Variables> variables_;
};

TEST_F(Prepared, WritesRequestsAsStrictJson) {
  EXPECT_EQ(render(step(0, 0).requests.at(0)),
            R"({"id":"7","text":"say \"A\"B\" \n /home","open":"{{ x","plain":[{"a":{}}]})");
  EXPECT_FALSE(step(0, 0).requests[0].is_literal());
  EXPECT_EQ(render(step(0, 0).requests.at(1)), R"({"two":2})");
  EXPECT_TRUE(step(0, 0).requests[1].is_literal());
  std::string header;
  EXPECT_EQ(prepared_->documents()[0].headers.at(0).first, "x-user");
  EXPECT_EQ(prepared_->documents()[0].headers.at(0).second.render(context(), header),
            RenderFault::none);
  EXPECT_EQ(header, "7-4");
}

TEST_F(Prepared, NamesTheColumnsThatAreUsed) {
  EXPECT_THAT(prepared_->row_slots(), ElementsAre(0, 1, 2));
}

TEST_F(Prepared, ExpectsWhatTheRowSays) {
  JsonTree scratch;
  const Expectation& expected = step(0, 1).expected.at(0);
  EXPECT_FALSE(
      expected.difference(value("{id: '7', other: '{{unknown}}'}").root(), context(), scratch));
  const auto difference =
      expected.difference(value("{id: '8', other: '{{unknown}}'}").root(), context(), scratch);
  ASSERT_TRUE(difference);
  EXPECT_EQ(to_string(*difference), "at .id: expected \"7\", got \"8\"");
}

TEST_F(Prepared, ExtractedValuesKeepTheirTypes) {
  const JsonTree message = value("{session: {id: 'q\"'}, n: 5}");
  ExtractionRunner extraction(step(0, 2).extractions);
  EXPECT_FALSE(extraction.run({.message = message.root()}, *variables_));
  EXPECT_EQ(render(step(1, 0).requests.at(0)),
            R"({"session":{"id":"q\""},"text":"n=5 {\"id\":\"q\\\"\"}"})");
  JsonTree scratch;
  EXPECT_FALSE(
      step(1, 1).expected.at(0).difference(value("{n: 5, s: '<5>'}").root(), context(), scratch));
  AssertionRunner assertions(step(1, 2).assertions);
  EXPECT_FALSE(assertions.run({.message = message.root()}, *variables_));
  variables_->begin(row_);
  EXPECT_TRUE(assertions.run({.message = message.root()}, *variables_))
      << "nothing is bound in the next iteration";
}

TEST(PrepareChain, ListsPlaceholdersThatNothingBinds) {
  const Parsed parsed = parse_gctf(
      "x",
      "--- ENDPOINT ---\na.B/C\n--- REQUEST_HEADERS ---\nx: a{{nope}}\n--- REQUEST ---\n{ a: "
      "'{{missing}}',\n  b: '{{later}}' }\n--- RESPONSE ---\n{}\n--- EXTRACT ---\nlater = .x\n");
  const auto prepared = PreparedChain::prepare(parsed.chain, {}, environment);
  ASSERT_FALSE(prepared);
  ASSERT_EQ(prepared.error().size(), 3U);
  EXPECT_EQ(prepared.error()[0].message, "unknown variable \"nope\"");
  EXPECT_EQ(prepared.error()[0].at, (Position{4, 7}));
  EXPECT_THAT(prepared.error()[1].message, HasSubstr("\"missing\""));
  EXPECT_EQ(prepared.error()[2].at, (Position{7, 6}));
}

}  // namespace
}  // namespace onbeat::document
