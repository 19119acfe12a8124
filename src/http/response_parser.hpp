// Parses HTTP/1.1 responses, incrementally and without I/O. Wraps Boost.Beast's basic_parser, whose
// heavy header stays in the .cpp.
#pragma once

#include "http/response_sink.hpp"

#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <string_view>

namespace onbeat::http {

class ResponseParser {
 public:
  enum class State : std::uint8_t { more, complete, failed };

  ResponseParser();
  ~ResponseParser();
  ResponseParser(ResponseParser&&) noexcept;
  ResponseParser& operator=(ResponseParser&&) noexcept;

  /// The next response; `to_head`: it answers a HEAD request.
  void begin(bool to_head, ResponseSink* sink = nullptr);
  /// Takes bytes; `consumed` tells how many belong to this response (all of them unless it is
  /// complete). Interim responses (1xx other than 101) are passed over.
  State feed(std::string_view bytes, std::size_t& consumed);
  /// The peer closed. complete: the body was to end so.
  State end_of_stream();

  [[nodiscard]] bool begun() const noexcept;  // a byte of it has been seen
  [[nodiscard]] bool header_done() const noexcept;
  [[nodiscard]] int status() const noexcept;  // 0 before the header is done
  /// Whether the connection can be used again, once complete.
  [[nodiscard]] bool keep_alive() const noexcept;
  /// What was wrong, after failed.
  [[nodiscard]] std::string error() const;

 private:
  struct Impl;
  std::unique_ptr<Impl> impl_;
};

}  // namespace onbeat::http
