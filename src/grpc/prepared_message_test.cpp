#include "grpc/prepared_message.hpp"

#include "grpc/message_test_types.hpp"
#include <onbeat/kernel/clock.hpp>

#include <gmock/gmock.h>
#include <nlohmann/json.hpp>

#include <map>

namespace onbeat::grpc {
namespace {

using testing::HasSubstr;

std::string message_of(std::string_view framed) {
  MessageDecoder decoder;
  EXPECT_EQ(decoder.feed(framed), MessageDecoder::Fault::none);
  EXPECT_TRUE(decoder.next());
  EXPECT_FALSE(decoder.within_message());
  return std::string(decoder.message());
}

/// The order of the fields does not matter.
testing::AssertionResult same(const std::string& json, const std::string& expected) {
  if (nlohmann::json::parse(json) == nlohmann::json::parse(expected))
    return testing::AssertionSuccess();
  return testing::AssertionFailure() << json << "\nis not\n" << expected;
}

/// "/place: message" of each fault.
std::vector<std::string> faults(std::string_view json) {
  const auto prepared = PreparedMessage::compile(json, everything());
  std::vector<std::string> texts;
  if (prepared) return texts;
  for (const JsonFault& fault : prepared.error())
    texts.push_back(fault.place + ": " + fault.message);
  return texts;
}

// What the public mapping allows, each compared with protobuf's own reading.
const char* const kSame[] = {
    "{}",
    R"({"an_int32":-5,"anInt64":"-9223372036854775808","a_uint32":4294967295})",
    R"({"a_uint64":18446744073709551615,"a_sint32":-1,"a_sint64":"-2","a_fixed32":7})",
    R"({"a_fixed64":"8","an_sfixed32":-9,"an_sfixed64":-10,"a_float":0.1,"a_double":1e300})",
    R"({"a_float":"NaN","a_double":"-Infinity"})",
    R"({"a_double":"1.5","an_int32":"12","a_uint32":5.0,"an_int64":1e3})",
    R"({"a_bool":true,"a_string":"\u00e9\"\\\n","some_bytes":"AAH/"})",
    R"({"some_bytes":"_-8"})",
    R"({"colour":"GREEN"})",
    R"({"colour":1})",
    R"({"nested":{"nested":{"an_int32":3}},"maybe":0})",
    R"({"left":"x"})",
    R"({"right":0})",
    R"({"numbers":[1,-2,3],"words":["a",""],"colours":["RED",2]})",
    R"({"children":[{},{"an_int32":1}]})",
    R"({"counts":{"a":"1","b":-2},"by_number":{"-3":{"a_bool":true}},"by_truth":{"true":"x"}})",
    R"({"at":"2024-02-29T12:00:00.5Z","lasts":"-1.5s"})",
    R"({"at":"1969-12-31T23:59:59.999999999+01:30","lasts":"0s"})",
    R"({"mask":"user.displayName,photo"})",
    R"({"structure":{"a":1,"b":[null,true,"x",{"c":{}}]},"value":null,"list":[1,[2],{}]})",
    R"({"value":"text"})",
    R"({"value":[1,2]})",
    R"({"nothing":null})",
    R"({"any":{"@type":"type.googleapis.com/onbeat.peer.Message","text":"x","count":3}})",
    R"({"any":{"@type":"type.googleapis.com/google.protobuf.Duration","value":"1s"}})",
    R"({"any":{"@type":"type.googleapis.com/google.protobuf.Int64Value","value":"5"}})",
    R"({"empty":{}})",
    R"({"wrapped_string":"","wrapped_int64":"0","wrapped_bool":false,"wrapped_double":-0.5})",
    R"({"wrapped_bytes":"YQ==","wrapped_uint32":7,"wrapped_numbers":[1,"2"]})",
    R"({"wrapped_string":null,"nested":null,"numbers":null,"counts":null,"a_string":null})",
    R"({"times":["2024-01-01T00:00:00Z"],"values":[null,1,"a",{"b":[]}]})",
    R"({"odd-name":"by its JSON name"})",
    R"({"odd_NAME_1":"by its own"})",
};

TEST(GrpcPreparedMessage, AsProtobufReadsIt) {
  for (const char* json : kSame) {
    const auto expected = by_protobuf(json);
    ASSERT_TRUE(expected) << json;
    const auto prepared = PreparedMessage::compile(json, everything());
    ASSERT_TRUE(prepared) << json << "\n" << faults(json).front();
    ASSERT_TRUE(prepared->is_constant());
    EXPECT_TRUE(same(protobuf_json(message_of(prepared->framed())), protobuf_json(*expected)));
  }
}

