#include "cache/codec.hpp"

#include <lz4.h>
#include <zstd.h>

#include <memory>
#include <stdexcept>

namespace onbeat::cache {
namespace {

// The quickest: a cache pays for each set.
constexpr int kZstdLevel = 1;

struct ZstdFree {
  void operator()(ZSTD_CCtx* context) const noexcept { ZSTD_freeCCtx(context); }
  void operator()(ZSTD_DCtx* context) const noexcept { ZSTD_freeDCtx(context); }
};

std::size_t zstd_compress(std::string_view value, std::string& to) {
  static thread_local const std::unique_ptr<ZSTD_CCtx, ZstdFree> context{ZSTD_createCCtx()};
  const std::size_t size = ZSTD_compressCCtx(context.get(), to.data(), to.size(), value.data(),
                                             value.size(), kZstdLevel);
  return ZSTD_isError(size) != 0 ? 0 : size;  // no room in `to`: not smaller
}

std::size_t zstd_decompress(std::string_view compressed, std::string& to) {
  static thread_local const std::unique_ptr<ZSTD_DCtx, ZstdFree> context{ZSTD_createDCtx()};
  return ZSTD_decompressDCtx(context.get(), to.data(), to.size(), compressed.data(),
                             compressed.size());
}

}  // namespace

bool compress(Compression method, std::string_view value, std::string& to) {
  if (value.size() < 2 || value.size() > LZ4_MAX_INPUT_SIZE) return false;
  to.resize(value.size() - 1);
  std::size_t size = 0;
  if (method == Compression::zstd) size = zstd_compress(value, to);
  if (method == Compression::lz4) {
    size = static_cast<std::size_t>(LZ4_compress_default(
        value.data(), to.data(), static_cast<int>(value.size()), static_cast<int>(to.size())));
  }
  to.resize(size);
  return size != 0;
}

void decompress(Compression method, std::string_view compressed, std::uint32_t size,
                std::string& to) {
  to.resize(size);
  std::size_t got = 0;
  if (method == Compression::zstd) got = zstd_decompress(compressed, to);
  if (method == Compression::lz4) {
    got = static_cast<std::size_t>(LZ4_decompress_safe(
        compressed.data(), to.data(), static_cast<int>(compressed.size()), static_cast<int>(size)));
  }
  // It is our own text from our own memory.
  if (got != size) throw std::logic_error("a cached value cannot be decompressed");
}

}  // namespace onbeat::cache
