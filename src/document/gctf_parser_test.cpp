#include "document/gctf.hpp"

#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace onbeat::document {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;

constexpr std::string_view kTail = "\n--- ENDPOINT ---\na.B/C\n--- RESPONSE partial ---\n{}\n";

/// "3:5 bad_value: message [hint]", warnings with a "~".
std::vector<std::string> said(const Parsed& parsed) {
  std::vector<std::string> lines;
  for (const Diagnostic& one : parsed.diagnostics) {
    lines.push_back(fmt::format("{}{}:{} {}: {}{}",
                                one.severity == Diagnostic::Severity::warning ? "~" : "",
                                one.at.line, one.at.column, one.code, one.message,
                                one.hint.empty() ? "" : fmt::format(" [{}]", one.hint)));
  }
  return lines;
}
std::vector<std::string> said(std::string_view text) {
  return said(parse_gctf("dir/x.gctf", text));
}

std::string with_tail(std::string_view text) { return std::string(text) + std::string(kTail); }

Chain parse(std::string_view text) {
  Parsed parsed = parse_gctf("dir/x.gctf", text);
  EXPECT_THAT(said(parsed), IsEmpty()) << text;
  return std::move(parsed.chain);
}
Document one(std::string_view text) {
  Chain chain = parse(text);
  EXPECT_EQ(chain.documents.size(), 1U);
  return std::move(chain.documents.at(0));
}

std::string json(const JsonTree& tree) {
  std::string out;
  append_json(tree.root(), out);
  return out;
}

TEST(GctfParser, ReadsAFileWithMostConstructs) {
  const Chain chain = parse(R"(--- META ---
name: price lookup
// not YAML
tags: [load, "2"]
links:
  - https://example.org
--- BENCH ---
mode: open
max_rps: 2_000
thresholds.latency_ms.p(99): <25
sources:
  - name: item

    # of the shop
    file: items.csv
--- ADDRESS ---
# where
localhost:50051
--- ENDPOINT ---
shop.Catalog/GetPrice
--- TLS ---
ca_cert: certs/ca.pem
client_cert: me.pem
key: /keys/me.key
server_name: shop
insecure: yes
--- PROTO ---
files: shop.proto, sub/more.proto
import_paths: .
--- OPTIONS ---
timeout: 0.25
retry: 2
retry_delay: 50ms
compression: gzip
protocol: grpc
--- REQUEST_HEADERS ---
x-tenant: {{item.tenant}}
time: 12:30 # part of the value
#[timeout(2)]
#[name("first \"one\"")]
--- REQUEST ---
{ sku: "{{item.sku}}", }          // JSON5
--- RESPONSE partial tolerance=0.01 with_asserts ---
{ "currency": "EUR", "amount": "*" }
--- ASSERTS ---
.amount > 0 and @has_header("x-request-id")   # kept apart
--- EXTRACT ---
token:string = .session.token // note
)");
  EXPECT_EQ(chain.meta.name, "price lookup");
  EXPECT_THAT(chain.meta.tags, ElementsAre("load", "2"));
  EXPECT_THAT(chain.meta.links, ElementsAre("https://example.org"));
  ASSERT_EQ(chain.bench.size(), 4U);
  EXPECT_EQ(chain.bench[2].key, "thresholds.latency_ms.p(99)");
  EXPECT_EQ(chain.bench[2].value, "<25");
  EXPECT_EQ(chain.bench[3].value, "\n  - name: item\n\n    # of the shop\n    file: items.csv");
  EXPECT_EQ(chain.bench[3].key_at, (Position{11, 1}));

  const Document& document = chain.documents.at(0);
  EXPECT_EQ(document.address, "localhost:50051");
  EXPECT_EQ(document.endpoint(), "shop.Catalog/GetPrice");
  EXPECT_EQ(document.service, "shop.Catalog");
  ASSERT_TRUE(document.tls);
  EXPECT_EQ(document.tls->ca_file, "dir/certs/ca.pem");
  EXPECT_EQ(document.tls->cert_file, "dir/me.pem");
  EXPECT_EQ(document.tls->key_file, "/keys/me.key");
  EXPECT_TRUE(document.tls->insecure);
  EXPECT_THAT(document.proto->files, ElementsAre("dir/shop.proto", "dir/sub/more.proto"));
  EXPECT_EQ(document.options.timeout, std::chrono::milliseconds(250));
  EXPECT_EQ(document.options.retry, 2U);
  EXPECT_EQ(document.options.retry_delay, std::chrono::milliseconds(50));
  EXPECT_EQ(document.options.compression, Compression::gzip);
  ASSERT_EQ(document.headers.size(), 2U);
  EXPECT_EQ(document.headers[1].value, "12:30 # part of the value");

  ASSERT_EQ(document.steps.size(), 4U);
  const Step& request = document.steps[0];
  EXPECT_EQ(request.attributes.timeout, std::chrono::seconds(2));
  EXPECT_EQ(request.attributes.name, "first \"one\"");
  EXPECT_EQ(json(request.messages.at(0)), R"({"sku":"{{item.sku}}"})");
  EXPECT_EQ(chain.position(request.messages[0].root().find("sku").offset()), (Position{42, 8}));
  const Step& response = document.steps[1];
  EXPECT_EQ(response.attributes.timeout, std::chrono::seconds(2));
  EXPECT_TRUE(response.match.partial && response.match.with_asserts);
  EXPECT_EQ(response.match.tolerance, 0.01);
  EXPECT_TRUE(document.steps[2].attached);
  EXPECT_EQ(document.steps[2].assertions.at(0).text,
            R"(.amount > 0 and @has_header("x-request-id"))");
  const ExtractLine& token = document.steps[3].extractions.at(0);
  EXPECT_EQ(token.name + "|" + token.type + "|" + token.expression, "token|string|.session.token");
}

