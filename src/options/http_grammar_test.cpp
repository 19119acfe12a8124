#include "options/http_grammar.hpp"

#include <gtest/gtest.h>

#include <string>
#include <vector>

namespace onbeat::options {
namespace {

template <typename T>
std::string refusal(const Parsing<T>& parsed) {
  if (parsed) return "accepted";
  return std::to_string(parsed.error().column) + ": " + parsed.error().message;
}

TEST(StatusList, SinglesClassesAndRanges) {
  EXPECT_EQ(parse_status_list("200"), (std::vector<StatusRange>{{200, 200}}));
  EXPECT_EQ(parse_status_list("2xx, 404,500-503"),
            (std::vector<StatusRange>{{200, 299}, {404, 404}, {500, 503}}));
  EXPECT_EQ(parse_status_list("5XX"), (std::vector<StatusRange>{{500, 599}}));
}

TEST(StatusList, Refused) {
  EXPECT_EQ(refusal(parse_status_list("")), "1: a status is missing");
  EXPECT_EQ(refusal(parse_status_list("99")), "1: a status is from 100 to 599");
  EXPECT_EQ(refusal(parse_status_list("200,600")), "5: a status is at most 599");
  EXPECT_EQ(refusal(parse_status_list("6xx")), "1: a status is from 100 to 599");
  EXPECT_EQ(refusal(parse_status_list("204-200")), "1: the range ends before it begins");
  EXPECT_EQ(refusal(parse_status_list("200;404")), "4: \";404\" does not belong after a status");
}

TEST(HeaderExpectationGrammar, NameAloneOrWithAPattern) {
  EXPECT_EQ(parse_header_expectation("X-Id"), (HeaderExpectation{"X-Id", ""}));
  EXPECT_EQ(parse_header_expectation("Content-Type:  json|xml "),
            (HeaderExpectation{"Content-Type", "json|xml "}));
  EXPECT_EQ(refusal(parse_header_expectation("a b: c")), "2: not the name of a header");
  EXPECT_EQ(refusal(parse_header_expectation("")), "1: not the name of a header");
}

TEST(ConnectToGrammar, AsInCurl) {
  EXPECT_EQ(parse_connect_to("Example.org:443:127.0.0.1:8443"),
            (ConnectTo{"example.org", 443, "127.0.0.1", 8443}));
  EXPECT_EQ(parse_connect_to("::[::1]:"), (ConnectTo{"", 0, "::1", 0}));
  EXPECT_EQ(refusal(parse_connect_to("a:80")), "5: the host to connect to is missing");
  EXPECT_EQ(refusal(parse_connect_to("a:80:b")), "7: a colon is missing");
  EXPECT_EQ(refusal(parse_connect_to("a:0:b:1")), "3: a port is at least 1");
  EXPECT_EQ(refusal(parse_connect_to("a:70000:b:1")), "3: a port is at most 65535");
  EXPECT_EQ(refusal(parse_connect_to("a:1:b:1:")), "8: only HOST:PORT:HOST2:PORT2 belongs here");
  EXPECT_EQ(refusal(parse_connect_to("[::1:1:b:1")), "1: the closing bracket is missing");
}

TEST(ResolveGrammar, AsInCurl) {
  EXPECT_EQ(parse_resolve("Host:80:127.0.0.1,[::1]"), (Resolve{"host", 80, {"127.0.0.1", "::1"}}));
  EXPECT_EQ(refusal(parse_resolve("host:80:name")), "9: not a numeric address");
  EXPECT_EQ(refusal(parse_resolve("host::1.2.3.4")), "6: a port is missing");
  EXPECT_EQ(refusal(parse_resolve(":80:1.2.3.4")), "1: the host is missing");
  EXPECT_EQ(refusal(parse_resolve("host:80:1.2.3.4,")), "17: not a numeric address");
}

TEST(IpGrammar, NumericOnly) {
  EXPECT_EQ(parse_ip("[fe80::1]"), "fe80::1");
  EXPECT_EQ(parse_ip("127.0.0.2"), "127.0.0.2");
  EXPECT_EQ(refusal(parse_ip("localhost")), "1: not a numeric address");
  EXPECT_EQ(refusal(parse_ip(std::string_view("1.2.3.4\0x", 9))), "1: not a numeric address");
}

TEST(ListenGrammar, LoopbackUnlessAHostIsGiven) {
  EXPECT_EQ(parse_listen("9464"), (ListenAddress{"127.0.0.1", 9464}));
  EXPECT_EQ(parse_listen(":0"), (ListenAddress{"127.0.0.1", 0}));
  EXPECT_EQ(parse_listen("0.0.0.0:80"), (ListenAddress{"0.0.0.0", 80}));
  EXPECT_EQ(parse_listen("[::1]:80"), (ListenAddress{"::1", 80}));
  for (const char* wrong : {"", "x", "127.0.0.1:", "h:70000", "1:2:3", "[::1]80"})
    EXPECT_FALSE(parse_listen(wrong)) << wrong;
}

TEST(TlsVersions, OneOrARange) {
  EXPECT_EQ(parse_tls_versions("1.3"), (std::pair<std::string, std::string>("1.3", "1.3")));
  EXPECT_EQ(parse_tls_versions("1.2-1.3"), (std::pair<std::string, std::string>("1.2", "1.3")));
  EXPECT_EQ(refusal(parse_tls_versions("1.1")), "1: TLS is 1.2 or 1.3");
  EXPECT_EQ(refusal(parse_tls_versions("1.2-")), "5: TLS is 1.2 or 1.3");
  EXPECT_EQ(refusal(parse_tls_versions("1.3-1.2")), "5: the range ends before it begins");
}

TEST(AlpnGrammar, NamesInOrder) {
  EXPECT_EQ(parse_alpn("h2,http/1.1"), (std::vector<std::string>{"h2", "http/1.1"}));
  EXPECT_EQ(refusal(parse_alpn("h2,")), "4: a protocol is missing");
  EXPECT_EQ(refusal(parse_alpn("")), "1: a protocol is missing");
  EXPECT_EQ(refusal(parse_alpn(std::string(256, 'a'))), "1: a protocol has at most 255 bytes");
}

TEST(UserGrammar, NeedsAPassword) {
  EXPECT_EQ(parse_user("ann:s:3"), "ann:s:3");
  EXPECT_EQ(parse_user("ann:"), "ann:");
  EXPECT_EQ(refusal(parse_user("ann")), "4: a colon and the password are missing");
  EXPECT_EQ(refusal(parse_user("a\nb:c")), "2: a control character");
}

TEST(DataFileGrammar, NamedByItselfOrByTheFile) {
  EXPECT_EQ(parse_data_file("users=data/all.csv"),
            (DataFile{.name = "users", .path = "data/all.csv"}));
  EXPECT_EQ(parse_data_file("data/users.csv.gz"),
            (DataFile{.name = "users", .path = "data/users.csv.gz"}));
  EXPECT_EQ(parse_data_file("./a=b/user.csv"),
            (DataFile{.name = "user", .path = "./a=b/user.csv"}));
  EXPECT_EQ(parse_data_file("u=a,b.csv,order=random"),
            (DataFile{.name = "u", .path = "a,b.csv", .random = true}));
  EXPECT_EQ(parse_data_file("user.csv,order=sequential"),
            (DataFile{.name = "user", .path = "user.csv"}));
  EXPECT_EQ(refusal(parse_data_file("u.csv,order=Random")), "13: no order of rows");
  EXPECT_EQ(refusal(parse_data_file("u=,order=random")), "3: the file is missing");
  EXPECT_EQ(refusal(parse_data_file("users=")), "7: the file is missing");
  EXPECT_EQ(refusal(parse_data_file("2024-users.csv")),
            "1: the file's name cannot be that of a variable");
}

TEST(FormPartGrammar, FieldsAndFiles) {
  EXPECT_EQ(parse_form_part("a=b;c=d"), (FormPart{"a", "b;c=d", "", "", ""}));
  EXPECT_EQ(parse_form_part("a="), (FormPart{"a", "", "", "", ""}));
  EXPECT_EQ(parse_form_part("f=@dir/x.png;type=image/png;filename=y.png"),
            (FormPart{"f", "", "dir/x.png", "y.png", "image/png"}));
  EXPECT_EQ(parse_form_part("f=@dir/x"),
            (FormPart{"f", "", "dir/x", "x", "application/octet-stream"}));
  EXPECT_EQ(parse_form_part("f=<x;type=text/plain"), (FormPart{"f", "", "x", "", "text/plain"}));
  EXPECT_EQ(refusal(parse_form_part("a")), "2: \"=\" is missing");
  EXPECT_EQ(refusal(parse_form_part("=a")), "1: the field's name is missing");
  EXPECT_EQ(refusal(parse_form_part("a=@")), "4: the file is missing");
  EXPECT_EQ(refusal(parse_form_part("a=@f;kind=x")),
            "6: only type=... and filename=... may follow the file");
}

TEST(WeightedUrlGrammar, ANumberAndEqualsBeforeTheUrl) {
  const auto text = [](std::string_view url) {
    const auto parsed = parse_weighted_url(url);
    return parsed ? std::to_string(parsed->weight) + " " + parsed->url : refusal(parsed);
  };
  EXPECT_EQ(text("3=http://h/?a=b"), "3 http://h/?a=b");
  EXPECT_EQ(text("http://h/?3=4"), "1 http://h/?3=4");
  EXPECT_EQ(text("127.0.0.1:80/?a=b"), "1 127.0.0.1:80/?a=b");
  EXPECT_EQ(text("0=http://h/"), "1: a weight is at least 1");
  EXPECT_EQ(text("9999999=http://h/"), "1: a weight is at most 1000000");
  EXPECT_EQ(text("3="), "3: the URL is missing");
  EXPECT_EQ(text(""), "1: the URL is missing");
}

TEST(Base64, VectorsOfRfc4648) {
  const std::pair<std::string_view, std::string_view> cases[] = {{"", ""},
                                                                 {"f", "Zg=="},
                                                                 {"fo", "Zm8="},
                                                                 {"foo", "Zm9v"},
                                                                 {"foob", "Zm9vYg=="},
                                                                 {"fooba", "Zm9vYmE="},
                                                                 {"foobar", "Zm9vYmFy"},
                                                                 {"\xff\xfe\xfb", "//77"}};
  for (const auto& [bytes, text] : cases) {
    EXPECT_EQ(base64_encode(bytes), text);
    EXPECT_EQ(base64_decode(text), bytes);
  }
  EXPECT_EQ(refusal(base64_decode("Zg=")), "4: base64 comes in groups of four, padded with \"=\"");
  EXPECT_EQ(refusal(base64_decode("Z===")), "2: not a letter of base64");
  EXPECT_EQ(refusal(base64_decode("Zm9-")), "4: not a letter of base64");
}

}  // namespace
}  // namespace onbeat::options
