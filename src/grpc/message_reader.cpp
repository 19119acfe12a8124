#include "grpc/message_reader.hpp"

#include "grpc/metadata.hpp"
#include "grpc/time_text.hpp"
#include "options/http_grammar.hpp"

#include <google/protobuf/descriptor.h>
#include <google/protobuf/message.h>

#include <array>
#include <charconv>
#include <cmath>
#include <cstdlib>
#include <optional>

namespace onbeat::grpc {
namespace {

namespace pb = google::protobuf;
using Field = pb::FieldDescriptor;
using Known = pb::Descriptor::WellKnownType;

/// Walks a message and tells the sink.
class Walk {
 public:
  Walk(const Schema& schema, JsonSink& sink) : schema_(schema), sink_(sink) {}

  void message(const pb::Message& message) {
    switch (message.GetDescriptor()->well_known_type()) {
      case Known::WELLKNOWNTYPE_UNSPECIFIED:
        sink_.begin_object();
        fields(message);
        return sink_.end_object();
      case Known::WELLKNOWNTYPE_ANY:
        return any(message);
      case Known::WELLKNOWNTYPE_TIMESTAMP:
        return sink_.text(timestamp_text(seconds_and_nanos(message)));
      case Known::WELLKNOWNTYPE_DURATION:
        return sink_.text(duration_text(seconds_and_nanos(message)));
      case Known::WELLKNOWNTYPE_FIELDMASK:
        return field_mask(message);
      case Known::WELLKNOWNTYPE_STRUCT:
        return map(message, field_of(message, 1));
      case Known::WELLKNOWNTYPE_LISTVALUE:
        return repeated(message, field_of(message, 1));
      case Known::WELLKNOWNTYPE_VALUE:
        return value(message);
      default:
        return singular(message, field_of(message, 1));  // a wrapper
    }
  }

  void repeated(const pb::Message& message, const Field& field) {
    const int count = message.GetReflection()->FieldSize(message, &field);
    sink_.begin_array();
    for (int i = 0; i < count; ++i) element(message, field, i);
    sink_.end_array();
  }

  static const Field& field_of(const pb::Message& message, int number) {
    return *message.GetDescriptor()->FindFieldByNumber(number);
  }

 private:
  void fields(const pb::Message& message) {
    const pb::Descriptor& type = *message.GetDescriptor();
    const pb::Reflection& reflection = *message.GetReflection();
    for (int i = 0; i < type.field_count(); ++i) {
      const Field& field = *type.field(i);
      if (field.is_repeated() ? reflection.FieldSize(message, &field) == 0
                              : !reflection.HasField(message, &field))
        continue;
      sink_.key(field.name());
      one(message, field);
    }
    if (type.extension_range_count() != 0) extensions(message);
  }

  void extensions(const pb::Message& message) {
    std::vector<const Field*> set;
    message.GetReflection()->ListFields(message, &set);
    for (const Field* field : set) {
      if (!field->is_extension()) continue;
      sink_.key("[" + field->full_name() + "]");
      one(message, *field);
    }
  }

  void one(const pb::Message& message, const Field& field) {
    if (field.is_map()) return map(message, field);
    if (field.is_repeated()) return repeated(message, field);
    singular(message, field);
  }

  void map(const pb::Message& message, const Field& field) {
    const pb::Reflection& reflection = *message.GetReflection();
    const Field& key = *field.message_type()->map_key();
    const Field& value = *field.message_type()->map_value();
    const int count = reflection.FieldSize(message, &field);
    sink_.begin_object();
    for (int i = 0; i < count; ++i) {
      const pb::Message& entry = reflection.GetRepeatedMessage(message, &field, i);
      sink_.key(key_text(entry, key));
      singular(entry, value);
    }
    sink_.end_object();
  }