TEST(GctfParser, CommentsAreNoPartOfOneLineSections) {
  EXPECT_EQ(one(with_tail("--- ADDRESS ---\n# one\n  // two\n h:1 \n")).address, "h:1");
  EXPECT_THAT(said(with_tail("--- ADDRESS ---\nh:1\nh:2\n")),
              ElementsAre("3:1 more_lines: ADDRESS has one line"));
  EXPECT_THAT(said(with_tail("--- ADDRESS ---\n# none\n")),
              ElementsAre("1:5 empty_section: ADDRESS is empty"));
}

TEST(GctfParser, AcceptsCarriageReturnsAndAByteOrderMark) {
  const Document document =
      one("\xef\xbb\xbf--- ENDPOINT ---\r\na.B/C\r\n--- RESPONSE ---\r\n{}\r\n");
  EXPECT_EQ(document.endpoint(), "a.B/C");
  EXPECT_EQ(one("--- ENDPOINT ---\r\r\na.B/C\r\r\n--- RESPONSE ---\n{}\r").endpoint(), "a.B/C");
  EXPECT_THAT(said("--- ENDPOINT ---\na.B/C\xff\n"),
              ElementsAre("2:6 not_utf8: the text is not UTF-8"));
}

TEST(GctfParser, RefusesHeadersThatAreAlmostOnes) {
  EXPECT_THAT(said("--- endpoint ---\na.B/C\n--- RESPONSE ---\n{}"),
              ElementsAre("1:5 header_case: names of sections are upper case [--- ENDPOINT ---]"));
  EXPECT_THAT(said("--- Endpoint ---\na.B/C\n--- RESPONSE ---\n{}"),
              ElementsAre(HasSubstr("header_case")));
  EXPECT_THAT(said("--- ENDPOINT\na.B/C\n--- RESPONSE ---\n{}"),
              ElementsAre("1:1 header_open: the header is not closed [--- ENDPOINT ---]"));
  EXPECT_THAT(said(with_tail("--- REQEST ---\n{}\n")),
              ElementsAre("1:5 unknown_section: unknown section REQEST [did you mean REQUEST?]"));
  EXPECT_THAT(said("   \t--- ENDPOINT ---\na.B/C\n---RESPONSE partial---\n{}"), IsEmpty());
}