TEST(GrpcPreparedMessage, MoreThanProtobufAllows) {
  const auto json = [](const char* text) {
    const auto prepared = PreparedMessage::compile(text, everything());
    EXPECT_TRUE(prepared) << text;
    return protobuf_json(message_of(prepared->framed()));
  };
  // Values of data files are strings.
  EXPECT_EQ(json(R"({"a_bool":"true"})"), R"({"a_bool":true})");
  EXPECT_EQ(json(R"({"colour":"2"})"), R"({"colour":"GREEN"})");
  EXPECT_EQ(json(R"({"mask":{"paths":["user.display_name","photo"]}})"),
            R"({"mask":"user.displayName,photo"})");
  EXPECT_EQ(json(R"({"mask":{"paths":["user.displayName"]}})"), R"({"mask":"user.displayName"})");
}

TEST(GrpcPreparedMessage, FaultsHaveTheirPlaces) {
  EXPECT_THAT(faults(R"({"an_int32":"x","children":[{},{"wrods":1}],"nope":{}})"),
              testing::UnorderedElementsAre(
                  "/an_int32: expected an int32 (-2147483648 to 2147483647), not \"x\"",
                  "/children/1/wrods: onbeat.peer.Everything has no field \"wrods\"; did you mean "
                  "\"words\"?",
                  "/nope: onbeat.peer.Everything has no field \"nope\""));
  EXPECT_THAT(faults(R"({"counts":{"a/b~":"x"}})"),
              testing::ElementsAre("/counts/a~1b~0: expected an int64, not \"x\""));
}

TEST(GrpcPreparedMessage, WhatIsRefused) {
  const std::pair<const char*, const char*> cases[] = {
      {"[]", ": expected an object (onbeat.peer.Everything), not an array"},
      {"{", ": not JSON: "},
      {"", ": not JSON: "},
      {"{} {}", ": not JSON: "},
      {R"({"a_double":1e3001})", ": not JSON: number overflow"},
      {R"({"an_int32":2147483648})", "/an_int32: expected an int32"},
      {R"({"an_int32":1.5})", "/an_int32: expected an int32"},
      {R"({"an_int32":true})", "/an_int32: expected an int32"},
      {R"({"an_int32":" 1"})", "/an_int32: expected an int32"},
      {R"({"an_int32":""})", "/an_int32: expected an int32"},
      {R"({"a_uint32":-1})", "/a_uint32: expected a uint32"},
      {R"({"a_uint32":4294967296})", "/a_uint32: expected a uint32"},
      {R"({"an_int64":9223372036854775808})", "/an_int64: expected an int64"},
      {R"({"a_uint64":"18446744073709551616"})", "/a_uint64: expected a uint64"},
      {R"({"a_float":1e39})", "/a_float: expected a float"},
      {R"({"a_double":"inf"})", "/a_double: expected a double"},
      {R"({"a_double":"0x10"})", "/a_double: expected a double"},
      {R"({"a_bool":1})", "/a_bool: expected true or false"},
      {R"({"a_bool":"yes"})", "/a_bool: expected true or false"},
      {R"({"a_string":5})", "/a_string: expected a string"},
      {R"({"a_string":true})", "/a_string: expected a string"},
      {R"({"a_string":{}})", "/a_string: expected a string"},
      {R"({"some_bytes":"*"})", "/some_bytes: expected bytes in base64"},
      {R"({"colour":"PINK"})", "/colour: expected a name or a number of the enum, not \"PINK\""},
      {R"({"nested":5})", "/nested: expected an object (onbeat.peer.Everything), not a number"},
      {R"({"numbers":5})", "/numbers: expected an array, not a number"},
      {R"({"numbers":[null]})", "/numbers/0: an element of an array cannot be null"},
      {R"({"numbers":[[1]]})", "/numbers/0: expected an int32"},
      {R"({"counts":[]})", "/counts: expected an object (a map), not an array"},
      {R"({"counts":{"a":null}})", "/counts/a: a value of a map cannot be null"},
      {R"({"by_number":{"x":{}}})", "/by_number/x: expected an int32"},
      {R"({"left":"a","right":1})", "only one field of the oneof \"choice\""},
      {R"({"an_int32":1,"anInt32":2})", "is given twice"},
      {R"({"at":"yesterday"})", "/at: expected a time"},
      {R"({"at":"2023-02-29T00:00:00Z"})", "/at: expected a time"},
      {R"({"lasts":"1"})", "/lasts: expected a duration"},
      {R"({"mask":{"path":"a"}})", "/mask/path: a field mask is"},
      {R"({"structure":[]})", "/structure: expected an object"},
      {R"({"list":{}})", "/list: expected an array"},
      {R"({"any":{"text":"x"}})", "/any: a google.protobuf.Any needs \"@type\""},
      {R"({"any":{"@type":"a/b.C"}})", "/any: the type \"b.C\" is not known"},
      {R"({"any":{"@type":"a/google.protobuf.Duration"}})", "needs \"value\""},
      {R"({"@type":"x"})", "has no field \"@type\""},
      {R"({"wrapped_int64":{}})", "/wrapped_int64: expected an int64, not an object"},
  };
  for (const auto& [json, expected] : cases) {
    const auto texts = faults(json);
    ASSERT_FALSE(texts.empty()) << json;
    EXPECT_THAT(texts.front(), HasSubstr(expected)) << json;
  }
}

