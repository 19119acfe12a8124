// The well-known types: messages whose JSON is not the object of their fields.
#include "grpc/message_program.hpp"
#include "grpc/schema.hpp"
#include "grpc/time_text.hpp"

namespace onbeat::grpc {

namespace pb = google::protobuf;
using Op = MessageProgram::Op;
using Known = pb::Descriptor::WellKnownType;

void MessageCompiler::wrapped(const Json& json, const Type& type) {
  const Field& inner = *type.FindFieldByNumber(1);
  scalar(json, *scalar_of(inner), tag_of(inner), &inner, Op::Json::element);
}

void MessageCompiler::structure(const Json& json) {
  if (!json.is_object()) return fault("expected an object, not " + kind_of(json));
  for (const auto& [key, each] : json.items()) {
    const Inside inside(*this, key);
    tag(tag_of(1, sized));
    program_.open();
    tag(tag_of(1, sized));
    static_cast<void>(append_text(Scalar{ScalarKind::text}, key, program_.literals));
    tag(tag_of(2, sized));
    program_.open();
    value(each);
    program_.close();
    program_.close();
  }
}

void MessageCompiler::list(const Json& json) {
  if (!json.is_array()) return fault("expected an array, not " + kind_of(json));
  std::size_t index = 0;
  for (const Json& each : json) {
    const Inside inside(*this, std::to_string(index++));
    tag(tag_of(1, sized));
    program_.open();
    value(each);
    program_.close();
  }
}

void MessageCompiler::value(const Json& json) {
  if (depth_ > kDeepest) return fault("nested deeper than " + std::to_string(kDeepest) + " levels");
  switch (json.type()) {
    case Json::value_t::null:
      tag(tag_of(1, varint));
      append_varint(program_.literals, 0);
      return;
    case Json::value_t::boolean:
      tag(tag_of(4, varint));
      append_varint(program_.literals, json.get<bool>() ? 1 : 0);
      return;
    case Json::value_t::string:
      return scalar(json, Scalar{ScalarKind::text}, tag_of(3, sized), nullptr, Op::Json::value);
    case Json::value_t::object:
    case Json::value_t::array:
      tag(tag_of(json.is_object() ? 5 : 6, sized));
      program_.open();
      json.is_object() ? structure(json) : list(json);
      program_.close();
      return;
    default:
      tag(tag_of(2, fixed64));
      static_cast<void>(
          append_real(Scalar{ScalarKind::real64}, json.get<double>(), program_.literals));
  }
}

void MessageCompiler::any(const Json& json, const Type& type) {
  if (!json.is_object()) return fault("expected an object with \"@type\", not " + kind_of(json));
  if (json.empty()) return;
  const auto url_at = json.find("@type");
  if (url_at == json.end() || !url_at->is_string())
    return fault("a google.protobuf.Any needs \"@type\", a string (\"type.googleapis.com/...\")");
  const std::string& url = url_at->get_ref<const std::string&>();
  if (find_hole_ && find_hole_(url)) return fault("\"@type\" cannot vary");
  const std::string name = url.substr(url.rfind('/') + 1);
  const Type* inner = type.file()->pool()->FindMessageTypeByName(name);
  if (inner == nullptr) inner = pb::DescriptorPool::generated_pool()->FindMessageTypeByName(name);
  if (inner == nullptr) inner = rpc_types().find_message(name);
  if (inner == nullptr) return fault("the type " + in_quotes(name) + " is not known");
  tag(tag_of(1, sized));
  static_cast<void>(append_text(Scalar{ScalarKind::text}, url, program_.literals));
  tag(tag_of(2, sized));
  program_.open();
  ++depth_;
  if (inner->well_known_type() == Known::WELLKNOWNTYPE_UNSPECIFIED) {
    object(json, *inner, true);
  } else if (const auto content = json.find("value"); content != json.end()) {
    const Inside inside(*this, "value");
    root(*content, *inner);
  } else {
    fault("an Any of " + in_quotes(name) + " needs \"value\"");
  }
  --depth_;
  program_.close();
}

// The object form: {"paths": ["user.name", ...]}.
void MessageCompiler::field_mask(const Json& json, std::uint32_t tag_before) {
  tag(tag_before);
  program_.open();
  for (const auto& [name, paths] : json.items()) {
    const Inside inside(*this, name);
    if (name != "paths" || !paths.is_array()) {
      fault("a field mask is a string or an object with the array \"paths\"");
      continue;
    }
    std::size_t index = 0;
    for (const Json& path : paths) {
      const Inside at(*this, std::to_string(index++));
      const Json snake =
          path.is_string() && !(find_hole_ && find_hole_(path.get_ref<const std::string&>()))
              ? Json(snake_case(path.get_ref<const std::string&>()))
              : path;
      scalar(snake, Scalar{ScalarKind::text}, tag_of(1, sized), nullptr, Op::Json::none);
    }
  }
  program_.close();
}

}  // namespace onbeat::grpc
