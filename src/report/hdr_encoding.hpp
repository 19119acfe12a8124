// HdrHistogram's V2 compressed encoding, in base64: what the HdrHistogram tools of any language
// open. Source: the encoding of org.HdrHistogram.AbstractHistogram (V2: ZigZag LEB128 counts, zero
// runs as negative numbers).
#pragma once

#include <onbeat/kernel/histogram.hpp>

#include <expected>
#include <string>
#include <string_view>

namespace onbeat::report {

/// The payload: the counts of the buckets up to the highest in use. Exact min, max, sum and the
/// censored count are not in it; the JSON has them beside it. Throws std::bad_alloc only.
[[nodiscard]] std::string encode_hdr(const kernel::Histogram& histogram);

/// The way back, for imports and tests. Values come back at the lower edges of their buckets. The
/// error says what is wrong with the payload; no input is trusted.
[[nodiscard]] std::expected<kernel::Histogram, std::string> decode_hdr(std::string_view payload);

[[nodiscard]] std::string encode_base64(std::string_view bytes);
/// An error on anything that is not padded base64.
[[nodiscard]] std::expected<std::string, std::string> decode_base64(std::string_view text);

}  // namespace onbeat::report
