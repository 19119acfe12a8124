#include "options/curl.hpp"

#include "options/fake_surroundings.hpp"
#include "options/http_options.hpp"
#include "options/shell_words.hpp"

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <string>

namespace onbeat::options {
namespace {

std::string words(std::string_view text) {
  const auto parsed = shell_words(text);
  if (!parsed) return fmt::format("{}: {}", parsed.error().column, parsed.error().message);
  std::string result;
  for (const ShellWord& word : *parsed) result += fmt::format("[{}@{}]", word.text, word.column);
  return result;
}

TEST(ShellWords, QuotesAndEscapes) {
  EXPECT_EQ(words("  a  'b c'\td\\ e"), "[a@3][b c@6][d e@12]");
  EXPECT_EQ(words("a'b'\"c\"d"), "[abcd@1]");
  EXPECT_EQ(words(R"("a\"b\\c\d$ \$x")"), R"([a"b\c\d$ $x@1])");
  EXPECT_EQ(words("'' \"\""), "[@1][@4]");
  EXPECT_EQ(words("a \\\n  b \\\r\n c"), "[a@1][b@7][c@13]") << "continued lines";
  EXPECT_EQ(words("'a\\\nb'"), "[a\\\nb@1]") << "which single quotes know nothing of";
  EXPECT_EQ(words("a\\"), "[a\\@1]");
}

TEST(ShellWords, AnsiCQuotes) {
  EXPECT_EQ(words(R"($'a\n\t\'\"\\\x41\101\u00e9\U0001F600\q')"),
            "[a\n\t'\"\\AA\xc3\xa9\xf0\x9f\x98\x80\\q@1]");
  EXPECT_EQ(words(R"($'\xzz')"), "3: hexadecimal digits are missing");
}

TEST(ShellWords, WhatNeedsAShellIsRefused) {
  EXPECT_EQ(words("a | b"), "3: a shell ends the command at \"|\"");
  EXPECT_EQ(words("http://h/?a=1&b=2"), "14: a shell ends the command at \"&\"");
  EXPECT_EQ(words("a > f"), "3: a shell ends the command at \">\"");
  EXPECT_EQ(words("\"x $HOME\""), "4: no shell replaces variables or commands here");
  EXPECT_EQ(words("`ls`"), "1: no shell replaces variables or commands here");
  EXPECT_EQ(words("$(ls)"), "1: no shell replaces variables or commands here");
  EXPECT_EQ(words("a 'b"), "3: the closing quote is missing");
  EXPECT_EQ(words("a \"b"), "3: the closing quote is missing");
  EXPECT_EQ(words("a $'b"), "3: the closing quote is missing");
}

TEST(ShellQuoted, ReadsBackAsTheSame) {
  EXPECT_EQ(shell_quoted("http://h/a"), "http://h/a");
  EXPECT_EQ(shell_quoted("it's"), "'it'\\''s'");
  for (const std::string_view text : {"", "a b", "$x `y`", "'", "\"\\\n", "{}&|;"}) {
    const auto parsed = shell_words(shell_quoted(text));
    ASSERT_TRUE(parsed) << text;
    ASSERT_EQ(parsed->size(), 1U) << text;
    EXPECT_EQ((*parsed)[0].text, text);
  }
}

std::string refusal(std::string_view command) {
  const auto parsed = parse_curl(command);
  if (parsed) return "accepted";
  return fmt::format("{}: {}", parsed.error().column, parsed.error().message);
}

/// What a command becomes, a setting a line.
std::string expanded(const std::string& command, const FakeSurroundings& surroundings = {},
                     std::vector<std::pair<std::string_view, std::string>> beside = {}) {
  Layer layer{Source::cli, {}};
  for (const auto& [name, text] : beside) {
    layer.settings.push_back({find_option(name, kHttp), text, "--" + std::string(name)});
  }
  layer.settings.push_back({find_option("curl", kHttp), command, "--curl"});
  const std::size_t before = layer.settings.size();
  std::vector<Problem> errors, warnings;
  expand_curl(layer, surroundings.make(), errors, warnings);
  std::string text;
  for (const Problem& problem : errors) text += render(problem);
  for (const Problem& problem : warnings) text += render(problem, "warning");
  for (std::size_t i = before; i < layer.settings.size(); ++i) {
    const Setting& setting = layer.settings[i];
    EXPECT_EQ(setting.origin, "--curl");
    EXPECT_EQ(check_value(*setting.option, setting.text), std::nullopt) << setting.text;
    text += fmt::format("{}={}\n", setting.option->name, setting.text);
  }
  return text;
}

TEST(Curl, ARequestAsBrowsersCopyIt) {
  EXPECT_EQ(expanded("curl 'https://h.example/api?a=1&b=2' \\\n"
                     "  -X 'PUT' \\\n"
                     "  -H 'accept: */*' \\\n"
                     "  -H 'cost: 5$' \\\n"
                     "  --data-raw $'{\"a\":\"it\\'s\"}' \\\n"
                     "  --compressed --insecure"),
            "url=https://h.example/api?a=1&b=2\n"
            "method=PUT\n"
            "header=accept: */*\n"
            "header=cost: 5$$\n"
            "decompress=true\n"
            "insecure=true\n"
            "header=Content-Type: application/x-www-form-urlencoded\n"
            "body={\"a\":\"it's\"}\n");
}

TEST(Curl, EachFlagBecomesItsOption) {
  EXPECT_EQ(expanded("curl -kL -u a:b -A agent -e http://r/ -b 'c=d' -x http://p:1 -m 2.5 "
                     "--connect-timeout 3 --cacert ca --cert c --key k --ciphers X --resolve "
                     "h:1:1.2.3.4 --connect-to a:1:b:2 --unix-socket s --interface 127.0.0.1 "
                     "--max-redirs 3 --tlsv1.2 --http1.1 --url http://h/ -I"),
            "insecure=true\nlocation=true\nuser=a:b\nuser-agent=agent\n"
            "header=Referer: http://r/\nheader=Cookie: c=d\nproxy=http://p:1\ntimeout=2.5s\n"
            "connect-timeout=3s\ncacert=ca\ncert=c\nkey=k\nciphers=X\nresolve=h:1:1.2.3.4\n"
            "connect-to=a:1:b:2\nunix-socket=s\nsource-ip=127.0.0.1\nredirects=3\n"
            "tls-version=1.2-1.3\nurl=http://h/\nmethod=HEAD\n");
}

TEST(Curl, DataOfEveryKind) {
  FakeSurroundings files;
  files.files["f"] = "a\r\nb c\n";
  EXPECT_EQ(expanded("curl h -d @f -d x=1", files),
            "url=h\nheader=Content-Type: application/x-www-form-urlencoded\nbody=ab c&x=1\n");
  EXPECT_EQ(expanded("curl h --data-binary @f", files),
            "url=h\nheader=Content-Type: application/x-www-form-urlencoded\nbody=a\r\nb c\n\n");
  EXPECT_EQ(expanded("curl h --data-raw @f", files),
            "url=h\nheader=Content-Type: application/x-www-form-urlencoded\nbody=@f\n");
  EXPECT_EQ(expanded("curl h --data-urlencode 'a=b c/d' --data-urlencode n@f "
                     "--data-urlencode '=e&' --data-urlencode 'g h'",
                     files),
            "url=h\nheader=Content-Type: application/x-www-form-urlencoded\n"
            "body=a=b%20c%2Fd&n=a%0D%0Ab%20c%0A&e%26&g%20h\n");
  EXPECT_EQ(expanded("curl h --json '[1,' --json '2]'"),
            "url=h\nheader=Content-Type: application/json\nheader=Accept: application/json\n"
            "body=[1,2]\n");
  EXPECT_EQ(expanded("curl -G 'h?x=1#f' -d a=b -d c=d"), "url=h?x=1&a=b&c=d#f\n");
  EXPECT_EQ(expanded("curl h -F a=b -F 'f=@x;type=t/u'"), "url=h\nform=a=b\nform=f=@x;type=t/u\n");
  EXPECT_EQ(expanded("curl h -d @none"),
            "error: --curl: cannot read none: No such file or directory\nurl=h\n");
}

TEST(Curl, HeadersThatChangeCurlsOwn) {
  EXPECT_EQ(expanded("curl h -d x -H 'content-type: a/b'"),
            "url=h\nheader=content-type: a/b\nbody=x\n");
  EXPECT_EQ(expanded("curl h -d x -H 'Content-Type:' -H 'X-Empty;'"),
            "url=h\nheader=X-Empty:\nbody=x\n");
}

TEST(Curl, FlagsBesideItComeFirst) {
  EXPECT_EQ(expanded("curl http://h/ -X PUT -d x -H 'A: 1' -H 'B: 2' -k", {},
                     {{"url", "http://other/"},
                      {"method", "PATCH"},
                      {"json-body", "{}"},
                      {"header", "a: own"}}),
            "header=B: 2\ninsecure=true\nheader=Content-Type: application/x-www-form-urlencoded\n");
}

TEST(Curl, WhatMeansNothingIsTold) {
  EXPECT_EQ(expanded("curl -sS -o /dev/null -v h"),
            "warning: --curl: without meaning for a load and left out: -s, -S, -o, -v\nurl=h\n");
}

TEST(Curl, Refused) {
  EXPECT_EQ(refusal("wget h"), "1: a curl command begins with \"curl\"");
  EXPECT_EQ(refusal(""), "1: a curl command begins with \"curl\"");
  EXPECT_EQ(refusal("curl h --upload f --digest -Q x"),
            "8: not known here: --upload, --digest, -Q");
  EXPECT_EQ(refusal("curl h -X"), "8: its value is missing");
  EXPECT_EQ(refusal("curl h -m soon"), "8: -m: a duration starts with a digit, not with \"s\"");
  EXPECT_EQ(refusal("curl h -b cookies.txt"), "8: -b with a file of cookies is not known here");
  EXPECT_EQ(refusal("curl h -u ann"), "8: -u: a colon and the password are missing");
  EXPECT_EQ(refusal("/usr/bin/curl h"), "accepted");
}

TEST(CurlText, TheWayBack) {
  HttpOptions options;
  options.user = "a:b c";
  options.redirects = 3;
  options.tls.insecure = true;
  options.resolve = {{"h", 80, {"127.0.0.1", "::1"}}};
  const HttpEndpoint endpoint{.url = "http://h/?a=1&b=2",
                              .method = "PUT",
                              .headers = {{"A", "it's"}, {"Empty", ""}},
                              .body = "x y",
                              .origin = {}};
  EXPECT_EQ(curl_text(options, endpoint),
            "curl -X PUT 'http://h/?a=1&b=2' -H 'A: it'\\''s' -H 'Empty;' -H Content-Type: "
            "-u 'a:b c' -L --max-redirs 3 --data-raw 'x y' --resolve "
            "'h:80:127.0.0.1,[::1]' --connect-timeout 5 -k\n");
}

TEST(CurlText, VersionsSessionsAndCiphers) {
  const auto text = [](HttpVersion version, std::string url) {
    HttpOptions options;
    options.version = version;
    return curl_text(options, {.url = std::move(url), .method = "GET"});
  };
  using enum HttpVersion;
  EXPECT_EQ(text(http1, "https://h/"), "curl https://h/ --connect-timeout 5 --http1.1\n");
  EXPECT_EQ(text(http2, "https://h/"), "curl https://h/ --connect-timeout 5 --http2\n");
  EXPECT_EQ(text(http2, "http://h/"),
            "curl http://h/ --connect-timeout 5 --http2-prior-knowledge\n");
  EXPECT_EQ(text(automatic, "https://h/"), "curl https://h/ --connect-timeout 5\n");
  HttpOptions options;
  options.keep_alive = false;
  options.tls.new_session = true;
  options.tls.ciphers = "TLS_AES_128_GCM_SHA256";
  EXPECT_EQ(curl_text(options, {.url = "h", .method = "GET"}),
            "curl h -H 'Connection: close' --connect-timeout 5 --tls13-ciphers "
            "TLS_AES_128_GCM_SHA256 --no-sessionid\n");
}

TEST(CurlText, MethodOnlyWhereItIsNotCurlsOwn) {
  const auto text = [](std::string method, std::optional<std::string> body) {
    return curl_text({}, {.url = "h", .method = std::move(method), .body = std::move(body)});
  };
  EXPECT_EQ(text("GET", {}), "curl h --connect-timeout 5\n");
  EXPECT_EQ(text("HEAD", {}), "curl -I h --connect-timeout 5\n");
  EXPECT_EQ(text("POST", ""), "curl h -H Content-Type: --data-raw '' --connect-timeout 5\n");
  EXPECT_EQ(text("POST", std::string("a\0", 2)),
            "printf %b '\\0141\\0000' | curl h -H Content-Type: --data-binary @- "
            "--connect-timeout 5\n");
}

}  // namespace
}  // namespace onbeat::options
