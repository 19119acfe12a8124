// Connects: TCP, the proxy's tunnel and TLS, one after another. The connections of every version of
// HTTP begin with it. Belongs to its loop's thread.
#pragma once

#include "http/peer.hpp"
#include "http/response_parser.hpp"

#include <cstddef>
#include <memory>
#include <string>
#include <string_view>

namespace onbeat::http {

class Connector final : private net::Waiter {
 public:
  /// Told how a connect ended; within begin() when that was at once. May destroy the connector.
  class Owner {
   public:
    virtual void connected() noexcept = 0;
    virtual void connect_failed(net::NetError error, int system_error) noexcept = 0;

   protected:
    ~Owner() = default;
  };

  /// `protocol`: what TLS must agree on by ALPN; empty: whatever it does.
  Connector(net::Loop& loop, Peer& peer, Owner& owner, std::string_view protocol = {});

  /// To the next of the peer's addresses. It has no deadline of its own: cancel() ends it.
  void begin() noexcept;
  /// Counts as failed; the owner is not told.
  void cancel() noexcept;

  /// After Owner::connected(), once: counts the connection as opened.
  [[nodiscard]] std::unique_ptr<net::Transport> take() noexcept;
  /// How long the parts took; of the last connect.
  [[nodiscard]] Duration connect_time() const noexcept { return connect_time_; }
  [[nodiscard]] Duration tls_time() const noexcept { return tls_time_; }
  /// What was wrong, in words, after NetError::tls and proxy.
  [[nodiscard]] const std::string& failure() const noexcept { return failure_; }

 private:
  enum class Step : std::uint8_t { idle, connecting, tunnelling, securing };

  void ready() noexcept override;
  void on_connected() noexcept;
  void tunnel() noexcept;
  void secure() noexcept;
  void on_secured() noexcept;
  void done() noexcept;
  void fail(net::NetError error, int system_error) noexcept;

  net::Loop& loop_;
  Peer& peer_;
  Owner& owner_;
  std::string_view protocol_;
  std::unique_ptr<net::Transport> transport_;
  Step step_ = Step::idle;
  bool tunnel_sent_ = false;
  bool ever_opened_ = false;
  std::size_t address_ = 0;
  Instant began_{};
  Duration connect_time_{}, tls_time_{};
  ResponseParser parser_;  // of the tunnel's response
  std::string failure_;
};

}  // namespace onbeat::http
