#include "target/http2_connection.hpp"

#include <algorithm>
#include <array>
#include <utility>

namespace onbeat::target {
namespace {

constexpr std::uint32_t kStreams = 10'000;           // allowed at once
constexpr std::int32_t kConnectionWindow = 1 << 30;  // only those of streams hold a client back
constexpr Duration kLongestDrain = std::chrono::seconds(1);

}  // namespace

// From nghttp2 to the connection and its streams.
struct Http2Callbacks {
  static Http2Connection& connection(void* user) noexcept {
    return *static_cast<Http2Connection*>(user);
  }
  static Http2Stream* stream(nghttp2_session* session, std::int32_t id) noexcept {
    return static_cast<Http2Stream*>(nghttp2_session_get_stream_user_data(session, id));
  }
  static bool is_request(const nghttp2_frame& frame) noexcept {
    return frame.hd.type == NGHTTP2_HEADERS && frame.headers.cat == NGHTTP2_HCAT_REQUEST;
  }

  static int begin_headers(nghttp2_session*, const nghttp2_frame* frame, void* user) noexcept {
    if (is_request(*frame)) connection(user).begin_stream(frame->hd.stream_id);
    return 0;
  }
  static int header(nghttp2_session* session, const nghttp2_frame* frame, nghttp2_rcbuf* name,
                    nghttp2_rcbuf* value, std::uint8_t, void* user) noexcept {
    const auto text = [](nghttp2_rcbuf* buffer) {
      const nghttp2_vec bytes = nghttp2_rcbuf_get_buf(buffer);
      return std::string_view(reinterpret_cast<const char*>(bytes.base), bytes.len);
    };
    if (!is_request(*frame)) return 0;
    if (Http2Stream* const found = stream(session, frame->hd.stream_id))
      found->take_field(text(name), text(value), connection(user).target_.loop_.latest());
    return 0;
  }
  static int data(nghttp2_session* session, std::uint8_t, std::int32_t id,
                  const std::uint8_t* bytes, std::size_t size, void*) noexcept {
    nghttp2_session_consume_connection(session, size);
    Http2Stream* const found = stream(session, id);
    if (found == nullptr) return 0;
    found->take_body({reinterpret_cast<const char*>(bytes), size});
    if (found->window_opens == Instant::min()) {
      nghttp2_session_consume_stream(session, id, size);
    } else {
      found->unconsumed += size;
    }
    return 0;
  }
  static int received(nghttp2_session* session, const nghttp2_frame* frame, void* user) noexcept {
    if (frame->hd.type != NGHTTP2_HEADERS && frame->hd.type != NGHTTP2_DATA) return 0;
    Http2Stream* const found = stream(session, frame->hd.stream_id);
    if (found == nullptr) return 0;
    if (is_request(*frame)) connection(user).head_done(*found);
    if ((frame->hd.flags & NGHTTP2_FLAG_END_STREAM) != 0) found->take_end();
    connection(user).touch(*found);
    return 0;
  }
  static int sent(nghttp2_session* session, const nghttp2_frame* frame, void* user) noexcept {
    if (frame->hd.type == NGHTTP2_GOAWAY && frame->goaway.error_code != NGHTTP2_NO_ERROR)
      connection(user).linger(Duration{0});
    if ((frame->hd.type == NGHTTP2_HEADERS || frame->hd.type == NGHTTP2_DATA) &&
        (frame->hd.flags & NGHTTP2_FLAG_END_STREAM) != 0)
      if (Http2Stream* const found = stream(session, frame->hd.stream_id))
        connection(user).ended(*found);
    return 0;
  }
  static int closed(nghttp2_session* session, std::int32_t id, std::uint32_t, void* user) noexcept {
    if (Http2Stream* const found = stream(session, id)) connection(user).close_stream(*found);
    return 0;
  }

