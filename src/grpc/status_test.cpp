#include "grpc/status.hpp"

#include <gtest/gtest.h>

namespace onbeat::grpc {
namespace {

TEST(GrpcStatus, Names) {
  EXPECT_EQ(to_string(StatusCode::ok), "OK");
  EXPECT_EQ(to_string(StatusCode::deadline_exceeded), "DeadlineExceeded");
  EXPECT_EQ(to_string(StatusCode::not_found), "NotFound");
  EXPECT_EQ(to_string(StatusCode::unavailable), "Unavailable");
  EXPECT_EQ(to_string(StatusCode::unauthenticated), "Unauthenticated");
}

TEST(GrpcStatus, ValueOfTheTrailer) {
  EXPECT_EQ(parse_status("0"), StatusCode::ok);
  EXPECT_EQ(parse_status("16"), StatusCode::unauthenticated);
  EXPECT_EQ(parse_status("17"), StatusCode::unknown);
  EXPECT_EQ(parse_status("99999999999999999999"), StatusCode::unknown);
  for (const char* text : {"", " 0", "0 ", "-1", "ok", "1x"}) EXPECT_FALSE(parse_status(text));
}

TEST(GrpcStatus, OfHttp) {
  EXPECT_EQ(from_http_status(400), StatusCode::internal);
  EXPECT_EQ(from_http_status(401), StatusCode::unauthenticated);
  EXPECT_EQ(from_http_status(403), StatusCode::permission_denied);
  EXPECT_EQ(from_http_status(404), StatusCode::unimplemented);
  for (const int status : {429, 502, 503, 504})
    EXPECT_EQ(from_http_status(status), StatusCode::unavailable);
  for (const int status : {200, 302, 418, 500})
    EXPECT_EQ(from_http_status(status), StatusCode::unknown);
}

TEST(GrpcStatus, OfResets) {
  for (const std::uint32_t code : {0x0, 0x1, 0x2, 0x3, 0x4, 0x6, 0x9, 0xa})
    EXPECT_EQ(from_reset(code), StatusCode::internal) << code;
  EXPECT_EQ(from_reset(0x5), StatusCode::unknown);
  EXPECT_EQ(from_reset(0x7), StatusCode::unavailable);
  EXPECT_EQ(from_reset(0x8), StatusCode::cancelled);
  EXPECT_EQ(from_reset(0xb), StatusCode::resource_exhausted);
  EXPECT_EQ(from_reset(0xc), StatusCode::permission_denied);
  EXPECT_EQ(from_reset(0xd), StatusCode::unknown);
  EXPECT_EQ(from_reset(0x1234), StatusCode::unknown);
}

TEST(GrpcStatus, G11_MessageIsDecodedLeniently) {
  EXPECT_EQ(decode_message("no%20such%20item: 50%25"), "no such item: 50%");
  EXPECT_EQ(decode_message("%C3%A9t%c3%a9"), "\xc3\xa9t\xc3\xa9");
  EXPECT_EQ(decode_message("100% %zz %4"), "100% %zz %4");
  EXPECT_EQ(decode_message("%%41%"), "%A%");
  EXPECT_EQ(decode_message("%4g%g4%a"), "%4g%g4%a");
  EXPECT_EQ(decode_message(""), "");
}

}  // namespace
}  // namespace onbeat::grpc
