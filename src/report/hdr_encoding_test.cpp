#include "report/hdr_encoding.hpp"

#include "run/sample_report.hpp"

#include <gtest/gtest.h>

#include <cstdint>

namespace onbeat::report {
namespace {

using namespace std::chrono_literals;
using kernel::Duration;
using kernel::Histogram;
using kernel::HistogramLayout;

void expect_same_counts(const Histogram& a, const Histogram& b) {
  ASSERT_EQ(a.layout(), b.layout());
  ASSERT_EQ(a.count(), b.count());
  for (std::uint32_t i = 0; i < a.layout().size(); ++i) {
    const auto at = [i](const Histogram& h) {
      return i >= h.first_index() && i - h.first_index() < h.counts().size()
                 ? h.counts()[i - h.first_index()]
                 : 0;
    };
    ASSERT_EQ(at(a), at(b)) << i;
  }
}

TEST(HdrEncoding, RoundTrips) {
  Histogram mixed = run::testing::spread(1ns, 3h, 5'000);
  mixed.record(0ns, 3);
  mixed.record(5ms, (std::uint64_t{1} << 62) - 1);  // nine bytes
  mixed.record(7ms, (std::uint64_t{1} << 35));
  Histogram coarse(HistogramLayout(1us, 60s, 2));
  coarse.record(3ms, 200);
  coarse.record(59s);
  for (const Histogram& histogram : {Histogram(), run::testing::always(5ms, 1), mixed, coarse}) {
    const auto decoded = decode_hdr(encode_hdr(histogram));
    ASSERT_TRUE(decoded) << decoded.error();
    expect_same_counts(histogram, *decoded);
  }
}

// The published layout: sub-buckets of 2048, halved in every bucket but the first.
TEST(HdrEncoding, BucketsAreThoseOfHdrHistogram) {
  const HistogramLayout layout;
  for (const std::int64_t value : {0L, 1L, 1023L, 1024L, 2047L, 2048L, 4095L, 4096L, 123'456L,
                                   5'000'000L, 9'999'999'999L, 17'000'000'000'000L}) {
    const int bucket =
        std::max(0, 64 - __builtin_clzll(static_cast<std::uint64_t>(value) | 2047) - 11);
    const std::int64_t sub = value >> bucket;
    EXPECT_EQ(layout.index_of(value), (bucket + 1) * 1024 + sub - 1024) << value;
  }
}

// Written by the HdrHistogram package for Python (0.10.8): range 1 to 3,600,000,000, 3 digits; 1 x
// 100, 5,000 x 3, 1,000,000 x 1.
TEST(HdrEncoding, ReadsWhatOthersWrite) {
  const auto decoded =
      decode_hdr("HISTFAAAACh4nJNpmSzMwMDAyQABzFCaEURcm7yEwf4DVOAE435jtt9VTACK2wfJ");
  ASSERT_TRUE(decoded) << decoded.error();
  EXPECT_EQ(decoded->count(), 104u);
  EXPECT_EQ(decoded->percentile(50), 1ns);
  EXPECT_EQ(decoded->layout().index_of(decoded->percentile(98).count()),
            decoded->layout().index_of(5'000));
  EXPECT_EQ(decoded->layout().index_of(decoded->max().count()),
            decoded->layout().index_of(1'000'000));
}

TEST(HdrEncoding, DamagedPayloadsAreRefused) {
  const std::string good = encode_hdr(run::testing::spread(1ms, 2ms, 100));
  for (std::size_t length = 0; length < good.size(); length += 4) {
    EXPECT_FALSE(decode_hdr(std::string_view(good).substr(0, length))) << length;
  }
  EXPECT_FALSE(decode_hdr(good.substr(1) + "A"));
  EXPECT_FALSE(decode_hdr("not base64 at all!!!"));
  for (std::size_t at = 0; at < good.size(); ++at) {  // no change of a byte may crash
    std::string bad = good;
    bad[at] = bad[at] == 'A' ? 'B' : 'A';
    (void)decode_hdr(bad);
  }
}

TEST(Base64, KnownTexts) {
  EXPECT_EQ(encode_base64(""), "");
  EXPECT_EQ(encode_base64("f"), "Zg==");
  EXPECT_EQ(encode_base64("fo"), "Zm8=");
  EXPECT_EQ(encode_base64("foo"), "Zm9v");
  EXPECT_EQ(encode_base64("\xff\xfe\xfd"), "//79");
  for (const char* text : {"", "f", "fo", "foo", "foobar"}) {
    EXPECT_EQ(decode_base64(encode_base64(text)), text);
  }
  for (const char* bad : {"Z", "Zg=", "Zg=a", "=Zg=", "Zm9-"})
    EXPECT_FALSE(decode_base64(bad)) << bad;
}

}  // namespace
}  // namespace onbeat::report
