#include "http/http2_request.hpp"

#include "http/request.hpp"

#include <algorithm>
#include <array>

namespace onbeat::http {
namespace {

std::string_view take_line(std::string_view& text) noexcept {
  const std::string_view line = text.substr(0, text.find("\r\n"));
  text.remove_prefix(std::min(line.size() + 2, text.size()));
  return line;
}

std::string_view trimmed(std::string_view text) noexcept {
  const auto first = text.find_first_not_of(" \t");
  if (first == std::string_view::npos) return {};
  return text.substr(first, text.find_last_not_of(" \t") + 1 - first);
}

/// Name and value of a field's line.
std::pair<std::string_view, std::string_view> parts(std::string_view line) noexcept {
  const auto colon = std::min(line.find(':'), line.size());
  return {line.substr(0, colon), trimmed(line.substr(std::min(colon + 1, line.size())))};
}

std::string_view host_of(std::string_view fields) noexcept {
  while (!fields.empty()) {
    const auto [name, value] = parts(take_line(fields));
    if (same_name(name, "host")) return value;
  }
  return {};
}

}  // namespace

bool is_connection_field(std::string_view name, std::string_view value) noexcept {
  constexpr std::array<std::string_view, 6> names{"connection",        "proxy-connection",
                                                  "keep-alive",        "upgrade",
                                                  "transfer-encoding", "http2-settings"};
  if (same_name(name, "te")) return !same_name(value, "trailers");
  return std::ranges::any_of(names, [name](auto each) { return same_name(name, each); });
}

void translate(std::string_view bytes, std::string_view scheme, Http2Request& request) {
  const std::size_t head_end = std::min(bytes.find("\r\n\r\n"), bytes.size());
  std::string_view head = bytes.substr(0, std::min(head_end + 2, bytes.size()));
  request.body = bytes.substr(std::min(head_end + 4, bytes.size()));
  Http2Fields& fields = request.fields;
  fields.clear();
  const std::string_view line = take_line(head);
  const std::string_view method = line.substr(0, line.find(' '));
  const std::string_view target = line.substr(std::min(method.size() + 1, line.size()));
  fields.add(":method", method);
  fields.add(":scheme", scheme);
  fields.add(":authority", host_of(head));
  fields.add(":path", target.substr(0, target.rfind(' ')));
  while (!head.empty()) {
    const auto [name, value] = parts(take_line(head));
    if (same_name(name, "host") || is_connection_field(name, value)) continue;
    fields.add(name, value);
  }
}

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
