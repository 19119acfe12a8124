// The bytes of a message with holes, and how JSON becomes them; for prepared_message.cpp alone (it
// includes protobuf and the JSON library).
#pragma once

#include "grpc/prepared_message.hpp"
#include "grpc/scalar.hpp"

#include <google/protobuf/descriptor.h>
#include <nlohmann/json.hpp>

namespace onbeat::grpc {

inline constexpr std::size_t kDeepest = 100;  // protobuf's own limit of nesting

/// Literal bytes, and between them what is known only later: the values of holes, and the sizes of
/// the messages around them.
class MessageProgram {
 public:
  struct Op {
    enum class Kind : std::uint8_t { hole, open, close };
    /// What a value that is JSON stands for; `none`: it must be a single value.
    enum class Json : std::uint8_t { none, field, element, value };

    Kind kind = Kind::hole;
    Json json = Json::none;
    bool json_only = false;       // no string can stand there
    std::uint32_t hole = 0;       // its number
    std::uint32_t tag = 0;        // before the value; 0: none
    std::size_t literal_end = 0;  // how much of the literals precedes it
    Scalar scalar;
    const google::protobuf::FieldDescriptor* field = nullptr;
    std::string place;
  };

  std::string literals;
  std::vector<Op> ops;

  /// A message's size goes here once its end is known.
  void open();
  void close();
  [[nodiscard]] std::optional<JsonFault> run(std::span<const HoleValue> values,
                                             std::string& out) const;

 private:
  static std::optional<JsonFault> fill(const Op& op, const HoleValue& value, std::string& out);
  static std::optional<JsonFault> fill_json(const Op& op, std::string_view text, std::string& out);
};

/// JSON to a program, by the descriptors. Goes on after a fault, to find them all.
class MessageCompiler {
 public:
  using Json = nlohmann::json;
  using Field = google::protobuf::FieldDescriptor;
  using Type = google::protobuf::Descriptor;

  MessageCompiler(MessageProgram& program, PreparedMessage::Faults& faults,
                  const PreparedMessage::FindHole& find_hole, std::string place = {})
      : program_(program), faults_(faults), find_hole_(find_hole), place_(std::move(place)) {}

  /// The whole message, without tag and size.
  void root(const Json& json, const Type& type);
  /// A field as an object names it: one value, an array, or a map.
  void field(const Json& json, const Field& field);
  /// One value, or an element of a repeated field.
  void single(const Json& json, const Field& field);
  /// The content of a google.protobuf.Value.
  void value(const Json& json);

 private:
  class Inside;
  void fault(std::string message);
  void message(const Json& json, const Type& type);
  void object(const Json& json, const Type& type, bool of_any = false);
  const Field* find_field(const std::string& name, const Type& type);
  void map(const Json& json, const Field& field);
  void repeated(const Json& json, const Field& field);
  void scalar(const Json& json, const Scalar& scalar, std::uint32_t tag, const Field* field,
              MessageProgram::Op::Json form);
  bool hole(const Json& json, MessageProgram::Op op);
  void wrapped(const Json& json, const Type& type);
  void structure(const Json& json);
  void list(const Json& json);
  void any(const Json& json, const Type& type);
  void field_mask(const Json& json, std::uint32_t tag);
  void tag(std::uint32_t tag) { append_varint(program_.literals, tag); }

  MessageProgram& program_;
  PreparedMessage::Faults& faults_;
  const PreparedMessage::FindHole& find_hole_;
  std::string place_;
  std::size_t depth_ = 0;
};

/// What a field's value is in JSON; nothing: a message that is an object there, or has its own
/// form.
[[nodiscard]] std::optional<Scalar> scalar_of(const google::protobuf::FieldDescriptor& field);

}  // namespace onbeat::grpc
