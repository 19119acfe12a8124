#include "net/error.hpp"

#include <cerrno>
#include <system_error>

namespace onbeat::net {

std::string_view to_string(NetError error) noexcept {
  switch (error) {
    case NetError::none:
      return "none";
    case NetError::dns:
      return "dns";
    case NetError::connect_refused:
      return "connect_refused";
    case NetError::connect_timeout:
      return "connect_timeout";
    case NetError::unreachable:
      return "unreachable";
    case NetError::connect_failed:
      return "connect_failed";
    case NetError::tls:
      return "tls";
    case NetError::proxy:
      return "proxy";
    case NetError::body:
      return "body";
    case NetError::expectation:
      return "expectation";
    case NetError::reset:
      return "reset";
    case NetError::closed_early:
      return "closed_early";
    case NetError::short_body:
      return "short_body";
    case NetError::excess_data:
      return "excess_data";
    case NetError::protocol:
      return "protocol";
    case NetError::stream_reset:
      return "stream_reset";
    case NetError::goaway:
      return "goaway";
    case NetError::refused:
      return "refused";
    case NetError::keepalive:
      return "keepalive";
    case NetError::status:
      return "status";
    case NetError::timeout:
      return "timeout";
    case NetError::cancelled:
      return "cancelled";
    case NetError::local_ports:
      return "local_ports";
    case NetError::local_fds:
      return "local_fds";
    case NetError::io:
      return "io";
  }
  return "io";
}

NetError connect_error(int error) noexcept {
  switch (error) {
    case 0:
      return NetError::none;
    case ECONNREFUSED:
    case ENOENT:
      return NetError::connect_refused;  // ENOENT: no such Unix socket
    case ETIMEDOUT:
      return NetError::connect_timeout;
    case EHOSTUNREACH:
    case ENETUNREACH:
      return NetError::unreachable;
    case EADDRNOTAVAIL:
    case EADDRINUSE:
      return NetError::local_ports;
    case EMFILE:
    case ENFILE:
      return NetError::local_fds;
    case ECONNRESET:
      return NetError::reset;
    case ECANCELED:
      return NetError::cancelled;
    default:
      return NetError::connect_failed;
  }
}

NetError io_error(int error) noexcept {
  switch (error) {
    case 0:
      return NetError::none;
    case ECONNRESET:
    case EPIPE:
      return NetError::reset;
    case ETIMEDOUT:
      return NetError::timeout;
    case ECANCELED:
      return NetError::cancelled;
    default:
      return NetError::io;
  }
}

std::string describe(NetError error, int system_error) {
  std::string text;
  switch (error) {
    case NetError::connect_refused:
      text = "connection refused: nothing listens there";
      break;
    case NetError::connect_timeout:
      text = "the connection was not established in time";
      break;
    case NetError::local_ports:
      text = "no free local port: use fewer connections, or widen net.ipv4.ip_local_port_range";
      break;
    case NetError::local_fds:
      text = "no free file descriptor: use fewer connections, or raise the limit (ulimit -n)";
      break;
    case NetError::tls:
      text = "the TLS handshake failed";
      break;
    case NetError::proxy:
      text = "the proxy did not open a tunnel";
      break;
    case NetError::reset:
      text = "the peer reset the connection";
      break;
    case NetError::closed_early:
      text = "the peer closed the connection before it answered";
      break;
    case NetError::short_body:
      text = "the peer closed the connection within a response";
      break;
    case NetError::excess_data:
      text = "the peer sent bytes that belong to no request";
      break;
    case NetError::stream_reset:
      text = "the peer reset the stream";
      break;
    case NetError::goaway:
      text = "the peer ended the connection with a complaint";
      break;
    case NetError::refused:
      text = "the peer refused the request, each time it was sent";
      break;
    case NetError::keepalive:
      text = "the peer did not answer a PING in time";
      break;
    case NetError::timeout:
      text = "no complete response within the timeout";
      break;
    default:
      text = to_string(error);
  }
  if (system_error != 0)
    text += " (" + std::error_code(system_error, std::generic_category()).message() + ")";
  return text;
}

}  // namespace onbeat::net
