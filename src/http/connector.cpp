#include "http/connector.hpp"

#include <algorithm>
#include <array>
#include <cerrno>
#include <utility>

namespace onbeat::http {

using net::NetError;

Connector::Connector(net::Loop& loop, Peer& peer, Owner& owner, std::string_view protocol)
    : loop_(loop), peer_(peer), owner_(owner), protocol_(protocol) {
  peer_.ledger.by_address.resize(std::max(peer_.ledger.by_address.size(), peer_.addresses.size()));
}

void Connector::begin() noexcept {
  began_ = loop_.latest();
  connect_time_ = tls_time_ = {};
  address_ = peer_.next_address++ % peer_.addresses.size();
  auto transport = loop_.connect(peer_.addresses[address_], peer_.options);
  if (!transport) return fail(net::connect_error(transport.error()), transport.error());
  transport_ = std::move(*transport);
  step_ = Step::connecting;
  transport_->wait_writable(*this);
}

void Connector::cancel() noexcept {
  if (step_ == Step::idle) return;
  ++peer_.ledger.failed;
  transport_.reset();
  step_ = Step::idle;
}

std::unique_ptr<net::Transport> Connector::take() noexcept {
  ConnectionLedger& ledger = peer_.ledger;
  ++ledger.opened;
  ++ledger.by_address[address_];
  if (std::exchange(ever_opened_, true)) ++ledger.reopened;
  ++ledger.open;
  return std::move(transport_);
}

void Connector::ready() noexcept {
  switch (step_) {
    case Step::idle:
      return;
    case Step::connecting:
      return on_connected();
    case Step::tunnelling:
      return tunnel();
    case Step::securing:
      return on_secured();
  }
}

void Connector::on_connected() noexcept {
  if (const int error = transport_->connect_result(); error != 0)
    return fail(net::connect_error(error), error);
  if (!peer_.tunnel.empty()) {
    step_ = Step::tunnelling;
    tunnel_sent_ = false;
    parser_.begin(true);
    return tunnel();
  }
  secure();
}

// CONNECT and its response; it is small, so that it goes out at once or the proxy is not worth
// waiting for.
void Connector::tunnel() noexcept {
  if (!tunnel_sent_) {
    const std::array<std::string_view, 1> piece{peer_.tunnel};
    const auto result = transport_->write_some(piece);
    if (result.error != 0 || result.bytes < peer_.tunnel.size())
      return fail(NetError::proxy, result.would_block() ? 0 : result.error);
    tunnel_sent_ = true;
  }
  for (;;) {
    const auto buffer = loop_.scratch();
    const auto result = transport_->read_some(buffer);
    if (result.would_block()) return transport_->wait_readable(*this);
    if (result.error != 0 || result.bytes == 0) return fail(NetError::proxy, result.error);
    std::size_t consumed = 0;
    const auto state = parser_.feed({buffer.data(), result.bytes}, consumed);
    if (state == ResponseParser::State::more) continue;
    if (state == ResponseParser::State::failed || parser_.status() / 100 != 2) {
      failure_ = state == ResponseParser::State::failed
                     ? parser_.error()
                     : "the proxy answered " + std::to_string(parser_.status());
      return fail(NetError::proxy, 0);
    }
    return secure();
  }
}

void Connector::secure() noexcept {
  connect_time_ = loop_.now() - began_;
  if (peer_.tls == nullptr) return done();
  step_ = Step::securing;
  transport_ = peer_.tls->wrap(std::move(transport_), loop_, peer_.server_name);
  // A handshake that failed at once tells nobody.
  if (transport_->connect_result() != 0) return on_secured();
  transport_->wait_writable(*this);
}

void Connector::on_secured() noexcept {
  if (const int error = transport_->connect_result(); error != 0) {
    failure_ = transport_->failure();
    return fail(NetError::tls, error == EPROTO ? 0 : error);
  }
  if (!protocol_.empty() && transport_->alpn() != protocol_) {
    failure_ = "the peer did not agree to " + std::string(protocol_) + ": by ALPN it chose ";
    failure_ += transport_->alpn().empty() ? "nothing" : transport_->alpn();
    return fail(NetError::tls, 0);
  }
  tls_time_ = transport_->handshake_time();
  done();
}

void Connector::done() noexcept {
  step_ = Step::idle;
  owner_.connected();
}

void Connector::fail(NetError error, int system_error) noexcept {
  ++peer_.ledger.failed;
  transport_.reset();
  step_ = Step::idle;
  owner_.connect_failed(error, system_error);
}

}  // namespace onbeat::http
