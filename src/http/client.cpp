#include "http/client.hpp"

#include <algorithm>
#include <array>
#include <cerrno>
#include <utility>

namespace onbeat::http {

using net::NetError;

Connection::Connection(net::Loop& loop, Peer& peer)
    : loop_(loop), peer_(peer), connector_(loop, peer, *this), deadline_(loop.timers(), *this) {}

Connection::~Connection() { close(); }

Connection::Operation Connection::open() {
  close();
  return {*this, nullptr, kNever, nullptr};
}

bool Connection::Operation::await_suspend(std::coroutine_handle<> waiting) noexcept {
  connection_.begin(*this);
  // What has ended by now has nobody to resume.
  const bool pending = next_ != this;
  if (pending) waiting_ = waiting;
  return pending;
}

void Connection::begin(Operation& operation) noexcept {
  (first_ == nullptr ? first_ : last_->next_) = &operation;
  last_ = &operation;
  if (unsent_ == nullptr) {
    unsent_ = &operation;
    sent_ = 0;
  }
  if (step_ == Step::open && first_ == &operation) idle_check();
  if (step_ == Step::closed) return connect();
  if (step_ != Step::open) return;
  if (first_ == &operation) {
    watch_deadline();
    begin_response();
  }
  send();
}

// --- connecting ---

void Connection::connect() noexcept {
  step_ = Step::connecting;
  deadline_.set(std::min(first_->deadline_, loop_.latest() + peer_.connect_timeout));
  connector_.begin();
}

void Connection::connected() noexcept {
  transport_ = connector_.take();
  carried_ = 0;
  step_ = Step::open;
  Exchange& exchange = first_->exchange_;
  exchange.connected = true;
  exchange.connect = connector_.connect_time();
  exchange.tls = connector_.tls_time();
  Operation* only_open = first_->request_ == nullptr ? &take_first() : nullptr;
  if (first_ != nullptr) {
    watch_deadline();
    begin_response();
    send();
  }
  if (only_open != nullptr) finish(*only_open, NetError::none, 0);
}

// Every operation that waits for the connection has failed with it.
void Connection::connect_failed(NetError error, int system_error) noexcept {
  failure_ = connector_.failure();
  step_ = Step::closed;
  end_all(error, error, system_error);
}

// --- exchanging ---

// An idle connection with something to read has been closed by the peer, or was sent bytes that
// belong to nothing: it cannot carry another exchange.
void Connection::idle_check() noexcept {
  if (!transport_->readable()) return;
  const auto result = transport_->read_some(loop_.scratch());
  if (result.would_block()) return;
  ++(net::io_error(result.error) == NetError::reset ? peer_.ledger.reset
                                                    : peer_.ledger.closed_by_peer);
  drop_transport();
}

// Sends what can be sent of all that wait. A failed write is not looked at: the peer may have
// answered before it closed, so its response is read first, and the error comes up again there.
void Connection::send() noexcept {
  while (unsent_ != nullptr) {
    if (sent_ == 0 && carried_++ != 0) ++peer_.ledger.reused;
    const std::array<std::string_view, 1> piece{
        std::string_view(unsent_->request_->bytes).substr(sent_)};
    const auto result = transport_->write_some(piece);
    if (result.would_block()) {
      if (sent_ == 0) --carried_;
      transport_->wait_writable(*this);
      break;
    }
    if (result.error != 0) {
      write_error_ = result.error;
      break;
    }
    sent_ += result.bytes;
    unsent_->exchange_.bytes_sent += static_cast<std::uint32_t>(result.bytes);
    if (sent_ < unsent_->request_->bytes.size()) continue;
    unsent_ = unsent_->next_;
    sent_ = 0;
  }
  transport_->wait_readable(*this);
}

void Connection::ready() noexcept {
  if (step_ != Step::open || first_ == nullptr) return;
  if (unsent_ != nullptr) send();
  receive();
}

void Connection::receive() noexcept {
  for (;;) {
    const auto buffer = loop_.scratch();
    const auto result = transport_->read_some(buffer);
    if (result.would_block()) return transport_->wait_readable(*this);
    if (result.error != 0) {
      const bool tls = result.error == EPROTO && peer_.tls != nullptr;
      if (tls) failure_ = transport_->failure();
      const NetError error = tls ? NetError::tls : net::io_error(result.error);
      if (!tls) ++peer_.ledger.reset;
      note_status();
      drop_transport();
      return end_all(error, error, tls ? 0 : result.error);
    }
    if (result.bytes == 0) return peer_ended();
    std::string_view bytes(buffer.data(), result.bytes);
    while (!bytes.empty()) {
      const bool body_follows = parsing_ && parser_.header_done();
      std::size_t consumed = 0;
      const auto state = take_response(bytes, consumed);
      bytes.remove_prefix(consumed);
      Exchange& exchange = first_->exchange_;
      exchange.bytes_received += static_cast<std::uint32_t>(consumed);
      if (!body_follows && state == ResponseParser::State::more && parser_.header_done())
        exchange.header_done = loop_.now();
      if (state == ResponseParser::State::failed) {
        failure_ = parser_.error();
        drop_transport();
        return end_all(NetError::protocol, NetError::reset);
      }
      if (state == ResponseParser::State::more) break;
      if (!bytes.empty() && first_->next_ == nullptr) {
        // The response counts; what follows it belongs to no request, so the connection cannot be
        // trusted.
        drop_transport();
        return end_first(NetError::excess_data);
      }
      if (!response_complete()) return;
    }
    if (first_ == nullptr) return;
  }
}

void Connection::begin_response() noexcept { parsing_ = false; }

// Gives bytes to the parser, or knows them. After a whole response, status and keep-alive are
// noted.
ResponseParser::State Connection::take_response(std::string_view bytes,
                                                std::size_t& consumed) noexcept {
  const bool to_head = first_->request_->is_head;
  const bool may_be_known = !parsing_ && first_->sink_ == nullptr;
  KnownResponse& known = peer_.known;
  if (may_be_known && known.bytes == bytes && known.to_head == to_head) {
    consumed = bytes.size();
    first_->exchange_.status = known.status;
    keep_alive_ = known.keep_alive;
    return ResponseParser::State::complete;
  }
  if (!parsing_) {
    parsing_ = true;
    parser_.begin(to_head, first_->sink_);
  }
  const auto state = parser_.feed(bytes, consumed);
  if (state != ResponseParser::State::complete) return state;
  first_->exchange_.status = parser_.status();
  keep_alive_ = parser_.keep_alive();
  if (may_be_known && consumed == bytes.size() && bytes.size() <= KnownResponse::kLongest) {
    known.bytes.assign(bytes);
    known.status = parser_.status();
    known.keep_alive = keep_alive_;
    known.to_head = to_head;
  }
  return state;
}

// After a whole response. False: this connection has nothing more to read now (or is gone; who
// awaited the response may even have destroyed it).
bool Connection::response_complete() noexcept {
  serves_ = true;
  const bool cut = first_ == unsent_;  // answered before it was sent whole
  const bool keep =
      keep_alive_ && !cut && peer_.keep_alive && carried_ < peer_.requests_per_connection;
  if (!keep) {
    if (!keep_alive_) ++peer_.ledger.closed_by_peer;
    if (cut) unsent_ = first_->next_;
    drop_transport();
    // What was sent behind it has not been processed (RFC 9112, 9.6): it is sent again.
    if (Operation* rest = first_->next_; rest != nullptr) {
      unsent_ = rest;
      sent_ = 0;
    }
    end_first(NetError::none);
    return false;
  }
  const bool more = first_->next_ != nullptr;
  end_first(NetError::none);
  return more;
}

void Connection::peer_ended() noexcept {
  // A write that failed took the error of a reset: the read after it sees no more than an end.
  const NetError write_error = net::io_error(write_error_);
  ++(write_error == NetError::reset ? peer_.ledger.reset : peer_.ledger.closed_by_peer);
  const int system_error = write_error_;
  drop_transport();
  if (!parsing_) {
    const NetError error = write_error == NetError::none ? NetError::closed_early : write_error;
    return end_all(error, error, system_error);
  }
  const bool whole = parser_.end_of_stream() == ResponseParser::State::complete;
  note_status();
  end_all(whole                   ? NetError::none
          : parser_.header_done() ? NetError::short_body
                                  : NetError::protocol,
          NetError::closed_early);
}

// --- ending ---

void Connection::note_status() noexcept {
  if (parsing_ && parser_.header_done()) first_->exchange_.status = parser_.status();
}

void Connection::watch_deadline() noexcept {
  if (first_->deadline_ != kNever) {
    deadline_.set(first_->deadline_);
  } else {
    deadline_.clear();
  }
}

Connection::Operation& Connection::take_first() noexcept {
  Operation& taken = *first_;
  if (unsent_ == &taken) {
    unsent_ = taken.next_;
    sent_ = 0;
  }
  first_ = taken.next_;
  if (first_ == nullptr) {
    last_ = nullptr;
    deadline_.clear();
  }
  return taken;
}

// The last step: who awaits the operation goes on within it, and may destroy this.
void Connection::finish(Operation& operation, NetError error, int system_error) noexcept {
  operation.exchange_.error = error;
  operation.exchange_.system_error = system_error;
  operation.next_ = &operation;  // the mark of one that has ended
  if (operation.waiting_) operation.waiting_.resume();
}

// Ends the first operation and prepares for the next.
void Connection::end_first(NetError error) noexcept {
  Operation& ended = take_first();
  if (first_ != nullptr && step_ == Step::open) {
    watch_deadline();
    begin_response();
  } else if (first_ != nullptr && step_ == Step::closed) {
    connect();
  }
  finish(ended, error, 0);
}

// Ends all that are pending now; what their coroutines begin meanwhile is not touched.
void Connection::end_all(NetError first, NetError rest, int system_error) noexcept {
  if (first != NetError::none && first != NetError::timeout && first != NetError::cancelled)
    serves_ = false;
  Operation* each = std::exchange(first_, nullptr);
  last_ = unsent_ = nullptr;
  deadline_.clear();
  NetError error = first;
  while (each != nullptr) {
    Operation& ended = *std::exchange(each, each->next_);
    finish(ended, std::exchange(error, rest), system_error);
  }
}

void Connection::on_deadline(Instant now) noexcept {
  if (first_ == nullptr) return;
  const bool timeout = now >= first_->deadline_;
  if (step_ != Step::open) {
    connector_.cancel();
    step_ = Step::closed;
    return end_all(timeout ? NetError::timeout : NetError::connect_timeout,
                   NetError::connect_timeout);
  }
  note_status();
  drop_transport();
  end_all(NetError::timeout, NetError::reset);
}

void Connection::cancel() noexcept {
  if (first_ == nullptr) return;
  if (step_ == Step::open) {
    drop_transport();
  } else {
    connector_.cancel();
    step_ = Step::closed;
  }
  end_all(NetError::cancelled, NetError::cancelled);
}

void Connection::close() noexcept {
  if (step_ == Step::open) drop_transport();
}

void Connection::drop_transport() noexcept {
  transport_.reset();
  step_ = Step::closed;
  write_error_ = 0;
  --peer_.ledger.open;
}

}  // namespace onbeat::http