  static std::string key_text(const pb::Message& entry, const Field& key) {
    const pb::Reflection& reflection = *entry.GetReflection();
    switch (key.cpp_type()) {
      case Field::CPPTYPE_STRING:
        return reflection.GetString(entry, &key);
      case Field::CPPTYPE_BOOL:
        return reflection.GetBool(entry, &key) ? "true" : "false";
      case Field::CPPTYPE_INT32:
        return std::to_string(reflection.GetInt32(entry, &key));
      case Field::CPPTYPE_INT64:
        return std::to_string(reflection.GetInt64(entry, &key));
      case Field::CPPTYPE_UINT32:
        return std::to_string(reflection.GetUInt32(entry, &key));
      default:
        return std::to_string(reflection.GetUInt64(entry, &key));
    }
  }

  void singular(const pb::Message& in, const Field& field) {
    const pb::Reflection& get = *in.GetReflection();
    switch (field.cpp_type()) {
      case Field::CPPTYPE_INT32:
        return sink_.integer(get.GetInt32(in, &field));
      case Field::CPPTYPE_INT64:
        return digits(get.GetInt64(in, &field));
      case Field::CPPTYPE_UINT32:
        return sink_.integer(get.GetUInt32(in, &field));
      case Field::CPPTYPE_UINT64:
        return digits(get.GetUInt64(in, &field));
      case Field::CPPTYPE_DOUBLE:
        return real(get.GetDouble(in, &field));
      case Field::CPPTYPE_FLOAT:
        return real32(get.GetFloat(in, &field));
      case Field::CPPTYPE_BOOL:
        return sink_.boolean(get.GetBool(in, &field));
      case Field::CPPTYPE_ENUM:
        return enumeration(field, get.GetEnumValue(in, &field));
      case Field::CPPTYPE_STRING:
        return text(field, get.GetStringReference(in, &field, &scratch_));
      case Field::CPPTYPE_MESSAGE:
        return message(get.GetMessage(in, &field));
    }
  }

  void element(const pb::Message& in, const Field& field, int at) {
    const pb::Reflection& get = *in.GetReflection();
    switch (field.cpp_type()) {
      case Field::CPPTYPE_INT32:
        return sink_.integer(get.GetRepeatedInt32(in, &field, at));
      case Field::CPPTYPE_INT64:
        return digits(get.GetRepeatedInt64(in, &field, at));
      case Field::CPPTYPE_UINT32:
        return sink_.integer(get.GetRepeatedUInt32(in, &field, at));
      case Field::CPPTYPE_UINT64:
        return digits(get.GetRepeatedUInt64(in, &field, at));
      case Field::CPPTYPE_DOUBLE:
        return real(get.GetRepeatedDouble(in, &field, at));
      case Field::CPPTYPE_FLOAT:
        return real32(get.GetRepeatedFloat(in, &field, at));
      case Field::CPPTYPE_BOOL:
        return sink_.boolean(get.GetRepeatedBool(in, &field, at));
      case Field::CPPTYPE_ENUM:
        return enumeration(field, get.GetRepeatedEnumValue(in, &field, at));
      case Field::CPPTYPE_STRING:
        return text(field, get.GetRepeatedStringReference(in, &field, at, &scratch_));
      case Field::CPPTYPE_MESSAGE:
        return message(get.GetRepeatedMessage(in, &field, at));
    }
  }

  template <class Integer>
  void digits(Integer value) {
    std::array<char, 24> digits;
    const auto* const end = std::to_chars(digits.begin(), digits.end(), value).ptr;
    sink_.text({digits.data(), static_cast<std::size_t>(end - digits.data())});
  }

  void real(double value) {
    if (std::isfinite(value)) return sink_.real(value);
    sink_.text(std::isnan(value) ? "NaN" : value > 0 ? "Infinity" : "-Infinity");
  }

  // 0.1f is 0.1, not 0.10000000149011612.
  void real32(float value) {
    if (!std::isfinite(value)) return real(value);
    std::array<char, 32> shortest;
    const auto* const end = std::to_chars(shortest.begin(), shortest.end(), value).ptr;
    double parsed = 0;
    std::from_chars(shortest.data(), end, parsed);
    sink_.real(parsed);
  }

