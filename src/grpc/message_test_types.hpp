// The schema of the tests' peer, and messages compared as protobuf's own JSON shows them.
#pragma once

#include "grpc/schema.hpp"

#include <google/protobuf/descriptor.h>
#include <google/protobuf/message.h>
#include <google/protobuf/util/json_util.h>
#include <gtest/gtest.h>

#include <string>

namespace onbeat::grpc {

inline const Schema& peer_schema() {
  static const std::unique_ptr<Schema> schema = [] {
    const std::vector<std::string> files{ONBEAT_SOURCE_DIR "/tests/grpc_peer/peer.proto"};
    return Schema::from_proto_files(files, {}).value();
  }();
  return *schema;
}

inline const google::protobuf::Descriptor& everything() {
  return *peer_schema().find_message("onbeat.peer.Everything");
}

/// protobuf's own reading of the JSON; empty when it refuses.
inline std::unique_ptr<google::protobuf::Message> by_protobuf(const std::string& json) {
  std::unique_ptr<google::protobuf::Message> message(peer_schema().prototype(everything()).New());
  if (!google::protobuf::util::JsonStringToMessage(json, message.get()).ok()) return nullptr;
  return message;
}

/// Bytes as protobuf's own JSON.
inline std::string protobuf_json(const google::protobuf::Message& message) {
  std::string json;
  google::protobuf::util::JsonPrintOptions options;
  options.preserve_proto_field_names = true;
  EXPECT_TRUE(google::protobuf::util::MessageToJsonString(message, &json, options).ok());
  return json;
}

inline std::string protobuf_json(std::string_view bytes) {
  const std::unique_ptr<google::protobuf::Message> message(
      peer_schema().prototype(everything()).New());
  EXPECT_TRUE(message->ParseFromArray(bytes.data(), static_cast<int>(bytes.size())));
  return protobuf_json(*message);
}

}  // namespace onbeat::grpc