TEST(GrpcPreparedMessage, NestedTooDeep) {
  const auto nested = [](int levels) {
    std::string json;
    for (int i = 0; i < levels; ++i) json += R"({"nested":)";
    return json + "{}" + std::string(static_cast<std::size_t>(levels), '}');
  };
  EXPECT_TRUE(faults(nested(99)).empty());
  EXPECT_THAT(faults(nested(101)).front(), HasSubstr("nested deeper than 100 levels"));
  std::string lists = R"({"value":)" + std::string(20'000, '[') + std::string(20'000, ']') + "}";
  EXPECT_THAT(faults(lists).front(), HasSubstr("nested deeper than 100 levels"));
}

// --- holes ---

/// "$3" is the hole 3.
std::optional<std::uint32_t> find_hole(std::string_view text) {
  if (text.size() != 2 || text[0] != '$') return {};
  return static_cast<std::uint32_t>(text[1] - '0');
}

PreparedMessage with_holes(std::string_view json) {
  auto prepared = PreparedMessage::compile(json, everything(), find_hole);
  EXPECT_TRUE(prepared) << prepared.error().front().message;
  return std::move(*prepared);
}

/// Fills in and shows the message; "place: message" of a fault.
std::string filled(const PreparedMessage& prepared, std::vector<HoleValue> values) {
  std::string out = "before";
  if (const auto fault = prepared.append(values, out)) {
    EXPECT_EQ(out, "before");
    return fault->place + ": " + fault->message;
  }
  return protobuf_json(message_of(std::string_view(out).substr(6)));
}

TEST(GrpcPreparedMessage, HolesOfEveryKind) {
  // Each field with a hole is what the same JSON with the value in its place is.
  const std::pair<const char*, const char*> cases[] = {
      {R"({"an_int32":"$0","a_double":1})", "-7"},
      {R"({"a_uint64":"$0"})", "18446744073709551615"},
      {R"({"a_sint64":"$0"})", "-3"},
      {R"({"a_fixed32":"$0"})", "4"},
      {R"({"a_float":"$0"})", "0.25"},
      {R"({"a_double":"$0"})", "1e10"},
      {R"({"a_string":"$0"})", "text \\u00e9"},
      {R"({"some_bytes":"$0"})", "YWJj"},
      {R"({"colour":"$0"})", "GREEN"},
      {R"({"nested":{"a_string":"$0","nested":{"an_int32":5}},"an_int32":1})", "deep"},
      {R"({"maybe":"$0"})", "0"},
      {R"({"right":"$0"})", "5"},
      {R"({"numbers":[1,"$0",300]})", "200"},
      {R"({"words":["a","$0","b"]})", "x"},
      {R"({"children":[{"a_string":"$0"},{"an_int32":1}]})", "x"},
      {R"({"counts":{"a":"$0","b":"1"}})", "9"},
      {R"({"by_number":{"4":{"a_string":"$0"}}})", "x"},
      {R"({"at":"$0"})", "2024-01-01T00:00:00Z"},
      {R"({"lasts":"$0"})", "1.5s"},
      {R"({"mask":"$0"})", "user.displayName,b"},
      {R"({"structure":{"a":["$0",1]}})", "x"},
      {R"({"value":"$0"})", "x"},
      {R"({"any":{"@type":"type.googleapis.com/onbeat.peer.Message","text":"$0","count":1}})", "x"},
      {R"({"wrapped_string":"$0"})", ""},
      {R"({"wrapped_numbers":["1","$0"]})", "2"},
  };
  for (const auto& [json, value] : cases) {
    const PreparedMessage prepared = with_holes(json);
    EXPECT_FALSE(prepared.is_constant());
    EXPECT_EQ(prepared.holes(), 1U);
    std::string literal = json;
    literal.replace(literal.find("$0"), 2, value);
    const auto expected = by_protobuf(literal);
    ASSERT_TRUE(expected) << literal;
    const std::string text = std::string_view(value).starts_with("text") ? "text \xc3\xa9" : value;
    EXPECT_TRUE(same(filled(prepared, {{text}}), protobuf_json(*expected)));
  }
}

TEST(GrpcPreparedMessage, LongValuesGrowTheSizesAroundThem) {
  const PreparedMessage prepared = with_holes(
      R"({"nested":{"nested":{"words":["$0","$1"],"an_int32":1},"a_string":"$1"},"left":"$0"})");
  EXPECT_EQ(prepared.holes(), 2U);
  for (const std::size_t size : {0, 1, 100, 127, 128, 16'000, 40'000}) {
    const std::string value(size, 'v');
    const std::string shown = filled(prepared, {{value}, {"b"}});
    EXPECT_EQ(shown, R"({"nested":{"a_string":"b","nested":{"an_int32":1,"words":[")" + value +
                         R"(","b"]}},"left":")" + value + "\"}")
        << size;
  }
}

