#include "options/http_options.hpp"

#include "options/fake_surroundings.hpp"
#include "options/file.hpp"
#include "options/gather.hpp"

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <cstdio>
#include <cstdlib>
#include <fstream>
#include <string>
#include <vector>

namespace onbeat::options {
namespace {

FakeSurroundings around() {
  FakeSurroundings surroundings;
  surroundings.variables = {{"TOKEN", "s3cret"}};
  surroundings.files = {{"f", std::string("a\0\r\n\xff", 5)},
                        {"headers", "B: 2\n"},
                        {"urls", "GET http://h/1\nA: own\n\nPOST 2=http://h/2\n@f\n"}};
  return surroundings;
}

BuiltHttp build(const std::vector<std::string_view>& args,
                const FakeSurroundings& surroundings = around()) {
  const Command& command = *find_command("http");
  const Arguments parsed = parse_arguments(command, args);
  for (const Problem& problem : parsed.problems) ADD_FAILURE() << render(problem);
  return build_http_options(gather_settings(command, parsed, surroundings.make()).settings,
                            surroundings.make());
}

std::string lines(const std::vector<Problem>& problems) {
  std::string text;
  for (const Problem& problem : problems) text += render(problem);
  return text;
}

HttpEndpoint first(const std::vector<std::string_view>& args) {
  const BuiltHttp built = build(args);
  EXPECT_EQ(lines(built.errors), "");
  return built.options.endpoints.at(0);
}

TEST(HttpOptions, MethodIsGetOrPostWithABodyUnlessGiven) {
  EXPECT_EQ(first({"u"}).method, "GET");
  EXPECT_EQ(first({"u", "--body", ""}).method, "POST");
  EXPECT_EQ(first({"u", "--body", "x", "-X", "PUT"}).method, "PUT");
  EXPECT_EQ(first({"u", "--form", "a=b"}).method, "POST");
  EXPECT_EQ(first({"--url", R"({"url":"u","method":"DELETE"})", "-X", "PUT"}).method, "DELETE");
}

TEST(HttpOptions, HeadersKeepTheirOrderWhereverTheyComeFrom) {
  EXPECT_EQ(first({"u", "-H", "A: $TOKEN", "-H", "@headers", "-H", "A: 3"}).headers,
            (std::vector<Header>{{"A", "s3cret"}, {"B", "2"}, {"A", "3"}}));
}

TEST(HttpOptions, SeveralUrlsWithWeights) {
  const BuiltHttp built = build({"http://a/", "3=http://b/", "--url", "2=http://c/"});
  ASSERT_EQ(built.options.endpoints.size(), 3U);
  std::string text;
  for (const HttpEndpoint& endpoint : built.options.endpoints) {
    text += fmt::format("{} {} {}\n", endpoint.weight, endpoint.url, endpoint.origin);
  }
  EXPECT_EQ(text, "2 http://c/ --url\n1 http://a/ URL #1\n3 http://b/ URL #2\n");
}

TEST(HttpOptions, UrlFilesOverrideWhatIsCommon) {
  const BuiltHttp built = build({"--urls", "urls", "-H", "a: common", "-H", "C: c", "--body", "x"});
  EXPECT_EQ(lines(built.errors), "");
  ASSERT_EQ(built.options.endpoints.size(), 2U);
  const HttpEndpoint& get = built.options.endpoints[0];
  EXPECT_EQ(get.headers, (std::vector<Header>{{"C", "c"}, {"A", "own"}}));
  EXPECT_EQ(get.method, "GET");
  EXPECT_EQ(get.body, "x");
  EXPECT_EQ(get.origin, "urls:1");
  const HttpEndpoint& post = built.options.endpoints[1];
  EXPECT_EQ(post.body, std::string("a\0\r\n\xff", 5));
  EXPECT_EQ(post.weight, 2U);
}

TEST(HttpOptions, AJsonBodySaysWhatItIs) {
  const HttpEndpoint endpoint = first({"u", "--json-body", "{}"});
  EXPECT_EQ(endpoint.body, "{}");
  EXPECT_EQ(endpoint.headers, (std::vector<Header>{{"Content-Type", "application/json"},
                                                   {"Accept", "application/json"}}));
  EXPECT_EQ(first({"u", "--json-body", "{}", "-H", "content-type: a/b"}).headers,
            (std::vector<Header>{{"Accept", "application/json"}, {"content-type", "a/b"}}));
}

TEST(HttpOptions, AFormIsMultipartAndDependsOnTheSeed) {
  const std::vector<std::string_view> args{"u",      "--form", "a=1", "--form", "q\"=@f;type=t/u",
                                           "--seed", "7"};
  const HttpEndpoint form = first(args);
  ASSERT_EQ(form.headers.size(), 1U);
  const std::string prefix = "multipart/form-data; boundary=";
  ASSERT_TRUE(form.headers[0].value.starts_with(prefix));
  const std::string boundary = form.headers[0].value.substr(prefix.size());
  EXPECT_EQ(boundary.size(), 39U);
  EXPECT_EQ(*form.body, "--" + boundary +
                            "\r\nContent-Disposition: form-data; name=\"a\"\r\n\r\n1\r\n"
                            "--" +
                            boundary +
                            "\r\nContent-Disposition: form-data; name=\"q%22\"; filename=\"f\"\r\n"
                            "Content-Type: t/u\r\n\r\n" +
                            std::string("a\0\r\n\xff", 5) + "\r\n--" + boundary + "--\r\n");
  EXPECT_EQ(first(args).body, form.body);
  EXPECT_NE(first({"u", "--form", "a=1", "--seed", "8"}).headers,
            first({"u", "--form", "a=1", "--seed", "9"}).headers);
}

TEST(HttpOptions, TheBoundaryStandsInNoPart) {
  const std::string value = first({"u", "--form", "a=1"}).headers.at(0).value;
  const std::string part = "a=" + value.substr(value.find("onbeat-"));
  EXPECT_NE(first({"u", "--form", part}).headers.at(0).value, value);
}

TEST(HttpOptions, VersionsAndWhatBelongsToThem) {
  EXPECT_EQ(build({"u"}).options.version, HttpVersion::http1);
  const BuiltHttp built =
      build({"u", "--http-version", "2", "--streams", "7", "--window", "1MiB",
             "--connection-window", "2MiB", "--max-frame-size", "32KiB", "--header-table-size", "0",
             "--encoder-header-table-size", "8KiB", "--max-header-list", "1KiB"});
  EXPECT_EQ(lines(built.errors), "");
  EXPECT_EQ(built.options.version, HttpVersion::http2);
  const Http2Options& http2 = built.options.http2;
  EXPECT_EQ(http2.streams, 7U);
  EXPECT_EQ(http2.window, 1U << 20);
  EXPECT_EQ(http2.connection_window, 2U << 20);
  EXPECT_EQ(http2.max_frame_size, 32U << 10);
  EXPECT_EQ(http2.header_table_size, 0U);
  EXPECT_EQ(http2.encoder_table_size, 8U << 10);
  EXPECT_EQ(http2.max_header_list, 1U << 10);
  EXPECT_EQ(build({"u", "--http-version", "auto"}).options.version, HttpVersion::automatic);
}

TEST(HttpOptions, WhatContradictsTheVersion) {
  EXPECT_EQ(lines(build({"u", "--streams", "2", "--window", "1MiB"}).errors),
            "error: --streams: is for HTTP/2\n  hint: give --http-version 2, too\n"
            "error: --window: is for HTTP/2\n  hint: give --http-version 2, too\n");
  EXPECT_EQ(lines(build({"u", "--http-version", "2", "--pipeline", "2"}).errors),
            "error: --pipeline: is for HTTP/1.1\n  hint: --streams for HTTP/2\n");
  EXPECT_EQ(lines(build({"u", "--http-version", "auto", "--window", "2GiB"}).errors),
            "error: --window: must be 1 to 2147483647 bytes\n");
}

TEST(HttpOptions, EachOptionHasItsPlace) {
  const BuiltHttp built = build({"u",
                                 "-u",
                                 "a:b",
                                 "-A",
                                 "agent",
                                 "-L",
                                 "--decompress",
                                 "--connect-timeout",
                                 "2s",
                                 "--requests-per-connection",
                                 "5",
                                 "--pipeline",
                                 "4",
                                 "--connect-to",
                                 "::h:1",
                                 "--resolve",
                                 "h:1:1.2.3.4",
                                 "--source-ip",
                                 "[::1]",
                                 "-x",
                                 "http://p/",
                                 "--cacert",
                                 "ca",
                                 "--cert",
                                 "c",
                                 "--key",
                                 "k",
                                 "--server-name",
                                 "s",
                                 "--tls-version",
                                 "1.2-1.3",
                                 "--ciphers",
                                 "X",
                                 "--alpn",
                                 "h2",
                                 "--new-session",
                                 "--expect-status",
                                 "2xx",
                                 "--expect-header",
                                 "A: b",
                                 "--expect-body",
                                 "ok",
                                 "--data",
                                 "user.csv",
                                 "--print-curl"});
  EXPECT_EQ(lines(built.errors), "");
  const HttpOptions& options = built.options;
  EXPECT_EQ(options.user, "a:b");
  EXPECT_EQ(options.user_agent, "agent");
  EXPECT_EQ(options.redirects, kStandardRedirects);
  EXPECT_TRUE(options.decompress);
  EXPECT_EQ(options.connect_timeout, std::chrono::seconds(2));
  EXPECT_TRUE(options.keep_alive);
  EXPECT_EQ(options.requests_per_connection, 5U);
  EXPECT_EQ(options.pipeline, 4U);
  EXPECT_EQ(options.connect_to, (std::vector<ConnectTo>{{"", 0, "h", 1}}));
  EXPECT_EQ(options.resolve, (std::vector<Resolve>{{"h", 1, {"1.2.3.4"}}}));
  EXPECT_EQ(options.source_ip, "::1");
  EXPECT_EQ(options.proxy, "http://p/");
  EXPECT_EQ(options.tls.ca_file, "ca");
  EXPECT_EQ(options.tls.certificate, "c");
  EXPECT_EQ(options.tls.key, "k");
  EXPECT_FALSE(options.tls.insecure);
  EXPECT_EQ(options.tls.server_name, "s");
  EXPECT_EQ(options.tls.min_version, "1.2");
  EXPECT_EQ(options.tls.max_version, "1.3");
  EXPECT_EQ(options.tls.ciphers, "X");
  EXPECT_EQ(options.tls.alpn, std::vector<std::string>{"h2"});
  EXPECT_TRUE(options.tls.new_session);
  EXPECT_EQ(options.expect_status, (std::vector<StatusRange>{{200, 299}}));
  EXPECT_EQ(options.expect_headers, (std::vector<HeaderExpectation>{{"A", "b"}}));
  EXPECT_EQ(options.expect_body, "ok");
  EXPECT_EQ(options.data,
            (std::vector<DataFile>{{.name = "user", .path = "user.csv", .origin = "--data"}}));
  EXPECT_TRUE(options.print_curl);
  const HttpOptions others = build({"u", "--no-keepalive", "-k", "--redirects", "3", "-L", "--cert",
                                    "c", "--unix-socket", "/s"})
                                 .options;
  EXPECT_FALSE(others.keep_alive);
  EXPECT_TRUE(others.tls.insecure);
  EXPECT_EQ(others.redirects, 3U);
  EXPECT_EQ(others.tls.key, "c") << "in the same file unless given";
  EXPECT_EQ(others.tls.alpn, std::vector<std::string>{"http/1.1"});
  EXPECT_EQ(others.unix_socket, "/s");
}

TEST(HttpOptions, WhatContradictsIsAnError) {
  const std::pair<std::vector<std::string_view>, std::string_view> cases[] = {
      {{}, "error: a URL is missing\n  hint: onbeat http URL... [options]\n"},
      {{"u", "--body", "x", "--body-file", "f"},
       "error: --body-file: contradicts --body\n  hint: leave one of them out\n"},
      {{"u", "--form", "a=b", "--json-body", "f"},
       "error: --form: contradicts --json-body\n  hint: leave one of them out\n"},
      {{"u", "--no-keepalive", "--pipeline", "2"},
       "error: --pipeline: contradicts --no-keepalive\n  hint: leave one of them out\n"},
      {{"u", "--unix-socket", "s", "--proxy", "p"},
       "error: --proxy: contradicts --unix-socket\n  hint: leave one of them out\n"},
      {{"u", "-L", "--redirects", "0"},
       "error: -L: contradicts --redirects 0\n  hint: leave one of them out\n"},
      {{"u", "--key", "k"},
       "error: --key: a key without its certificate\n  hint: give --cert, too\n"},
      {{"u", "--connect-timeout", "0s"}, "error: --connect-timeout: must be longer than 0\n"},
      {{"u", "--data", "a/u.csv", "--data", "b/u.csv"},
       "error: --data #1: two files are called u\n  hint: NAME=FILE\n"},
      {{"--curl", "curl -k"}, "error: --curl: it has no URL\n"},
      {{"--urls", "headers"}, "error: headers:1: a header without a request before it\n"}};
  for (const auto& [args, text] : cases) EXPECT_EQ(lines(build(args).errors), text);
}

TEST(HttpOptions, ErrorsAllAtOnceAndWithoutSecrets) {
  EXPECT_EQ(lines(build({"u", "-H", "Ok: 1", "-H", "A: s3cret$NOPE", "--body-file", "none",
                         "--urls", "nowhere"})
                      .errors),
            "error: -H #2: the environment has no NOPE\n  hint: a dollar sign itself is written "
            "$$\n"
            "error: --body-file: cannot read none: No such file or directory\n"
            "error: --urls: cannot read nowhere: No such file or directory\n");
}

TEST(HttpOptions, ProxyVariablesAreIgnoredAloud) {
  FakeSurroundings surroundings;
  surroundings.variables = {{"HTTPS_PROXY", "http://secret@p/"}};
  EXPECT_EQ(lines(build({"u"}, surroundings).warnings),
            "error: HTTPS_PROXY: the variable is ignored\n"
            "  hint: --proxy URL sends requests through a proxy\n");
  EXPECT_TRUE(build({"u", "-x", "p"}, surroundings).warnings.empty());
}

TEST(HttpOptions, BodyFromStandardInput) {
  FakeSurroundings surroundings;
  surroundings.files = {{"-", "typed"}};
  EXPECT_EQ(build({"u", "--body-file", "-"}, surroundings).options.endpoints.at(0).body, "typed");
}

class TemporaryFile {
 public:
  explicit TemporaryFile(const std::string& content)
      : path_(testing::TempDir() + "onbeat_http_options_" +
              std::to_string(reinterpret_cast<std::uintptr_t>(this))) {
    std::ofstream(path_, std::ios::binary) << content;
  }
  ~TemporaryFile() { std::remove(path_.c_str()); }
  const std::string& path() const { return path_; }

