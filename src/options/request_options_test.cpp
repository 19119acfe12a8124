#include "options/request_options.hpp"

#include "options/arguments.hpp"
#include "options/file.hpp"

#include <gtest/gtest.h>

#include <cstdlib>
#include <fstream>
#include <string>
#include <vector>

namespace onbeat::options {
namespace {

BuiltRequest build(std::vector<std::string_view> args) {
  args.insert(args.begin(), "http://u");
  const Arguments parsed = parse_arguments(*find_command("http"), args);
  const HeaderSources sources{
      .environment = [](const std::string& name) -> std::optional<std::string> {
        return name == "TOKEN" ? std::optional<std::string>("s3cret") : std::nullopt;
      },
      .read_file = [](const std::string&) -> std::expected<std::string, std::string> {
        return "B: 2\n";
      }};
  return build_request_options(resolve(kHttp, std::span(&parsed.layer, 1)), sources);
}

class TemporaryFile {
 public:
  explicit TemporaryFile(const std::string& content)
      : path_(testing::TempDir() + "onbeat_request_options_" +
              std::to_string(reinterpret_cast<std::uintptr_t>(this))) {
    std::ofstream(path_, std::ios::binary) << content;
  }
  ~TemporaryFile() { std::remove(path_.c_str()); }
  const std::string& path() const { return path_; }

 private:
  std::string path_;
};

TEST(RequestOptions, MethodIsGetOrPostWithABodyUnlessGiven) {
  EXPECT_EQ(build({}).options.method, "GET");
  EXPECT_EQ(build({"--body", "x"}).options.method, "POST");
  EXPECT_EQ(build({"--body", "x", "-X", "PUT"}).options.method, "PUT");
}

TEST(RequestOptions, HeadersKeepTheirOrderWhereverTheyComeFrom) {
  const BuiltRequest built = build({"-H", "A: $TOKEN", "-H", "@f", "-H", "A: 3"});
  EXPECT_TRUE(built.errors.empty());
  EXPECT_EQ(built.options.headers, (std::vector<Header>{{"A", "s3cret"}, {"B", "2"}, {"A", "3"}}));
}

TEST(RequestOptions, BodyFromAFileIsByteForByte) {
  const std::string content("a\0\r\n\xff", 5);
  const TemporaryFile file(content);
  const BuiltRequest built = build({"--body-file", file.path()});
  EXPECT_TRUE(built.errors.empty());
  EXPECT_EQ(built.options.body, content);
  EXPECT_EQ(built.options.method, "POST");
}

TEST(RequestOptions, ErrorsAllAtOnce) {
  const BuiltRequest built = build({"-H", "A: $NOPE", "--body-file", "/nowhere/x", "-H", "bad"});
  ASSERT_EQ(built.errors.size(), 2U) << "the form of a header is told by who read it";
  EXPECT_EQ(
      render(built.errors[0]),
      "error: -H #1: the environment has no NOPE\n  hint: a dollar sign itself is written $$\n");
  EXPECT_EQ(render(built.errors[1]),
            "error: --body-file: cannot read /nowhere/x: No such file or directory\n");
  EXPECT_EQ(render(build({"--body", "x", "--body-file", "y"}).errors.at(0)),
            "error: --body-file: contradicts --body\n  hint: leave one of them out\n");
}

TEST(ReadFile, UpToItsLimit) {
  const TemporaryFile file("12345");
  EXPECT_EQ(read_file(file.path(), 5), "12345");
  EXPECT_EQ(read_file(file.path(), 4).error(), "larger than 4 B");
  EXPECT_EQ(read_file(testing::TempDir(), 5).error(), "Is a directory");
}

TEST(SystemHeaderSources, ReadTheProcess) {
  ASSERT_EQ(setenv("ONBEAT_TEST_HEADER", "x", 1), 0);
  EXPECT_EQ(system_header_sources().environment("ONBEAT_TEST_HEADER"), "x");
  ASSERT_EQ(unsetenv("ONBEAT_TEST_HEADER"), 0);
  EXPECT_EQ(system_header_sources().environment("ONBEAT_TEST_HEADER"), std::nullopt);
}

}  // namespace
}  // namespace onbeat::options
