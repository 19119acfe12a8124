// The HTTP/1.1 client: one exchange at a time on one connection.
//
//   Operation open()                      connects
//   Operation exchange(request, deadline) connects if need be, sends, reads the response
//
// Both are awaited directly, without a child coroutine, and end exactly once: with the outcome, at
// the deadline (NetError::timeout), or after cancel() (NetError::cancelled). Belongs to its loop's
// thread.
#pragma once

#include "http/request.hpp"
#include "http/response_parser.hpp"
#include "net/error.hpp"
#include "net/loop.hpp"
#include <onbeat/kernel/clock.hpp>

#include <coroutine>
#include <cstdint>
#include <memory>
#include <string>
#include <vector>

namespace onbeat::http {

using kernel::Duration;
using kernel::Instant;
using kernel::kNever;

/// What happened to the connections of one loop. Invariant: opened = now open + closed by either
/// side.
struct ConnectionLedger {
  std::uint64_t open = 0, open_peak = 0;
  std::uint64_t opened = 0;               // connects that succeeded
  std::uint64_t failed = 0;               // connects that did not
  std::uint64_t reused = 0;               // exchanges on a connection that had carried one before
  std::uint64_t reopened = 0;             // opened in place of one that was closed
  std::uint64_t closed_by_peer = 0;       // in order, between or after responses
  std::uint64_t reset = 0;                // by the peer
  std::vector<std::uint64_t> by_address;  // opened, by position in Peer::addresses
};

/// Where connections of one loop go to. Must outlive its connections.
struct Peer {
  std::vector<net::Address> addresses;  // used in turn
  net::ConnectOptions options;
  Duration connect_timeout = std::chrono::seconds(5);
  ConnectionLedger ledger;
  std::size_t next_address = 0;
};

/// How an operation ended.
struct Exchange {
  net::NetError error =
      net::NetError::none;  // of the transport or the protocol; a status is no error here
  int system_error = 0;
  int status = 0;  // 0 when no response header came
  std::uint32_t bytes_sent = 0;
  std::uint32_t bytes_received = 0;
  bool connected = false;  // a connection was opened within this operation
  Duration connect{};      // how long that took
};

class Connection final : private net::Waiter {
 public:
  Connection(net::Loop& loop, Peer& peer);
  /// Must not be destroyed while an operation is pending: cancel() first.
  ~Connection();
  Connection(const Connection&) = delete;
  Connection& operator=(const Connection&) = delete;

  class Operation {
   public:
    explicit Operation(Connection& connection) noexcept : connection_(connection) {}
    [[nodiscard]] bool await_ready() const noexcept { return connection_.step_ == Step::none; }
    void await_suspend(std::coroutine_handle<> waiting) noexcept { connection_.waiting_ = waiting; }
    const Exchange& await_resume() const noexcept { return connection_.exchange_; }

   private:
    Connection& connection_;
  };

  /// Closes what is open first. Within Peer::connect_timeout.
  [[nodiscard]] Operation open();
  /// `request` (and `sink`, which may be null) must live until the operation has ended.
  [[nodiscard]] Operation exchange(const Request& request, Instant deadline,
                                   ResponseSink* sink = nullptr);
  /// Ends a pending operation now, by resuming who awaits it; closes the connection.
  void cancel() noexcept;
  /// Closes in order; no operation may be pending.
  void close() noexcept;
  [[nodiscard]] bool is_open() const noexcept {
    return transport_ != nullptr && step_ != Step::connecting;
  }
  [[nodiscard]] bool busy() const noexcept { return step_ != Step::none; }
  /// What was wrong with the last response, after NetError::protocol.
  [[nodiscard]] std::string protocol_error() const { return parser_.error(); }

 private:
  enum class Step : std::uint8_t { none, connecting, exchanging };

  void ready() noexcept override;
  void on_deadline(Instant now) noexcept;
  void begin(Step step, Instant deadline) noexcept;
  void begin_connect() noexcept;
  void connected() noexcept;
  void begin_exchange() noexcept;
  void idle_check() noexcept;
  bool send() noexcept;
  void receive() noexcept;
  void peer_ended() noexcept;
  void response_complete(bool more_bytes) noexcept;
  void fail(net::NetError error, int system_error = 0) noexcept;
  void finish() noexcept;
  void drop_transport() noexcept;

  net::Loop& loop_;
  Peer& peer_;
  std::unique_ptr<net::Transport> transport_;
  const Request* request_ = nullptr;
  ResponseSink* sink_ = nullptr;
  std::size_t sent_ = 0;
  Step step_ = Step::none;
  bool used_ = false;  // this connection has carried an exchange
  bool ever_open_ = false;
  std::coroutine_handle<> waiting_;
  Exchange exchange_;
  Instant connect_began_{};
  Instant until_ = kNever;  // the operation's deadline
  std::size_t address_ = 0;
  ResponseParser parser_;
  net::Deadline<Connection, &Connection::on_deadline> deadline_;
};

}  // namespace onbeat::http
