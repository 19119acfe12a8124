#include "http/http2_session.hpp"

#include <algorithm>
#include <array>
#include <charconv>
#include <cstring>
#include <new>
#include <utility>

namespace onbeat::http {

using net::NetError;

namespace {

// Longer than any template makes it: what is too long is the peer's to refuse.
constexpr std::size_t kLongestHeaderBlock = std::size_t{16} << 20;
constexpr std::uint32_t kFrameHead = 9;     // RFC 9113, 4.1
constexpr std::size_t kFieldOverhead = 32;  // RFC 9113, 6.5.2
constexpr std::size_t kLongestDebugData = 200;

std::string_view text(const std::uint8_t* bytes, std::size_t size) noexcept {
  return {reinterpret_cast<const char*>(bytes), size};
}

/// "CODE", or "CODE: what the peer said", printable.
std::string complaint(std::uint32_t code, std::string_view said) {
  std::string result = nghttp2_http2_strerror(code);
  said = said.substr(0, kLongestDebugData);
  if (!said.empty()) result += ": ";
  for (const char c : said) result += c >= ' ' && c <= '~' ? c : '?';
  return result;
}

}  // namespace

// nghttp2 calls C functions with the session as user data.
struct Http2Session::Callbacks {
  static Http2Session& self(void* user) noexcept { return *static_cast<Http2Session*>(user); }

  static int begin_headers(nghttp2_session*, const nghttp2_frame* frame, void* user) {
    self(user).reading_ = self(user).find(frame->hd.stream_id);
    return 0;
  }
  static int begin_frame(nghttp2_session*, const nghttp2_frame_hd* head, void* user) {
    if (head->type != NGHTTP2_DATA) return 0;
    if (Http2Stream* stream = self(user).find(head->stream_id)) {
      stream->body_begun_ += static_cast<std::int64_t>(head->length);
      if ((head->flags & NGHTTP2_FLAG_END_STREAM) != 0) stream->ending_ = true;
    }
    return 0;
  }
  static int header(nghttp2_session*, const nghttp2_frame* frame, const std::uint8_t* name,
                    std::size_t name_size, const std::uint8_t* value, std::size_t value_size,
                    std::uint8_t, void* user) {
    Http2Session& session = self(user);
    if (frame->hd.type != NGHTTP2_HEADERS || session.reading_ == nullptr) return 0;
    const bool fits =
        session.on_header(*session.reading_, text(name, name_size), text(value, value_size));
    return fits ? 0 : NGHTTP2_ERR_TEMPORAL_CALLBACK_FAILURE;
  }
  static int frame(nghttp2_session*, const nghttp2_frame* frame, void* user) {
    self(user).on_frame(*frame);
    return 0;
  }
  static int data(nghttp2_session*, std::uint8_t, std::int32_t id, const std::uint8_t* bytes,
                  std::size_t size, void* user) {
    if (Http2Stream* stream = self(user).find(id)) self(user).on_data(*stream, text(bytes, size));
    return 0;
  }
  static int closed(nghttp2_session*, std::int32_t id, std::uint32_t code, void* user) {
    self(user).on_close(self(user).find(id), code);
    return 0;
  }
  static int sent(nghttp2_session*, const nghttp2_frame* frame, void* user) {
    if (frame->hd.type != NGHTTP2_GOAWAY) {
      self(user).on_sent(frame->hd);
    } else if (frame->goaway.error_code != NGHTTP2_NO_ERROR) {
      self(user).violated_ = true;
      self(user).fault_ = complaint(frame->goaway.error_code,
                                    text(frame->goaway.opaque_data, frame->goaway.opaque_data_len));
    }
    return 0;
  }
  static int error(nghttp2_session*, int, const char* words, std::size_t size, void* user) {
    self(user).fault_.assign(words, size);
    return 0;
  }
  static ssize_t read(nghttp2_session*, std::int32_t id, std::uint8_t* into, std::size_t size,
                      std::uint32_t* flags, nghttp2_data_source*, void* user) {
    Http2Stream* stream = self(user).find(id);
    if (stream == nullptr) return NGHTTP2_ERR_TEMPORAL_CALLBACK_FAILURE;
    return self(user).read_body(*stream, {into, size}, *flags);
  }

