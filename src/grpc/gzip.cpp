#include "grpc/gzip.hpp"

#include "grpc/framing.hpp"

#include <zlib.h>

#include <algorithm>
#include <new>

namespace onbeat::grpc {

namespace {
constexpr int kGzipWindow = 15 + 16;  // zlib: the largest window, in gzip's format
}

struct Gzip::Streams {
  z_stream deflating{};
  z_stream inflating{};
};

Gzip::Gzip() : streams_(std::make_unique<Streams>()) {
  if (deflateInit2(&streams_->deflating, Z_DEFAULT_COMPRESSION, Z_DEFLATED, kGzipWindow, 8,
                   Z_DEFAULT_STRATEGY) != Z_OK ||
      inflateInit2(&streams_->inflating, kGzipWindow) != Z_OK)
    throw std::bad_alloc();
}

Gzip::~Gzip() {
  deflateEnd(&streams_->deflating);
  inflateEnd(&streams_->inflating);
}

void Gzip::compress(std::string_view bytes, std::string& out) {
  z_stream& stream = streams_->deflating;
  deflateReset(&stream);
  const std::size_t before = out.size();
  const auto bound = deflateBound(&stream, static_cast<uLong>(bytes.size()));
  out.resize(before + bound);
  stream.next_in = reinterpret_cast<Bytef*>(const_cast<char*>(bytes.data()));
  stream.avail_in = static_cast<uInt>(bytes.size());
  stream.next_out = reinterpret_cast<Bytef*>(out.data() + before);
  stream.avail_out = static_cast<uInt>(bound);
  deflate(&stream, Z_FINISH);
  out.resize(before + stream.total_out);
}

void Gzip::compress_framed(std::string_view framed, std::string& out) {
  const std::size_t at = out.size();
  out.append(kPrefix, '\0');
  compress(framed.substr(kPrefix), out);
  put_prefix(out, at, true);
}

Gzip::Inflated Gzip::decompress(std::string_view bytes, std::uint32_t limit, std::string& out) {
  z_stream& stream = streams_->inflating;
  inflateReset(&stream);
  out.clear();
  stream.next_in = reinterpret_cast<Bytef*>(const_cast<char*>(bytes.data()));
  stream.avail_in = static_cast<uInt>(bytes.size());
  std::size_t have = 0;
  for (;;) {
    // One byte beyond the limit tells a message of just that size from a longer one.
    if (have == out.size()) {
      const std::size_t wanted = std::max<std::size_t>(out.capacity(), 2 * have + 1024);
      out.resize(std::min<std::size_t>(wanted, std::size_t{limit} + 1));
    }
    const std::size_t room = out.size() - have;
    stream.next_out = reinterpret_cast<Bytef*>(out.data() + have);
    stream.avail_out = static_cast<uInt>(room);
    const int result = inflate(&stream, Z_NO_FLUSH);
    have += room - stream.avail_out;
    if (have > limit) return Inflated::too_long;
    if (result == Z_STREAM_END) {
      if (stream.avail_in == 0) break;
      inflateReset(&stream);
      continue;
    }
    if (result != Z_OK || (stream.avail_in == 0 && stream.avail_out != 0)) return Inflated::corrupt;
  }
  out.resize(have);
  return Inflated::ok;
}

}  // namespace onbeat::grpc
