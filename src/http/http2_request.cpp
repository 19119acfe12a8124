#include "http/http2_request.hpp"

#include <algorithm>

namespace onbeat::http {

Http2Fields::Http2Fields(const Http2Fields& other) { *this = other; }

Http2Fields& Http2Fields::operator=(const Http2Fields& other) {
  if (this == &other) return *this;
  clear();
  reserve(other.bytes_.size());
  for (const nghttp2_nv& field : other.fields_) add(name(field), value(field));
  return *this;
}

void Http2Fields::add(std::string_view name, std::string_view value) {
  reserve(bytes_.size() + name.size() + value.size());
  auto* const at = reinterpret_cast<std::uint8_t*>(bytes_.data() + bytes_.size());
  for (const char c : name)
    bytes_.push_back(c >= 'A' && c <= 'Z' ? static_cast<char>(c - 'A' + 'a') : c);
  bytes_.insert(bytes_.end(), value.begin(), value.end());
  fields_.push_back({.name = at,
                     .value = at + name.size(),
                     .namelen = name.size(),
                     .valuelen = value.size(),
                     .flags = NGHTTP2_NV_FLAG_NO_COPY_NAME | NGHTTP2_NV_FLAG_NO_COPY_VALUE});
}

void Http2Fields::truncate(std::size_t count) noexcept {
  if (count >= fields_.size()) return;
  const auto* const base = reinterpret_cast<const std::uint8_t*>(bytes_.data());
  bytes_.resize(static_cast<std::size_t>(fields_[count].name - base));
  fields_.resize(count);
}

// The fields follow the bytes to where they are moved.
void Http2Fields::reserve(std::size_t bytes) {
  if (bytes <= bytes_.capacity()) return;
  const auto* const before = reinterpret_cast<const std::uint8_t*>(bytes_.data());
  std::vector<char> wider;
  wider.reserve(std::max(bytes, 2 * bytes_.capacity()));
  wider.assign(bytes_.begin(), bytes_.end());
  auto* const after = reinterpret_cast<std::uint8_t*>(wider.data());
  for (nghttp2_nv& field : fields_) {
    field.name = after + (field.name - before);
    field.value = after + (field.value - before);
  }
  bytes_ = std::move(wider);
}

}  // namespace onbeat::http
