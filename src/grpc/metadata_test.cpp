#include "grpc/metadata.hpp"

#include <gtest/gtest.h>

#include <charconv>

namespace onbeat::grpc {
namespace {

using namespace std::chrono_literals;

TEST(GrpcTimeout, FinestUnitThatFits) {
  const auto text = [](kernel::Duration timeout) {
    return std::string(TimeoutText(timeout).view());
  };
  EXPECT_EQ(text(1ns), "1n");
  EXPECT_EQ(text(99'999'999ns), "99999999n");
  EXPECT_EQ(text(100ms), "100000u");
  EXPECT_EQ(text(2s), "2000000u");
  EXPECT_EQ(text(1500us), "1500000n");
  EXPECT_EQ(text(100s), "100000m");
  EXPECT_EQ(text(0ns), "1n");
  EXPECT_EQ(text(-5s), "1n");
  EXPECT_EQ(text(kernel::Duration::max()), "2562047H");
}

TEST(GrpcTimeout, NeverLongerNeverZeroWithinEightDigits) {
  for (std::int64_t nanoseconds = 1; nanoseconds > 0 && nanoseconds < INT64_MAX / 3;
       nanoseconds = nanoseconds * 3 + 1) {
    const TimeoutText text{kernel::Duration(nanoseconds)};
    const std::string_view view = text.view();
    ASSERT_GE(view.size(), 2U);
    ASSERT_LE(view.size(), 9U);
    std::int64_t count = 0;
    std::from_chars(view.data(), view.data() + view.size() - 1, count);
    const std::string_view units = "numSMH";
    const std::int64_t sizes[] = {
        1, 1'000, 1'000'000, 1'000'000'000, 60'000'000'000, 3'600'000'000'000};
    const std::int64_t sent = count * sizes[units.find(view.back())];
    EXPECT_GT(count, 0);
    EXPECT_LE(sent, nanoseconds);
    // The next coarser unit is a thousand times longer: five digits are kept at least.
    EXPECT_LE(nanoseconds - sent, nanoseconds / 100'000) << view;
  }
}

TEST(GrpcMetadata, G15_BinaryValuesAreBase64) {
  EXPECT_EQ(wire_value("x-trace-bin", std::string_view("\0\1\xff", 3)), "AAH/");
  EXPECT_EQ(wire_value("x-trace-bin", "a"), "YQ");
  EXPECT_EQ(wire_value("x-trace", "a"), "a");
  EXPECT_EQ(decode_binary("YQ"), "a");
  EXPECT_EQ(decode_binary("YQ=="), "a");
  EXPECT_EQ(decode_binary("_-8"), "\xff\xef");
  EXPECT_EQ(decode_binary(""), "");
  for (const char* text : {"Y", "YQ=Q", "!!!!", "YQ ="}) EXPECT_FALSE(decode_binary(text)) << text;
}

TEST(GrpcMetadata, WhatCannotBeSentIsSaid) {
  EXPECT_EQ(metadata_fault("x-tenant_1.a", "a b~"), "");
  EXPECT_EQ(metadata_fault("x-bin", "\xff\n"), "");
  for (const char* name : {"", "X-Upper", "a b", "te", "content-type", "grpc-timeout", ":path"})
    EXPECT_NE(metadata_fault(name, "a"), "") << name;
  for (const char* value : {"a\r\nb", "\xc3\xa9", "\t"})
    EXPECT_NE(metadata_fault("x-a", value), "") << value;
}

TEST(GrpcMetadata, ListKeepsOrderAndFinds) {
  MetadataList list;
  list.add("a", "1");
  list.add("b", "");
  list.add("a", "2");
  ASSERT_EQ(list.size(), 3U);
  EXPECT_EQ(list.name(2), "a");
  EXPECT_EQ(list.value(2), "2");
  EXPECT_EQ(list.find("a"), "1");
  EXPECT_EQ(list.find("b"), "");
  EXPECT_FALSE(list.find("c"));
  list.clear();
  EXPECT_EQ(list.size(), 0U);
  EXPECT_FALSE(list.find("a"));
}

}  // namespace
}  // namespace onbeat::grpc
