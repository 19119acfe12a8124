// The gRPC client: calls on an HTTP/2 connection.
//
// Set up once (any thread):
//   schema = Schema::from_proto_files(...) | from_descriptor_sets(...) | co_await reflect(...)
//   method = schema->find_method("shop.Catalog/GetPrice")       path, shape, types
//   prepared = PreparedMessage::compile(json, *method.input, find_hole)
//   http::Http2Request request{call_fields(options), prepared.framed()};
// An Http2Request is shared by all calls that are alike; who varies the body or metadata has one a
// worker: `fields.truncate(n)`, `fields.add(...)`, `body = rendered`.
//
// Per worker, one call after another:
//   Call call(loop, limits);
//   const CallOutcome& outcome = co_await call.unary(connection, request, deadline);
//   outcome.status, call.message() (the response), call.status_message(), call.trailers()
// Any shape, with messages as they come:
//   co_await call.start(connection, request, deadline, method.shape)   the body goes first, if any
//   co_await call.send(framed), co_await call.send(framed, true), co_await call.half_close()
//   while (co_await call.more())                  something has come; false: the call has ended
//     while (call.next()) use(call.message(), call.message_arrived());
//   const CallOutcome& outcome = call.finish();
// All are awaited directly and end exactly once; unary() allocates nothing of its own once warm.
// One coroutine may send while another receives. A response as JSON: MessageReader
// (message_reader.hpp); an error's details: read_details(). Belongs to its loop's thread.
//
// A call that the server has surely not processed is sent again by the connection (unary, and only
// then); of a stream, outcome.exchange.processed tells whether starting it again is safe.
#pragma once

