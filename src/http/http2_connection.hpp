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
// What is sent goes out at the end of the loop's turn, in one write. Who awaits something is
// resumed when all that had arrived has been read, and may then destroy the connection, unless
// another coroutine still awaits something on it. Belongs to its loop's thread.
#pragma once

#include "http/connector.hpp"
#include "http/http2_request.hpp"
#include "http/peer.hpp"
#include "http/response_sink.hpp"
#include "net/back_off.hpp"

#include <coroutine>
#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace onbeat::http {

class Http2Connection;
class Http2Session;

/// One stream after another; between two it belongs to no connection. It must have ended (cancel())
/// before it is destroyed.
class Http2Stream {
 public:
  Http2Stream() = default;
  Http2Stream(const Http2Stream&) = delete;
  Http2Stream& operator=(const Http2Stream&) = delete;

  /// Begun and not yet ended.
  [[nodiscard]] bool active() const noexcept { return state_ != State::ended; }
  /// Once it has ended. While it is active: what is known so far.
  [[nodiscard]] const Exchange& outcome() const noexcept { return exchange_; }

  /// Awaited until the bytes, copied, have their place in the stream's queue: at once while fewer
  /// than kSendBuffer wait there for the peer's windows. `last`: nothing follows. True: taken.
  /// False: the stream has ended.
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
  friend class Http2StreamList;
  enum class State : std::uint8_t { ended, waiting, open };

  [[nodiscard]] bool has_body() const noexcept {
    return !last_ || !body_.empty() || buffer_at_ < buffer_.size();
  }
  void take(std::string_view bytes, bool last) noexcept;

  State state_ = State::ended;
  bool streaming_ = false;  // begun by start()
  bool only_open_ = false;  // by Http2Connection::open()
  bool last_ = true;        // nothing follows what waits to be sent
  bool paused_ = false;     // nothing waits to be sent, but something will follow
  bool sent_all_ = false;   // this side has ended
  bool headers_sent_ = false;
  bool waits_for_room_ = false;
  bool interim_ = false;      // the header that is being read is that of a 1xx
  bool header_done_ = false;  // the header of the final response is complete
  bool ending_ = false;       // the frame that ends the peer's side has begun
  bool complete_ = false;     // and is whole
  bool reset_by_peer_ = false;
  bool fresh_ = false;  // the sink has been given something since the last receive()
  unsigned tries_ = 0;
  std::int32_t id_ = 0;
  Http2Connection* connection_ = nullptr;
  Http2Session* session_ = nullptr;  // while it is open
  Http2Stream *previous_ = nullptr, *next_ = nullptr;
  std::uint64_t number_ = 0;  // in the order in which they were begun
  const Http2Request* request_ = nullptr;
  ResponseSink* sink_ = nullptr;
  Instant deadline_ = kNever;
  std::string_view body_;  // of the request: what is still to be sent
  std::string buffer_;     // what send() was given, from buffer_at_ on still to be sent
  std::size_t buffer_at_ = 0;
  std::uint32_t header_bytes_ = 0;    // of the response's header list
  std::uint64_t header_read_ = 0;     // in which read its header came
  std::int64_t content_length_ = -1;  // that the response has announced
  std::int64_t body_begun_ = 0;       // bytes of the DATA frames that have come
  std::coroutine_handle<> waiting_;   // for the end, the start, or to send
  std::coroutine_handle<> receiver_;  // in receive()
  Exchange exchange_;
};

/// A list whose nodes are the streams themselves.
class Http2StreamList {
 public:
  [[nodiscard]] Http2Stream* first() const noexcept { return first_; }
  [[nodiscard]] static Http2Stream* next(const Http2Stream& stream) noexcept {
    return stream.next_;
  }
  [[nodiscard]] bool empty() const noexcept { return first_ == nullptr; }
  void push_back(Http2Stream& stream) noexcept;
  /// Where its number wants it.
  void insert(Http2Stream& stream) noexcept;
  void remove(Http2Stream& stream) noexcept;

 private:
  void insert_after(Http2Stream* before, Http2Stream& stream) noexcept;

  Http2Stream *first_ = nullptr, *last_ = nullptr;
};

class Http2Connection final : private net::Waiter, private net::Timer, private Connector::Owner {
 public:
  Http2Connection(net::Loop& loop, Peer& peer);
  /// No stream may be active: cancel() first.
  ~Http2Connection() override;
  Http2Connection(const Http2Connection&) = delete;
  Http2Connection& operator=(const Http2Connection&) = delete;

  /// Awaited until the whole response has come: an Exchange. `request`, the bytes of its body and
  /// `sink` (which may be null) must live until then.
  class Whole;
  [[nodiscard]] Whole exchange(Http2Stream& stream, const Http2Request& request, Instant deadline,
                               ResponseSink* sink = nullptr) noexcept;
  /// Awaited until it has a stream: true; false: it has ended (Http2Stream::outcome()). A body in
  /// `request` goes first. `request` must live until this returns, its body and `sink` (which may
  /// be null) until the stream has ended.
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
  [[nodiscard]] std::size_t streams() const noexcept { return streams_; }
  /// Whether it can be counted on: see Connection::serves().
  [[nodiscard]] bool serves() const noexcept;
  /// What was wrong, in words, after NetError::protocol, tls, proxy, stream_reset and goaway.
  [[nodiscard]] const std::string& failure() const noexcept { return failure_; }

  static constexpr unsigned kMostTries = 5;

 private:
  friend class Http2Session;
  friend class Http2Stream;
  struct Begin {
    const Http2Request* request;
    Instant deadline;
    ResponseSink* sink;
    bool streaming;
  };

