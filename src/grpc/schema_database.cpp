#include "grpc/schema_database.hpp"

#include <google/protobuf/io/zero_copy_stream_impl_lite.h>
#include <google/protobuf/unknown_field_set.h>

#include <memory>
#include <optional>

namespace onbeat::grpc {
namespace {

namespace pb = google::protobuf;

// Of FieldDescriptorProto's options and FileOptions: `features`, and in it `field_presence`
// (descriptor.proto of protobuf 27).
constexpr int kFileFeatures = 50;
constexpr int kFieldFeatures = 21;
constexpr int kFieldPresence = 1;
constexpr int kExplicit = 1;
constexpr int kImplicit = 2;

/// The presence that options set, and takes the features out of them.
template <class Options>
std::optional<int> take_presence(Options& options, int features_field) {
  std::optional<int> presence;
  pb::UnknownFieldSet* unknown = options.GetReflection()->MutableUnknownFields(&options);
  for (int i = 0; i < unknown->field_count(); ++i) {
    const pb::UnknownField& field = unknown->field(i);
    if (field.number() != features_field || field.type() != pb::UnknownField::TYPE_LENGTH_DELIMITED)
      continue;
    pb::UnknownFieldSet features;
    features.ParseFromString(field.length_delimited());
    for (int k = 0; k < features.field_count(); ++k) {
      if (features.field(k).number() == kFieldPresence &&
          features.field(k).type() == pb::UnknownField::TYPE_VARINT)
        presence = static_cast<int>(features.field(k).varint());
    }
  }
  auto* uninterpreted = options.mutable_uninterpreted_option();
  for (int i = uninterpreted->size() - 1; i >= 0; --i) {
    const pb::UninterpretedOption& option = uninterpreted->Get(i);
    if (option.name_size() == 0 || option.name(0).name_part() != "features") continue;
    if (option.name_size() == 2 && option.name(1).name_part() == "field_presence")
      presence = option.identifier_value() == "IMPLICIT" ? kImplicit : kExplicit;
    uninterpreted->DeleteSubrange(i, 1);
  }
  return presence;
}

// proto3 says presence by `optional`, which stands in a oneof of its own.
void downgrade_message(pb::DescriptorProto& message, int presence) {
  for (pb::FieldDescriptorProto& field : *message.mutable_field()) {
    const int own = field.has_options()
                        ? take_presence(*field.mutable_options(), kFieldFeatures).value_or(presence)
                        : presence;
    const bool singular_value = field.label() == pb::FieldDescriptorProto::LABEL_OPTIONAL &&
                                field.type() != pb::FieldDescriptorProto::TYPE_MESSAGE &&
                                !field.has_oneof_index() && !field.proto3_optional();
    if (!singular_value || own == kImplicit || message.options().map_entry()) continue;
    // A source's field of a message type has no type yet; `optional` does it no harm.
    field.set_proto3_optional(true);
    field.set_oneof_index(message.oneof_decl_size());
    message.add_oneof_decl()->set_name("_" + field.name());
  }
  if (message.has_options()) take_presence(*message.mutable_options(), 12);
  for (pb::DescriptorProto& nested : *message.mutable_nested_type())
    downgrade_message(nested, presence);
}

/// Where `edition = "..."` stands, before which there are only blanks and comments.
std::optional<std::size_t> edition_statement(std::string_view text) {
  std::size_t at = text.starts_with("\xef\xbb\xbf") ? 3 : 0;
  for (;;) {
    at = text.find_first_not_of(" \t\r\n\f\v", at);
    if (at == std::string_view::npos) return {};
    const std::string_view rest = text.substr(at);
    std::size_t end = 0;
    if (rest.starts_with("//")) {
      end = rest.find('\n');
    } else if (rest.starts_with("/*")) {
      end = rest.find("*/", 2);
      if (end != std::string_view::npos) end += 2;
    } else {
      return rest.starts_with("edition") ? std::optional(at) : std::nullopt;
    }
    if (end == std::string_view::npos) return {};
    at += end;
  }
}

/// Owns the text that it streams.
class TextStream final : public pb::io::ZeroCopyInputStream {
 public:
  explicit TextStream(std::string text)
      : text_(std::move(text)), array_(text_.data(), static_cast<int>(text_.size())) {}
  bool Next(const void** data, int* size) override { return array_.Next(data, size); }
  void BackUp(int count) override { array_.BackUp(count); }
  bool Skip(int count) override { return array_.Skip(count); }
  std::int64_t ByteCount() const override { return array_.ByteCount(); }

 private:
  std::string text_;
  pb::io::ArrayInputStream array_;
};

}  // namespace

void downgrade_edition(pb::FileDescriptorProto& file) {
  if (file.syntax() != "editions") return;
  file.set_syntax("proto3");
  file.mutable_unknown_fields()->DeleteByNumber(14);  // edition
  const int presence =
      file.has_options() ? take_presence(*file.mutable_options(), kFileFeatures).value_or(kExplicit)
                         : kExplicit;
  for (pb::DescriptorProto& message : *file.mutable_message_type())
    downgrade_message(message, presence);
  for (pb::EnumDescriptorProto& type : *file.mutable_enum_type()) {
    if (type.has_options()) take_presence(*type.mutable_options(), 7);
  }
}

pb::io::ZeroCopyInputStream* ProtoSources::Open(const std::string& name) {
  const std::unique_ptr<pb::io::ZeroCopyInputStream> stream(disk_.Open(name));
  if (!stream) {
    const std::string_view known = rpc_file(name);
    if (known.empty()) return nullptr;
    return new TextStream(std::string(known));
  }
  std::string text;
  const void* data = nullptr;
  for (int size = 0; stream->Next(&data, &size);)
    text.append(static_cast<const char*>(data), static_cast<std::size_t>(size));
  if (const auto at = edition_statement(text)) {
    const std::size_t end = text.find(';', *at);
    const std::size_t quote = text.find_first_of("\"'", *at);
    if (end != std::string::npos && quote < end) {
      // Lines and, but for this one, columns stay as they are.
      text.replace(*at, end - *at, "syntax = \"proto3\"");
      editions_.insert(name);
    }
  }
  return new TextStream(std::move(text));
}

std::string ProtoSources::place(const std::string& name) {
  std::string on_disk;
  return disk_.VirtualFileToDiskFile(name, &on_disk) ? on_disk : name;
}

}  // namespace onbeat::grpc
