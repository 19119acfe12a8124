#include "grpc/message_reader.hpp"

#include "grpc/message_test_types.hpp"
#include "grpc/metadata.hpp"
#include "grpc/prepared_message.hpp"
#include "grpc/time_text.hpp"

#include <gmock/gmock.h>
#include <nlohmann/json.hpp>

namespace onbeat::grpc {
namespace {

std::string bytes_of(std::string_view json, std::string_view type = "onbeat.peer.Everything") {
  const Schema& schema = type.starts_with("google.rpc") ? rpc_types() : peer_schema();
  const auto prepared = PreparedMessage::compile(json, *schema.find_message(type));
  EXPECT_TRUE(prepared) << prepared.error().front().message;
  return prepared->framed().substr(kPrefix);
}

std::string read(std::string_view bytes) {
  MessageReader reader(peer_schema(), everything());
  std::string json;
  JsonText sink(json);
  EXPECT_TRUE(reader.read(bytes, sink));
  return json;
}

TEST(GrpcMessageReader, AsTheMappingSays) {
  // Each in the form in which it is read.
  for (const char* json : {
           "{}",
           R"({"an_int32":-5,"an_int64":"-9223372036854775808","a_uint32":4294967295})",
           R"({"a_uint64":"18446744073709551615","a_sint32":-1,"a_sint64":"-2","a_fixed32":7})",
           R"({"a_fixed64":"8","an_sfixed32":-9,"an_sfixed64":"-10","a_float":0.1,"a_double":0.1})",
           R"({"a_float":"NaN","a_double":"-Infinity"})",
           R"({"a_bool":true,"a_string":"\"\\\n\u0001é/","some_bytes":"AAH/"})",
           R"({"colour":"GREEN","nested":{"nested":{"an_int32":3}},"maybe":0,"right":0})",
           R"({"colour":7})",
           R"({"numbers":[1,-2,0],"words":["a",""],"children":[{},{"an_int32":1}]})",
           R"({"colours":["RED",5],"counts":{"a":"1"},"by_number":{"-3":{"a_bool":true}}})",
           R"({"by_truth":{"true":"x"}})",
           R"({"at":"2024-02-29T12:00:00.500Z","lasts":"-1.500s","mask":"user.displayName,b"})",
           R"({"structure":{"a":[null,true,"x",{"c":{}},1.5]},"value":null,"list":[1,[2],{}]})",
           R"({"any":{"@type":"a/onbeat.peer.Message","text":"x","count":"3"},"empty":{}})",
           R"({"any":{"@type":"a/google.protobuf.Duration","value":"1s"}})",
           R"({"wrapped_string":"","wrapped_int64":"0","wrapped_bool":false})",
           R"({"wrapped_bytes":"YQ==","wrapped_uint32":7,"wrapped_numbers":["1","2"]})",
       }) {
    EXPECT_EQ(read(bytes_of(json)), json);
  }
  // NullValue has one value, which is its default.
  EXPECT_EQ(read(bytes_of(R"({"nothing":null,"values":[null,2]})")), R"({"values":[null,2]})");
}

TEST(GrpcMessageReader, DefaultsAreLeftOut) {
  EXPECT_EQ(
      read(bytes_of(R"({"an_int32":0,"a_string":"","a_bool":false,"numbers":[],"nested":{}})")),
      R"({"nested":{}})");
}

TEST(GrpcMessageReader, AsProtobufWritesIt) {
  for (const char* json : {R"({"a_double":1e21,"a_float":16777216,"at":"0001-01-01T00:00:00Z"})",
                           R"({"a_double":123456789.125,"a_float":1e-7,"lasts":"0.000001s"})",
                           R"({"at":"9999-12-31T23:59:59.999999999Z","lasts":"-0.000000001s"})"}) {
    const std::string bytes = bytes_of(json);
    EXPECT_EQ(nlohmann::json::parse(read(bytes)), nlohmann::json::parse(protobuf_json(bytes)));
  }
}

