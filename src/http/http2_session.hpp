// One HTTP/2 connection that is up: a transport, nghttp2's state of it, and the streams that are
// open on it. Http2Connection makes and ends it, and is told what becomes of the streams; nothing
// else sees it.
#pragma once

#include "http/http2_connection.hpp"

#include <nghttp2/nghttp2.h>

#include <cstdint>
#include <memory>
#include <string>

namespace onbeat::http {

class Http2Session final : private net::Waiter {
 public:
  Http2Session(Http2Connection& connection, std::unique_ptr<net::Transport> transport);
  /// Says goodbye (GOAWAY) unless the peer is gone. No stream may be open.
  ~Http2Session();
  Http2Session(const Http2Session&) = delete;
  Http2Session& operator=(const Http2Session&) = delete;

  /// The peer's settings have come: it speaks HTTP/2.
  [[nodiscard]] bool greeted() const noexcept { return greeted_; }
  [[nodiscard]] bool has_room() const noexcept {
    return greeted_ && !draining_ && !dead_ && open_ < room_;
  }
  /// It takes no stream any more.
  [[nodiscard]] bool draining() const noexcept { return draining_ || dead_; }
  /// Nothing more will come of it.
  [[nodiscard]] bool over() const noexcept { return dead_ || (draining_ && open_ == 0); }
  [[nodiscard]] bool idle() const noexcept { return open_ == 0; }
  [[nodiscard]] bool readable() const noexcept { return !dead_ && transport_->readable(); }
  /// An exchange on it came back.
  [[nodiscard]] bool served() const noexcept { return served_; }
  /// The peer ended it for a fault of ours.
  [[nodiscard]] bool complained() const noexcept { return goaway_code_ != NGHTTP2_NO_ERROR; }
  [[nodiscard]] Http2StreamList& streams() noexcept { return streams_; }
  /// Why it is dead, and what the ledger calls it.
  [[nodiscard]] net::NetError error() const noexcept { return error_; }
  [[nodiscard]] int system_error() const noexcept { return system_error_; }
  [[nodiscard]] bool closed_by_peer() const noexcept { return closed_by_peer_; }

  /// Sends its request; has_room() must hold.
  void begin(Http2Stream& stream) noexcept;
  /// Something more waits to be sent.
  void more_to_send(Http2Stream& stream) noexcept;
  /// Resets a stream, and forgets it.
  void reset(Http2Stream& stream, std::uint32_t code) noexcept;
  /// Reads what has arrived; the connection is told, but nobody resumed.
  void receive() noexcept;
  /// Writes what waits to be sent, as far as it goes.
  void flush() noexcept;

 private:
  struct Callbacks;
  static constexpr std::size_t kWrite = std::size_t{64} << 10;
  static constexpr std::uint64_t kMostStreams = std::uint64_t{1} << 30;  // ids: RFC 9113, 5.1.1

  void ready() noexcept override;
  void on_keepalive(Instant now) noexcept;
  void greet() noexcept;
  void peer_ended(const net::IoResult& result) noexcept;
  void die(net::NetError error, int system_error) noexcept;

  [[nodiscard]] Http2Stream* find(std::int32_t id) const noexcept;
  void on_frame(const nghttp2_frame& frame) noexcept;
  void on_settings() noexcept;
  void on_goaway(const nghttp2_goaway& goaway) noexcept;
  void on_response_frame(const nghttp2_frame_hd& head) noexcept;
  [[nodiscard]] bool on_header(Http2Stream& stream, std::string_view name,
                               std::string_view value) noexcept;
  void on_data(Http2Stream& stream, std::string_view bytes) noexcept;
  void succeeded(Http2Stream& stream) noexcept;
  void on_close(Http2Stream* stream, std::uint32_t code) noexcept;
  void on_sent(const nghttp2_frame_hd& head) noexcept;
  [[nodiscard]] ssize_t read_body(Http2Stream& stream, std::span<std::uint8_t> into,
                                  std::uint32_t& flags) noexcept;
  [[nodiscard]] net::NetError fault_of(const Http2Stream& stream) const noexcept;

  Http2Connection& connection_;
  const Http2Settings& settings_;
  net::Loop& loop_;
  std::unique_ptr<net::Transport> transport_;
  nghttp2_session* session_ = nullptr;
  Http2StreamList streams_;
  std::uint32_t open_ = 0;  // as the peer counts them
  std::uint32_t room_ = 0;
  std::uint64_t begun_ = 0;
  std::uint64_t most_ = kMostStreams;  // streams that it may carry
  bool greeted_ = false;
  bool draining_ = false;
  bool dead_ = false;
  bool served_ = false;
  bool closed_by_peer_ = false;
  bool violated_ = false;  // nghttp2 has ended it for what the peer sent
  std::uint32_t goaway_code_ = NGHTTP2_NO_ERROR;
  net::NetError error_ = net::NetError::none;
  int system_error_ = 0;
  int write_error_ = 0;
  std::string out_;  // from out_at_ on to be written
  std::size_t out_at_ = 0;
  Http2Stream* reading_ = nullptr;  // whose header block is being read
  Http2Stream* whole_ = nullptr;    // whose response has ended last, while it is being read
  std::uint64_t reads_ = 0;
  Instant read_stamp_{};  // of this read, once somebody has asked
  Instant last_received_{};
  bool ping_sent_ = false;
  std::string fault_;  // nghttp2's words for what was wrong last
  net::Deadline<Http2Session, &Http2Session::on_keepalive> keepalive_;
};

}  // namespace onbeat::http
