#include "target/http_target.hpp"

#include "target/http2_connection.hpp"
#include "target/http_connection.hpp"

#include <utility>

namespace onbeat::target {

TargetCounts& TargetCounts::operator+=(const TargetCounts& other) noexcept {
  connections += other.connections;
  refused += other.refused;
  open += other.open;
  requests += other.requests;
  answers += other.answers;
  return *this;
}

HttpTarget::HttpTarget(net::Loop& loop, const HttpTargetOptions& options, FaultPlan* plan)
    : loop_(loop),
      defaults_{.delay = options.delay, .bytes = options.bytes, .status = options.status},
      line_(options.line),
      own_plan_(plan == nullptr ? std::make_unique<FaultPlan>(options.faults) : nullptr),
      plan_(plan == nullptr ? *own_plan_ : *plan),
      grpc_(options.grpc) {
  loop_.set_hook(this);
}

HttpTarget::~HttpTarget() {
  loop_.set_hook(nullptr);
  while (!open_.empty()) remove(open_.front());
  while (!http2_.empty()) remove(http2_.front());
}

std::expected<net::Address, int> HttpTarget::listen(const net::Address& at) {
  auto listener = loop_.listen(at, *this);
  if (!listener) return std::unexpected(listener.error());
  listener_ = *std::move(listener);
  return listener_->address();
}

TargetCounts HttpTarget::counts() const noexcept {
  // Ends first: a connection that opens or ends meanwhile does not make `open` negative.
  const std::uint64_t ended = ended_.get();
  TargetCounts counts{.connections = connections_.get(),
                      .refused = refused_.get(),
                      .requests = requests_.get(),
                      .answers = answers_.get()};
  counts.open = counts.connections - counts.refused - ended;
  return counts;
}

void HttpTarget::accepted(std::unique_ptr<net::Transport> transport) {
  connections_.add(1);
  if (!plan_.enter()) {
    refused_.add(1);
    transport->reset();
    return;
  }
  if (grpc_) return serve_http2(std::move(transport), {});
  open_.emplace_front(*this, std::move(transport)).start(open_.begin());
}

void HttpTarget::serve_http2(std::unique_ptr<net::Transport> transport,
                             std::string_view received) noexcept {
  http2_.emplace_front(*this, std::move(transport)).start(http2_.begin(), received);
}

void HttpTarget::upgrade(HttpConnection& connection, std::string_view received) noexcept {
  connection.transport_->forget_waiters();
  serve_http2(std::move(connection.transport_), received);
  open_.erase(connection.self_);
}

Instant HttpTarget::on_turn(Instant) noexcept {
  // Ending a turn removes no connection but that one, and marks none.
  for (std::size_t i = 0; i < marked_.size(); ++i) marked_[i]->end_turn();
  marked_.clear();
  return kernel::kNever;
}

void HttpTarget::remove(HttpConnection& connection) noexcept {
  ended_.add(1);
  plan_.leave();
  open_.erase(connection.self_);
}

void HttpTarget::remove(Http2Connection& connection) noexcept {
  ended_.add(1);
  plan_.leave();
  http2_.erase(connection.self_);
}

}  // namespace onbeat::target
