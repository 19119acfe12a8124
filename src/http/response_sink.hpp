// Who looks into a response while it comes; for those who want more than its outcome.
#pragma once

#include <string_view>

namespace onbeat::http {

/// Called by the client as the parts of one final response arrive, in this order; interim ones
/// (1xx) are passed over. What is passed lives for the call. A sink may cancel its own stream or
/// send on it, nothing else.
class ResponseSink {
 public:
  /// `reason` is empty in HTTP/2.
  virtual void on_status(int status, std::string_view reason) = 0;
  virtual void on_field(std::string_view name, std::string_view value) = 0;
  /// The body with the transfer coding removed.
  virtual void on_body(std::string_view part) = 0;
  /// A field of the trailer section (HTTP/2).
  virtual void on_trailer(std::string_view /*name*/, std::string_view /*value*/) {}

 protected:
  ~ResponseSink() = default;
};

}  // namespace onbeat::http
