#include "grpc/framing.hpp"

#include "grpc/gzip.hpp"

#include <gtest/gtest.h>

#include <vector>

namespace onbeat::grpc {
namespace {

using Fault = MessageDecoder::Fault;

std::string framed(std::string_view message, bool compressed = false) {
  std::string bytes;
  append_message(bytes, message, compressed);
  return bytes;
}

TEST(GrpcFraming, PrefixHasFlagAndSize) {
  EXPECT_EQ(framed("abc"), std::string_view("\0\0\0\0\3abc", 8));
  EXPECT_EQ(framed("", true), std::string_view("\1\0\0\0\0", 5));
  const std::string large = framed(std::string(0x010203, 'x'));
  EXPECT_EQ(large.substr(0, 5), std::string_view("\0\0\1\2\3", 5));
}

TEST(GrpcFraming, CutAtEveryByte) {
  const std::vector<std::string> messages{"one", "", std::string(300, 'x'), "four"};
  std::string stream;
  for (std::size_t i = 0; i < messages.size(); ++i) append_message(stream, messages[i], i % 2 == 1);
  for (std::size_t first = 0; first <= stream.size(); ++first) {
    for (std::size_t second = first; second <= stream.size(); second += 7) {
      MessageDecoder decoder;
      std::vector<std::string> got;
      const auto feed = [&](std::size_t from, std::size_t to) {
        ASSERT_EQ(decoder.feed(std::string_view(stream).substr(from, to - from)), Fault::none);
        while (decoder.next()) {
          EXPECT_EQ(decoder.compressed(), got.size() % 2 == 1);
          got.emplace_back(decoder.message());
        }
      };
      feed(0, first);
      feed(first, second);
      feed(second, stream.size());
      ASSERT_EQ(got, messages) << first << " " << second;
      EXPECT_FALSE(decoder.within_message());
      EXPECT_EQ(decoder.whole(), messages.size());
    }
  }
}

TEST(GrpcFraming, MessagesWaitUntilTheyAreAskedFor) {
  MessageDecoder decoder;
  std::string wanted;
  for (int i = 0; i < 100; ++i) {
    ASSERT_EQ(decoder.feed(framed(std::to_string(i))), Fault::none);
    if (i % 3 != 0) continue;
    ASSERT_TRUE(decoder.next());
    wanted += decoder.message();
  }
  while (decoder.next()) wanted += decoder.message();
  std::string all;
  for (int i = 0; i < 100; ++i) all += std::to_string(i);
  EXPECT_EQ(wanted, all);
}

TEST(GrpcFraming, CutShortIsTold) {
  const std::string stream = framed("abc");
  for (std::size_t size = 0; size <= stream.size(); ++size) {
    MessageDecoder decoder;
    ASSERT_EQ(decoder.feed(stream.substr(0, size)), Fault::none);
    EXPECT_EQ(decoder.within_message(), size != 0 && size != stream.size()) << size;
  }
}

TEST(GrpcFraming, LimitIsFoundWithThePrefix) {
  MessageDecoder decoder(10);
  ASSERT_EQ(decoder.feed(framed(std::string(10, 'x'))), Fault::none);
  EXPECT_TRUE(decoder.next());
  const std::string longer = framed(std::string(11, 'x'));
  ASSERT_EQ(decoder.feed(longer.substr(0, 4)), Fault::none);
  EXPECT_EQ(decoder.feed(longer.substr(4, 1)), Fault::too_long);
  EXPECT_EQ(decoder.announced(), 11U);
  decoder.reset();
  EXPECT_EQ(decoder.feed(framed("again")), Fault::none);
  ASSERT_TRUE(decoder.next());
  EXPECT_EQ(decoder.message(), "again");
}

TEST(GrpcFraming, AFlagThatIsNone) {
  MessageDecoder decoder;
  EXPECT_EQ(decoder.feed(std::string_view("\2\0\0\0\0", 5)), Fault::bad_flag);
}

TEST(GrpcGzip, BothWays) {
  Gzip gzip;
  for (const std::string& text :
       {std::string(), std::string("a"), std::string(100'000, 'x'), std::string("\0\1\2", 3)}) {
    std::string small, again;
    gzip.compress(text, small);
    ASSERT_EQ(gzip.decompress(small, 100'000, again), Gzip::Inflated::ok);
    EXPECT_EQ(again, text);
    for (std::size_t size = 0; size < small.size(); ++size) {
      EXPECT_EQ(gzip.decompress(std::string_view(small).substr(0, size), 100'000, again),
                Gzip::Inflated::corrupt)
          << size;
    }
  }
}

TEST(GrpcGzip, LimitAndGarbage) {
  Gzip gzip;
  std::string bomb, out;
  gzip.compress(std::string(1'000'000, 'x'), bomb);
  EXPECT_EQ(gzip.decompress(bomb, 999'999, out), Gzip::Inflated::too_long);
  EXPECT_LT(out.capacity(), 2'000'000U);
  EXPECT_EQ(gzip.decompress(bomb, 1'000'000, out), Gzip::Inflated::ok);
  EXPECT_EQ(gzip.decompress("garbage", 100, out), Gzip::Inflated::corrupt);
  std::string two;
  gzip.compress("ab", two);
  gzip.compress("cd", two);
  ASSERT_EQ(gzip.decompress(two, 100, out), Gzip::Inflated::ok);
  EXPECT_EQ(out, "abcd");
}

TEST(GrpcGzip, FramedMessages) {
  Gzip gzip;
  std::string sent = "before", out;
  gzip.compress_framed(framed("text"), sent);
  MessageDecoder decoder;
  ASSERT_EQ(decoder.feed(sent.substr(6)), Fault::none);
  ASSERT_TRUE(decoder.next());
  EXPECT_TRUE(decoder.compressed());
  ASSERT_EQ(gzip.decompress(decoder.message(), 100, out), Gzip::Inflated::ok);
  EXPECT_EQ(out, "text");
}

}  // namespace
}  // namespace onbeat::grpc