TEST(GctfParser, ReadsAttributes) {
  EXPECT_EQ(one("--- ENDPOINT ---\na.B/C\n  #[name(\"a ] b\")]\n--- RESPONSE ---\n{}")
                .steps[0]
                .attributes.name,
            "a ] b");
  EXPECT_THAT(
      said("#[name(\"a]\n--- ENDPOINT ---\na.B/C\n#[skip]]\n--- RESPONSE ---\n{}\n#[tag(x)]\n"),
      ElementsAre(HasSubstr("1:1 attribute_syntax: the text is not closed"),
                  HasSubstr("4:1 attribute_syntax: something follows"),
                  HasSubstr("7:1 stray_attribute")));
  EXPECT_THAT(
      said("--- ENDPOINT ---\na.B/C\n#[timeout(0)]\n#[repeat(0)]\n#[skp]\n--- RESPONSE ---\n{}"),
      ElementsAre(
          "3:3 bad_attribute: timeout: a time over 0, in seconds or with a unit is expected",
          "4:3 bad_attribute: repeat: a whole number from 1 is expected",
          "5:3 unknown_attribute: unknown attribute skp [did you mean skip?]"));
  EXPECT_THAT(said("--- ENDPOINT ---\na.B/C\n#[retry-delay(1)]\n--- RESPONSE ---\n{}"),
              ElementsAre("~3:3 kebab_case: retry-delay is deprecated [#[retry_delay]]"));
}

TEST(GctfParser, AttributesInheritButSkipAndRepeatDoNot) {
  const Document document = one(R"(--- ENDPOINT ---
a.B/C
#[skip]
#[repeat(3)]
#[timeout(250ms)]
#[tag(one)]
--- REQUEST ---
{}
#[tag(two)]

--- RESPONSE ---
{}
)");
  EXPECT_TRUE(document.steps[0].attributes.skip);
  EXPECT_EQ(document.steps[0].attributes.repeat, 3U);
  const Attributes& later = document.steps[1].attributes;
  EXPECT_FALSE(later.skip);
  EXPECT_EQ(later.repeat, 1U);
  EXPECT_EQ(later.timeout, std::chrono::milliseconds(250));
  EXPECT_THAT(later.tags, ElementsAre("one", "two"));
}

MatchOptions match(std::string_view options) {
  return one(fmt::format("--- ENDPOINT ---\na.B/C\n--- RESPONSE {}---\n{{}}", options))
      .steps[0]
      .match;
}
std::vector<std::string> said_of(std::string_view options) {
  return said(fmt::format("--- ENDPOINT ---\na.B/C\n--- RESPONSE {} ---\n{{}}", options));
}

TEST(GctfParser, ReadsInlineOptions) {
  EXPECT_THAT(match(R"(redact=["token", "pass word"] partial=0)").redact,
              ElementsAre("token", "pass word"));
  EXPECT_THAT(match("redact=[]").redact, IsEmpty());
  EXPECT_EQ(match("tolerance=1_000.5").tolerance, 1000.5);
  EXPECT_EQ(match("tolerance=-1").tolerance, -1);
  EXPECT_TRUE(match("unordered_arrays=true").unordered_arrays);
  EXPECT_FALSE(match("partial=false").partial);
  EXPECT_THAT(said_of("redact=[\"a\""), ElementsAre(HasSubstr("3:14 bad_inline_option: redact")));
  EXPECT_THAT(said_of("partial=maybe"),
              ElementsAre("3:14 bad_inline_option: partial: true, false, 1 or 0 is expected"));
  EXPECT_THAT(
      said_of("foo=1 partal"),
      ElementsAre(HasSubstr("3:14 unknown_inline_option: unknown option foo"),
                  "3:20 unknown_inline_option: unknown option partal [did you mean partial?]"));
  EXPECT_THAT(said_of("tolerance=x"), ElementsAre(HasSubstr("tolerance: a number")));
  EXPECT_THAT(said("--- ENDPOINT ---\na.B/C\n--- REQUEST partial ---\n{}\n--- RESPONSE ---\n{}"),
              ElementsAre("3:13 inline_options: REQUEST takes no options [--- REQUEST ---]"));
}