  static const nghttp2_session_callbacks& all() {
    static const nghttp2_session_callbacks* const made = [] {
      nghttp2_session_callbacks* callbacks = nullptr;
      if (nghttp2_session_callbacks_new(&callbacks) != 0) throw std::bad_alloc();
      nghttp2_session_callbacks_set_on_begin_headers_callback(callbacks, begin_headers);
      nghttp2_session_callbacks_set_on_begin_frame_callback(callbacks, begin_frame);
      nghttp2_session_callbacks_set_on_header_callback(callbacks, header);
      nghttp2_session_callbacks_set_on_frame_recv_callback(callbacks, frame);
      nghttp2_session_callbacks_set_on_data_chunk_recv_callback(callbacks, data);
      nghttp2_session_callbacks_set_on_stream_close_callback(callbacks, closed);
      nghttp2_session_callbacks_set_on_frame_send_callback(callbacks, sent);
      nghttp2_session_callbacks_set_error_callback2(callbacks, error);
      return callbacks;
    }();
    return *made;
  }
};

Http2Session::Http2Session(Http2Connection& connection, std::unique_ptr<net::Transport> transport)
    : connection_(connection),
      settings_(connection.peer_.http2),
      loop_(connection.loop_),
      transport_(std::move(transport)),
      most_(connection.peer_.keep_alive
                ? std::min(connection.peer_.requests_per_connection, kMostStreams)
                : 1),
      keepalive_(loop_.timers(), *this) {
  nghttp2_option* option = nullptr;
  if (nghttp2_option_new(&option) != 0) throw std::bad_alloc();
  nghttp2_option_set_max_deflate_dynamic_table_size(option, settings_.encoder_table_size);
  nghttp2_option_set_max_send_header_block_length(option, kLongestHeaderBlock);
  const int made = nghttp2_session_client_new3(&session_, &Callbacks::all(), this, option,
                                               connection.peer_.memory.functions());
  nghttp2_option_del(option);
  if (made != 0) throw std::bad_alloc();
  greet();
}

Http2Session::~Http2Session() {
  keepalive_.clear();
  if (!dead_) {
    nghttp2_submit_goaway(session_, NGHTTP2_FLAG_NONE, 0, NGHTTP2_NO_ERROR, nullptr, 0);
    flush();
  }
  nghttp2_session_del(session_);
}

void Http2Session::greet() noexcept {
  std::array<nghttp2_settings_entry, 6> entries{};
  std::size_t count = 0;
  const auto tell = [&](std::int32_t id, std::uint32_t value, std::uint32_t standard) {
    if (value != standard) entries[count++] = {id, value};
  };
  tell(NGHTTP2_SETTINGS_HEADER_TABLE_SIZE, settings_.header_table_size, 4'096);
  tell(NGHTTP2_SETTINGS_ENABLE_PUSH, 0, 1);
  tell(NGHTTP2_SETTINGS_INITIAL_WINDOW_SIZE, settings_.window, 65'535);
  tell(NGHTTP2_SETTINGS_MAX_FRAME_SIZE, settings_.max_frame_size, 16'384);
  tell(NGHTTP2_SETTINGS_MAX_HEADER_LIST_SIZE, settings_.max_header_list, 0);
  nghttp2_submit_settings(session_, NGHTTP2_FLAG_NONE, entries.data(), count);
  nghttp2_session_set_local_window_size(session_, NGHTTP2_FLAG_NONE, 0,
                                        static_cast<std::int32_t>(settings_.connection_window));
  last_received_ = loop_.latest();
  transport_->wait_readable(*this);
  if (settings_.keepalive > Duration{}) keepalive_.set(last_received_ + settings_.keepalive);
}

// --- streams ---

void Http2Session::begin(Http2Stream& stream) noexcept {
  stream.state_ = Http2Stream::State::open;
  stream.session_ = this;
  streams_.push_back(stream);
  const auto fields = stream.request_->fields.view();
  const nghttp2_data_provider body{.source = {}, .read_callback = Callbacks::read};
  const std::int32_t id = nghttp2_submit_request(session_, nullptr, fields.data(), fields.size(),
                                                 stream.has_body() ? &body : nullptr, &stream);
  if (id < 0) return die(NetError::io, 0);  // out of memory
  stream.id_ = id;
  ++open_;
  if (begun_++ != 0) ++connection_.peer_.ledger.reused;
  if (begun_ >= most_) draining_ = true;
}

void Http2Session::more_to_send(Http2Stream& stream) noexcept {
  if (std::exchange(stream.paused_, false)) nghttp2_session_resume_data(session_, stream.id_);
}

void Http2Session::reset(Http2Stream& stream, std::uint32_t code) noexcept {
  nghttp2_session_set_stream_user_data(session_, stream.id_, nullptr);
  nghttp2_submit_rst_stream(session_, NGHTTP2_FLAG_NONE, stream.id_, code);
  if (reading_ == &stream) reading_ = nullptr;
  streams_.remove(stream);
  stream.session_ = nullptr;
}

Http2Stream* Http2Session::find(std::int32_t id) const noexcept {
  return static_cast<Http2Stream*>(nghttp2_session_get_stream_user_data(session_, id));
}

// --- reading ---

void Http2Session::ready() noexcept {
  receive();
  connection_.proceed();  // which may destroy this
}

void Http2Session::receive() noexcept {
  connection_.reading_ = true;
  whole_ = nullptr;
  while (!dead_) {
    const auto buffer = loop_.scratch();
    const auto result = transport_->read_some(buffer);
    if (result.would_block()) {
      transport_->wait_readable(*this);
      break;
    }
    if (result.error != 0 || result.bytes == 0) {
      peer_ended(result);
      break;
    }
    if (reads_++ == 0 && text(reinterpret_cast<const std::uint8_t*>(buffer.data()), result.bytes)
                             .starts_with("HTTP/1")) {
      fault_ = "the peer answers in HTTP/1: it does not speak HTTP/2 here";
      die(NetError::protocol, 0);
      break;
    }
    read_stamp_ = {};
    last_received_ = loop_.latest();
    const ssize_t taken = nghttp2_session_mem_recv(
        session_, reinterpret_cast<const std::uint8_t*>(buffer.data()), result.bytes);
    if (taken < 0) die(NetError::protocol, 0);
  }
  // A violation comes out when nghttp2 has the GOAWAY sent: before anybody goes on to use this.
  if (!dead_) flush();
  if (violated_ && whole_ != nullptr) whole_->exchange_.error = NetError::excess_data;
  connection_.reading_ = false;
}

void Http2Session::peer_ended(const net::IoResult& result) noexcept {
  // A write that failed took the error of a reset: the read after it sees no more than an end.
  const int code = result.error != 0 ? result.error : write_error_;
  if (result.error == EPROTO && connection_.peer_.tls != nullptr) {
    fault_ = transport_->failure();
    return die(NetError::tls, 0);
  }
  const NetError error = net::io_error(code);
  if (error != NetError::reset) closed_by_peer_ = true;
  die(error == NetError::none ? NetError::closed_early : error, code);
}

// What is open fails; whoever asks later finds the reason.
void Http2Session::die(NetError error, int system_error) noexcept {
  if (std::exchange(dead_, true)) return;
  error_ = error;
  system_error_ = system_error;
  if (error == NetError::protocol || error == NetError::tls) connection_.failure_ = fault_;
  connection_.changed_ = true;
  connection_.serves_ = false;
  keepalive_.clear();
  while (Http2Stream* stream = streams_.first()) {
    streams_.remove(*stream);
    stream->session_ = nullptr;
    if (!stream->headers_sent_) {
      connection_.not_processed(*stream, NetError::none, 0, true);
    } else {
      const bool cut = error == NetError::closed_early && stream->exchange_.status != 0;
      connection_.end(*stream, cut ? NetError::short_body : error, system_error);
    }
  }
  open_ = 0;
  transport_->close();
}

void Http2Session::on_frame(const nghttp2_frame& frame) noexcept {
  switch (frame.hd.type) {
    case NGHTTP2_HEADERS:
    case NGHTTP2_DATA:
      return on_response_frame(frame.hd);
    case NGHTTP2_RST_STREAM:
      if (Http2Stream* stream = find(frame.hd.stream_id)) stream->reset_by_peer_ = true;
      return;
    case NGHTTP2_SETTINGS:
      if ((frame.hd.flags & NGHTTP2_FLAG_ACK) == 0) on_settings();
      return;
    case NGHTTP2_PING:
      if ((frame.hd.flags & NGHTTP2_FLAG_ACK) == 0 || !std::exchange(ping_sent_, false)) return;
      return keepalive_.set(last_received_ + settings_.keepalive);
    case NGHTTP2_GOAWAY:
      return on_goaway(frame.goaway);
    default:
      return;
  }
}

void Http2Session::on_settings() noexcept {
  greeted_ = true;
  room_ = std::min(settings_.max_streams, nghttp2_session_get_remote_settings(
                                              session_, NGHTTP2_SETTINGS_MAX_CONCURRENT_STREAMS));
  connection_.changed_ = true;
}

// nghttp2 then closes the streams behind the last one that the peer will process (RFC 9113, 6.8).
void Http2Session::on_goaway(const nghttp2_goaway& goaway) noexcept {
  draining_ = closed_by_peer_ = true;
  connection_.changed_ = true;
  if (goaway.error_code == NGHTTP2_NO_ERROR) return;
  goaway_code_ = goaway.error_code;
  connection_.failure_ =
      complaint(goaway.error_code, text(goaway.opaque_data, goaway.opaque_data_len));
}

// A frame of a response is whole.
void Http2Session::on_response_frame(const nghttp2_frame_hd& head) noexcept {
  Http2Stream* const stream = find(head.stream_id);
  if (stream == nullptr) return;
  stream->exchange_.bytes_received += kFrameHead + static_cast<std::uint32_t>(head.length);
  if (head.type == NGHTTP2_HEADERS) {
    reading_ = nullptr;
    if (!std::exchange(stream->interim_, false) && !stream->header_done_) {
      stream->header_done_ = true;
      if ((head.flags & NGHTTP2_FLAG_END_STREAM) == 0) {
        if (read_stamp_ == Instant{}) read_stamp_ = loop_.now();
        stream->header_read_ = reads_;
        stream->exchange_.header_done = read_stamp_;
      }
    }
  }
  if ((head.flags & NGHTTP2_FLAG_END_STREAM) == 0) return;
  stream->complete_ = true;
  // Header and end came in one read: not apart.
  if (stream->header_read_ == reads_) stream->exchange_.header_done = {};
  if (stream->sent_all_) return;  // nghttp2 closes it now
  // The response is whole before the request is: the rest of that is of no use (RFC 9113, 8.1).
  reset(*stream, NGHTTP2_NO_ERROR);
  succeeded(*stream);
}

void Http2Session::succeeded(Http2Stream& stream) noexcept {
  served_ = true;
  whole_ = &stream;
  connection_.end(stream, NetError::none);
}

// False: the header is too large.
bool Http2Session::on_header(Http2Stream& stream, std::string_view name,
                             std::string_view value) noexcept {
  stream.header_bytes_ += static_cast<std::uint32_t>(name.size() + value.size() + kFieldOverhead);
  if (stream.header_bytes_ > settings_.max_header_list) {
    fault_ = "the response's header is larger than " + std::to_string(settings_.max_header_list) +
             " bytes";
    return false;
  }
  const bool status = name == ":status";
  if (!stream.header_done_ && status) {
    int code = 0;
    std::from_chars(value.data(), value.data() + value.size(), code);
    stream.interim_ = code / 100 == 1;
    if (stream.interim_) return true;
    stream.exchange_.status = code;
  }
  if (stream.interim_) return true;
  if (name == "content-length" && !stream.header_done_)
    std::from_chars(value.data(), value.data() + value.size(), stream.content_length_);
  if (stream.sink_ == nullptr) return true;
  stream.fresh_ = true;
  if (status) {
    stream.sink_->on_status(stream.exchange_.status, {});
  } else if (stream.header_done_) {
    stream.sink_->on_trailer(name, value);
  } else {
    stream.sink_->on_field(name, value);
  }
  connection_.resume_later(stream.receiver_);
  return true;
}

void Http2Session::on_data(Http2Stream& stream, std::string_view bytes) noexcept {
  if (stream.sink_ == nullptr) return;
  stream.fresh_ = true;
  stream.sink_->on_body(bytes);
  connection_.resume_later(stream.receiver_);
}

void Http2Session::on_close(Http2Stream* stream, std::uint32_t code) noexcept {
  --open_;
  connection_.changed_ = true;
  if (stream == nullptr) return;
  if (reading_ == stream) reading_ = nullptr;
  streams_.remove(*stream);
  stream->session_ = nullptr;
  if (stream->complete_) return succeeded(*stream);
  const bool refused = code == NGHTTP2_REFUSED_STREAM;
  if (!stream->headers_sent_)
    return connection_.not_processed(*stream, NetError::none, 0, !closed_by_peer_);
  if (stream->reset_by_peer_) {
    if (refused) return connection_.not_processed(*stream, NetError::none, code, true);
    stream->exchange_.http2_code = code;
    connection_.failure_ = complaint(code, {});
    return connection_.end(*stream, NetError::stream_reset);
  }
  if (refused && closed_by_peer_) {
    const NetError error = complained() ? NetError::goaway : NetError::none;
    return connection_.not_processed(*stream, error, complained() ? goaway_code_ : code, false);
  }
  connection_.failure_ = std::exchange(fault_, {});
  connection_.end(*stream, fault_of(*stream));
}

// A stream that nghttp2 has ended for what came on it.
NetError Http2Session::fault_of(const Http2Stream& stream) const noexcept {
  const bool shorter = stream.ending_ && stream.body_begun_ < stream.content_length_;
  return shorter ? NetError::short_body : NetError::protocol;
}

// --- writing ---

void Http2Session::flush() noexcept {
  while (!dead_ && write_error_ == 0) {
    if (out_at_ == out_.size()) {
      out_.clear();
      out_at_ = 0;
    }
    while (out_.size() < kWrite) {
      const std::uint8_t* bytes = nullptr;
      const ssize_t size = nghttp2_session_mem_send(session_, &bytes);
      if (size < 0) return die(NetError::io, 0);
      if (size == 0) break;
      out_.append(reinterpret_cast<const char*>(bytes), static_cast<std::size_t>(size));
    }
    if (out_at_ == out_.size()) break;
    const std::array<std::string_view, 1> piece{std::string_view(out_).substr(out_at_)};
    const auto result = transport_->write_some(piece);
    if (result.would_block()) {
      transport_->wait_writable(*this);
      break;
    }
    // The peer may have said why before it closed: what it sent is read first, and the error comes
    // up again there.
    if (result.error != 0) {
      write_error_ = result.error;
      transport_->wait_readable(*this);
      break;
    }
    out_at_ += result.bytes;
  }
  if (violated_) die(NetError::protocol, 0);
}

void Http2Session::on_sent(const nghttp2_frame_hd& head) noexcept {
  if (head.type != NGHTTP2_HEADERS && head.type != NGHTTP2_DATA) return;
  Http2Stream* const stream = find(head.stream_id);
  if (stream == nullptr) return;
  stream->exchange_.bytes_sent += kFrameHead + static_cast<std::uint32_t>(head.length);
  stream->headers_sent_ = true;
  if ((head.flags & NGHTTP2_FLAG_END_STREAM) != 0) stream->sent_all_ = true;
}

ssize_t Http2Session::read_body(Http2Stream& stream, std::span<std::uint8_t> into,
                                std::uint32_t& flags) noexcept {
  std::size_t filled = std::min(into.size(), stream.body_.size());
  if (filled != 0) {
    std::memcpy(into.data(), stream.body_.data(), filled);
    stream.body_.remove_prefix(filled);
  }
  const std::size_t buffered =
      std::min(into.size() - filled, stream.buffer_.size() - stream.buffer_at_);
  if (buffered != 0) {
    std::memcpy(into.data() + filled, stream.buffer_.data() + stream.buffer_at_, buffered);
    filled += buffered;
    stream.buffer_at_ += buffered;
    if (stream.buffer_at_ == stream.buffer_.size()) {
      stream.buffer_.clear();
      stream.buffer_at_ = 0;
    }
    if (stream.streaming_ && stream.buffer_.size() - stream.buffer_at_ < Http2Stream::kSendBuffer)
      connection_.resume_later(stream.waiting_);
  }
  if (!stream.has_body()) {
    flags |= NGHTTP2_DATA_FLAG_EOF;
  } else if (filled == 0) {
    stream.paused_ = true;
    return NGHTTP2_ERR_DEFERRED;
  }
  return static_cast<ssize_t>(filled);
}

// --- keep-alive ---

void Http2Session::on_keepalive(Instant now) noexcept {
  if (dead_) return;
  if (ping_sent_) {
    die(NetError::keepalive, 0);
    return connection_.proceed();
  }
  const Instant due = last_received_ + settings_.keepalive;
  const bool wanted = settings_.keepalive_while_idle || !streams_.empty();
  if (now < due || !wanted) return keepalive_.set(std::max(due, now + settings_.keepalive / 4));
  nghttp2_submit_ping(session_, NGHTTP2_FLAG_NONE, nullptr);
  ping_sent_ = true;
  keepalive_.set(now + settings_.keepalive_timeout);
  connection_.proceed_soon();
}

}  // namespace onbeat::http
