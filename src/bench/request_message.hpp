// One message of a REQUEST section, compiled to bytes once: what varies in it is filled in without
// JSON. Immutable once made; any thread may use it. Borrows the schema.
#pragma once

#include "document/json_tree.hpp"
#include "document/template.hpp"
#include "grpc/prepared_message.hpp"

#include <expected>
#include <string>
#include <string_view>
#include <vector>

namespace onbeat::bench {

/// A worker's memory for filling in; kept from one message to the next.
struct RequestScratch {
  std::vector<std::string> texts;
  std::vector<grpc::HoleValue> values;
};

class RequestMessage {
 public:
  struct Fault {
    std::uint32_t offset = 0;  // JsonView::offset of what is wrong; 0: the whole
    std::string message;
  };
  using Faults = std::vector<Fault>;

  /// `scope` has the variables that may stand here.
  [[nodiscard]] static std::expected<RequestMessage, Faults> make(
      const document::JsonView& json, const google::protobuf::Descriptor& type,
      document::Scope& scope);

  [[nodiscard]] bool is_constant() const noexcept { return holes_.empty(); }
  /// When it is constant: with its 5-byte prefix.
  [[nodiscard]] const std::string& framed() const noexcept { return message_.framed(); }
  [[nodiscard]] bool uses_clock() const noexcept;
  /// Appends prefix and message. The class of what went wrong ("template_absent_value",
  /// "template_value": it does not fit its field); empty: nothing, else `out` is as it was.
  [[nodiscard]] std::string_view append(const document::RenderContext& context,
                                        RequestScratch& scratch, std::string& out) const;

 private:
  /// A string that varies.
  struct Hole {
    document::Template text;
    bool is_json = false;  // all of it is one extracted variable: a value of any type
  };
  RequestMessage(grpc::PreparedMessage message, std::vector<Hole> holes)
      : message_(std::move(message)), holes_(std::move(holes)) {}

  grpc::PreparedMessage message_;
  std::vector<Hole> holes_;
};

}  // namespace onbeat::bench