TEST(GctfParser, RefusesWhatIsNoKeyValue) {
  EXPECT_THAT(
      said(with_tail("--- OPTIONS ---\nretry: 1\n: 2\nnothing\nretry: 2\ntimout: 3\ntimeout: 0\n")),
      ElementsAre("3:1 not_key_value: OPTIONS has lines of key: value",
                  "4:1 not_key_value: OPTIONS has lines of key: value",
                  "5:1 repeated_key: retry stands twice [first in line 2]",
                  "6:1 unknown_option: unknown OPTIONS key timout [did you mean timeout?]",
                  "7:10 bad_value: timeout: a time over 0, in seconds or with a unit is expected"));
  EXPECT_THAT(said(with_tail("--- TLS ---\nca: x\ncert: y\n")),
              ElementsAre(HasSubstr("1:5 half_identity"),
                          HasSubstr("2:1 unknown_tls_key: unknown TLS key ca")));
  EXPECT_THAT(said(with_tail("--- PROTO ---\nfile: x\n")),
              ElementsAre("2:1 unknown_proto_key: unknown PROTO key file [did you mean files?]"));
  EXPECT_THAT(said(with_tail("--- OPTIONS ---\nprotocol: grpc-web\nretry: 1\nno_retry: true\n")),
              ElementsAre(HasSubstr("~1:5 retry_ignored"),
                          HasSubstr("2:11 unsupported_protocol: grpc-web is not in this version")));
}

TEST(GctfParser, ABenchContinuationIsNoRepeatedKey) {
  EXPECT_THAT(said(with_tail("--- BENCH ---\nsources:\n  - file: a\n  - file: b\n")), IsEmpty());
  EXPECT_THAT(said(with_tail("--- BENCH ---\nrequests: 1\nmode: open\nrequests: 2\nmode: open\n")),
              ElementsAre("4:1 repeated_key: requests stands twice [first in line 2]",
                          "5:1 repeated_key: mode stands twice [first in line 3]"));
}

TEST(GctfParser, JudgesMeta) {
  EXPECT_THAT(said(with_tail("--- META ---\nname: x\nnam: y\ntags: z\n")),
              ElementsAre("3:1 unknown_meta_field: unknown META field nam [did you mean name?]",
                          "4:7 bad_meta: tags is a list [tags: [one, two]]"));
  EXPECT_THAT(said(with_tail("--- META ---\nname: [\n")), ElementsAre(HasSubstr("bad_yaml")));
  EXPECT_THAT(said(with_tail("--- META ---\n,name\n")),
              ElementsAre(HasSubstr("2:1 bad_yaml: only one document")));
  EXPECT_THAT(
      said(with_tail("--- BENCH ---\nmode: open\n--- META ---\nname: x\n--- META ---\n")),
      ElementsAre("3:5 meta_order: META must be the first section",
                  "5:5 repeated_section: META stands twice in one document [first in line 3]"));
}

TEST(GctfParser, ReadsRowsOfADataset) {
  const Chain chain =
      parse(with_tail("--- DATASET ---\n- id: 7\n  name: \"7\"\n  tags: [a, 1.5]\n- id: ~\n"));
  ASSERT_EQ(chain.dataset.size(), 2U);
  EXPECT_EQ(json(chain.dataset[0]), R"({"id":7,"name":"7","tags":["a",1.5]})");
  EXPECT_EQ(json(chain.dataset[1]), R"({"id":null})");
  EXPECT_THAT(said(with_tail("--- DATASET ---\n- id: 7\n- 8\n")),
              ElementsAre("3:3 bad_dataset: a row is a mapping [- name: value]"));
  EXPECT_THAT(said(with_tail("--- DATASET ---\n[]\n")), ElementsAre(HasSubstr("not an empty one")));
  std::string rows;
  for (int i = 0; i < 51; ++i) rows += "- id: 1\n";
  EXPECT_THAT(said(with_tail("--- DATASET ---\n" + rows)),
              ElementsAre(HasSubstr("~1:5 large_dataset: 51 rows")));
}

