#include "run/redact.hpp"

#include <gtest/gtest.h>

namespace onbeat::run {
namespace {

TEST(Redact, C8_UrlPasswordsAndKeys) {
  EXPECT_EQ(redact_url("http://user:hunter2@host:80/a?b=c#d"), "http://user:***@host:80/a?b=c#d");
  EXPECT_EQ(redact_url("http://user:p@ss@host/"), "http://user:***@host/");
  EXPECT_EQ(redact_url("http://user:p/ss@host/a"), "http://user:***@host/a");
  EXPECT_EQ(redact_url("http://user@host/"), "http://user@host/");
  EXPECT_EQ(redact_url("https://h/?api_key=s3&x=1&access_token=t#f"),
            "https://h/?api_key=***&x=1&access_token=***#f");
  EXPECT_EQ(redact_url("https://h/?X-Amz-Signature=abc;Key=1&monkey=2"),
            "https://h/?X-Amz-Signature=***;Key=***&monkey=2");
}

TEST(Redact, LeavesWhatIsNoSecretAlone) {
  for (const char* text : {"", "http://host/", "http://[::1]:8080/a:b@c", "http://h:80/x@y", "5000",
                           "100..500 over 30s", "p(99) < 25ms", "http://h/?a=b&c", "http://h/?",
                           "json=report.json", "user@host"}) {
    EXPECT_EQ(redact_url(text), text);
  }
}

TEST(Redact, C8_Headers) {
  for (const char* name :
       {"Authorization", "authorization", "Proxy-Authorization", "Cookie", "Set-Cookie",
        "X-Api-Key", "X-Auth-Token", "X-CSRF-TOKEN", "Client-Secret", "X-Auth-Key"}) {
    EXPECT_EQ(redact_header(std::string(name) + ": s3cret"), std::string(name) + ": ***");
  }
  for (const char* line :
       {"Accept: */*", "Host: a:80", "X-Key-Count: 3", "Sec-WebSocket-Key: abc"}) {
    EXPECT_EQ(redact_header(line), line);
  }
  EXPECT_EQ(redact_header("Referer: http://u:p@h/"), "Referer: http://u:***@h/");
}

TEST(Redact, C8_Options) {
  EXPECT_EQ(redact({"header", "Cookie: a=b", "cli"}).value, "Cookie: ***");
  EXPECT_EQ(redact({"user", "me:pw", "cli"}).value, "me:***");
  EXPECT_EQ(redact({"user", "me", "cli"}).value, "me:***");
  EXPECT_EQ(redact({"proxy", "http://me:pw@proxy", "env"}).value, "http://me:***@proxy");
  EXPECT_EQ(redact({"auth_token", "abc", "env"}).value, "***");
  EXPECT_EQ(redact({"rate", "5000", "cli"}).value, "5000");
  EXPECT_EQ(redact({"rate", "5000", "cli"}).source, "cli");
}

}  // namespace
}  // namespace onbeat::run
