// Compression of values. Stateless to its users; each thread keeps its own working memory.
#pragma once

#include <onbeat/cache/config.hpp>

#include <cstdint>
#include <string>
#include <string_view>

namespace onbeat::cache {

/// Replaces `to` by `value` compressed; false when that is not smaller (`to` is then unspecified).
[[nodiscard]] bool compress(Compression method, std::string_view value, std::string& to);
/// Replaces `to` by what compress() was given; `size` is how long that was.
void decompress(Compression method, std::string_view compressed, std::uint32_t size,
                std::string& to);

}  // namespace onbeat::cache
