#include "grpc/message_program.hpp"
#include "options/nearest.hpp"

#include <google/protobuf/wire_format_lite.h>

#include <algorithm>
#include <set>

namespace onbeat::grpc {
namespace {

namespace pb = google::protobuf;
using Op = MessageProgram::Op;
using Known = pb::Descriptor::WellKnownType;

constexpr std::size_t kMostFaults = 20;

bool is_null_value(const pb::FieldDescriptor& field) {
  return (field.type() == pb::FieldDescriptor::TYPE_ENUM &&
          field.enum_type()->full_name() == "google.protobuf.NullValue") ||
         (field.type() == pb::FieldDescriptor::TYPE_MESSAGE &&
          field.message_type()->well_known_type() == Known::WELLKNOWNTYPE_VALUE);
}

}  // namespace

std::uint32_t tag_of(const pb::FieldDescriptor& field) {
  using Lite = pb::internal::WireFormatLite;
  return tag_of(
      field.number(),
      static_cast<Wire>(Lite::WireTypeForFieldType(static_cast<Lite::FieldType>(field.type()))));
}

std::optional<Scalar> scalar_of(const pb::FieldDescriptor& field) {
  switch (field.type()) {
    case pb::FieldDescriptor::TYPE_INT32:
      return Scalar{ScalarKind::int32};
    case pb::FieldDescriptor::TYPE_INT64:
      return Scalar{ScalarKind::int64};
    case pb::FieldDescriptor::TYPE_UINT32:
      return Scalar{ScalarKind::uint32};
    case pb::FieldDescriptor::TYPE_UINT64:
      return Scalar{ScalarKind::uint64};
    case pb::FieldDescriptor::TYPE_SINT32:
      return Scalar{ScalarKind::sint32};
    case pb::FieldDescriptor::TYPE_SINT64:
      return Scalar{ScalarKind::sint64};
    case pb::FieldDescriptor::TYPE_FIXED32:
      return Scalar{ScalarKind::fixed32};
    case pb::FieldDescriptor::TYPE_FIXED64:
      return Scalar{ScalarKind::fixed64};
    case pb::FieldDescriptor::TYPE_SFIXED32:
      return Scalar{ScalarKind::sfixed32};
    case pb::FieldDescriptor::TYPE_SFIXED64:
      return Scalar{ScalarKind::sfixed64};
    case pb::FieldDescriptor::TYPE_FLOAT:
      return Scalar{ScalarKind::real32};
    case pb::FieldDescriptor::TYPE_DOUBLE:
      return Scalar{ScalarKind::real64};
    case pb::FieldDescriptor::TYPE_BOOL:
      return Scalar{ScalarKind::boolean};
    case pb::FieldDescriptor::TYPE_STRING:
      return Scalar{ScalarKind::text};
    case pb::FieldDescriptor::TYPE_BYTES:
      return Scalar{ScalarKind::bytes};
    case pb::FieldDescriptor::TYPE_ENUM:
      return Scalar{ScalarKind::enumeration, field.enum_type()};
    case pb::FieldDescriptor::TYPE_GROUP:
      return {};
    case pb::FieldDescriptor::TYPE_MESSAGE:
      break;
  }
  switch (field.message_type()->well_known_type()) {
    case Known::WELLKNOWNTYPE_TIMESTAMP:
      return Scalar{ScalarKind::timestamp};
    case Known::WELLKNOWNTYPE_DURATION:
      return Scalar{ScalarKind::duration};
    case Known::WELLKNOWNTYPE_FIELDMASK:
      return Scalar{ScalarKind::field_mask};
    default:
      return {};
  }
}

void MessageCompiler::fault(std::string message) {
  if (faults_.size() < kMostFaults) faults_.push_back({place_, std::move(message)});
}

void MessageCompiler::root(const Json& json, const Type& type) {
  const auto known = type.well_known_type();
  if (known == Known::WELLKNOWNTYPE_TIMESTAMP || known == Known::WELLKNOWNTYPE_DURATION ||
      known == Known::WELLKNOWNTYPE_FIELDMASK) {
    // A string makes the whole message, which has no size before it.
    const Scalar kind{known == Known::WELLKNOWNTYPE_TIMESTAMP  ? ScalarKind::timestamp
                      : known == Known::WELLKNOWNTYPE_DURATION ? ScalarKind::duration
                                                               : ScalarKind::field_mask};
    if (!json.is_string()) return fault("expected a string, not " + kind_of(json));
    const std::string& text = json.get_ref<const std::string&>();
    if (find_hole_ && find_hole_(text)) return fault("a message of this type cannot vary");
    std::string with_size;
    const std::string_view expected = append_text(kind, text, with_size);
    if (!expected.empty()) return fault("expected " + std::string(expected));
    std::size_t size_bytes = 1;
    while (static_cast<unsigned char>(with_size[size_bytes - 1]) >= 0x80) ++size_bytes;
    program_.literals += with_size.substr(size_bytes);
    return;
  }
  message(json, type);
}

void MessageCompiler::message(const Json& json, const Type& type) {
  if (depth_ > kDeepest) return fault("nested deeper than " + std::to_string(kDeepest) + " levels");
  switch (type.well_known_type()) {
    case Known::WELLKNOWNTYPE_ANY:
      return any(json, type);
    case Known::WELLKNOWNTYPE_STRUCT:
      return structure(json);
    case Known::WELLKNOWNTYPE_LISTVALUE:
      return list(json);
    case Known::WELLKNOWNTYPE_VALUE:
      return value(json);
    case Known::WELLKNOWNTYPE_DOUBLEVALUE:
    case Known::WELLKNOWNTYPE_FLOATVALUE:
    case Known::WELLKNOWNTYPE_INT64VALUE:
    case Known::WELLKNOWNTYPE_UINT64VALUE:
    case Known::WELLKNOWNTYPE_INT32VALUE:
    case Known::WELLKNOWNTYPE_UINT32VALUE:
    case Known::WELLKNOWNTYPE_STRINGVALUE:
    case Known::WELLKNOWNTYPE_BYTESVALUE:
    case Known::WELLKNOWNTYPE_BOOLVALUE:
      return wrapped(json, type);
    default:
      return object(json, type);
  }
}

const pb::FieldDescriptor* MessageCompiler::find_field(const std::string& name, const Type& type) {
  if (name.starts_with('[') && name.ends_with(']')) {
    const auto* extension =
        type.file()->pool()->FindExtensionByName(name.substr(1, name.size() - 2));
    return extension != nullptr && extension->containing_type() == &type ? extension : nullptr;
  }
  if (const auto* field = type.FindFieldByName(name)) return field;
  for (int i = 0; i < type.field_count(); ++i) {
    if (type.field(i)->json_name() == name) return type.field(i);
  }
  return type.FindFieldByCamelcaseName(name);
}

void MessageCompiler::object(const Json& json, const Type& type, bool of_any) {
  if (!json.is_object())
    return fault("expected an object (" + type.full_name() + "), not " + kind_of(json));
  std::set<int> given;
  std::set<const pb::OneofDescriptor*> chosen;
  for (const auto& [name, each] : json.items()) {
    if (of_any && name == "@type") continue;
    const Inside inside(*this, name);
    const Field* const found = find_field(name, type);
    if (found == nullptr) {
      std::vector<std::string_view> names;
      for (int i = 0; i < type.field_count(); ++i) names.push_back(type.field(i)->name());
      const auto near = options::nearest(name, names);
      fault(type.full_name() + " has no field " + in_quotes(name) +
            (near ? "; did you mean " + in_quotes(*near) + "?" : ""));
      continue;
    }
    if (!given.insert(found->number()).second) {
      fault("the field " + in_quotes(found->name()) + " is given twice, by both of its names");
      continue;
    }
    if (each.is_null() && !is_null_value(*found)) continue;
    const auto* const oneof = found->real_containing_oneof();
    if (oneof != nullptr && !chosen.insert(oneof).second) {
      fault("only one field of the oneof " + in_quotes(oneof->name()) + " can be given");
      continue;
    }
    field(each, *found);
  }
  for (int i = 0; i < type.field_count(); ++i) {
    if (type.field(i)->is_required() && !given.contains(type.field(i)->number()))
      fault("the required field " + in_quotes(type.field(i)->name()) + " is missing");
  }
}

void MessageCompiler::field(const Json& json, const Field& field) {
  if (field.is_map()) return map(json, field);
  if (field.is_repeated()) return repeated(json, field);
  if (json.is_null() && !is_null_value(field)) return;
  const auto scalar_kind = scalar_of(field);
  if (scalar_kind && !json.is_object())
    return scalar(json, *scalar_kind, tag_of(field), &field, Op::Json::field);
  single(json, field);
}

void MessageCompiler::single(const Json& json, const Field& field) {
  if (const auto scalar_kind = scalar_of(field)) {
    if (scalar_kind->kind == ScalarKind::field_mask && json.is_object())
      return field_mask(json, tag_of(field));
    return scalar(json, *scalar_kind, tag_of(field), &field, Op::Json::element);
  }
  const bool is_group = field.type() == Field::TYPE_GROUP;
  const auto known = field.message_type()->well_known_type();
  // A string stands for some messages; for all others a hole must bring an object.
  const bool takes_string =
      known == Known::WELLKNOWNTYPE_VALUE ||
      (known >= Known::WELLKNOWNTYPE_DOUBLEVALUE && known <= Known::WELLKNOWNTYPE_BOOLVALUE);
  Op op;
  op.json = Op::Json::element;
  op.json_only = true;
  op.field = &field;
  if (!takes_string && hole(json, std::move(op))) return;
  if (is_group) {
    tag(tag_of(field.number(), group_begin));
    message(json, *field.message_type());
    tag(tag_of(field.number(), group_end));
    return;
  }
  tag(tag_of(field));
  program_.open();
  message(json, *field.message_type());
  program_.close();
}

bool MessageCompiler::hole(const Json& json, Op op) {
  if (!find_hole_ || !json.is_string()) return false;
  const auto number = find_hole_(json.get_ref<const std::string&>());
  if (!number) return false;
  op.kind = Op::Kind::hole;
  op.hole = *number;
  op.literal_end = program_.literals.size();
  op.place = place_;
  program_.ops.push_back(std::move(op));
  return true;
}

void MessageCompiler::scalar(const Json& json, const Scalar& scalar, std::uint32_t tag_before,
                             const Field* field, Op::Json form) {
  Op op;
  op.json = form;
  op.tag = tag_before;
  op.scalar = scalar;
  op.field = field;
  if (hole(json, std::move(op))) return;
  const std::size_t before = program_.literals.size();
  if (tag_before != 0) tag(tag_before);
  std::string_view expected = "null";
  std::string& out = program_.literals;
  switch (json.type()) {
    case Json::value_t::string:
      expected = append_text(scalar, json.get_ref<const std::string&>(), out);
      break;
    case Json::value_t::boolean:
      expected = append_boolean(scalar, json.get<bool>(), out);
      break;
    case Json::value_t::number_integer:
      expected = append_integer(scalar, json.get<std::int64_t>(), out);
      break;
    case Json::value_t::number_unsigned:
      expected = append_unsigned(scalar, json.get<std::uint64_t>(), out);
      break;
    case Json::value_t::number_float:
      expected = append_real(scalar, json.get<double>(), out);
      break;
    case Json::value_t::null:
      // Only NullValue comes here with it.
      expected = append_integer(scalar, 0, out);
      break;
    default:
      expected = expected_text(scalar);
  }
  if (expected.empty()) return;
  program_.literals.resize(before);
  const std::string shown = json.is_structured()
                                ? kind_of(json)
                                : json.dump(-1, ' ', false, Json::error_handler_t::replace);
  fault("expected " + std::string(expected) + ", not " + shown.substr(0, 60));
}

void MessageCompiler::map(const Json& json, const Field& field) {
  Op op;
  op.json = Op::Json::field;
  op.json_only = true;
  op.field = &field;
  if (hole(json, std::move(op))) return;
  if (json.is_null()) return;
  if (!json.is_object()) return fault("expected an object (a map), not " + kind_of(json));
  const Field& key_field = *field.message_type()->map_key();
  const Field& value_field = *field.message_type()->map_value();
  for (const auto& [key, each] : json.items()) {
    const Inside inside(*this, key);
    if (each.is_null() && !is_null_value(value_field)) {
      fault("a value of a map cannot be null");
      continue;
    }
    tag(tag_of(field));
    program_.open();
    tag(tag_of(key_field));
    const std::string_view expected = append_text(*scalar_of(key_field), key, program_.literals);
    if (!expected.empty()) fault("expected " + std::string(expected) + " as the key of the map");
    single(each, value_field);
    program_.close();
  }
}

void MessageCompiler::repeated(const Json& json, const Field& field) {
  Op op;
  op.json = Op::Json::field;
  op.json_only = true;
  op.field = &field;
  if (hole(json, std::move(op))) return;
  if (json.is_null()) return;
  if (!json.is_array()) return fault("expected an array, not " + kind_of(json));
  if (json.empty()) return;
  const bool packed = field.is_packed();
  if (packed) {
    tag(tag_of(field.number(), sized));
    program_.open();
  }
  std::size_t index = 0;
  for (const Json& each : json) {
    const Inside inside(*this, std::to_string(index++));
    if (each.is_null() && !is_null_value(field)) {
      fault("an element of an array cannot be null");
    } else if (packed) {
      scalar(each, *scalar_of(field), 0, nullptr, Op::Json::none);
    } else {
      single(each, field);
    }
  }
  if (packed) program_.close();
}

}  // namespace onbeat::grpc
