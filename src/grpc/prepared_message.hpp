// JSON made into a message, once: a request in which nothing varies is bytes from then on; one in
// which strings vary is bytes with holes, and filling these in parses no JSON.
//
//   auto prepared = PreparedMessage::compile(json_text, *method.input, find_hole);
//   if (!prepared) ... prepared.error(): every fault, with its place
//   out.clear();
//   prepared->append(values, out)     // the message with its 5-byte prefix, ready to send
//
// What JSON may be: the protocol's JSON mapping (protobuf.dev/programming-guides/json), names as in
// the .proto file or in lowerCamelCase; numbers and booleans also as strings; FieldMask also as an
// object with its paths.
#pragma once

#include "grpc/framing.hpp"

#include <cstdint>
#include <expected>
#include <functional>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace google::protobuf {
class Descriptor;
class FieldDescriptor;
}  // namespace google::protobuf

namespace onbeat::grpc {

class MessageProgram;

/// Why JSON is no message of the type.
struct JsonFault {
  std::string place;  // a JSON pointer (RFC 6901): "/items/0/sku"; "" is the whole
  std::string message;
};

/// What a hole holds this time.
struct HoleValue {
  std::string_view text;
  /// The text is JSON, which stands in the string's place (a value of another type); else it is the
  /// string itself.
  bool is_json = false;
};

/// Immutable once made; any thread may use it. Borrows the schema.
class PreparedMessage {
 public:
  /// Says which hole a string of the JSON is (numbers from 0), or nothing: the string is as it is.
  /// Names are never holes.
  using FindHole = std::function<std::optional<std::uint32_t>(std::string_view)>;
  using Faults = std::vector<JsonFault>;

  /// `json`: strict JSON text. All faults at once (up to 20); where it is no JSON, one, whose
  /// message says at which byte.
  [[nodiscard]] static std::expected<PreparedMessage, Faults> compile(
      std::string_view json, const google::protobuf::Descriptor& type,
      const FindHole& find_hole = {});

  PreparedMessage(PreparedMessage&&) noexcept;
  PreparedMessage& operator=(PreparedMessage&&) noexcept;
  ~PreparedMessage();

  /// Nothing varies: framed() is the same for every request.
  [[nodiscard]] bool is_constant() const noexcept;
  /// When it is constant: prefix and message.
  [[nodiscard]] const std::string& framed() const noexcept;
  [[nodiscard]] std::size_t holes() const noexcept;  // 1 + the highest number

  /// Appends prefix and message; values by the number of the hole, at least holes() of them. A
  /// value that does not fit its field: where and why, and `out` is as it was. Allocates only when
  /// `out` must grow, for a fault, and for values that are JSON.
  [[nodiscard]] std::optional<JsonFault> append(std::span<const HoleValue> values,
                                                std::string& out) const;

 private:
  explicit PreparedMessage(std::unique_ptr<MessageProgram> program) noexcept;
  std::unique_ptr<MessageProgram> program_;
  std::string framed_;
};

}  // namespace onbeat::grpc