  void enumeration(const Field& field, int number) {
    if (field.enum_type()->full_name() == "google.protobuf.NullValue") return sink_.null();
    if (const auto* named = field.enum_type()->FindValueByNumber(number))
      return sink_.text(named->name());
    sink_.integer(number);
  }

  void text(const Field& field, const std::string& value) {
    field.type() == Field::TYPE_BYTES ? sink_.text(options::base64_encode(value))
                                      : sink_.text(value);
  }

  static SecondsAndNanos seconds_and_nanos(const pb::Message& in) {
    return {in.GetReflection()->GetInt64(in, &field_of(in, 1)),
            in.GetReflection()->GetInt32(in, &field_of(in, 2))};
  }

  void field_mask(const pb::Message& in) {
    const Field& paths = field_of(in, 1);
    const int count = in.GetReflection()->FieldSize(in, &paths);
    std::string joined;
    for (int i = 0; i < count; ++i) {
      if (i != 0) joined += ',';
      joined += camel_case(in.GetReflection()->GetRepeatedString(in, &paths, i));
    }
    sink_.text(joined);
  }

  void value(const pb::Message& in) {
    const auto* const oneof = in.GetDescriptor()->oneof_decl(0);
    const Field* const set = in.GetReflection()->GetOneofFieldDescriptor(in, oneof);
    set == nullptr ? sink_.null() : singular(in, *set);
  }

  void any(const pb::Message& in) {
    const pb::Reflection& get = *in.GetReflection();
    const std::string url = get.GetString(in, &field_of(in, 1));
    const std::string bytes = get.GetString(in, &field_of(in, 2));
    sink_.begin_object();
    if (!url.empty() || !bytes.empty()) {
      sink_.key("@type");
      sink_.text(url);
      any_content(url.substr(url.rfind('/') + 1), bytes);
    }
    sink_.end_object();
  }

  void any_content(const std::string& name, const std::string& bytes) {
    const Schema* owner = &schema_;
    const pb::Descriptor* type = owner->find_message(name);
    // rpc_types() has the well-known types too.
    if (type == nullptr) type = (owner = &rpc_types())->find_message(name);
    if (type != nullptr) {
      const std::unique_ptr<pb::Message> inner(owner->prototype(*type).New());
      if (inner->ParsePartialFromString(bytes)) {
        if (type->well_known_type() == Known::WELLKNOWNTYPE_UNSPECIFIED) return fields(*inner);
        sink_.key("value");
        return message(*inner);
      }
    }
    sink_.key("value");
    sink_.text(options::base64_encode(bytes));
  }

  const Schema& schema_;
  JsonSink& sink_;
  std::string scratch_;
};

}  // namespace

struct MessageReader::Parts {
  const Schema& schema;
  std::unique_ptr<pb::Message> message;
};

MessageReader::MessageReader(const Schema& schema, const pb::Descriptor& type)
    : parts_(new Parts{schema, std::unique_ptr<pb::Message>(schema.prototype(type).New())}) {}
MessageReader::~MessageReader() = default;

bool MessageReader::read(std::string_view bytes, JsonSink& sink) {
  pb::Message& message = *parts_->message;
  if (!message.ParsePartialFromArray(bytes.data(), static_cast<int>(bytes.size()))) return false;
  Walk(parts_->schema, sink).message(message);
  return true;
}

bool read_details(std::string_view trailer, const Schema& schema, JsonSink& sink) {
  const auto bytes = decode_binary(trailer);
  if (!bytes) return false;
  const Schema& known = rpc_types();
  const std::unique_ptr<pb::Message> status(
      known.prototype(*known.find_message("google.rpc.Status")).New());
  if (!status->ParsePartialFromString(*bytes)) return false;
  Walk(schema, sink).repeated(*status, Walk::field_of(*status, 3));
  return true;
}

}  // namespace onbeat::grpc
