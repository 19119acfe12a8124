// google.rpc: the types in which errors say more (google/rpc/status.proto, error_details.proto; the
// public API's names and field numbers).
#include "grpc/schema.hpp"
#include "grpc/schema_database.hpp"

namespace onbeat::grpc {
namespace {

constexpr std::string_view kStatus = R"(
syntax = "proto3";
package google.rpc;
import "google/protobuf/any.proto";
message Status {
  int32 code = 1;
  string message = 2;
  repeated google.protobuf.Any details = 3;
}
)";

constexpr std::string_view kErrorDetails = R"(
syntax = "proto3";
package google.rpc;
import "google/protobuf/duration.proto";
message ErrorInfo {
  string reason = 1;
  string domain = 2;
  map<string, string> metadata = 3;
}
message RetryInfo {
  google.protobuf.Duration retry_delay = 1;
}
message DebugInfo {
  repeated string stack_entries = 1;
  string detail = 2;
}
message QuotaFailure {
  message Violation {
    string subject = 1;
    string description = 2;
    string api_service = 3;
    string quota_metric = 4;
    string quota_id = 5;
    map<string, string> quota_dimensions = 6;
    int64 quota_value = 7;
    optional int64 future_quota_value = 8;
  }
  repeated Violation violations = 1;
}
message PreconditionFailure {
  message Violation {
    string type = 1;
    string subject = 2;
    string description = 3;
  }
  repeated Violation violations = 1;
}
message BadRequest {
  message FieldViolation {
    string field = 1;
    string description = 2;
    string reason = 3;
    LocalizedMessage localized_message = 4;
  }
  repeated FieldViolation field_violations = 1;
}
message RequestInfo {
  string request_id = 1;
  string serving_data = 2;
}
message ResourceInfo {
  string resource_type = 1;
  string resource_name = 2;
  string owner = 3;
  string description = 4;
}
message Help {
  message Link {
    string description = 1;
    string url = 2;
  }
  repeated Link links = 1;
}
message LocalizedMessage {
  string locale = 1;
  string message = 2;
}
)";

constexpr std::string_view kStatusFile = "google/rpc/status.proto";
constexpr std::string_view kErrorDetailsFile = "google/rpc/error_details.proto";

}  // namespace

std::string_view rpc_file(std::string_view name) noexcept {
  if (name == kStatusFile) return kStatus;
  if (name == kErrorDetailsFile) return kErrorDetails;
  return {};
}

// The well-known types belong to it, for an Any may hold one.
const Schema& rpc_types() {
  static const std::unique_ptr<Schema> schema = [] {
    std::vector<std::string> files{std::string(kStatusFile), std::string(kErrorDetailsFile)};
    for (const char* name :
         {"any", "duration", "empty", "field_mask", "struct", "timestamp", "wrappers"})
      files.push_back(std::string("google/protobuf/") + name + ".proto");
    return Schema::from_proto_files(files, {}).value();
  }();
  return *schema;
}

}  // namespace onbeat::grpc
