#include "document/message_template.hpp"

#include <gtest/gtest.h>

#include <array>

namespace onbeat::document {
namespace {

Template part(std::string_view text, Place place, Scope& scope) {
  return Template::compile(text, place, scope).value();
}

MessageTemplate message(std::string_view target, std::string_view field, std::string_view body,
                        Scope& scope) {
  MessageTemplate message(part(body, Place::text, scope));
  message.add("POST ");
  message.add(part(target, Place::target, scope));
  message.add(" HTTP/1.1\r\nX: ");
  message.add(part(field, Place::field, scope));
  message.add("\r\nContent-Length: ");
  message.add_body_size();
  message.add("\r\n\r\n");
  return message;
}

Scope two_columns() { return {.variables = {"user.id", "user.name"}, .environment = {}}; }

TEST(MessageTemplate, TheSizeIsTheRenderedBodys) {
  Scope scope = two_columns();
  const MessageTemplate templated =
      message("/u/{{user.id}}", "{{user.name}}", "<{{user.name}}>", scope);
  std::string scratch;
  std::string out = "kept ";
  const std::array<std::string_view, 2> values{"a b", "twelve bytes"};
  ASSERT_EQ(templated.render({.values = values}, scratch, out), RenderFault::none);
  EXPECT_EQ(out,
            "kept POST /u/a%20b HTTP/1.1\r\nX: twelve bytes\r\nContent-Length: 14\r\n\r\n"
            "<twelve bytes>");
  EXPECT_EQ(templated.slots(), (std::vector<std::uint32_t>{0, 1}));
  EXPECT_FALSE(templated.is_literal());
  EXPECT_FALSE(templated.uses_clock());
}

TEST(MessageTemplate, WithoutVariablesItIsOneLiteral) {
  Scope scope;
  const MessageTemplate plain = message("/", "y", "body", scope);
  EXPECT_TRUE(plain.is_literal());
  std::string scratch;
  std::string out;
  ASSERT_EQ(plain.render({}, scratch, out), RenderFault::none);
  EXPECT_EQ(out, "POST / HTTP/1.1\r\nX: y\r\nContent-Length: 4\r\n\r\nbody");
}

TEST(MessageTemplate, OneVaryingPartMakesItVary) {
  Scope scope = two_columns();
  EXPECT_FALSE(message("/", "y", "{{seq()}}", scope).is_literal());
  EXPECT_FALSE(message("/{{seq()}}", "y", "", scope).is_literal());
  EXPECT_TRUE(message("/", "{{now_ms()}}", "", scope).uses_clock());
  EXPECT_TRUE(message("/", "", "{{now_ms()}}", scope).uses_clock());
}

TEST(MessageTemplate, AFaultInAnyPartLeavesTheBuffer) {
  Scope scope = two_columns();
  std::string scratch;
  std::string out = "kept";
  const std::array<std::string_view, 2> evil{"1", "a\r\nEvil: 1"};
  EXPECT_EQ(message("/{{user.id}}", "{{user.name}}", "{{user.id}}", scope)
                .render({.values = evil}, scratch, out),
            RenderFault::forbidden);
  EXPECT_EQ(out, "kept");
  const std::array<std::string_view, 1> short_row{"1"};
  EXPECT_EQ(message("/{{user.id}}", "", "{{user.name}}", scope)
                .render({.values = short_row}, scratch, out),
            RenderFault::absent_value);
  EXPECT_EQ(out, "kept");
}

TEST(MessageTemplate, BuffersAreReused) {
  Scope scope = two_columns();
  const MessageTemplate templated = message("/{{uuid()}}", "{{seq()}}", "{{user.name}}", scope);
  std::string scratch;
  std::string out;
  const std::array<std::string_view, 2> values{"1", "a name that fits no small string buffer"};
  ASSERT_EQ(templated.render({.values = values}, scratch, out), RenderFault::none);
  const char* const buffers[] = {out.data(), scratch.data()};
  for (std::uint64_t n = 0; n < 10; ++n) {
    out.clear();
    ASSERT_EQ(templated.render({.arrival = n, .values = values}, scratch, out), RenderFault::none);
    EXPECT_EQ(out.data(), buffers[0]);
    EXPECT_EQ(scratch.data(), buffers[1]);
  }
}

}  // namespace
}  // namespace onbeat::document
