// Messages made into JSON: names as in the .proto file, fields without a value or with their
// default left out, 64-bit integers as strings, enums as names, bytes in base64, the well-known
// types in their own forms. An Any of an unknown type has its bytes as "value".
#pragma once

#include "grpc/schema.hpp"

#include <cstdint>
#include <memory>
#include <string>
#include <string_view>

namespace onbeat::grpc {

/// Takes JSON as it is read, value by value; what is passed lives for the call.
class JsonSink {
 public:
  virtual void begin_object() = 0;
  virtual void key(std::string_view name) = 0;
  virtual void end_object() = 0;
  virtual void begin_array() = 0;
  virtual void end_array() = 0;
  virtual void null() = 0;
  virtual void boolean(bool value) = 0;
  virtual void integer(std::int64_t value) = 0;
  /// Finite. Of a float: the number that its shortest decimal form means.
  virtual void real(double value) = 0;
  virtual void text(std::string_view value) = 0;

 protected:
  ~JsonSink() = default;
};

/// JSON text without blanks.
class JsonText final : public JsonSink {
 public:
  explicit JsonText(std::string& out) noexcept : out_(out) {}
  void begin_object() override;
  void key(std::string_view name) override;
  void end_object() override;
  void begin_array() override;
  void end_array() override;
  void null() override;
  void boolean(bool value) override;
  void integer(std::int64_t value) override;
  void real(double value) override;
  void text(std::string_view value) override;

 private:
  void separate();
  void append_string(std::string_view value);
  std::string& out_;
  bool first_ = true;  // nothing stands before the next value in its object or array
};

/// Reads messages of one type; keeps the memory of the last one for the next. One a loop; borrows
/// the schema.
class MessageReader {
 public:
  MessageReader(const Schema& schema, const google::protobuf::Descriptor& type);
  ~MessageReader();
  MessageReader(const MessageReader&) = delete;
  MessageReader& operator=(const MessageReader&) = delete;

  /// False: the bytes are no message of the type, and the sink has been given nothing.
  [[nodiscard]] bool read(std::string_view bytes, JsonSink& sink);

 private:
  struct Parts;
  std::unique_ptr<Parts> parts_;
};
/// The details of a failed call (google.rpc.Status), as an array of objects with "@type".
/// `trailer`: the value of grpc-status-details-bin, as it came. Types are looked for in the schema,
/// then among google.rpc's. False: it is no such status, and the sink has been given nothing.
[[nodiscard]] bool read_details(std::string_view trailer, const Schema& schema, JsonSink& sink);

}  // namespace onbeat::grpc
