// Why a network operation failed, by class: what reports count.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

namespace onbeat::net {

enum class NetError : std::uint8_t {
  none,
  dns,  // the name did not resolve
  connect_refused,
  connect_timeout,
  unreachable,     // no route to the host or network
  connect_failed,  // any other failed connect
  tls,             // the handshake, or a record
  proxy,           // the proxy refused the tunnel, or was not one
  reset,           // the peer reset the connection
  closed_early,    // the peer closed before the response had begun
  short_body,      // the peer closed within the response
  excess_data,     // bytes that belong to no request
  protocol,        // what the peer sent is not the protocol
  stream_reset,    // the peer reset the stream (HTTP/2: RST_STREAM)
  goaway,          // the peer ended the connection for a fault of ours (HTTP/2: GOAWAY with a code)
  refused,         // the peer did not process the request, each time it was sent
  keepalive,       // the peer did not answer a keep-alive in time
  body,            // a body that cannot be decoded
  expectation,     // not the response that was expected
  status,          // the protocol's own failure (an HTTP status of 4xx or 5xx)
  timeout,
  cancelled,    // by this side
  local_ports,  // no local port left
  local_fds,    // no file descriptor left
  io,           // any other error of the socket
};
inline constexpr int kNetErrors = static_cast<int>(NetError::io) + 1;

/// The class's name in reports ("connect_refused").
[[nodiscard]] std::string_view to_string(NetError error) noexcept;
/// From the errno of a connect(), or of a read or write on an open connection.
[[nodiscard]] NetError connect_error(int error) noexcept;
[[nodiscard]] NetError io_error(int error) noexcept;
/// One sentence with the system's words and, where there is one, a remedy.
[[nodiscard]] std::string describe(NetError error, int system_error);

}  // namespace onbeat::net
