// Parses HTTP/1.1 requests, incrementally and without I/O: the server's side, for targets. Wraps
// Boost.Beast's basic_parser, whose heavy header stays in the .cpp.
#pragma once

#include "http/request.hpp"

#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <string_view>

namespace onbeat::http {

/// A request as it was received.
struct ReceivedRequest {
  static constexpr std::size_t kBodyKept = 64 * 1024;

  std::string method, target;
  std::string head;  // byte for byte, up to and with the empty line
  Fields fields;     // trailer fields too
  std::string body;  // without the transfer coding; the first kBodyKept bytes
  std::uint64_t body_bytes = 0;
  int version = 11;  // 10 or 11
  bool keep_alive = true;
  bool expects_continue = false;

  /// The first field of that name (in any case); null when there is none.
  [[nodiscard]] const std::string* field(std::string_view name) const noexcept;
};

class RequestParser {
 public:
  enum class State : std::uint8_t { more, complete, failed };

  RequestParser();
  ~RequestParser();
  RequestParser(const RequestParser&) = delete;
  RequestParser& operator=(const RequestParser&) = delete;

  /// On to the next request; what is known of the one before is forgotten.
  void begin();
  /// Takes bytes; `consumed` tells how many belong to this request (all of them unless it is
  /// complete). After failed the connection is of no more use.
  State feed(std::string_view bytes, std::size_t& consumed);

  /// Whether a byte of a request has been seen that is not yet whole.
  [[nodiscard]] bool begun() const noexcept;
  [[nodiscard]] bool header_done() const noexcept;
  /// Whole once complete; without the body once the header is done. Kept until begin().
  [[nodiscard]] const ReceivedRequest& request() const noexcept;
  /// What was wrong, after failed.
  [[nodiscard]] std::string error() const;

 private:
  struct Impl;
  std::unique_ptr<Impl> impl_;
};

}  // namespace onbeat::http
