#include "report/hdr_encoding.hpp"

#include <zlib.h>

#include <algorithm>
#include <array>
#include <bit>
#include <cstdint>
#include <limits>
#include <new>
#include <optional>
#include <type_traits>
#include <utility>

namespace onbeat::report {
namespace {

using kernel::Duration;
using kernel::Histogram;
using kernel::HistogramLayout;

// The word size bit 0x10 marks counts of variable length.
constexpr std::uint32_t kCookie = 0x1c849303 | 0x10;
constexpr std::uint32_t kCompressedCookie = 0x1c849304 | 0x10;
constexpr std::uint32_t kCookieMask = ~0xf0u;
constexpr std::size_t kHeaderBytes = 40;
// Beyond what any layout needs: 5 digits over the whole 63-bit range are 6 million buckets of at
// most 9 bytes.
constexpr std::size_t kMaxPayload = 64u << 20;

template <typename T>
void put(std::string& out, T value) {
  using Bits = std::make_unsigned_t<T>;
  for (int shift = (static_cast<int>(sizeof(T)) - 1) * 8; shift >= 0; shift -= 8) {
    out.push_back(static_cast<char>(static_cast<Bits>(value) >> shift & 0xff));
  }
}

// Little-endian groups of 7 bits; the ninth byte holds 8, so 64 bits need 9 bytes at most.
void put_zigzag(std::string& out, std::int64_t value) {
  auto bits = static_cast<std::uint64_t>(value) << 1 ^ static_cast<std::uint64_t>(value >> 63);
  for (int i = 0; i < 8; ++i) {
    if (bits < 0x80) return out.push_back(static_cast<char>(bits));
    out.push_back(static_cast<char>((bits & 0x7f) | 0x80));
    bits >>= 7;
  }
  out.push_back(static_cast<char>(bits));
}

void put_zeros(std::string& out, std::uint64_t zeros) {
  if (zeros == 1) return put_zigzag(out, 0);
  if (zeros != 0) put_zigzag(out, -static_cast<std::int64_t>(zeros));
}

std::string encode_counts(const Histogram& histogram) {
  std::string out;
  std::uint64_t zeros = histogram.first_index();
  for (const std::uint64_t count : histogram.counts()) {
    if (count == 0) {
      ++zeros;
      continue;
    }
    put_zeros(out, std::exchange(zeros, 0));
    put_zigzag(out, static_cast<std::int64_t>(count));
  }
  return out;
}

std::string encode_plain(const Histogram& histogram) {
  const std::string counts = encode_counts(histogram);
  const HistogramLayout& layout = histogram.layout();
  std::string out;
  put(out, kCookie);
  put(out, static_cast<std::uint32_t>(counts.size()));
  put(out, std::uint32_t{0});  // normalizing index offset
  put(out, static_cast<std::uint32_t>(layout.digits()));
  put(out, layout.lowest().count());
  put(out, layout.highest().count());
  put(out, std::bit_cast<std::uint64_t>(1.0));  // integer to double conversion ratio
  return out + counts;
}

std::string compress(const std::string& plain) {
  uLongf size = compressBound(plain.size());
  std::string out(size, '\0');
  const int result =
      compress2(reinterpret_cast<Bytef*>(out.data()), &size,
                reinterpret_cast<const Bytef*>(plain.data()), plain.size(), Z_DEFAULT_COMPRESSION);
  if (result != Z_OK) throw std::bad_alloc();  // with a sufficient buffer only memory can lack
  out.resize(size);
  return out;
}

class Reader {
 public:
  explicit Reader(std::string_view bytes) : bytes_(bytes) {}

  template <typename T>
  std::optional<T> get() {
    if (bytes_.size() < sizeof(T)) return std::nullopt;
    std::make_unsigned_t<T> value = 0;
    for (std::size_t i = 0; i < sizeof(T); ++i) {
      value = static_cast<std::make_unsigned_t<T>>(static_cast<std::uint64_t>(value) << 8 |
                                                   static_cast<unsigned char>(bytes_[i]));
    }
    bytes_.remove_prefix(sizeof(T));
    return static_cast<T>(value);
  }

  std::optional<std::int64_t> get_zigzag() {
    std::uint64_t bits = 0;
    for (int i = 0; i < 9; ++i) {
      if (bytes_.empty()) return std::nullopt;
      const auto byte = static_cast<unsigned char>(bytes_[0]);
      bytes_.remove_prefix(1);
      bits |= std::uint64_t{i == 8 ? byte : byte & 0x7fu} << (7 * i);
      if (byte < 0x80 || i == 8) break;
    }
    return static_cast<std::int64_t>(bits >> 1) ^ -static_cast<std::int64_t>(bits & 1);
  }

  [[nodiscard]] std::string_view rest() const { return bytes_; }