 private:
  std::string path_;
};

TEST(SystemSurroundings, ReadTheProcess) {
  ASSERT_EQ(setenv("ONBEAT_TEST_VARIABLE", "x", 1), 0);
  const Surroundings system = system_surroundings();
  EXPECT_EQ(system.environment("ONBEAT_TEST_VARIABLE"), "x");
  const auto names = system.variables();
  EXPECT_EQ(std::count(names.begin(), names.end(), "ONBEAT_TEST_VARIABLE"), 1);
  ASSERT_EQ(unsetenv("ONBEAT_TEST_VARIABLE"), 0);
  EXPECT_EQ(system.environment("ONBEAT_TEST_VARIABLE"), std::nullopt);
  const TemporaryFile file("12345");
  EXPECT_EQ(system.read_file(file.path(), 5), "12345");
  EXPECT_EQ(system.read_file(file.path(), 4).error(), "larger than 4 B");
  EXPECT_EQ(system.read_file(testing::TempDir(), 5).error(), "Is a directory");
}

TEST(SystemSurroundings, StandardInputIsReadOnce) {
  const TemporaryFile file("typed");
  ASSERT_NE(std::freopen(file.path().c_str(), "rb", stdin), nullptr);
  const Surroundings system = system_surroundings();
  EXPECT_EQ(system.read_file("-", 10), "typed");
  EXPECT_EQ(system.read_file("-", 10).error(), "standard input has been read already");
}

}  // namespace
}  // namespace onbeat::options