  static nghttp2_session_callbacks* all() {
    static nghttp2_session_callbacks* const callbacks = [] {
      nghttp2_session_callbacks* made = nullptr;
      nghttp2_session_callbacks_new(&made);
      nghttp2_session_callbacks_set_on_begin_headers_callback(made, begin_headers);
      nghttp2_session_callbacks_set_on_header_callback2(made, header);
      nghttp2_session_callbacks_set_on_data_chunk_recv_callback(made, data);
      nghttp2_session_callbacks_set_on_frame_recv_callback(made, received);
      nghttp2_session_callbacks_set_on_frame_send_callback(made, sent);
      nghttp2_session_callbacks_set_on_stream_close_callback(made, closed);
      return made;
    }();
    return callbacks;
  }
  static nghttp2_option* options() {
    static nghttp2_option* const option = [] {
      nghttp2_option* made = nullptr;
      nghttp2_option_new(&made);
      nghttp2_option_set_no_auto_window_update(made, 1);
      nghttp2_option_set_no_closed_streams(made, 1);
      return made;
    }();
    return option;
  }
};

Http2Connection::Http2Connection(HttpTarget& target, std::unique_ptr<net::Transport> transport)
    : target_(target),
      transport_(std::move(transport)),
      streams_allowed_(target.plan_.max_streams().value_or(kStreams)) {}

Http2Connection::~Http2Connection() { nghttp2_session_del(session_); }

void Http2Connection::start(std::list<Http2Connection>::iterator self,
                            std::string_view received) noexcept {
  self_ = self;
  if (nghttp2_session_server_new3(&session_, Http2Callbacks::all(), this, Http2Callbacks::options(),
                                  target_.memory_.functions()) != 0) {
    ending_ = Ending::dead;
  } else {
    const nghttp2_settings_entry settings{NGHTTP2_SETTINGS_MAX_CONCURRENT_STREAMS,
                                          streams_allowed_};
    nghttp2_submit_settings(session_, NGHTTP2_FLAG_NONE, &settings, 1);
    nghttp2_session_set_local_window_size(session_, NGHTTP2_FLAG_NONE, 0, kConnectionWindow);
    if (const auto code = target_.plan_.goaway_on_connect())
      nghttp2_submit_goaway(session_, NGHTTP2_FLAG_NONE, 0, *code, nullptr, 0);
    feed(received);
  }
  mark();
}

void Http2Connection::mark() noexcept {
  if (std::exchange(marked_, true)) return;
  target_.marked_.push_back(this);
}

void Http2Connection::touch(Http2Stream& stream) noexcept {
  if (std::exchange(stream.touched, true)) return;
  touched_.push_back(stream.id());
  mark();
}

void Http2Connection::wake_at(Instant when) noexcept {
  if (when >= wakes_at_) return;
  wakes_at_ = when;
  target_.loop_.timers().arm(*this, when);
}

void Http2Connection::end_turn() noexcept {
  const Instant now = target_.loop_.latest();
  if (now >= wakes_at_) wakes_at_ = kernel::kNever;
  if (const Instant thaw = target_.plan_.frozen_until(now); thaw > now) {
    marked_ = false;
    return wake_at(thaw);
  }
  read();
  attend_streams();
  if (now >= goes_away_at_) {
    goes_away_at_ = kernel::kNever;
    nghttp2_submit_goaway(session_, NGHTTP2_FLAG_NONE, last_served_, NGHTTP2_NO_ERROR, nullptr, 0);
  }
  if (goes_away_at_ != kernel::kNever) wake_at(goes_away_at_);
  if (ending_ != Ending::dead) send();
  marked_ = false;  // only now: what comes up in a turn belongs to it
  finish_turn();
}

void Http2Connection::read() noexcept {
  while (ending_ == Ending::none || ending_ == Ending::drains) {
    const std::span<char> buffer = target_.loop_.scratch();
    const net::IoResult result = transport_->read_some(buffer);
    if (result.would_block()) return transport_->wait_readable(*this);
    if (result.bytes == 0) {
      ending_ = Ending::dead;  // the peer's end, or an error
    } else if (ending_ == Ending::none) {
      feed({buffer.data(), result.bytes});
    }
  }
}

void Http2Connection::feed(std::string_view bytes) noexcept {
  // What the peer has done wrong is answered by nghttp2, with GOAWAY. A failure is that this is no
  // HTTP/2 at all.
  if (nghttp2_session_mem_recv(session_, reinterpret_cast<const std::uint8_t*>(bytes.data()),
                               bytes.size()) < 0)
    linger(Duration{0});
}

void Http2Connection::begin_stream(std::int32_t id) noexcept {
  if (spare_.empty()) spare_.push_back(&streams_.emplace_back());
  Http2Stream* const stream = spare_.back();
  spare_.pop_back();
  stream->begin(*this, id, target_.grpc_ ? &*target_.grpc_ : nullptr);
  nghttp2_session_set_stream_user_data(session_, id, stream);
}

void Http2Connection::close_stream(Http2Stream& stream) noexcept {
  if (stream.armed()) target_.loop_.timers().disarm(stream);
  stream.end();
  spare_.push_back(&stream);
}

void Http2Connection::head_done(Http2Stream& stream) noexcept {
  stream.take_head_end();
  if (!target_.plan_.active() && stream.own_faults().empty()) return;
  const Instant now = target_.loop_.latest();
  stream.effects = target_.plan_.strike(now, stream.own_faults());
  const Effects& effects = stream.effects;
  if (effects.max_streams) allow_streams(*effects.max_streams);
  if (effects.window_stall > Duration{0}) stream.window_opens = now + effects.window_stall;
  if (effects.goaway) go_away(stream.id(), *effects.goaway, effects.goaway_wait);
}

void Http2Connection::allow_streams(std::uint32_t count) noexcept {
  if (std::exchange(streams_allowed_, count) == count) return;
  const nghttp2_settings_entry setting{NGHTTP2_SETTINGS_MAX_CONCURRENT_STREAMS, count};
  nghttp2_submit_settings(session_, NGHTTP2_FLAG_NONE, &setting, 1);
}

void Http2Connection::go_away(std::int32_t struck, std::uint32_t code, Duration wait) noexcept {
  if (last_served_ != std::numeric_limits<std::int32_t>::max()) return;
  if (code == NGHTTP2_NO_ERROR) {
    last_served_ = struck;
    nghttp2_submit_shutdown_notice(session_);
    goes_away_at_ = target_.loop_.latest() + wait;
  } else {
    last_served_ = std::max(struck - 2, 0);
    nghttp2_submit_goaway(session_, NGHTTP2_FLAG_NONE, last_served_, code, nullptr, 0);
  }
}

void Http2Connection::attend_streams() noexcept {
  const Instant now = target_.loop_.latest();
  for (std::size_t i = 0; i < touched_.size(); ++i) {
    Http2Stream* const stream = Http2Callbacks::stream(session_, touched_[i]);
    if (stream == nullptr) continue;
    stream->touched = false;
    if (ending_ == Ending::none) attend(*stream, now);
  }
  touched_.clear();
}

// Does for a stream what can be done now, and arms its timer for the rest.
void Http2Connection::attend(Http2Stream& stream, Instant now) noexcept {
  if (stream.unconsumed > 0 && now >= stream.window_opens) open_window(stream);
  if (stream.finishing || stream.id() > last_served_) return wait(stream, kernel::kNever, now);
  const bool expired = now >= stream.deadline();
  if (!stream.wants_answer() && !expired) return wait(stream, stream.deadline(), now);
  if (!std::exchange(stream.counted, true)) {
    target_.requests_.add(1);
    const Duration delay = stream.is_grpc() ? target_.defaults_.delay : wanted_by(stream).delay;
    stream.due =
        std::max(target_.served(now) + delay + stream.effects.delay, stream.effects.not_before);
  }
  const Instant held =
      std::max({stream.due, target_.plan_.stalled_until(now), target_.plan_.frozen_until(now)});
  if (held > now && !expired) return wait(stream, std::min(held, stream.deadline()), now);
  if (stream.answering) {
    go_on(stream, now);
  } else {
    answer(stream, now);
  }
  wait(stream, stream.finishing ? kernel::kNever : stream.deadline(), now);
}

void Http2Connection::wait(Http2Stream& stream, Instant until, Instant now) noexcept {
  if (stream.window_opens > now) until = std::min(until, stream.window_opens);
  if (until != kernel::kNever) target_.loop_.timers().arm(stream, until);
}

void Http2Connection::open_window(Http2Stream& stream) noexcept {
  nghttp2_session_consume_stream(session_, stream.id(), std::exchange(stream.unconsumed, 0));
  stream.window_opens = Instant::min();
}

// The answer has ended with the frame that is being made.
void Http2Connection::ended(const Http2Stream& stream) noexcept {
  target_.answers_.add(1);
  const Effects& effects = stream.effects;
  excess_ += effects.excess;
  if (effects.slow_bytes > 0) slow_ended_ = true;
  // What still comes of the request is of no use (RFC 9113, 8.1).
  if (!stream.is_whole())
    nghttp2_submit_rst_stream(session_, NGHTTP2_FLAG_NONE, stream.id(), NGHTTP2_NO_ERROR);
  if (effects.cut || (effects.close && !effects.say_close)) linger(effects.close_wait);
}

// Frames into the output, as long as they are not many. None once the connection is to end.
void Http2Connection::fill() noexcept {
  while (ending_ == Ending::none && !output_.is_full()) {
    const std::uint8_t* bytes = nullptr;
    const ssize_t n = nghttp2_session_mem_send(session_, &bytes);
    if (n < 0) ending_ = Ending::dead;
    if (n <= 0) return;
    output_.add({reinterpret_cast<const char*>(bytes), static_cast<std::size_t>(n)});
    if (excess_ > 0) output_.add(std::string(std::exchange(excess_, 0), '!'));
    if (std::exchange(slow_ended_, false)) output_.end_slow();
    if (output_.is_cut()) linger(Duration{0});
  }
}

void Http2Connection::send() noexcept {
  output_.borrow(target_.room_);
  for (bool more = true; more;) {
    fill();
    if (cut_in_half_) {
      output_.cut_at(cut_base_ + (output_.total() - cut_base_) / 2);
      linger(Duration{0});
    }
    if (output_.empty()) break;
    more = false;
    switch (output_.write(*transport_, target_.loop_.latest())) {
      case Http2Output::State::sent:
        more = ending_ == Ending::none;
        break;
      case Http2Output::State::blocked:
        transport_->wait_writable(*this);
        break;
      case Http2Output::State::paused:
        wake_at(output_.resumes_at());
        break;
      case Http2Output::State::failed:
        ending_ = Ending::dead;
        break;
    }
  }
  output_.give_back(target_.room_);
}

// What waits still goes out; then, `wait` later, the connection ends.
void Http2Connection::linger(Duration wait) noexcept {
  if (ending_ != Ending::none) return;
  ending_ = Ending::lingers;
  ends_at_ = target_.loop_.latest() + wait;
}

void Http2Connection::finish_turn() noexcept {
  const Instant now = target_.loop_.latest();
  // After GOAWAY, once the last stream has ended.
  if (ending_ == Ending::none && output_.empty() && nghttp2_session_want_read(session_) == 0 &&
      nghttp2_session_want_write(session_) == 0)
    linger(Duration{0});
  if (ending_ == Ending::lingers && output_.empty() && now >= ends_at_) shut();
  if (ending_ == Ending::drains && now >= ends_at_) ending_ = Ending::dead;
  if (ending_ == Ending::dead) return target_.remove(*this);
  if (ending_ != Ending::none) wake_at(std::max(ends_at_, now));
}

// Ends this side, then waits for the peer to end its own: closing at once could turn into a reset
// that destroys what is still under way.
void Http2Connection::shut() noexcept {
  transport_->shutdown_write();
  ending_ = Ending::drains;
  ends_at_ = target_.loop_.latest() + kLongestDrain;
  read();
}

}  // namespace onbeat::target
