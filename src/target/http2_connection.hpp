// One HTTP/2 connection of the target (RFC 9113), of the HTTP and of the gRPC one. All that it does
// is done at the end of the loop's turn: it reads what has come, answers what is due, and sends
// everything in one write.
#pragma once

#include "net/timers.hpp"
#include "net/transport.hpp"
#include "target/http2_output.hpp"
#include "target/http2_stream.hpp"
#include "target/http_target.hpp"

#include <nghttp2/nghttp2.h>

#include <cstdint>
#include <deque>
#include <limits>
#include <list>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace onbeat::target {

/// What a client of HTTP/2 sends first (RFC 9113, 3.4).
inline constexpr std::string_view kHttp2Preface{NGHTTP2_CLIENT_MAGIC, NGHTTP2_CLIENT_MAGIC_LEN};

class Http2Connection final : private net::Waiter, private net::Timer {
 public:
  Http2Connection(HttpTarget& target, std::unique_ptr<net::Transport> transport);
  ~Http2Connection();
  Http2Connection(const Http2Connection&) = delete;
  Http2Connection& operator=(const Http2Connection&) = delete;

  /// `received`: what has been read of it before.
  void start(std::list<Http2Connection>::iterator self, std::string_view received) noexcept;
  /// The end of a turn in which it was marked. It may be gone afterwards.
  void end_turn() noexcept;
  /// The stream is looked at at the end of this turn.
  void touch(Http2Stream& stream) noexcept;

 private:
  friend class HttpTarget;
  friend struct Http2Callbacks;

  enum class Ending : std::uint8_t {
    none,
    lingers,  // what waits goes out, then the connection ends
    drains,   // has closed its side, waits for the peer's
    dead,     // is removed at the end of the turn
  };

  void ready() noexcept override { mark(); }
  void on_timer(Instant) noexcept override { mark(); }
  void mark() noexcept;
  void wake_at(Instant when) noexcept;

  void read() noexcept;
  void feed(std::string_view bytes) noexcept;
  void attend_streams() noexcept;
  void attend(Http2Stream& stream, Instant now) noexcept;
  void go_on(Http2Stream& stream, Instant now) noexcept;
  void wait(Http2Stream& stream, Instant until, Instant now) noexcept;
  void open_window(Http2Stream& stream) noexcept;
  void send() noexcept;
  void fill() noexcept;
  void finish_turn() noexcept;
  void linger(Duration wait) noexcept;
  void shut() noexcept;

  // Answers.
  void answer(Http2Stream& stream, Instant now) noexcept;
  bool lets_answer(Http2Stream& stream) noexcept;
  void begin_bytes_faults(const Effects& effects) noexcept;
  void submit(Http2Stream& stream, std::span<const nghttp2_nv> fields, bool body) noexcept;
  void answer_http(Http2Stream& stream) noexcept;
  void answer_raw(const Wanted& wanted) noexcept;
  void answer_grpc(Http2Stream& stream, Instant now) noexcept;
  void choose_grpc_status(Http2Stream& stream, Instant now) noexcept;
  void submit_trailers(Http2Stream& stream) noexcept;
  void send_interim(Http2Stream& stream) noexcept;
  void go_away(std::int32_t struck, std::uint32_t code, Duration wait) noexcept;
  void allow_streams(std::uint32_t count) noexcept;
  [[nodiscard]] const Wanted& wanted_by(Http2Stream& stream);

  // Called by nghttp2, within feed() and fill().
  void begin_stream(std::int32_t id) noexcept;
  void head_done(Http2Stream& stream) noexcept;
  void ended(const Http2Stream& stream) noexcept;
  void close_stream(Http2Stream& stream) noexcept;

  HttpTarget& target_;
  std::unique_ptr<net::Transport> transport_;
  std::list<Http2Connection>::iterator self_;
  nghttp2_session* session_ = nullptr;
  Http2Output output_;
  std::vector<std::int32_t> touched_;
  Ending ending_ = Ending::none;
  bool marked_ = false;
  bool slow_ended_ = false;  // with the frame that has just been made

  std::int32_t last_served_ = std::numeric_limits<std::int32_t>::max();
  Instant goes_away_at_ = kernel::kNever;  // the second GOAWAY
  Instant ends_at_ = Instant::min();       // while it lingers or drains
  Instant wakes_at_ = kernel::kNever;
  std::uint32_t streams_allowed_;
  std::uint64_t excess_ = 0;  // to be added behind the frame that has just been made
  bool cut_in_half_ = false;  // what the struck answer's frames come to decides where
  std::uint64_t cut_base_ = 0;
  std::string known_path_;
  Wanted known_;  // by it

  std::deque<Http2Stream> streams_;  // as many as were ever open at once
  std::vector<Http2Stream*> spare_;  // of them
};

}  // namespace onbeat::target
