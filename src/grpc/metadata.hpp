// What headers of a call say: the deadline, and binary values.
// Source: grpc/doc/PROTOCOL-HTTP2.md, "Requests" and "Custom-Metadata".
#pragma once

#include <onbeat/kernel/clock.hpp>

#include <array>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace onbeat::grpc {

/// The value of grpc-timeout: at most 8 digits and a unit.
class TimeoutText {
 public:
  /// Never longer than `timeout`, never zero; at most 99,999,999 h. A timeout that has passed is
  /// the shortest, "1n".
  explicit TimeoutText(kernel::Duration timeout) noexcept;
  [[nodiscard]] std::string_view view() const noexcept { return {text_.data(), size_}; }

 private:
  std::array<char, 12> text_{};
  std::uint8_t size_ = 0;
};

/// Whether the values of this name are bytes: base64 on the wire.
[[nodiscard]] constexpr bool is_binary(std::string_view name) noexcept {
  return name.ends_with("-bin");
}
/// What goes out for a header of that name: base64 (without padding, as the protocol prefers) for a
/// binary one, else the value as it is.
[[nodiscard]] std::string wire_value(std::string_view name, std::string_view value);
/// The bytes of a binary header's value, padded or not; nothing when it is not base64.
[[nodiscard]] std::optional<std::string> decode_binary(std::string_view text);

/// Why a header cannot be sent: a name that is not lower-case letters, digits, '-', '_', '.', one
/// that belongs to the protocol (grpc-*, te, content-type, ...), or a text value with bytes outside
/// ASCII's printable. Empty: it can.
[[nodiscard]] std::string metadata_fault(std::string_view name, std::string_view value);
/// The fields of a header or of trailers, in their order. Keeps its memory when it is cleared.
class MetadataList {
 public:
  void clear() noexcept;
  void add(std::string_view name, std::string_view value);
  [[nodiscard]] std::size_t size() const noexcept { return entries_.size(); }
  [[nodiscard]] std::string_view name(std::size_t index) const noexcept;
  [[nodiscard]] std::string_view value(std::size_t index) const noexcept;  // as it came
  /// The first of that name, which must be in lower case.
  [[nodiscard]] std::optional<std::string_view> find(std::string_view name) const noexcept;

 private:
  struct Entry {
    std::size_t at, name_size, value_size;
  };
  std::string bytes_;
  std::vector<Entry> entries_;
};

}  // namespace onbeat::grpc
