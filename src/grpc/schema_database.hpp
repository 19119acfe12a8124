// Where the schema's descriptors come from; for schema.cpp alone (it includes protobuf).
#pragma once

#include <google/protobuf/compiler/importer.h>
#include <google/protobuf/descriptor.pb.h>
#include <google/protobuf/descriptor_database.h>

#include <set>
#include <string>
#include <string_view>
#include <vector>

namespace onbeat::grpc {

/// Turns the descriptor of a file of an edition into proto3's: presence becomes `optional`, other
/// features go. Others stay as they are. `by_name`: it came from a source, where features are
/// options that are not interpreted yet.
void downgrade_edition(google::protobuf::FileDescriptorProto& file);

/// Files of google.rpc, which errors and many services use; text by name, or nothing.
[[nodiscard]] std::string_view rpc_file(std::string_view name) noexcept;

/// .proto files of the disk; google.rpc's where the disk has none. A statement `edition = "..."`
/// becomes proto3's, and its file is noted.
class ProtoSources final : public google::protobuf::compiler::SourceTree {
 public:
  google::protobuf::io::ZeroCopyInputStream* Open(const std::string& name) override;
  std::string GetLastErrorMessage() override { return disk_.GetLastErrorMessage(); }

  google::protobuf::compiler::DiskSourceTree& disk() noexcept { return disk_; }
  [[nodiscard]] bool has_edition(const std::string& name) const { return editions_.contains(name); }
  /// The name of the file on the disk, for messages.
  [[nodiscard]] std::string place(const std::string& name);

 private:
  google::protobuf::compiler::DiskSourceTree disk_;
  std::set<std::string> editions_;
};

}  // namespace onbeat::grpc
