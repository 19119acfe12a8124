#include "options/endpoint_text.hpp"

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <string>

namespace onbeat::options {
namespace {

std::string refusal(std::string_view text) {
  const auto parsed = parse_endpoint(text);
  if (parsed) return "accepted";
  return fmt::format("{}: {}", parsed.error().column, parsed.error().message);
}

TEST(EndpointText, AUrlOrAJsonObject) {
  EXPECT_EQ(parse_endpoint("2=http://h/"), (EndpointText{.weight = 2, .url = "http://h/"}));
  EXPECT_EQ(parse_endpoint("{{base}}/x"), (EndpointText{.url = "{{base}}/x"}));
  EXPECT_EQ(parse_endpoint(R"({"method":"PUT","url":"http://h/","name":"n","weight":3,
                               "header":{"A":["1","2"],"B":"3"},"body":"Zm9v"})"),
            (EndpointText{.name = "n",
                          .weight = 3,
                          .url = "http://h/",
                          .method = "PUT",
                          .headers = {{"A", "1"}, {"A", "2"}, {"B", "3"}},
                          .body = "foo",
                          .body_path = {}}));
  EXPECT_EQ(parse_endpoint(R"({"url":"u","body_text":""})")->body, "");
  EXPECT_EQ(parse_endpoint(R"({"url":"u","body_file":"f"})")->body_path, "f");
}

TEST(EndpointText, JsonReadsBackAsTheSame) {
  const EndpointText endpoint{.name = "n",
                              .weight = 7,
                              .url = "http://h/\"",
                              .method = "PUT",
                              .headers = {{"A", "1"}, {"A", "2"}},
                              .body = std::string("\0\xff", 2),
                              .body_path = {}};
  EXPECT_EQ(parse_endpoint(endpoint_json(endpoint)), endpoint);
}

TEST(EndpointText, Refused) {
  EXPECT_EQ(refusal("{"), "2: not a JSON object");
  EXPECT_EQ(refusal("{}"), "1: \"url\" is missing");
  EXPECT_EQ(refusal(R"({"url":1})"), "1: \"url\" must be a text");
  EXPECT_EQ(refusal(R"({"url":"u","metod":"x"})"),
            "1: unknown key \"metod\", did you mean method?");
  EXPECT_EQ(refusal(R"({"url":"u","method":"G T"})"), "1: \"method\" is not a method's name");
  EXPECT_EQ(refusal(R"({"url":"u","weight":0})"),
            "1: \"weight\" must be a whole number from 1 to 1000000");
  EXPECT_EQ(refusal(R"({"url":"u","header":{"A B":"x"}})"),
            "1: \"A B\" is not the name of a header");
  EXPECT_EQ(refusal(R"({"url":"u","header":{"A":"x\ny"}})"),
            "1: header A: a control character in its value");
  EXPECT_EQ(refusal(R"({"url":"u","body":"{}"})"),
            "1: \"body\" is not base64; a body as plain text is \"body_text\"");
  EXPECT_EQ(refusal(R"({"url":"u","body_text":"a","body_file":"b"})"),
            "1: only one body can count");
}

std::string read(std::string_view text) {
  const UrlFile file = parse_url_file(text, "f");
  std::string result;
  for (const UrlFile::Entry& entry : file.entries) {
    const EndpointText& endpoint = entry.endpoint;
    result +=
        fmt::format("{} {} {} x{}", entry.origin, endpoint.method, endpoint.url, endpoint.weight);
    for (const Header& header : endpoint.headers) {
      result += fmt::format(" [{}:{}]", header.name, header.value);
    }
    if (!endpoint.body_path.empty()) result += " @" + endpoint.body_path;
    result += "\n";
  }
  for (const Problem& problem : file.problems) result += render(problem);
  return result;
}

TEST(UrlFile, BlocksUrlsAndJsonLines) {
  EXPECT_EQ(read("\xef\xbb\xbf# a comment\n"
                 "GET http://h/1\n"
                 "POST 3=http://h/2\r\n"
                 "A: $b:c\r\n"
                 "B:\n"
                 "@body.json\n"
                 "\n"
                 "http://h/3\n"
                 "2=https://h/4\n"
                 "{{base}}/5\n"
                 "{\"method\":\"PUT\",\"url\":\"http://h/6\"}\n"
                 "  DELETE   http://h/7  "),
            "f:2 GET http://h/1 x1\n"
            "f:3 POST http://h/2 x3 [A:$b:c] [B:] @body.json\n"
            "f:8  http://h/3 x1\n"
            "f:9  https://h/4 x2\n"
            "f:10  {{base}}/5 x1\n"
            "f:11 PUT http://h/6 x1\n"
            "f:12 DELETE http://h/7 x1\n");
}

TEST(UrlFile, AllProblemsWithTheirLines) {
  EXPECT_EQ(read("A: b\n"
                 "@x\n"
                 "G@T http://h/\n"
                 "A: skipped\n"
                 "\n"
                 "GET 0=http://h/\n"
                 "GET http://h/ok\n"
                 "(: c\n"
                 "@f\n"
                 "@g\n"
                 "B: late\n"
                 "nonsense\n"
                 "{\"url\":}\n"),
            "f:7 GET http://h/ok x1 @f\n"
            "error: f:1: a header without a request before it\n"
            "error: f:2: a body without a request before it\n"
            "error: f:3: not a method's name before the URL\n"
            "  hint: for example GET http://127.0.0.1/\n"
            "error: f:6: a weight is at least 1\n"
            "error: f:8: not the name of a header\n"
            "error: f:10: only one body can count\n"
            "error: f:11: a header after the body\n"
            "error: f:12: neither a request nor a header\n"
            "  hint: for example GET http://127.0.0.1:8080/\n"
            "error: f:13: not a JSON object\n");
}

}  // namespace
}  // namespace onbeat::options