  void begin(Http2Stream& stream, const Begin& how) noexcept;
  static void ready_to_send(Http2Stream& stream) noexcept;
  void ready() noexcept override;
  void on_timer(Instant now) noexcept override;
  void connected() noexcept override;
  void connect_failed(net::NetError error, int system_error) noexcept override;
  void on_connect_deadline(Instant now) noexcept;
  void on_deadline(Instant now) noexcept;

  // What a session tells.
  void not_processed(Http2Stream& stream, net::NetError error, std::uint32_t code,
                     bool counts) noexcept;
  void end(Http2Stream& stream, net::NetError error, int system_error = 0) noexcept;
  void resume_later(std::coroutine_handle<>& waiting) noexcept;
  void served() noexcept;

  void proceed() noexcept;
  void take_stock() noexcept;
  void session_opened() noexcept;
  void session_ended(Http2Session& session) noexcept;
  void hand_out() noexcept;
  bool settle() noexcept;
  void proceed_soon() noexcept;
  void watch(Instant deadline) noexcept;
  void rest() noexcept;
  void connect() noexcept;
  void connect_ended(net::NetError error, int system_error) noexcept;
  void drop(Http2Stream& stream, std::uint32_t code) noexcept;

  net::Loop& loop_;
  Peer& peer_;
  Connector connector_;
  std::unique_ptr<Http2Session> session_;                 // the one that takes new streams
  std::vector<std::unique_ptr<Http2Session>> finishing_;  // these take none, and end by and by
  bool connecting_ = false;
  bool resting_ = false;  // after a refusal: no new connection or stream before the timer
  bool changed_ = false;  // something has happened that others may have waited for
  bool reading_ = false;  // within nghttp2: nobody may be resumed
  bool serves_ = false;
  bool soon_ = false;     // the loop will call ready()
  bool* gone_ = nullptr;  // while coroutines are being resumed: told when this is destroyed
  std::size_t streams_ = 0;
  std::uint64_t begun_ = 0;
  Http2StreamList waiting_;
  std::vector<std::coroutine_handle<>> resumable_;
  net::BackOff back_off_;
  Instant earliest_ = kNever;  // no deadline of a stream is before it
  std::string failure_;
  net::Deadline<Http2Connection, &Http2Connection::on_deadline> deadline_;
  net::Deadline<Http2Connection, &Http2Connection::on_connect_deadline> connect_deadline_;
};

class Http2Connection::Whole {
 public:
  Whole(Http2Connection& connection, Http2Stream& stream, const Begin& how) noexcept
      : connection_(connection), stream_(stream), how_(how) {}
  [[nodiscard]] bool await_ready() const noexcept { return false; }
  /// False: it has ended already.
  bool await_suspend(std::coroutine_handle<> waiting) noexcept {
    connection_.begin(stream_, how_);
    if (stream_.active()) stream_.waiting_ = waiting;
    return stream_.active();
  }
  const Exchange& await_resume() const noexcept { return stream_.exchange_; }

 private:
  Http2Connection& connection_;
  Http2Stream& stream_;
  Begin how_;
};

class Http2Connection::Start {
 public:
  Start(Http2Connection& connection, Http2Stream& stream, const Begin& how) noexcept
      : connection_(connection), stream_(stream), how_(how) {}
  [[nodiscard]] bool await_ready() const noexcept {
    connection_.begin(stream_, how_);
    return stream_.state_ != Http2Stream::State::waiting;
  }
  void await_suspend(std::coroutine_handle<> waiting) const noexcept { stream_.waiting_ = waiting; }
  bool await_resume() const noexcept { return stream_.active(); }

 private:
  Http2Connection& connection_;
  Http2Stream& stream_;
  Begin how_;
};

class Http2Stream::Send {
 public:
  Send(Http2Stream& stream, std::string_view bytes, bool last) noexcept
      : stream_(stream), bytes_(bytes), last_(last) {}
  [[nodiscard]] bool await_ready() const noexcept {
    if (stream_.state_ != State::open) return true;
    stream_.take(bytes_, last_);
    return stream_.buffer_.size() - stream_.buffer_at_ < kSendBuffer;
  }
  void await_suspend(std::coroutine_handle<> waiting) const noexcept { stream_.waiting_ = waiting; }
  bool await_resume() const noexcept { return stream_.active(); }

 private:
  Http2Stream& stream_;
  std::string_view bytes_;
  bool last_;
};

class Http2Stream::Receive {
 public:
  explicit Receive(Http2Stream& stream) noexcept : stream_(stream) {}
  [[nodiscard]] bool await_ready() const noexcept { return stream_.fresh_ || !stream_.active(); }
  void await_suspend(std::coroutine_handle<> waiting) const noexcept {
    stream_.receiver_ = waiting;
  }
  bool await_resume() const noexcept { return std::exchange(stream_.fresh_, false); }

 private:
  Http2Stream& stream_;
};

inline Http2Stream::Send Http2Stream::send(std::string_view bytes, bool last) noexcept {
  return {*this, bytes, last};
}
inline Http2Stream::Receive Http2Stream::receive() noexcept { return Receive(*this); }

inline Http2Connection::Whole Http2Connection::exchange(Http2Stream& stream,
                                                        const Http2Request& request,
                                                        Instant deadline,
                                                        ResponseSink* sink) noexcept {
  return {*this, stream, {&request, deadline, sink, false}};
}
inline Http2Connection::Start Http2Connection::start(Http2Stream& stream,
                                                     const Http2Request& request, Instant deadline,
                                                     ResponseSink* sink) noexcept {
  return {*this, stream, {&request, deadline, sink, true}};
}

}  // namespace onbeat::http