TEST(GctfParser, ShowsBadJsonAtItsPlaceAndAllOfIt) {
  EXPECT_THAT(
      said("--- ENDPOINT ---\na.B/C\n--- REQUEST ---\n# a comment\n{\n  a: 1\n  b: 2\n}\n{ c: 3 "
           "}\n{ d: }\n--- RESPONSE ---\n5\n"),
      ElementsAre("7:3 bad_json: a comma or } is expected", "10:6 bad_json: a value is expected",
                  "11:5 not_object: a message is an object or an array, not a number"));
}

TEST(GctfParser, OneValueIsAMessageTwoAreAList) {
  EXPECT_EQ(one("--- ENDPOINT ---\na.B/C\n--- RESPONSE ---\n[{}, {}]\n").steps[0].messages.size(),
            1U);
  const Document document =
      one("--- ENDPOINT ---\na.B/C\n--- RESPONSE ---\n{ a: 1,\n/* } */ b: 2 }\n\n# more\n{ a: '# b "
          "// c' }\n");
  ASSERT_EQ(document.steps[0].messages.size(), 2U);
  EXPECT_EQ(json(document.steps[0].messages[0]), R"({"a":1,"b":2})");
  EXPECT_EQ(json(document.steps[0].messages[1]), R"({"a":"# b // c"})");
}

constexpr std::string_view kChain = R"(--- ADDRESS ---
one:1
--- ENDPOINT ---
a.B/One
--- OPTIONS ---
timeout: 3
--- REQUEST_HEADERS ---
x-a: 1
--- RESPONSE ---
{}
--- ADDRESS ---
two:2
--- ENDPOINT ---
a.B/Two
--- ASSERTS ---
.a == 1
--- REQUEST_HEADERS ---
x-b: 2
--- ENDPOINT ---
a.B/Three
--- ERROR ---
{ code: 5 }
)";

TEST(GctfParser, SplitsChainsAtTheirEndpoints) {
  const Chain chain = parse(kChain);
  ASSERT_EQ(chain.documents.size(), 3U);
  EXPECT_EQ(chain.documents[0].address, "one:1");
  EXPECT_EQ(chain.documents[1].address, "two:2");
  EXPECT_EQ(chain.documents[1].endpoint(), "a.B/Two");
  EXPECT_EQ(chain.documents[1].at, (Position{11, 5}));
}

TEST(GctfParser, LaterDocumentsInheritWhatTheyDoNotSay) {
  const Chain chain = parse(kChain);
  EXPECT_EQ(chain.documents[2].address, "two:2");
  EXPECT_EQ(chain.documents[2].options.timeout, std::chrono::seconds(3));
  ASSERT_EQ(chain.documents[1].headers.size(), 1U);
  EXPECT_EQ(chain.documents[1].headers[0].key, "x-a");
  ASSERT_EQ(chain.documents[2].headers.size(), 1U) << "its own headers replace the inherited ones";
  EXPECT_EQ(chain.documents[2].headers[0].key, "x-b");
}

