// Descriptors of the documents of a run: each set of files is read once, each server asked once.
#pragma once

#include "bench/grpc_plan.hpp"

#include <expected>
#include <map>
#include <memory>
#include <string>
#include <vector>

namespace onbeat::bench {

class SchemaBook {
 public:
  struct Failure {
    std::vector<std::string> messages;
    bool unreachable = false;  // no connection to the server that had to be asked
  };
  using Found = std::expected<const grpc::Schema*, Failure>;

  /// `plan` gets the schemas; it says how connections are made.
  explicit SchemaBook(GrpcPlan& plan) noexcept : plan_(plan) {}

  /// From descriptor or .proto files. Blocks.
  [[nodiscard]] Found from_files(const document::ProtoSection& proto);
  /// What the server says of one service. Blocks until it has answered.
  [[nodiscard]] Found from_server(const GrpcOrigin& origin, const std::string& service);

 private:
  Found keep(std::string key, grpc::Schema::Made made);
  Found known(const std::string& key) const;

  GrpcPlan& plan_;
  std::map<std::string, const grpc::Schema*> known_;
  std::map<std::string, Failure> failed_;
};

}  // namespace onbeat::bench
