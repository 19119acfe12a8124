// The HTTP/1.1 client: exchanges on one connection, one at a time or pipelined.
//
//   co_await connection.open()                      connects
//   co_await connection.exchange(request, deadline) connects if need be, sends, reads the response
//
// Both are awaited directly, without a child coroutine, and end exactly once: with the outcome, at
// the deadline (NetError::timeout), or after cancel() (NetError::cancelled). Several exchanges may
// be awaited at once (each by its own coroutine): they are sent in order without waiting for each
// other (RFC 9112, 9.3.2). Belongs to its loop's thread.
#pragma once

#include "http/connector.hpp"
#include "http/peer.hpp"
#include "http/request.hpp"
#include "http/response_parser.hpp"

#include <coroutine>
#include <cstdint>
#include <memory>
#include <string>

namespace onbeat::http {

class Connection final : private net::Waiter, private Connector::Owner {
 public:
  Connection(net::Loop& loop, Peer& peer);
  /// No operation may be pending: cancel() first.
  ~Connection();
  Connection(const Connection&) = delete;
  Connection& operator=(const Connection&) = delete;

  /// Awaited once, by one coroutine; a node of the connection's queue while it is.
  class Operation {
   public:
    Operation(Connection& connection, const Request* request, Instant deadline,
              ResponseSink* sink) noexcept
        : connection_(connection), request_(request), deadline_(deadline), sink_(sink) {}
    Operation(const Operation&) = delete;
    Operation& operator=(const Operation&) = delete;

    [[nodiscard]] bool await_ready() const noexcept { return false; }
    /// False: it has ended already.
    bool await_suspend(std::coroutine_handle<> waiting) noexcept;
    [[nodiscard]] Exchange await_resume() const noexcept { return exchange_; }

   private:
    friend class Connection;
    Connection& connection_;
    const Request* request_;  // null: only to connect
    Instant deadline_;
    ResponseSink* sink_;
    std::coroutine_handle<> waiting_;
    Operation* next_ = nullptr;
    Exchange exchange_;
  };

  /// Closes what is open first. Within Peer::connect_timeout.
  [[nodiscard]] Operation open();
  /// `request` (and `sink`, which may be null) must live until the operation has ended.
  [[nodiscard]] Operation exchange(const Request& request, Instant deadline,
                                   ResponseSink* sink = nullptr) {
    return {*this, &request, deadline, sink};
  }
  /// Ends every pending operation now, by resuming who awaits it; closes the connection.
  void cancel() noexcept;
  /// Closes in order; no operation may be pending.
  void close() noexcept;
  [[nodiscard]] bool is_open() const noexcept { return step_ == Step::open; }
  [[nodiscard]] bool busy() const noexcept { return first_ != nullptr; }
  /// Whether it can be counted on: its last exchange came back, or it is open and the peer has not
  /// ended it. One that the peer accepts and then resets does not serve.
  [[nodiscard]] bool serves() const noexcept {
    return serves_ || (step_ == Step::open && !transport_->readable());
  }
  /// What was wrong, in words, after NetError::protocol and NetError::tls.
  [[nodiscard]] const std::string& failure() const noexcept { return failure_; }

 private:
  enum class Step : std::uint8_t { closed, connecting, open };

  void begin(Operation& operation) noexcept;
  void ready() noexcept override;
  void on_deadline(Instant now) noexcept;

  void connect() noexcept;
  void connected() noexcept override;
  void connect_failed(net::NetError error, int system_error) noexcept override;

  void idle_check() noexcept;
  void send() noexcept;
  void receive() noexcept;
  void begin_response() noexcept;
  ResponseParser::State take_response(std::string_view bytes, std::size_t& consumed) noexcept;
  bool response_complete() noexcept;
  void peer_ended() noexcept;

  void watch_deadline() noexcept;
  void note_status() noexcept;
  Operation& take_first() noexcept;
  void finish(Operation& operation, net::NetError error, int system_error) noexcept;
  void end_first(net::NetError error) noexcept;
  void end_all(net::NetError first, net::NetError rest, int system_error = 0) noexcept;
  void drop_transport() noexcept;

  net::Loop& loop_;
  Peer& peer_;
  Connector connector_;
  std::unique_ptr<net::Transport> transport_;
  Step step_ = Step::closed;
  bool serves_ = false;
  int write_error_ = 0;
  std::uint64_t carried_ = 0;  // exchanges begun on this connection
  // The queue of operations: responses come for the first; the one to be sent next is unsent_.
  Operation* first_ = nullptr;
  Operation* last_ = nullptr;
  Operation* unsent_ = nullptr;
  std::size_t sent_ = 0;  // bytes of unsent_ that have gone out
  ResponseParser parser_;
  bool parsing_ = false;     // the parser has begun with the response for the first
  bool keep_alive_ = false;  // what the last whole response said
  std::string failure_;
  net::Deadline<Connection, &Connection::on_deadline> deadline_;
};

}  // namespace onbeat::http
