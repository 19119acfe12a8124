#include "grpc/metadata.hpp"

#include "options/http_grammar.hpp"

#include <algorithm>
#include <charconv>

namespace onbeat::grpc {
namespace {

struct Unit {
  char letter;
  std::int64_t nanoseconds;
};
constexpr std::array<Unit, 6> kUnits{{{'n', 1},
                                      {'u', 1'000},
                                      {'m', 1'000'000},
                                      {'S', 1'000'000'000},
                                      {'M', 60'000'000'000},
                                      {'H', 3'600'000'000'000}}};
constexpr std::int64_t kMost = 99'999'999;

// What the client sets itself; anything else may be the user's (user-agent too).
constexpr std::array<std::string_view, 10> kReserved{
    "te",         "content-type", "content-length", "connection", "transfer-encoding",
    "keep-alive", "upgrade",      "host",           "trailer",    "proxy-connection"};

}  // namespace

TimeoutText::TimeoutText(kernel::Duration timeout) noexcept {
  const std::int64_t total = std::max<std::int64_t>(timeout.count(), 1);
  for (const Unit& unit : kUnits) {
    const std::int64_t count = total / unit.nanoseconds;
    if (count > kMost && unit.letter != 'H') continue;
    char* const end =
        std::to_chars(text_.data(), text_.data() + text_.size(), std::min(count, kMost)).ptr;
    *end = unit.letter;
    size_ = static_cast<std::uint8_t>(end + 1 - text_.data());
    return;
  }
}

std::string wire_value(std::string_view name, std::string_view value) {
  if (!is_binary(name)) return std::string(value);
  std::string text = options::base64_encode(value);
  text.erase(text.find_last_not_of('=') + 1);
  return text;
}

std::optional<std::string> decode_binary(std::string_view text) {
  std::string padded(text);
  std::ranges::replace(padded, '-', '+');
  std::ranges::replace(padded, '_', '/');
  padded.erase(padded.find_last_not_of('=') + 1);
  padded.append((4 - padded.size() % 4) % 4, '=');
  auto bytes = options::base64_decode(padded);
  if (!bytes) return {};
  return std::move(*bytes);
}

std::string metadata_fault(std::string_view name, std::string_view value) {
  const auto name_letter = [](char c) {
    return (c >= 'a' && c <= 'z') || (c >= '0' && c <= '9') || c == '-' || c == '_' || c == '.';
  };
  if (name.empty() || !std::ranges::all_of(name, name_letter))
    return "a metadata name has lower-case letters, digits, '-', '_' and '.' only";
  if (name.starts_with("grpc-") || std::ranges::find(kReserved, name) != kReserved.end())
    return "\"" + std::string(name) + "\" is set by the protocol and cannot be given";
  const auto printable = [](char c) { return c >= 0x20 && c <= 0x7e; };
  if (!is_binary(name) && !std::ranges::all_of(value, printable))
    return "a metadata value is printable ASCII; for other bytes the name must end in \"-bin\"";
  return {};
}

void MetadataList::clear() noexcept {
  bytes_.clear();
  entries_.clear();
}

void MetadataList::add(std::string_view name, std::string_view value) {
  entries_.push_back({bytes_.size(), name.size(), value.size()});
  bytes_.append(name);
  bytes_.append(value);
}

std::string_view MetadataList::name(std::size_t index) const noexcept {
  const Entry& entry = entries_[index];
  return std::string_view(bytes_).substr(entry.at, entry.name_size);
}

std::string_view MetadataList::value(std::size_t index) const noexcept {
  const Entry& entry = entries_[index];
  return std::string_view(bytes_).substr(entry.at + entry.name_size, entry.value_size);
}

std::optional<std::string_view> MetadataList::find(std::string_view wanted) const noexcept {
  for (std::size_t i = 0; i < size(); ++i) {
    if (name(i) == wanted) return value(i);
  }
  return {};
}

}  // namespace onbeat::grpc
