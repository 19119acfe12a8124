#include "http/http2_connection.hpp"

#include "http/http2_session.hpp"

#include <algorithm>
#include <utility>

namespace onbeat::http {

using net::NetError;

Http2Connection::Http2Connection(net::Loop& loop, Peer& peer)
    : loop_(loop),
      peer_(peer),
      connector_(loop, peer, *this, "h2"),
      back_off_(peer.next_address),
      deadline_(loop.timers(), *this),
      connect_deadline_(loop.timers(), *this) {}

Http2Connection::~Http2Connection() {
  if (gone_ != nullptr) *gone_ = true;
  if (soon_) loop_.forget_later(*this);
  close();
}

// --- beginning ---

Http2Connection::Whole Http2Connection::open(Http2Stream& stream) noexcept {
  close();
  return {*this, stream, {nullptr, kNever, nullptr, false}};
}

void Http2Connection::begin(Http2Stream& stream, const Begin& how) noexcept {
  stream.connection_ = this;
  stream.state_ = Http2Stream::State::waiting;
  stream.request_ = how.request;
  stream.only_open_ = how.request == nullptr;
  stream.sink_ = how.sink;
  stream.deadline_ = how.deadline;
  stream.streaming_ = how.streaming;
  stream.number_ = begun_++;
  stream.tries_ = 0;
  stream.waits_for_room_ = stream.fresh_ = false;
  stream.exchange_ = {};
  ready_to_send(stream);
  ++streams_;
  watch(stream.deadline_);
  // An idle connection with something to read has perhaps been closed by the peer.
  if (session_ != nullptr && session_->idle() && session_->readable()) {
    session_->receive();
    take_stock();
  }
  waiting_.push_back(stream);
  hand_out();
  stream.waits_for_room_ =
      stream.state_ == Http2Stream::State::waiting && session_ != nullptr && session_->greeted();
  proceed_soon();
}

/// For its first try, or another.
void Http2Connection::ready_to_send(Http2Stream& stream) noexcept {
  stream.last_ = !stream.streaming_;
  stream.paused_ = stream.sent_all_ = stream.headers_sent_ = false;
  stream.interim_ = stream.header_done_ = stream.ending_ = stream.complete_ =
      stream.reset_by_peer_ = false;
  stream.body_ = stream.only_open_ ? std::string_view{} : stream.request_->body;
  stream.buffer_.clear();
  stream.buffer_at_ = 0;
  stream.header_bytes_ = 0;
  stream.header_read_ = 0;
  stream.content_length_ = -1;
  stream.body_begun_ = 0;
}

void Http2Connection::watch(Instant deadline) noexcept {
  if (deadline >= earliest_) return;
  earliest_ = deadline;
  deadline_.set(deadline);
}

// What waits gets a stream each, as many as there is room for, or a connection.
void Http2Connection::hand_out() noexcept {
  while (Http2Stream* stream = waiting_.first()) {
    if (session_ == nullptr) {
      if (!connecting_ && !resting_) connect();
      return;
    }
    if (stream->only_open_ && session_->greeted()) {
      waiting_.remove(*stream);
      end(*stream, NetError::none);
      continue;
    }
    if (resting_ || !session_->has_room()) return;
    waiting_.remove(*stream);
    if (std::exchange(stream->waits_for_room_, false)) stream->exchange_.started = loop_.now();
    session_->begin(*stream);
    if (stream->streaming_) resume_later(stream->waiting_);
    if (session_->draining()) take_stock();
  }
}

// --- connecting ---

void Http2Connection::connect() noexcept {
  connecting_ = true;
  connect_deadline_.set(loop_.latest() + peer_.connect_timeout);
  connector_.begin();
}

void Http2Connection::connected() noexcept {
  session_ = std::make_unique<Http2Session>(*this, connector_.take());
  proceed();
}

void Http2Connection::connect_failed(NetError error, int system_error) noexcept {
  failure_ = connector_.failure();
  connect_ended(error, system_error);
}

// Whoever waits for the connection has failed with it.
void Http2Connection::connect_ended(NetError error, int system_error) noexcept {
  connecting_ = serves_ = false;
  connect_deadline_.clear();
  while (Http2Stream* stream = waiting_.first()) {
    waiting_.remove(*stream);
    stream->exchange_.processed = false;
    end(*stream, error, system_error);
  }
  proceed_soon();
}

void Http2Connection::on_connect_deadline(Instant) noexcept {
  if (!connecting_) return;
  if (session_ == nullptr) {
    connector_.cancel();
  } else {
    session_.reset();  // connected, but it has never greeted
    --peer_.ledger.open;
  }
  connect_ended(NetError::connect_timeout, 0);
}

// The peer's settings have come.
void Http2Connection::session_opened() noexcept {
  connecting_ = false;
  connect_deadline_.clear();
  Http2Stream* const first = waiting_.first();
  if (first == nullptr) return;
  first->exchange_.connected = true;
  first->exchange_.connect = connector_.connect_time();
  first->exchange_.tls = connector_.tls_time();
  hand_out();
  for (Http2Stream* each = waiting_.first(); each != nullptr; each = Http2StreamList::next(*each))
    each->waits_for_room_ = true;
}

// --- what becomes of sessions ---

void Http2Connection::take_stock() noexcept {
  if (session_ != nullptr && connecting_ && session_->greeted()) session_opened();
  if (session_ != nullptr && session_->draining()) {
    finishing_.push_back(std::move(session_));
    if (std::exchange(connecting_, false)) {
      // It ended before it had begun.
      const Http2Session& session = *finishing_.back();
      connect_ended(session.error() == NetError::none ? NetError::goaway : session.error(),
                    session.system_error());
      rest();
    }
  }
  for (std::size_t i = 0; i < finishing_.size();) {
    if (!finishing_[i]->over()) {
      ++i;
      continue;
    }
    session_ended(*finishing_[i]);
    finishing_.erase(finishing_.begin() + static_cast<std::ptrdiff_t>(i));
  }
}

void Http2Connection::session_ended(Http2Session& session) noexcept {
  --peer_.ledger.open;
  if (session.error() == NetError::reset) {
    ++peer_.ledger.reset;
  } else if (session.closed_by_peer()) {
    ++peer_.ledger.closed_by_peer;
  }
  if (session.served() && !session.complained()) return;
  // One that was of no use: neither is the next, perhaps.
  rest();
  for (Http2Stream* each = waiting_.first(); each != nullptr;) {
    Http2Stream& stream = *std::exchange(each, Http2StreamList::next(*each));
    if (stream.only_open_ || ++stream.tries_ < kMostTries) continue;
    waiting_.remove(stream);
    stream.exchange_.processed = false;
    end(stream, session.complained() ? NetError::goaway : NetError::refused);
  }
}

// --- what becomes of streams ---

// The peer has surely not acted on it: it is sent again, unless there is an `error` that says why
// it must not be. `counts`: as a try; behind a GOAWAY it does not, for the connection counts as one
// if it served nothing.
void Http2Connection::not_processed(Http2Stream& stream, NetError error, std::uint32_t code,
                                    bool counts) noexcept {
  changed_ = true;
  const bool seen = stream.header_bytes_ != 0;
  stream.exchange_.processed = false;
  stream.exchange_.http2_code = code;
  if (stream.reset_by_peer_) rest();
  if (counts) ++stream.tries_;
  if (error != NetError::none) return end(stream, error);
  if (stream.streaming_ || seen || stream.tries_ >= kMostTries)
    return end(stream, NetError::refused);
  stream.state_ = Http2Stream::State::waiting;
  ready_to_send(stream);
  waiting_.insert(stream);
}

void Http2Connection::end(Http2Stream& stream, NetError error, int system_error) noexcept {
  changed_ = true;
  --streams_;
  stream.state_ = Http2Stream::State::ended;
  stream.session_ = nullptr;
  stream.exchange_.error = error;
  stream.exchange_.system_error = system_error;
  if (error == NetError::none) {
    stream.exchange_.processed = true;
    stream.exchange_.http2_code = 0;
    if (!stream.only_open_) served();
  }
  resume_later(stream.waiting_);
  resume_later(stream.receiver_);
}

void Http2Connection::resume_later(std::coroutine_handle<>& waiting) noexcept {
  if (waiting) resumable_.push_back(std::exchange(waiting, nullptr));
}

void Http2Connection::served() noexcept {
  serves_ = true;
  if (!std::exchange(resting_, false)) return back_off_.reset();
  back_off_.reset();
  loop_.timers().disarm(*this);
}

void Http2Connection::rest() noexcept {
  if (std::exchange(resting_, true)) return;
  loop_.timers().arm(*this, loop_.latest() + back_off_.next());
}

void Http2Connection::on_timer(Instant) noexcept {
  resting_ = false;
  proceed();
}

/// Takes an active stream from wherever it is; the peer is told.
void Http2Connection::drop(Http2Stream& stream, std::uint32_t code) noexcept {
  if (stream.session_ != nullptr) {
    stream.session_->reset(stream, code);
  } else {
    waiting_.remove(stream);
    stream.exchange_.processed = false;
  }
}

void Http2Connection::on_deadline(Instant now) noexcept {
  earliest_ = kNever;
  const auto look = [&](Http2StreamList& streams) {
    for (Http2Stream* each = streams.first(); each != nullptr;) {
      Http2Stream& stream = *std::exchange(each, Http2StreamList::next(*each));
      if (now < stream.deadline_) {
        earliest_ = std::min(earliest_, stream.deadline_);
        continue;
      }
      drop(stream, NGHTTP2_CANCEL);
      end(stream, NetError::timeout);
    }
  };
  look(waiting_);
  if (session_ != nullptr) look(session_->streams());
  for (const auto& session : finishing_) look(session->streams());
  if (earliest_ != kNever) deadline_.set(earliest_);
  proceed();
}

void Http2Connection::cancel() noexcept {
  const auto end_all = [this](Http2StreamList& streams) {
    while (Http2Stream* stream = streams.first()) {
      drop(*stream, NGHTTP2_CANCEL);
      end(*stream, NetError::cancelled);
    }
  };
  end_all(waiting_);
  if (session_ != nullptr) end_all(session_->streams());
  for (const auto& session : finishing_) end_all(session->streams());
  close();
  settle();
}

void Http2Connection::close() noexcept {
  if (connecting_ && session_ == nullptr) connector_.cancel();
  connecting_ = resting_ = false;
  loop_.timers().disarm(*this);
  connect_deadline_.clear();
  if (session_ != nullptr) finishing_.push_back(std::move(session_));
  peer_.ledger.open -= finishing_.size();
  finishing_.clear();
}

// --- going on ---

void Http2Connection::ready() noexcept {
  soon_ = false;
  proceed();
}

void Http2Connection::proceed_soon() noexcept {
  if (gone_ != nullptr || std::exchange(soon_, true)) return;
  loop_.call_later(*this);
}

// Resumes who has something to be told, and sends what has come of it, until nothing happens any
// more. Within a coroutine that is resumed here it does nothing: the one outside goes on.
void Http2Connection::proceed() noexcept {
  if (gone_ != nullptr) return;
  do {
    changed_ = false;
    take_stock();
    hand_out();
    if (!settle()) return;
    if (session_ != nullptr) session_->flush();
    for (const auto& session : finishing_) session->flush();
  } while (changed_ || !resumable_.empty());
}

// False: this has been destroyed.
bool Http2Connection::settle() noexcept {
  if (gone_ != nullptr) return true;
  bool gone = false;
  gone_ = &gone;
  for (std::size_t i = 0; i < resumable_.size(); ++i) {
    resumable_[i].resume();
    if (gone) return false;
  }
  resumable_.clear();
  gone_ = nullptr;
  return true;
}

bool Http2Connection::is_open() const noexcept {
  return session_ != nullptr && session_->greeted() && !session_->draining();
}

bool Http2Connection::serves() const noexcept {
  return serves_ || (is_open() && !session_->readable());
}

}  // namespace onbeat::http
