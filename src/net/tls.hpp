// TLS over another transport, by OpenSSL. Records are read from and written to the transport below
// directly, without memory buffers between; what a connection does not need while idle is given
// back (SSL_MODE_RELEASE_BUFFERS).
#pragma once

#include "net/loop.hpp"
#include "net/transport.hpp"
#include <onbeat/kernel/clock.hpp>

#include <atomic>
#include <expected>
#include <memory>
#include <string>
#include <vector>

// OpenSSL's heavy headers stay in tls.cpp.
struct ssl_ctx_st;
struct ssl_session_st;

namespace onbeat::net {

struct TlsOptions {
  std::string ca_file;                   // PEM; empty: the system's
  std::string certificate, key;          // PEM files of the client (or of a server); empty: none
  bool verify = true;                    // the peer's certificate and name
  std::string min_version, max_version;  // "1.2", "1.3"; empty: what OpenSSL allows
  std::string ciphers;            // OpenSSL's cipher list, or TLS 1.3 suites; empty: the default
  std::vector<std::string> alpn;  // in the order of preference
  bool reuse_sessions = true;
  bool server = false;
};

/// The settings of many connections, and the session that they share. One a loop and host: belongs
/// to one thread.
class TlsContext {
 public:
  /// The error says which file or setting is wrong, with OpenSSL's words.
  static std::expected<std::unique_ptr<TlsContext>, std::string> make(const TlsOptions& options);
  ~TlsContext();
  TlsContext(const TlsContext&) = delete;
  TlsContext& operator=(const TlsContext&) = delete;

  /// Wraps a transport that is connecting, or connected. The new one becomes writable when the
  /// handshake has ended (connect_result(): 0, the errno of the connect, or EPROTO when TLS failed:
  /// failure() says why). `server_name`: for SNI and for the check of the certificate; without a
  /// port; an IP literal is checked but not sent (RFC 6066, 3). Empty: neither.
  [[nodiscard]] std::unique_ptr<Transport> wrap(std::unique_ptr<Transport> below, Loop& loop,
                                                const std::string& server_name);

  [[nodiscard]] std::uint64_t handshakes() const noexcept { return handshakes_; }
  [[nodiscard]] std::uint64_t resumed() const noexcept { return resumed_; }

 private:
  friend class TlsTransport;
  explicit TlsContext(ssl_ctx_st* context) noexcept;
  void keep(ssl_session_st* session) noexcept;

  ssl_ctx_st* context_;
  ssl_session_st* session_ = nullptr;  // the latest, for the next connection
  bool reuse_ = true, verify_ = true, server_ = false;
  std::uint64_t handshakes_ = 0, resumed_ = 0;
};

}  // namespace onbeat::net
