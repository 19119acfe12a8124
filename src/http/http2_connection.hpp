// The HTTP/2 client (RFC 9113), on nghttp2: many streams at once on one connection.
//
//   Http2Stream stream;                                         reused for one after another
//   co_await connection.open(stream)                            connects
//   co_await connection.exchange(stream, request, deadline, sink)
//                                         one request, its whole response: the hot path
//   co_await connection.start(stream, request, deadline, sink)  a request whose body follows:
//   co_await stream.send(bytes), stream.send(bytes, true)       piece by piece, the last one marked
//   co_await stream.receive()                                   until the sink has been given more
//
// All are awaited directly, without a child coroutine; those that end a stream end exactly once:
// with the outcome, at the deadline (NetError::timeout; the peer is told by RST_STREAM), or after
// cancel() (NetError::cancelled). One coroutine may send while another receives.
//
// A connection is opened by who first needs it, and again after it has gone. While the peer allows
// no more streams (SETTINGS_MAX_CONCURRENT_STREAMS), what is begun waits in its order;
// Exchange::started tells since when it no longer did. When a connection ends, what was in flight
// fails; what waits, and what the peer has surely not processed (REFUSED_STREAM, or behind the last
// stream of a GOAWAY), goes to the next one, a stream at most kMostTries times; after a connection
// that served nothing the next one waits (10 ms doubling to 1 s, jittered). A stream that start()
// began is not sent again by itself: Exchange::processed tells whether it may be.
//
// What is sent goes out at the end of the loop's turn, in one write. Belongs to its loop's thread.
#pragma once

#include "http/http2_request.hpp"
#include "http/peer.hpp"
#include "http/response_sink.hpp"

#include <coroutine>
#include <cstdint>
#include <memory>
#include <string>
#include <string_view>

namespace onbeat::http {

class Http2Connection;
class Http2Session;

/// One stream after another; between two it belongs to no connection. It must have ended (cancel())
/// before it is destroyed.
class Http2Stream {
 public:
  Http2Stream() = default;
  ~Http2Stream();
  Http2Stream(const Http2Stream&) = delete;
  Http2Stream& operator=(const Http2Stream&) = delete;

  /// Begun and not yet ended.
  [[nodiscard]] bool active() const noexcept { return state_ != State::ended; }
  /// The peer has ended its side, or it was ended.
  [[nodiscard]] const Exchange& outcome() const noexcept { return exchange_; }

  /// Awaited until the bytes, copied, have their place in the queue (at most kSendBuffer of them
  /// wait there for the peer's windows). `last`: nothing follows. True: taken. False: the stream
  /// has ended.
  class Send;
  [[nodiscard]] Send send(std::string_view bytes, bool last = false) noexcept;
  /// Awaited until the sink has been given something since the last receive(), or the stream has
  /// ended. False: it has ended, and the sink has nothing that an earlier receive() did not tell.
  class Receive;
  [[nodiscard]] Receive receive() noexcept;
  /// Ends it now with NetError::cancelled: who awaits it is resumed. The peer is told by RST_STREAM
  /// with `code` (RFC 9113, 7).
  void cancel(std::uint32_t code = NGHTTP2_CANCEL) noexcept;

  static constexpr std::size_t kSendBuffer = std::size_t{64} << 10;

 private:
  friend class Http2Connection;
  friend class Http2Session;
  enum class State : std::uint8_t { ended, waiting, open };

  State state_ = State::ended;
  Exchange exchange_;
};

class Http2Connection {
 public:
  Http2Connection(net::Loop& loop, Peer& peer);
  /// No stream may be active: cancel() first.
  ~Http2Connection();
  Http2Connection(const Http2Connection&) = delete;
  Http2Connection& operator=(const Http2Connection&) = delete;

  /// Awaited until the whole response has come: an Exchange. `request`, the bytes of its body and
  /// `sink` (which may be null) must live until then.
  class Whole;
  [[nodiscard]] Whole exchange(Http2Stream& stream, const Http2Request& request, Instant deadline,
                               ResponseSink* sink = nullptr) noexcept;
  /// Awaited until it has a stream: true; false: it has ended (Http2Stream::outcome()). A body in
  /// `request` goes first. `request` must live until this returns, `sink` until the stream has
  /// ended.
  class Start;
  [[nodiscard]] Start start(Http2Stream& stream, const Http2Request& request, Instant deadline,
                            ResponseSink* sink) noexcept;
  /// Awaited until there is a connection, and the peer's settings have come: an Exchange. Closes
  /// what is open first. Within Peer::connect_timeout.
  [[nodiscard]] Whole open(Http2Stream& stream) noexcept;

  /// Ends every stream now, by resuming who awaits it; closes the connection.
  void cancel() noexcept;
  /// Closes in order (GOAWAY); no stream may be active.
  void close() noexcept;
  [[nodiscard]] bool is_open() const noexcept;
  /// Streams that wait or are open.
  [[nodiscard]] std::size_t streams() const noexcept;
  /// Whether it can be counted on: see Connection::serves().
  [[nodiscard]] bool serves() const noexcept;
  /// What was wrong, in words, after NetError::protocol, tls and goaway.
  [[nodiscard]] const std::string& failure() const noexcept;

  static constexpr unsigned kMostTries = 5;
};

}  // namespace onbeat::http