#include "grpc/framing.hpp"
#include "grpc/gzip.hpp"
#include "grpc/metadata.hpp"
#include "grpc/schema.hpp"
#include "grpc/status.hpp"
#include "http/http2_connection.hpp"

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace onbeat::grpc {

using kernel::Duration;
using kernel::Instant;

enum class Compression : std::uint8_t { none, gzip };

/// What the header of a call says.
struct CallOptions {
  std::string path;  // Method::path
  std::string scheme = "http";
  std::string authority;  // "host:port"
  std::string user_agent;
  std::optional<Duration> timeout;  // told to the server; the client's own deadline is unary()'s
  /// gzip: the messages that are sent may be compressed (Gzip::compress_framed), and the server's
  /// too. A compressed response is understood in any case.
  Compression compression = Compression::none;
  /// Names in lower case; a "-bin" value is its bytes. metadata_fault() must have nothing to say.
  std::vector<std::pair<std::string, std::string>> metadata;
};
[[nodiscard]] http::Http2Fields call_fields(const CallOptions& options);

struct CallLimits {
  std::uint32_t max_send = kDefaultMaxMessage, max_receive = kDefaultMaxMessage;  // bytes
  /// Keep what metadata() and trailers() give; else only the status is.
  bool keep_metadata = false;
};

struct CallOutcome {
  StatusCode status = StatusCode::unknown;
  /// The server said so (grpc-status); else the client concluded it.
  bool from_server = false;
  std::uint64_t messages = 0;  // received whole
  http::Exchange exchange;     // bytes, times, the HTTP status, why the transport failed
};

class Call final : private http::ResponseSink {
 public:
  Call(net::Loop& loop, const CallLimits& limits = {}) noexcept;
  /// No call may be going on: cancel() first.
  ~Call() = default;
  Call(const Call&) = delete;
  Call& operator=(const Call&) = delete;

  class Unary;
  class Start;
  /// Awaited until the call has ended: a CallOutcome. `request` and its body must live until then.
  [[nodiscard]] Unary unary(http::Http2Connection& connection, const http::Http2Request& request,
                            Instant deadline) noexcept;
  /// Awaited until it has a stream: true. False: it has ended (finish()). `request` must live until
  /// then, its body until the call has ended.
  [[nodiscard]] Start start(http::Http2Connection& connection, const http::Http2Request& request,
                            Instant deadline, Shape shape) noexcept;
  /// A message with its prefix; see http::Http2Stream::send(). False: the call has ended.
  [[nodiscard]] http::Http2Stream::Send send(std::string_view framed, bool last = false) noexcept;
  [[nodiscard]] http::Http2Stream::Send half_close() noexcept { return send({}, true); }
  /// Awaited until bytes have come or the call has ended. False: it has ended and next() has told
  /// everything.
  [[nodiscard]] http::Http2Stream::Receive more() noexcept { return stream_.receive(); }
  /// Whether another message has come whole. After a fault (too long, corrupt) the call is
  /// cancelled and its outcome says why.
  [[nodiscard]] bool next() noexcept;
  /// After it has ended; once.
  const CallOutcome& finish() noexcept;
  /// Ends it now: CANCELLED.
  void cancel() noexcept { stream_.cancel(); }
  [[nodiscard]] bool active() const noexcept { return stream_.active(); }

  /// Of unary() or next(), decompressed; until the next suspension or next().
  [[nodiscard]] std::string_view message() const noexcept { return message_; }
  /// When its last byte was read (the loop's latest reading then).
  [[nodiscard]] Instant message_arrived() const noexcept { return message_arrived_; }
  [[nodiscard]] const CallOutcome& outcome() const noexcept { return outcome_; }
  /// Of a call that failed: the server's words, or the client's. Allocates.
  [[nodiscard]] std::string status_message() const;
  /// grpc-status-details-bin as it came; empty: none.
  [[nodiscard]] std::string_view details() const noexcept { return details_; }
  [[nodiscard]] const MetadataList& metadata() const noexcept { return metadata_; }
  [[nodiscard]] const MetadataList& trailers() const noexcept { return trailers_; }

 private:
  void on_status(int status, std::string_view reason) override;
  void on_field(std::string_view name, std::string_view value) override;
  void on_body(std::string_view part) override;
  void on_trailer(std::string_view name, std::string_view value) override;

  void begin(const http::Http2Request& request, Instant deadline, Shape shape) noexcept;
  bool take_protocol_field(std::string_view name, std::string_view value);
  void fail(StatusCode status, const char* why) noexcept;
  void judge(const http::Exchange& exchange) noexcept;
  void judge_messages() noexcept;
  bool inflate() noexcept;

  net::Loop& loop_;
  CallLimits limits_;
  http::Http2Stream stream_;
  MessageDecoder decoder_;
  std::unique_ptr<Gzip> gzip_;  // made when a compressed message comes
  Instant deadline_ = kernel::kNever;
  Shape shape_ = Shape::unary;
  bool refused_ = false;  // by us, before anything was sent

  // Of the response so far.
  std::optional<StatusCode> status_;  // grpc-status
  bool bad_status_ = false;           // grpc-status that is no number
  bool is_grpc_ = false;              // the content type
  bool gzip_encoding_ = false, other_encoding_ = false;
  std::optional<StatusCode> fault_;  // found by the client
  const char* why_ = "";             // in words that live for ever
  std::string status_text_;          // grpc-message, encoded
  std::string details_;
  std::string content_type_;
  MetadataList metadata_, trailers_;
  std::vector<Instant> arrivals_;  // of whole messages that are not handed out, from handed_out_ on
  std::size_t handed_out_ = 0;
  std::string inflated_;
  std::string_view message_;
  Instant message_arrived_{};
  CallOutcome outcome_;
};

class Call::Unary {
 public:
  [[nodiscard]] bool await_ready() const noexcept { return refused_; }
  bool await_suspend(std::coroutine_handle<> waiting) noexcept {
    return whole_.await_suspend(waiting);
  }
  [[nodiscard]] const CallOutcome& await_resume() noexcept { return call_.finish(); }

 private:
  friend class Call;
  Unary(Call& call, http::Http2Connection::Whole whole, bool refused) noexcept
      : call_(call), whole_(whole), refused_(refused) {}
  Call& call_;
  http::Http2Connection::Whole whole_;
  bool refused_;
};

class Call::Start {
 public:
  [[nodiscard]] bool await_ready() const noexcept { return refused_ || start_.await_ready(); }
  void await_suspend(std::coroutine_handle<> waiting) noexcept { start_.await_suspend(waiting); }
  [[nodiscard]] bool await_resume() noexcept { return !refused_ && start_.await_resume(); }

 private:
  friend class Call;
  Start(http::Http2Connection::Start start, bool refused) noexcept
      : start_(start), refused_(refused) {}
  http::Http2Connection::Start start_;
  bool refused_;
};

}  // namespace onbeat::grpc