 private:
  std::string_view bytes_;
};

std::expected<std::string, std::string> decompress(std::string_view bytes) {
  z_stream stream{};
  if (inflateInit(&stream) != Z_OK) throw std::bad_alloc();
  std::string out;
  std::array<char, 16384> buffer;
  stream.next_in = reinterpret_cast<Bytef*>(const_cast<char*>(bytes.data()));
  stream.avail_in = static_cast<uInt>(bytes.size());
  int result = Z_OK;
  while (result == Z_OK && out.size() <= kMaxPayload) {
    stream.next_out = reinterpret_cast<Bytef*>(buffer.data());
    stream.avail_out = buffer.size();
    result = inflate(&stream, Z_NO_FLUSH);
    out.append(buffer.data(), buffer.size() - stream.avail_out);
  }
  inflateEnd(&stream);
  if (result != Z_STREAM_END) return std::unexpected("the compressed part is damaged");
  return out;
}

std::expected<Histogram, std::string> decode_counts(Reader counts, const HistogramLayout& layout) {
  Histogram histogram(layout);
  std::uint64_t index = 0;
  while (!counts.rest().empty()) {
    const auto value = counts.get_zigzag();
    if (!value) return std::unexpected("the counts are cut short");
    if (*value < 0) {
      const auto zeros = ~static_cast<std::uint64_t>(*value) + 1;
      if (zeros > layout.size()) return std::unexpected("a run of zeros is too long");
      index += zeros;
      continue;
    }
    if (index >= layout.size()) return std::unexpected("there are more counts than buckets");
    if (*value > 0) {
      histogram.record(Duration{layout.lowest_of(static_cast<std::uint32_t>(index))},
                       static_cast<std::uint64_t>(*value));
    }
    ++index;
  }
  return histogram;
}

std::expected<Histogram, std::string> decode_plain(std::string_view bytes) {
  Reader reader(bytes);
  if (bytes.size() < kHeaderBytes) return std::unexpected("the header is cut short");
  const auto cookie = *reader.get<std::uint32_t>();
  const auto length = *reader.get<std::uint32_t>();
  (void)*reader.get<std::uint32_t>();
  const auto digits = *reader.get<std::uint32_t>();
  const auto lowest = *reader.get<std::int64_t>();
  const auto highest = *reader.get<std::int64_t>();
  (void)*reader.get<std::uint64_t>();
  if ((cookie & kCookieMask) != (kCookie & kCookieMask)) return std::unexpected("not V2");
  if (length > reader.rest().size()) return std::unexpected("the counts are cut short");
  if (digits < 1 || digits > 5 || lowest < 1 ||
      lowest > std::numeric_limits<std::int64_t>::max() / 2 || highest < 2 * lowest) {
    return std::unexpected("the header is not of a histogram");
  }
  const HistogramLayout layout(Duration{lowest}, Duration{highest}, static_cast<int>(digits));
  return decode_counts(Reader(reader.rest().substr(0, length)), layout);
}

constexpr std::string_view kAlphabet =
    "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";

}  // namespace

std::string encode_base64(std::string_view bytes) {
  std::string out;
  out.reserve((bytes.size() + 2) / 3 * 4);
  for (std::size_t i = 0; i < bytes.size(); i += 3) {
    std::uint32_t group = 0;
    const std::size_t have = std::min<std::size_t>(3, bytes.size() - i);
    for (std::size_t k = 0; k < 3; ++k) {
      group = group << 8 | (k < have ? static_cast<unsigned char>(bytes[i + k]) : 0u);
    }
    for (std::size_t k = 0; k < 4; ++k) {
      out.push_back(k <= have ? kAlphabet[group >> (18 - 6 * k) & 0x3f] : '=');
    }
  }
  return out;
}

std::expected<std::string, std::string> decode_base64(std::string_view text) {
  if (text.size() % 4 != 0) return std::unexpected("not base64: its length is no multiple of 4");
  const std::size_t padding = text.ends_with("==") ? 2 : text.ends_with("=") ? 1 : 0;
  std::string out;
  std::uint32_t group = 0;
  for (std::size_t i = 0; i < text.size(); ++i) {
    const bool pad = i + padding >= text.size();
    const std::size_t value = pad ? 0 : kAlphabet.find(text[i]);
    if (value == std::string_view::npos) return std::unexpected("not base64: a foreign character");
    group = group << 6 | static_cast<std::uint32_t>(value);
    if (i % 4 != 3) continue;
    for (const int shift : {16, 8, 0}) out.push_back(static_cast<char>(group >> shift & 0xff));
    group = 0;
  }
  out.resize(out.size() - padding);
  return out;
}

std::string encode_hdr(const Histogram& histogram) {
  const std::string compressed = compress(encode_plain(histogram));
  std::string out;
  put(out, kCompressedCookie);
  put(out, static_cast<std::uint32_t>(compressed.size()));
  return encode_base64(out + compressed);
}

std::expected<Histogram, std::string> decode_hdr(std::string_view payload) {
  const auto bytes = decode_base64(payload);
  if (!bytes) return std::unexpected(bytes.error());
  Reader reader(*bytes);
  const auto cookie = reader.get<std::uint32_t>();
  const auto length = reader.get<std::uint32_t>();
  if (!cookie || !length || (*cookie & kCookieMask) != (kCompressedCookie & kCookieMask)) {
    return std::unexpected("not a V2 compressed histogram");
  }
  if (*length > reader.rest().size()) return std::unexpected("the compressed part is cut short");
  const auto plain = decompress(reader.rest().substr(0, *length));
  if (!plain) return std::unexpected(plain.error());
  return decode_plain(*plain);
}

}  // namespace onbeat::report
