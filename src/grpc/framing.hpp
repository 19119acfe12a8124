// Messages on a stream: a byte that says whether the message is compressed, its size (4 bytes, big
// end first), its bytes. No I/O.
// Source: grpc/doc/PROTOCOL-HTTP2.md, "Length-Prefixed-Message".
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

namespace onbeat::grpc {

inline constexpr std::size_t kPrefix = 5;
inline constexpr std::uint32_t kDefaultMaxMessage = 4 * 1024 * 1024;

/// Appends the prefix and the message.
void append_message(std::string& out, std::string_view message, bool compressed = false);
/// Writes the prefix of the message that stands in `out` from `at` + kPrefix on: for who appends
/// kPrefix bytes, then the message, then knows its size.
void put_prefix(std::string& out, std::size_t at, bool compressed = false) noexcept;

/// Cuts a stream's bytes into messages. Keeps its buffer from one stream to the next.
///
///   fault = decoder.feed(bytes);                           as they come, in any pieces
///   while (decoder.next()) use(decoder.message());
class MessageDecoder {
 public:
  enum class Fault : std::uint8_t {
    none,
    too_long,  // a message longer than the limit: RESOURCE_EXHAUSTED
    bad_flag,  // the first byte of a prefix is neither 0 nor 1: INTERNAL
  };

  explicit MessageDecoder(std::uint32_t max_message = kDefaultMaxMessage) noexcept
      : max_message_(max_message) {}

  /// For a new stream.
  void reset() noexcept;
  /// Copies the bytes; ends the life of message(). A fault is found as soon as the prefix is there;
  /// nothing may be fed after it.
  [[nodiscard]] Fault feed(std::string_view bytes);
  /// The next message that has come whole becomes message() and compressed().
  [[nodiscard]] bool next() noexcept;

  [[nodiscard]] std::string_view message() const noexcept { return message_; }
  [[nodiscard]] bool compressed() const noexcept { return compressed_; }
  /// How many have come whole, in all.
  [[nodiscard]] std::uint64_t whole() const noexcept { return whole_; }
  /// Part of a message has come: at the end of a stream, a fault.
  [[nodiscard]] bool within_message() const noexcept { return buffer_.size() > seen_; }
  [[nodiscard]] std::uint32_t max_message() const noexcept { return max_message_; }
  /// The size in the prefix that was read last.
  [[nodiscard]] std::uint32_t announced() const noexcept { return announced_; }

 private:
  Fault read_prefix(std::size_t at) noexcept;

  std::uint32_t max_message_;
  std::uint32_t announced_ = 0;
  bool flag_ = false, compressed_ = false;
  std::uint64_t whole_ = 0, handed_out_ = 0;
  std::string buffer_;
  std::size_t at_ = 0;    // where the next message to hand out begins
  std::size_t seen_ = 0;  // where the first message begins that has not come whole
  std::string_view message_;
};

}  // namespace onbeat::grpc