TEST(GrpcMessageReader, GarbageIsNoMessage) {
  MessageReader reader(peer_schema(), everything());
  std::string json;
  JsonText sink(json);
  EXPECT_FALSE(reader.read("\xff", sink));
  EXPECT_FALSE(reader.read(std::string_view("\x72\x05"
                                            "ab",
                                            4),
                           sink));
  EXPECT_EQ(json, "");
  // Fields of a newer server are passed over.
  EXPECT_TRUE(reader.read("\xf8\x7f\x01", sink));
  EXPECT_EQ(json, "{}");
}

TEST(GrpcMessageReader, OneMessageAfterAnother) {
  MessageReader reader(peer_schema(), everything());
  for (const char* expected : {R"({"numbers":[1,2]})", R"({"a_string":"x"})", "{}"}) {
    std::string json;
    JsonText sink(json);
    ASSERT_TRUE(reader.read(bytes_of(expected), sink));
    EXPECT_EQ(json, expected);
  }
}

TEST(GrpcMessageReader, AnyOfAnUnknownType) {
  // any { type_url: "a/b.C", value: "abc" }
  const std::string any = std::string("\x0a\x05") + "a/b.C" + "\x12\x03" + "abc";
  const std::string bytes = std::string("\xaa\x02") + static_cast<char>(any.size()) + any;
  EXPECT_EQ(read(bytes), R"({"any":{"@type":"a/b.C","value":"YWJj"}})");
}

TEST(GrpcDetails, KnownTypesAreDecoded) {
  const std::string details =
      R"([{"@type":"type.googleapis.com/google.rpc.BadRequest","field_violations":)"
      R"([{"field":"sku","description":"too long"}]},)"
      R"({"@type":"type.googleapis.com/google.rpc.ErrorInfo","reason":"R","metadata":{"a":"b"}},)"
      R"({"@type":"type.googleapis.com/google.rpc.RetryInfo","retry_delay":"2s"},)"
      R"({"@type":"type.googleapis.com/google.protobuf.Int64Value","value":"5"}])";
  const std::string status =
      bytes_of(R"({"code":3,"message":"m","details":)" + details + "}", "google.rpc.Status");
  std::string json;
  JsonText sink(json);
  ASSERT_TRUE(read_details(wire_value("grpc-status-details-bin", status), peer_schema(), sink));
  EXPECT_EQ(json, details);
  EXPECT_FALSE(read_details("***", peer_schema(), sink));
  EXPECT_FALSE(read_details("/w", peer_schema(), sink));
  EXPECT_EQ(json, details);
}

TEST(GrpcTimeText, Ranges) {
  EXPECT_FALSE(parse_timestamp("0000-12-31T23:59:59Z"));
  EXPECT_FALSE(parse_timestamp("0001-01-01T00:00:00+00:01"));
  EXPECT_FALSE(parse_timestamp("9999-12-31T23:59:59-00:01"));
  for (const char* text :
       {"2024-01-01", "2024-01-01T00:00:00", "2024-01-01 00:00:00Z", "2024-01-01T24:00:00Z",
        "2024-01-01T00:00:00.Z", "2024-1-01T00:00:00Z", "2024-01-01T00:00:00.1234567890Z",
        "2024-01-01T00:00:00Z ", "2024-01-01T00:00:00+1:00", "2024-13-01T00:00:00Z"})
    EXPECT_FALSE(parse_timestamp(text)) << text;
  for (const char* text : {"", "s", "-s", "1", "1.s", ".5s", "1s ", "+1s", "--1s", "315576000001s",
                           "1.0000000000s", "99999999999999999999s"})
    EXPECT_FALSE(parse_duration(text)) << text;
  EXPECT_EQ(duration_text({1, -1}), "");
  EXPECT_EQ(duration_text({0, 1'000'000'000}), "");
  EXPECT_EQ(timestamp_text({253'402'300'800, 0}), "");
  EXPECT_EQ(timestamp_text({0, -1}), "");
  EXPECT_EQ(timestamp_text({0, 1'000}), "1970-01-01T00:00:00.000001Z");
}

TEST(GrpcTimeText, Names) {
  EXPECT_EQ(snake_case("user.displayName"), "user.display_name");
  EXPECT_EQ(snake_case("display_name"), "display_name");
  EXPECT_EQ(camel_case("user.display_name"), "user.displayName");
}

}  // namespace
}  // namespace onbeat::grpc
