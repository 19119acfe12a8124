#include "http/client.hpp"

#include <algorithm>
#include <array>
#include <utility>

namespace onbeat::http {

using net::NetError;

Connection::Connection(net::Loop& loop, Peer& peer)
    : loop_(loop), peer_(peer), deadline_(loop.timers(), *this) {
  peer_.ledger.by_address.resize(std::max(peer_.ledger.by_address.size(), peer_.addresses.size()));
}

Connection::~Connection() { close(); }

Connection::Operation Connection::open() {
  close();
  begin(Step::connecting, kNever);
  request_ = nullptr;
  begin_connect();
  return Operation(*this);
}

Connection::Operation Connection::exchange(const Request& request, Instant deadline,
                                           ResponseSink* sink) {
  begin(Step::exchanging, deadline);
  request_ = &request;
  sink_ = sink;
  if (transport_ != nullptr) idle_check();
  if (transport_ != nullptr) {
    begin_exchange();
  } else {
    step_ = Step::connecting;
    begin_connect();
  }
  return Operation(*this);
}

void Connection::begin(Step step, Instant deadline) noexcept {
  step_ = step;
  exchange_ = {};
  waiting_ = nullptr;
  until_ = deadline;
}

void Connection::begin_connect() noexcept {
  connect_began_ = loop_.latest();
  address_ = peer_.next_address++ % peer_.addresses.size();
  auto transport = loop_.connect(peer_.addresses[address_], peer_.options);
  if (!transport) {
    ++peer_.ledger.failed;
    return fail(net::connect_error(transport.error()), transport.error());
  }
  transport_ = std::move(*transport);
  deadline_.set(std::min(until_, connect_began_ + peer_.connect_timeout));
  transport_->wait_writable(*this);
}

void Connection::connected() noexcept {
  if (const int error = transport_->connect_result(); error != 0) {
    ++peer_.ledger.failed;
    transport_.reset();
    return fail(net::connect_error(error), error);
  }
  ConnectionLedger& ledger = peer_.ledger;
  ++ledger.opened;
  ++ledger.by_address[address_];
  if (ever_open_) ++ledger.reopened;
  ledger.open_peak = std::max(ledger.open_peak, ++ledger.open);
  ever_open_ = true;
  used_ = false;
  exchange_.connected = true;
  exchange_.connect = loop_.now() - connect_began_;
  if (request_ == nullptr) return finish();
  step_ = Step::exchanging;
  begin_exchange();
}

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

void Connection::begin_exchange() noexcept {
  if (used_) ++peer_.ledger.reused;
  used_ = true;
  if (until_ != kNever) deadline_.set(until_);
  sent_ = 0;
  parser_.begin(request_->is_head, sink_);
  if (!send()) return;
  transport_->wait_readable(*this);
}

// False when the operation has ended.
bool Connection::send() noexcept {
  while (sent_ < request_->bytes.size()) {
    const std::array<std::string_view, 1> pieces{std::string_view(request_->bytes).substr(sent_)};
    const auto result = transport_->write_some(pieces);
    if (result.would_block()) {
      transport_->wait_writable(*this);
      return true;
    }
    // The peer may have answered before it closed: its response is read first, the error comes up
    // there again.
    if (result.error != 0) return true;
    sent_ += result.bytes;
    exchange_.bytes_sent += static_cast<std::uint32_t>(result.bytes);
  }
  return true;
}

void Connection::ready() noexcept {
  switch (step_) {
    case Step::none:
      return;
    case Step::connecting:
      return connected();
    case Step::exchanging:
      if (sent_ < request_->bytes.size()) send();
      return receive();
  }
}

void Connection::receive() noexcept {
  for (;;) {
    const auto buffer = loop_.scratch();
    const auto result = transport_->read_some(buffer);
    if (result.would_block()) return transport_->wait_readable(*this);
    if (result.error != 0) {
      ++peer_.ledger.reset;
      drop_transport();
      return fail(net::io_error(result.error), result.error);
    }
    if (result.bytes == 0) return peer_ended();
    exchange_.bytes_received += static_cast<std::uint32_t>(result.bytes);
    std::size_t consumed = 0;
    switch (parser_.feed({buffer.data(), result.bytes}, consumed)) {
      case ResponseParser::State::more:
        continue;
      case ResponseParser::State::complete:
        return response_complete(consumed < result.bytes);
      case ResponseParser::State::failed:
        drop_transport();
        return fail(NetError::protocol);
    }
  }
}

void Connection::peer_ended() noexcept {
  ++peer_.ledger.closed_by_peer;
  drop_transport();
  if (!parser_.begun()) return fail(NetError::closed_early);
  if (parser_.end_of_stream() != ResponseParser::State::complete)
    return fail(parser_.header_done() ? NetError::short_body : NetError::protocol);
  exchange_.status = parser_.status();
  finish();
}

void Connection::response_complete(bool more_bytes) noexcept {
  exchange_.status = parser_.status();
  if (more_bytes) {
    // The response counts; what follows it belongs to no request, so the connection cannot be
    // trusted.
    exchange_.error = NetError::excess_data;
    drop_transport();
  } else if (!parser_.keep_alive() || sent_ < request_->bytes.size()) {
    if (!parser_.keep_alive()) ++peer_.ledger.closed_by_peer;
    drop_transport();
  }
  finish();
}

void Connection::fail(NetError error, int system_error) noexcept {
  exchange_.error = error;
  exchange_.system_error = system_error;
  if (parser_.header_done()) exchange_.status = parser_.status();
  finish();
}

void Connection::finish() noexcept {
  step_ = Step::none;
  deadline_.clear();
  if (waiting_) std::exchange(waiting_, nullptr).resume();
}

void Connection::on_deadline(Instant now) noexcept {
  if (step_ == Step::none) return;
  if (step_ == Step::connecting) {
    ++peer_.ledger.failed;
    transport_.reset();
    return fail(now >= until_ ? NetError::timeout : NetError::connect_timeout);
  }
  drop_transport();
  fail(NetError::timeout);
}

void Connection::cancel() noexcept {
  if (step_ == Step::none) return;
  if (step_ == Step::connecting) {
    transport_.reset();
  } else {
    drop_transport();
  }
  fail(NetError::cancelled);
}

void Connection::close() noexcept {
  if (transport_ != nullptr) drop_transport();
}

void Connection::drop_transport() noexcept {
  transport_.reset();
  --peer_.ledger.open;
}

}  // namespace onbeat::http
