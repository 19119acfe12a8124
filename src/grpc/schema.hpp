// What services, methods and messages there are: from .proto files, from descriptor sets, or from
// the files that a server describes itself with (reflection.hpp).
//
// Immutable once made; any thread may read it. It must outlive every Method, message and encoder
// made from it. protobuf's headers stay in the .cpp files.
//
// Files of an edition (2023 and later), which Debian's protobuf does not know, are read as proto3
// files whose fields say themselves whether they have presence; what proto3 cannot say of them
// (groups, extensions, closed enums) is an error that names the place.
#pragma once

#include <cstdint>
#include <expected>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace google::protobuf {
class Descriptor;
class Message;
}  // namespace google::protobuf

namespace onbeat::grpc {

enum class Shape : std::uint8_t { unary, client_stream, server_stream, bidi_stream };
/// "unary", "client stream", "server stream", "bidirectional stream".
[[nodiscard]] std::string_view to_string(Shape shape) noexcept;
[[nodiscard]] constexpr bool sends_stream(Shape shape) noexcept {
  return shape == Shape::client_stream || shape == Shape::bidi_stream;
}
[[nodiscard]] constexpr bool receives_stream(Shape shape) noexcept {
  return shape == Shape::server_stream || shape == Shape::bidi_stream;
}

struct Method {
  std::string path;  // ":path" of its calls: "/package.Service/Method"
  Shape shape = Shape::unary;
  const google::protobuf::Descriptor* input = nullptr;
  const google::protobuf::Descriptor* output = nullptr;
};

class Schema {
 public:
  /// Every problem: "file:line:column: message" of a source, "file: element: message" of a
  /// descriptor.
  using Errors = std::vector<std::string>;
  using Made = std::expected<std::unique_ptr<Schema>, Errors>;

  /// Compiles the files and what they import. A file is looked for as it is named, then in the
  /// import paths; imports in the import paths and the folders of the files. The well-known types
  /// (google/protobuf/*.proto) and google/rpc/{status,error_details}.proto are always there.
  static Made from_proto_files(std::span<const std::string> files,
                               std::span<const std::string> import_paths);
  /// FileDescriptorSets, as `protoc --descriptor_set_out --include_imports` writes them.
  static Made from_descriptor_sets(std::span<const std::string> files);
  /// Serialized FileDescriptorProtos, in any order.
  static Made from_descriptors(std::span<const std::string> descriptors);

  ~Schema();
  Schema(const Schema&) = delete;
  Schema& operator=(const Schema&) = delete;

  /// Full names, sorted.
  [[nodiscard]] std::vector<std::string> services() const;
  /// "package.Service/Method", also with a slash before it. The error names the nearest one.
  [[nodiscard]] std::expected<Method, std::string> find_method(std::string_view name) const;
  /// Null when there is none. Any thread; locks.
  [[nodiscard]] const google::protobuf::Descriptor* find_message(std::string_view full_name) const;
  /// An empty message of the type, which may be of any Schema.
  [[nodiscard]] const google::protobuf::Message& prototype(
      const google::protobuf::Descriptor& type) const;

 private:
  struct Parts;
  explicit Schema(std::unique_ptr<Parts> parts) noexcept;
  struct Loading;
  static Made make(Loading& loading, std::span<const std::string> roots);
  std::unique_ptr<Parts> parts_;
};

/// The types of google.rpc that errors carry (rpc_types.cpp).
[[nodiscard]] const Schema& rpc_types();

}  // namespace onbeat::grpc
