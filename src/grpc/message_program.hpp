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

enum Wire : std::uint32_t { varint = 0, fixed64 = 1, sized = 2, group_begin = 3, group_end = 4 };
[[nodiscard]] constexpr std::uint32_t tag_of(int number, Wire wire) noexcept {
  return static_cast<std::uint32_t>(number) << 3 | wire;
}

[[nodiscard]] std::uint32_t tag_of(const google::protobuf::FieldDescriptor& field);

// For messages of faults.
[[nodiscard]] inline std::string in_quotes(std::string_view text) {
  return "\"" + std::string(text) + "\"";
}
/// "an object", "a number", "null".
[[nodiscard]] inline std::string kind_of(const nlohmann::json& json) {
  const std::string name = json.type_name();
  if (name == "null") return name;
  return (name == "object" || name == "array" ? "an " : "a ") + name;
}

/// One step of the place, for as long as it lives; and one level of depth.
class MessageCompiler::Inside {
 public:
  Inside(MessageCompiler& compiler, std::string_view name)
      : compiler_(compiler), before_(compiler.place_.size()) {
    compiler_.place_ += '/';
    for (const char c : name) {
      if (c == '~') {
        compiler_.place_ += "~0";
      } else if (c == '/') {
        compiler_.place_ += "~1";
      } else {
        compiler_.place_ += c;
      }
    }
    ++compiler_.depth_;
  }
  ~Inside() {
    compiler_.place_.resize(before_);
    --compiler_.depth_;
  }
  Inside(const Inside&) = delete;
  Inside& operator=(const Inside&) = delete;

 private:
  MessageCompiler& compiler_;
  std::size_t before_;
};

/// What a field's value is in JSON; nothing: a message that is an object there, or has its own
/// form.
[[nodiscard]] std::optional<Scalar> scalar_of(const google::protobuf::FieldDescriptor& field);

}  // namespace onbeat::grpc
