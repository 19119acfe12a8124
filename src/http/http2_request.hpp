// A request as HTTP/2 sends it: its fields, made ready once, and its body.
#pragma once

#include <nghttp2/nghttp2.h>

#include <cstddef>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace onbeat::http {

/// A list of header fields in the form that the HPACK encoder takes. Adding copies the bytes; a
/// list that is kept and refilled allocates nothing once warm.
class Http2Fields {
 public:
  Http2Fields() = default;
  Http2Fields(const Http2Fields& other);
  Http2Fields& operator=(const Http2Fields& other);
  Http2Fields(Http2Fields&&) noexcept = default;
  Http2Fields& operator=(Http2Fields&&) noexcept = default;

  /// The name is sent in lower case (RFC 9113, 8.2.1). Pseudo fields come first: the caller's
  /// order is kept.
  void add(std::string_view name, std::string_view value);
  void clear() noexcept { truncate(0); }
  /// Keeps the first `count`: the fixed ones, before those of the next request are added.
  void truncate(std::size_t count) noexcept;
  [[nodiscard]] std::size_t size() const noexcept { return fields_.size(); }
  [[nodiscard]] std::span<const nghttp2_nv> view() const noexcept { return fields_; }
  [[nodiscard]] static std::string_view name(const nghttp2_nv& field) noexcept {
    return {reinterpret_cast<const char*>(field.name), field.namelen};
  }
  [[nodiscard]] static std::string_view value(const nghttp2_nv& field) noexcept {
    return {reinterpret_cast<const char*>(field.value), field.valuelen};
  }

 private:
  void reserve(std::size_t bytes);

  std::vector<char> bytes_;  // names and values; fields_ point into it
  std::vector<nghttp2_nv> fields_;
};

struct Http2Request {
  Http2Fields fields;     // with the pseudo fields :method, :scheme, :authority, :path
  std::string_view body;  // borrowed
};

/// Makes `request` the HTTP/2 form of one that is ready for HTTP/1.1 (http::Request::bytes): Host
/// becomes :authority, and what belongs to the connection is left out. The body is borrowed from
/// `bytes`. Allocates nothing once warm.
void translate(std::string_view bytes, std::string_view scheme, Http2Request& request);

/// Whether a field is about the connection, and has no place in HTTP/2 (RFC 9113, 8.2.2). Any case.
[[nodiscard]] bool is_connection_field(std::string_view name, std::string_view value) noexcept;

}  // namespace onbeat::http
