#include "bench/inspector.hpp"

#include <gtest/gtest.h>
#include <zlib.h>

#include <string>

namespace onbeat::bench {
namespace {

using net::NetError;

std::string compressed(const std::string& text, int window) {
  z_stream stream{};
  deflateInit2(&stream, 9, Z_DEFLATED, window, 8, Z_DEFAULT_STRATEGY);
  std::string out(text.size() + 1000, '\0');
  stream.next_in = reinterpret_cast<Bytef*>(const_cast<char*>(text.data()));
  stream.avail_in = static_cast<uInt>(text.size());
  stream.next_out = reinterpret_cast<Bytef*>(out.data());
  stream.avail_out = static_cast<uInt>(out.size());
  deflate(&stream, Z_FINISH);
  out.resize(stream.total_out);
  deflateEnd(&stream);
  return out;
}
constexpr int kGzip = 15 + 16, kZlib = 15;

class Inspecting : public testing::Test {
 protected:
  /// The verdict on a response whose body comes in pieces of `piece` bytes.
  NetError verdict(const std::string& coding, const std::string& body, std::size_t piece = 7,
                   int status = 200) {
    if (inspector_ == nullptr) {
      expectations_ = std::make_unique<Expectations>(options_, problems_);
      EXPECT_TRUE(problems_.empty());
      EXPECT_TRUE(expectations_->needs_inspector());
      inspector_ = std::make_unique<Inspector>(*expectations_);
    }
    inspector_->begin();
    inspector_->on_status(status, "");
    if (!coding.empty()) inspector_->on_field("content-ENCODING", coding);
    for (const auto& [name, value] : fields_) inspector_->on_field(name, value);
    for (std::size_t at = 0; at < body.size(); at += piece)
      inspector_->on_body(std::string_view(body).substr(at, piece));
    return inspector_->verdict();
  }

  options::HttpOptions options_;
  std::vector<options::Problem> problems_;
  std::vector<std::pair<std::string, std::string>> fields_;
  std::unique_ptr<Expectations> expectations_;
  std::unique_ptr<Inspector> inspector_;
};

TEST_F(Inspecting, DecodesInAnyPieces) {
  std::string text;
  for (int i = 0; i < 5000; ++i) text += "line " + std::to_string(i) + "\n";
  options_.decompress = true;
  options_.expect_body = "^line 0\n.*line 4999\n$";
  for (const std::size_t piece : {1, 10, 1000, 1'000'000}) {
    EXPECT_EQ(verdict("gzip", compressed(text, kGzip), piece), NetError::none) << piece;
    EXPECT_EQ(verdict("deflate", compressed(text, kZlib), piece), NetError::none) << piece;
    EXPECT_EQ(verdict("", text, piece), NetError::none) << piece;
    EXPECT_EQ(verdict("", text + "x", piece), NetError::expectation) << piece;
  }
}

TEST_F(Inspecting, H16_TruncatedStreams) {
  options_.decompress = true;
  const std::string whole = compressed("some text", kGzip);
  EXPECT_EQ(verdict("gzip", whole), NetError::none);
  for (std::size_t size = 1; size < whole.size(); ++size)
    EXPECT_EQ(verdict("gzip", whole.substr(0, size)), NetError::body) << size;
  // One broken response says nothing about the next.
  EXPECT_EQ(verdict("gzip", whole), NetError::none);
  EXPECT_EQ(verdict("gzip", "no gzip"), NetError::body);
  EXPECT_EQ(verdict("br", "x"), NetError::body);
  EXPECT_EQ(verdict("identity", "x"), NetError::none);
}

TEST_F(Inspecting, H5_NothingToDecode) {
  options_.decompress = true;
  EXPECT_EQ(verdict("gzip", "", 1, 204), NetError::none);
  EXPECT_EQ(verdict("gzip", "", 1, 304), NetError::none);
  EXPECT_EQ(verdict("gzip", ""), NetError::none);  // as the answer to HEAD
}

TEST_F(Inspecting, ExpectedHeaders) {
  options_.expect_headers = {{"X-Cache", "^HIT"}, {"ETag", ""}};
  EXPECT_EQ(verdict("", ""), NetError::expectation);
  EXPECT_NE(inspector_->failure().find("X-Cache"), std::string::npos);
  fields_ = {{"x-cache", "HIT from a"}};
  EXPECT_EQ(verdict("", ""), NetError::expectation);
  EXPECT_NE(inspector_->failure().find("ETag"), std::string::npos);
  fields_ = {{"x-cache", "HIT from a"}, {"etag", ""}};
  EXPECT_EQ(verdict("", ""), NetError::none);
  // Any of several values does.
  fields_ = {{"x-cache", "MISS"}, {"x-cache", "HIT"}, {"etag", ""}};
  EXPECT_EQ(verdict("", ""), NetError::none);
  fields_ = {{"x-cache", "a HIT"}, {"etag", ""}};
  EXPECT_EQ(verdict("", ""), NetError::expectation);
}

TEST_F(Inspecting, AnInterimResponseLeavesNothingBehind) {
  options_.expect_headers = {{"Link", ""}};
  options_.redirects = 1;
  verdict("", "");
  inspector_->begin();
  inspector_->on_status(103, "");
  inspector_->on_field("Link", "a");
  inspector_->on_field("Location", "b");
  inspector_->on_status(200, "");
  EXPECT_EQ(inspector_->verdict(), NetError::expectation);
  EXPECT_EQ(inspector_->location(), "");
}

TEST(Expecting, Statuses) {
  std::vector<options::Problem> problems;
  options::HttpOptions options;
  const Expectations standard(options, problems);
  EXPECT_FALSE(standard.needs_inspector());
  for (const int status : {200, 299, 300, 399}) EXPECT_TRUE(standard.status_is_right(status));
  for (const int status : {101, 400, 503}) EXPECT_FALSE(standard.status_is_right(status));
  options.expect_status = {{200, 204}, {404, 404}};
  const Expectations own(options, problems);
  for (const int status : {200, 204, 404}) EXPECT_TRUE(own.status_is_right(status));
  for (const int status : {199, 205, 302, 403}) EXPECT_FALSE(own.status_is_right(status));
}

TEST(Expecting, PatternsThatAreNone) {
  std::vector<options::Problem> problems;
  options::HttpOptions options;
  options.expect_body = "(";
  options.expect_headers = {{"A", "["}};
  const Expectations expectations(options, problems);
  ASSERT_EQ(problems.size(), 2U);
  EXPECT_EQ(problems[0].where, "--expect-header");
  EXPECT_EQ(problems[1].where, "--expect-body");
}

}  // namespace
}  // namespace onbeat::bench