TEST(GrpcPreparedMessage, ValuesThatAreJson) {
  const auto json = [](const char* text) { return HoleValue{text, true}; };
  EXPECT_EQ(filled(with_holes(R"({"an_int32":"$0"})"), {json("5")}), R"({"an_int32":5})");
  EXPECT_EQ(filled(with_holes(R"({"an_int32":"$0"})"), {json("null")}), "{}");
  EXPECT_EQ(filled(with_holes(R"({"a_bool":"$0"})"), {json("true")}), R"({"a_bool":true})");
  EXPECT_EQ(filled(with_holes(R"({"a_string":"$0"})"), {json(R"("a\n")")}),
            R"({"a_string":"a\n"})");
  EXPECT_EQ(filled(with_holes(R"({"nested":"$0"})"), {json(R"({"an_int32":1})")}),
            R"({"nested":{"an_int32":1}})");
  EXPECT_EQ(filled(with_holes(R"({"numbers":"$0"})"), {json("[1,2]")}), R"({"numbers":[1,2]})");
  EXPECT_EQ(filled(with_holes(R"({"numbers":[1,"$0"]})"), {json("2")}), R"({"numbers":[1,2]})");
  EXPECT_EQ(filled(with_holes(R"({"counts":"$0"})"), {json(R"({"a":1})")}),
            R"({"counts":{"a":"1"}})");
  EXPECT_EQ(filled(with_holes(R"({"children":["$0"]})"), {json(R"({"a_bool":true})")}),
            R"({"children":[{"a_bool":true}]})");
  EXPECT_EQ(filled(with_holes(R"({"structure":{"a":"$0"}})"), {json(R"([1,null])")}),
            R"({"structure":{"a":[1,null]}})");
  EXPECT_EQ(filled(with_holes(R"({"value":"$0"})"), {json("5")}), R"({"value":5})");
  EXPECT_EQ(filled(with_holes(R"({"wrapped_int64":"$0"})"), {json("5")}),
            R"({"wrapped_int64":"5"})");
}

TEST(GrpcPreparedMessage, ValuesThatDoNotFit) {
  EXPECT_EQ(filled(with_holes(R"({"children":[{"an_int32":"$0"}]})"), {{"abc"}}),
            "/children/0/an_int32: expected an int32 (-2147483648 to 2147483647), not \"abc\"");
  EXPECT_THAT(filled(with_holes(R"({"a_string":"$0"})"), {{"\xff"}}), HasSubstr("UTF-8"));
  EXPECT_EQ(filled(with_holes(R"({"nested":"$0"})"), {{"text"}}),
            "/nested: a string cannot stand here");
  EXPECT_EQ(filled(with_holes(R"({"nested":"$0"})"), {HoleValue{R"({"x":1})", true}}),
            "/nested/x: onbeat.peer.Everything has no field \"x\"");
  EXPECT_THAT(filled(with_holes(R"({"nested":"$0"})"), {HoleValue{"{", true}}),
              HasSubstr("/nested: not JSON: "));
  EXPECT_THAT(filled(with_holes(R"({"an_int32":"$0"})"), {HoleValue{"[]", true}}),
              HasSubstr("/an_int32: expected an int32"));
}

}  // namespace
}  // namespace onbeat::grpc