TEST(GctfParser, JudgesWhatADocumentMustHave) {
  EXPECT_THAT(said(""), ElementsAre(HasSubstr("1:1 no_sections")));
  EXPECT_THAT(said("nothing of ours\n"),
              ElementsAre(HasSubstr("1:1 no_sections"), HasSubstr("~1:1 preface")));
  EXPECT_THAT(said("--- RESPONSE ---\n{}\n"), ElementsAre("1:5 no_endpoint: ENDPOINT is missing"));
  EXPECT_THAT(said("--- ENDPOINT ---\na.B/C\n--- REQUEST ---\n{}\n"),
              ElementsAre(HasSubstr("1:5 no_verification")));
  EXPECT_THAT(said("--- ENDPOINT ---\na.B/C\n#[skip]\n--- RESPONSE ---\n{}\n"),
              ElementsAre(HasSubstr("no_verification")));
  EXPECT_THAT(said("--- ENDPOINT ---\na.B/C\n--- RESPONSE ---\n"), IsEmpty())
      << "no message is expected";
  EXPECT_THAT(said("--- ENDPOINT ---\na.B/C\n--- ERROR ---\n"),
              ElementsAre(HasSubstr("3:5 empty_error")));
  EXPECT_THAT(
      said("--- ENDPOINT ---\na.B/C\n--- RESPONSE ---\n{}\n--- ERROR ---\n{ details: [5] }\n"),
      ElementsAre(HasSubstr("5:5 bad_details"), HasSubstr("5:5 response_and_error")));
  EXPECT_THAT(
      said("--- ENDPOINT ---\na.B/C\n--- ENDPOINT ---\na.B/D\n--- RESPONSE ---\n{}\n"),
      ElementsAre("3:5 repeated_section: ENDPOINT stands twice in one document [first in line 1]"));
  for (const std::string_view endpoint : {"a.B.C", "/C", "a.B/", "/a.B/C", "a B/C"}) {
    EXPECT_THAT(said(fmt::format("--- ENDPOINT ---\n{}\n--- RESPONSE ---\n{{}}", endpoint)),
                ElementsAre(HasSubstr("2:1 bad_endpoint")))
        << endpoint;
  }
  EXPECT_THAT(said(std::string(kChain) + "--- ENDPOINT ---\na.B/D\n"),
              ElementsAre(HasSubstr("document 4 (line 23): nothing verifies")));
}

TEST(GctfParser, WarnsOfWhatIsProbablyMeantOtherwise) {
  EXPECT_THAT(said("hello\n--- ENDPOINT ---\na.B/C\n--- EXTRACT ---\nx = .y\n--- RESPONSE "
                   "with_asserts ---\n{}\n--- REQUEST ---\n{}\n"),
              ElementsAre(HasSubstr("~1:1 preface"), HasSubstr("~4:5 extract_early"),
                          HasSubstr("~6:5 before_request"), HasSubstr("~6:5 with_asserts_alone")));
  EXPECT_THAT(said(with_tail("--- HEADERS ---\na: b\n")),
              ElementsAre(HasSubstr("~1:5 deprecated_name")));
  EXPECT_THAT(said("--- ENDPOINT ---\na.B/C\n--- BENCH ---\nmode: open\n--- RESPONSE ---\n{}"),
              ElementsAre(HasSubstr("~3:5 bench_order")));
}

TEST(GctfParser, JudgesAddresses) {
  for (const std::string_view good :
       {"localhost:1", "https://h:443", "[::1]:50051", "10.0.0.1:65535"}) {
    EXPECT_EQ(one(with_tail(fmt::format("--- ADDRESS ---\n{}\n", good))).address, good);
  }
  for (const std::string_view bad :
       {"localhost", "h:0", "h:65536", "h:x", "https://h:1/path", "ftp://h:1", "[::1]", ":80"}) {
    EXPECT_THAT(said(with_tail(fmt::format("--- ADDRESS ---\n{}\n", bad))),
                ElementsAre(HasSubstr("2:1 bad_address")))
        << bad;
  }
}

TEST(GctfParser, JudgesHeaders) {
  EXPECT_THAT(
      said(with_tail(
          "--- REQUEST_HEADERS ---\nx a: 1\ngrpc-timeout: 1\nx: \xc3\xa4\nx-bin: \xc3\xa4\n")),
      ElementsAre(HasSubstr("2:1 bad_header"), HasSubstr("3:1 bad_header"),
                  HasSubstr("4:4 bad_header")));
}

TEST(GctfParser, JudgesExtractLines) {
  EXPECT_THAT(said(with_tail("") + "--- EXTRACT ---\n.a\na ==\nb =\nc = .x\nc = .y\n1d = .z\n"),
              ElementsAre(HasSubstr("7:1 bad_extract"), HasSubstr("8:1 bad_extract"),
                          HasSubstr("9:1 bad_extract: b binds nothing"),
                          HasSubstr("11:1 repeated_variable: c stands twice"),
                          HasSubstr("12:1 bad_extract")));
}

}  // namespace
}  // namespace onbeat::document
