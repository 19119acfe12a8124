#include "target/http_connection.hpp"

#include "target/http2_connection.hpp"

#include <algorithm>
#include <utility>

namespace onbeat::target {
namespace {

constexpr std::size_t kKnownLimit = 16 * 1024;
constexpr Duration kLongestDrain = std::chrono::seconds(1);

}  // namespace

HttpConnection::HttpConnection(HttpTarget& target, std::unique_ptr<net::Transport> transport)
    : target_(target), transport_(std::move(transport)) {}

void HttpConnection::start(std::list<HttpConnection>::iterator self) noexcept {
  self_ = self;
  wake();
}

void HttpConnection::on_timer(Instant) noexcept {
  if (state_ == State::draining) {
    leave();
  } else {
    wake();
  }
}

// Goes on with whatever was waited for.
void HttpConnection::wake() noexcept {
  const Instant now = target_.loop_.latest();
  if (const Instant thaw = target_.plan_.frozen_until(now); thaw > now) {
    wait_until(thaw, state_);
    return;
  }
  Step step = Step::done;
  switch (state_) {
    case State::reading:
      break;
    case State::holding:
      step = release();
      break;
    case State::writing:
      step = write();
      break;
    case State::lingering:
      step = shut();
      break;
    case State::draining:
      step = drain();
      break;
  }
  if (step == Step::done) read();
}

HttpConnection::Step HttpConnection::wait_until(Instant when, State state) noexcept {
  state_ = state;
  target_.loop_.timers().arm(*this, when);
  return Step::waits;
}

HttpConnection::Step HttpConnection::leave() noexcept {
  target_.remove(*this);
  return Step::gone;
}

void HttpConnection::read() noexcept {
  if (!interim_.empty()) send_interim();
  if (!left_.empty() && take(std::exchange(left_, {})) != Step::done) return;
  for (;;) {
    const std::span<char> buffer = target_.loop_.scratch();
    const net::IoResult result = transport_->read_some(buffer);
    if (result.would_block()) return transport_->wait_readable(*this);
    if (result.bytes == 0) {
      leave();  // the peer's end, or an error
      return;
    }
    const std::string_view data(buffer.data(), result.bytes);
    if ((decided_ ? take(data) : decide(data)) != Step::done) return;
  }
}

// The first bytes tell HTTP/2 from HTTP/1.1 (RFC 9113, 3.3).
HttpConnection::Step HttpConnection::decide(std::string_view data) noexcept {
  first_ += data;
  if (!kHttp2Preface.starts_with(std::string_view(first_).substr(0, kHttp2Preface.size()))) {
    decided_ = true;
    return take(std::exchange(first_, {}));
  }
  if (first_.size() < kHttp2Preface.size()) return Step::done;
  const std::string received = std::move(first_);
  target_.upgrade(*this, received);
  return Step::gone;
}

// Answers the requests in `data` as far as that goes at once. done: all of it is taken.
HttpConnection::Step HttpConnection::take(std::string_view data) noexcept {
  while (!data.empty()) {
    std::size_t used = 0;
    if (!known_.empty() && !parser_.begun() && data.starts_with(known_)) {
      used = known_.size();
    } else if (!parse(data, used)) {
      return Step::done;
    }
    data.remove_prefix(used);
    const Step step = answer();
    if (step == Step::waits) left_.assign(data);
    if (step != Step::done) return step;
  }
  return Step::done;
}

// Whether a request is whole now (or cannot become one); `used` of `data` belong to it.
bool HttpConnection::parse(std::string_view data, std::size_t& used) noexcept {
  const bool in_one_piece = !parser_.begun();
  if (in_one_piece) {
    known_.clear();
    parser_.begin();
    continued_ = false;
  }
  switch (parser_.feed(data, used)) {
    case http::RequestParser::State::more:
      if (parser_.header_done() && parser_.request().expects_continue && !continued_)
        send_continue();
      return false;
    case http::RequestParser::State::failed:
      plain_ = bad_request("not a valid HTTP/1.1 request: " + parser_.error() + "\n");
      used = data.size();
      refused_request_ = true;
      break;
    case http::RequestParser::State::complete:
      prepare(in_one_piece ? data.substr(0, used) : std::string_view());
      break;
  }
  return true;
}

// Makes the answer without faults, and remembers the request's `bytes` where it came in one piece.
void HttpConnection::prepare(std::string_view bytes) noexcept {
  const http::ReceivedRequest& request = parser_.request();
  own_faults_.clear();
  refused_request_ = false;
  if (const std::string* wish = request.field("X-Fault")) {
    auto faults = parse_fault_header(*wish);
    if (!faults) {
      plain_ = bad_request("X-Fault: " + faults.error() + "\n");
      refused_request_ = true;
      return;
    }
    own_faults_ = *std::move(faults);
  }
  plain_ = make_answer(request, target_.defaults_, Effects{});
  if (bytes.size() <= kKnownLimit) known_ = bytes;
}

// The peer waits for this before it sends the body.
void HttpConnection::send_continue() noexcept {
  continued_ = true;
  interim_ = "HTTP/1.1 100 Continue\r\n\r\n";
  send_interim();
}

// True when nothing of it is left. Else the rest goes out when there is room, at the latest ahead
// of the answer.
bool HttpConnection::send_interim() noexcept {
  while (!interim_.empty()) {
    const net::IoResult result = transport_->write_some({&interim_, 1});
    if (result.would_block()) {
      transport_->wait_writable(*this);
      return false;
    }
    // An error shows again at the next attempt to read or write.
    interim_.remove_prefix(result.error != 0 ? interim_.size() : result.bytes);
  }
  return true;
}

HttpConnection::Step HttpConnection::answer() noexcept {
  const Instant now = target_.loop_.latest();
  sending_ = &plain_;
  if (has_effects_) effects_ = {};
  has_effects_ = false;
  if (!refused_request_) {
    target_.requests_.add(1);
    if (target_.plan_.active() || !own_faults_.empty()) {
      effects_ = target_.plan_.strike(now, own_faults_);
      has_effects_ = true;
      if (effects_.change_bytes()) {
        struck_ = make_answer(parser_.request(), target_.defaults_, effects_);
        sending_ = &struck_;
      }
    }
  }
  const Instant served = refused_request_ ? now : target_.served(now);
  due_ = std::max(served + sending_->delay + effects_.delay, effects_.not_before);
  return release();
}

// Lets the answer go if it is due and nothing holds it back.
HttpConnection::Step HttpConnection::release() noexcept {
  const Instant now = target_.loop_.latest();
  if (due_ > now) return wait_until(due_, State::holding);
  const Instant freed = std::max(target_.plan_.stalled_until(now), target_.plan_.frozen_until(now));
  if (freed > now) return wait_until(freed, State::holding);
  if (effects_.reset) {
    transport_->reset();
    return leave();
  }
  sent_ = 0;
  to_send_ = sending_->size();
  if (effects_.unanswered) {
    to_send_ = 0;
  } else if (effects_.cut) {
    to_send_ = std::min(to_send_, effects_.cut_at.value_or((sending_->body_at + to_send_) / 2));
  }
  return write();
}

HttpConnection::Step HttpConnection::write() noexcept {
  if (!interim_.empty() && !send_interim()) {
    state_ = State::writing;
    return Step::waits;
  }
  while (sent_ < to_send_) {
    const std::uint64_t left = to_send_ - sent_;
    const bool slow = effects_.slow_bytes != 0;
    const net::IoResult result =
        transport_->write_some(next_pieces(slow ? std::min(left, effects_.slow_bytes) : left));
    if (result.would_block()) {
      state_ = State::writing;
      transport_->wait_writable(*this);
      return Step::waits;
    }
    if (result.error != 0) return leave();
    sent_ += result.bytes;
    if (slow && sent_ < to_send_)
      return wait_until(target_.loop_.now() + effects_.slow_gap, State::writing);
  }
  return answered();
}

// What is to be sent next, at most `most` bytes.
std::span<const std::string_view> HttpConnection::next_pieces(std::uint64_t most) noexcept {
  std::size_t count = 0;
  std::uint64_t at = sent_;
  const auto add = [&](std::string_view piece) {
    if (at >= piece.size()) {
      at -= piece.size();
      return;
    }
    piece = piece.substr(at, most);
    at = 0;
    most -= piece.size();
    if (!piece.empty()) pieces_[count++] = piece;
  };
  add(sending_->head);
  const std::uint64_t skipped = std::min(at, sending_->filler);
  at -= skipped;
  std::uint64_t filling = sending_->filler - skipped;
  for (; filling > 0 && most > 0 && count < pieces_.size() - 1;) {
    const std::uint64_t piece = std::min<std::uint64_t>(filling, filler().size());
    add(filler().substr(0, piece));
    filling -= piece;
  }
  if (filling == 0) add(sending_->tail);
  return {pieces_.data(), count};
}

HttpConnection::Step HttpConnection::answered() noexcept {
  target_.answers_.add(1);
  state_ = State::reading;
  if (!sending_->close && !effects_.close && !effects_.cut) return Step::done;
  if (effects_.close_wait > Duration{0})
    return wait_until(target_.loop_.now() + effects_.close_wait, State::lingering);
  return shut();
}

// Ends this side, then waits for the peer to end its own: closing at once could turn into a reset
// that destroys what is still under way.
HttpConnection::Step HttpConnection::shut() noexcept {
  transport_->shutdown_write();
  wait_until(target_.loop_.now() + kLongestDrain, State::draining);
  return drain();
}

HttpConnection::Step HttpConnection::drain() noexcept {
  for (;;) {
    const net::IoResult result = transport_->read_some(target_.loop_.scratch());
    if (result.would_block()) {
      transport_->wait_readable(*this);
      return Step::waits;
    }
    if (result.bytes == 0) return leave();
  }
}

}  // namespace onbeat::target
