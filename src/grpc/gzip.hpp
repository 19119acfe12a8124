// Messages compressed with gzip (grpc-encoding: gzip). One a loop: the state of zlib and the buffer
// are made once and used again.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <string_view>

namespace onbeat::grpc {

class Gzip {
 public:
  Gzip();
  ~Gzip();
  Gzip(const Gzip&) = delete;
  Gzip& operator=(const Gzip&) = delete;

  /// Appends the compressed bytes.
  void compress(std::string_view bytes, std::string& out);
  /// From a message with its prefix (framing.hpp): appends it compressed, with the new prefix.
  void compress_framed(std::string_view framed, std::string& out);

  enum class Inflated : std::uint8_t { ok, too_long, corrupt };
  /// `out` becomes the bytes; at most `limit` of them, so that a small message cannot fill the
  /// memory. Several gzip members in a row are one message (RFC 1952, 2.2).
  [[nodiscard]] Inflated decompress(std::string_view bytes, std::uint32_t limit, std::string& out);

 private:
  struct Streams;
  std::unique_ptr<Streams> streams_;
};

}  // namespace onbeat::grpc
