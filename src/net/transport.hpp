// A two-way byte stream: TCP or Unix socket, TLS over another transport, or a simulated connection.
//
// Reading and writing are attempts: they move what can be moved now and never block. What would
// block is waited for with wait_readable() and wait_writable(), one waiter each; the loop calls the
// waiter once. Belongs to its loop's thread. Destroying a transport closes it; its waiters are
// forgotten, never called.
#pragma once

#include "net/address.hpp"

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>

namespace onbeat::net {

struct IoResult {
  static constexpr int kWouldBlock = -1;

  std::size_t bytes = 0;
  /// 0, kWouldBlock, or an errno. A read of 0 bytes with error 0 is the end of the stream.
  int error = 0;

  [[nodiscard]] bool would_block() const noexcept { return error == kWouldBlock; }
  [[nodiscard]] bool end() const noexcept { return bytes == 0 && error == 0; }
};

/// Called by the loop when what was waited for has come about (or has failed: the next attempt
/// tells).
class Waiter {
 public:
  virtual void ready() noexcept = 0;

 protected:
  ~Waiter() = default;
};

class Transport {
 public:
  virtual ~Transport() = default;

  /// Reads what is there, at most into.size() bytes. Makes no system call when nothing has arrived
  /// since the last attempt that found nothing.
  virtual IoResult read_some(std::span<char> into) noexcept = 0;
  /// Writes the pieces in order as far as they go; at most 16 pieces a call.
  virtual IoResult write_some(std::span<const std::string_view> pieces) noexcept = 0;

  /// Whether bytes, the end, or an error wait to be read: on an idle connection, a sign that the
  /// peer has closed it.
  [[nodiscard]] virtual bool readable() const noexcept = 0;

  /// After an attempt that would have blocked. The waiter must live until it is called or
  /// forgotten.
  virtual void wait_readable(Waiter& waiter) noexcept = 0;
  virtual void wait_writable(Waiter& waiter) noexcept = 0;
  virtual void forget_waiters() noexcept = 0;

  /// The errno of a connect() that has come to its end (0: connected). A connecting transport
  /// becomes writable then.
  [[nodiscard]] virtual int connect_result() noexcept = 0;

  virtual void shutdown_write() noexcept = 0;
  /// Resets a TCP connection (RST) instead of closing it in order; the transport is closed
  /// afterwards.
  virtual void reset() noexcept = 0;
  virtual void close() noexcept = 0;

  [[nodiscard]] virtual Address peer() const = 0;
  /// Why a handshake or a record was refused, in words, after EPROTO; empty otherwise.
  [[nodiscard]] virtual std::string failure() const { return {}; }
  /// How long the TLS handshake took, once connected; 0 without one.
  [[nodiscard]] virtual std::chrono::nanoseconds handshake_time() const noexcept { return {}; }
  /// The protocol agreed on by ALPN; empty without TLS.
  [[nodiscard]] virtual std::string_view alpn() const noexcept { return {}; }
};

}  // namespace onbeat::net
