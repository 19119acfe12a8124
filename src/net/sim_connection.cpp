#include "net/sim_connection.hpp"

#include <algorithm>
#include <cerrno>

namespace onbeat::net {
namespace {

int other(int side) noexcept { return 1 - side; }

Instant after_stalls(Instant at, const std::vector<SimStall>& stalls) noexcept {
  for (const SimStall& stall : stalls)
    if (at >= stall.from && at < stall.to) at = stall.to;
  return at;
}

Duration line_time(std::size_t bytes, std::uint64_t bytes_per_second) noexcept {
  if (bytes_per_second == 0) return Duration{0};
  return Duration(static_cast<std::int64_t>(static_cast<double>(bytes) * 1e9 /
                                            static_cast<double>(bytes_per_second)));
}

}  // namespace

SimConnection::SimConnection(SimWorld& world, SimPlan plan, std::uint64_t seed, Address client)
    : world_(world),
      plan_(std::move(plan)),
      client_(client),
      up_(plan_.to_server, kernel::splitmix64(seed, 0)),
      down_(plan_.to_client, kernel::splitmix64(seed, 1)) {}

std::unique_ptr<Transport> SimConnection::begin(SimLoop& loop) {
  auto transport = std::make_unique<SimTransport>(loop, shared_from_this(), kClient, plan_.to);
  ends_[kClient].loop = &loop;
  ends_[kClient].transport = transport.get();
  world_.schedule(world_.time() + plan_.to_server.latency, shared_from_this(), syn);
  if (plan_.cut_at != kNever) world_.schedule(plan_.cut_at, shared_from_this(), cut_now);
  record("connect", kClient);
  return transport;
}

void SimConnection::syn_arrives() {
  if (ends_[kClient].closed) return;
  if (plan_.connect_error == 0) {
    SimListener* listener = world_.find_listener(plan_.to, plan_.number);
    if (listener == nullptr)
      plan_.connect_error = ECONNREFUSED;
    else
      listener_ = listener->id();
  }
  world_.schedule(world_.time() + plan_.to_client.latency + plan_.connect_delay, shared_from_this(),
                  answer);
}

void SimConnection::answer_arrives() {
  End& client = ends_[kClient];
  if (client.closed || client.dead) return;
  if (plan_.connect_error != 0) {
    client.error = plan_.connect_error;
    client.dead = true;
    record("failed", kClient);
  } else {
    client.connected = true;
    record("connected", kClient);
    send(kClient, Kind::established);
  }
  mark(kClient);
}

void SimConnection::established() {
  ends_[kServer].connected = true;
  SimListener* listener = world_.find_listener(listener_);
  if (listener != nullptr)
    listener->add(shared_from_this());
  else
    reset(kServer);
}

std::unique_ptr<Transport> SimConnection::accept(SimLoop& loop, std::uint64_t listener) {
  auto transport = std::make_unique<SimTransport>(loop, shared_from_this(), kServer, client_);
  ends_[kServer].loop = &loop;
  ends_[kServer].transport = transport.get();
  listener_ = listener;
  record("accept", kServer);
  mark(kServer);
  return transport;
}

IoResult SimConnection::read(int side, std::span<char> into) {
  End& end = ends_[side];
  Pipe& from = pipe(other(side));
  if (const std::size_t there = end.received.size() - end.taken; there != 0) {
    const std::size_t n = std::min(there, into.size());
    end.received.copy(into.data(), n, end.taken);
    end.taken += n;
    if (end.taken == end.received.size()) {
      end.received.clear();
      end.taken = 0;
    }
    record("read", side, {into.data(), n});
    from.unread -= n;
    if (from.wants_space && can_write(other(side))) {
      from.wants_space = false;
      world_.schedule(world_.time() + pipe(side).plan.latency, shared_from_this(),
                      other(side) == kClient ? space_client : space_server);
    }
    return {n, 0};
  }
  // The order of tcp_recvmsg(): an end that came in order stays one, an error is told once.
  if (end.fin) return {0, 0};
  if (end.error != 0) return {0, take_error(side)};
  if (end.dead) return {0, 0};
  return {0, IoResult::kWouldBlock};
}

IoResult SimConnection::write(int side, std::span<const std::string_view> pieces) {
  End& end = ends_[side];
  Pipe& into = pipe(side);
  if (end.error != 0) return {0, take_error(side)};
  if (end.dead || into.fin_sent) return {0, EPIPE};
  std::string bytes;
  for (const std::string_view piece : pieces.first(std::min<std::size_t>(pieces.size(), 16)))
    bytes += piece;
  const std::size_t room = into.plan.buffer - into.unread;
  if (room < bytes.size()) into.wants_space = true;
  if (room == 0 && !bytes.empty()) return {0, IoResult::kWouldBlock};
  bytes.resize(std::min(bytes.size(), room));
  const std::size_t n = bytes.size();
  record("write", side, bytes);
  if (n != 0) send_data(side, std::move(bytes));
  return {n, 0};
}

void SimConnection::send_data(int side, std::string bytes) {
  Pipe& into = pipe(side);
  into.unread += bytes.size();
  if (into.plan.split == SimSplit::whole) return send(side, Kind::data, std::move(bytes));
  for (std::size_t at = 0; at < bytes.size();) {
    const std::size_t left = bytes.size() - at;
    const std::size_t n = into.plan.split == SimSplit::bytes
                              ? 1
                              : 1 + static_cast<std::size_t>(into.random.below(left));
    send(side, Kind::data, bytes.substr(at, n));
    into.latest_arrival += into.plan.split_gap;
    at += n;
  }
}

void SimConnection::send(int side, Kind kind, std::string bytes) {
  Pipe& into = pipe(side);
  const Duration on_line = line_time(bytes.size(), into.plan.bytes_per_second);
  into.line_free = std::max(into.line_free, world_.time()) + on_line;
  Instant at = into.line_free + into.plan.latency;
  if (into.plan.jitter.count() > 0)
    at += Duration(static_cast<std::int64_t>(
        into.random.below(static_cast<std::uint64_t>(into.plan.jitter.count()) + 1)));
  at = after_stalls(std::max(at, into.latest_arrival), into.plan.stalls);
  into.latest_arrival = at;
  into.under_way.push_back({kind, std::move(bytes)});
  world_.schedule(at, shared_from_this(), side == kClient ? arrive_at_server : arrive_at_client);
}

void SimConnection::arrive(int at) {
  Pipe& from = pipe(other(at));
  if (from.under_way.empty()) return;  // lost in a cut
  Segment segment = std::move(from.under_way.front());
  from.under_way.pop_front();
  if (ends_[at].dead) return;
  switch (segment.kind) {
    case Kind::established:
      return established();
    case Kind::data:
      return data_arrives(at, std::move(segment.bytes));
    case Kind::fin:
      ends_[at].fin = true;
      record("fin", at);
      return mark(at);
    case Kind::rst:
      record("rst", at);
      return kill(at);
  }
}

void SimConnection::data_arrives(int at, std::string bytes) {
  Pipe& from = pipe(other(at));
  End& end = ends_[at];
  const bool last = from.plan.cut_after != SimDirection::kNoCut &&
                    bytes.size() >= from.plan.cut_after - from.arrived;
  if (last) bytes.resize(static_cast<std::size_t>(from.plan.cut_after - from.arrived));
  from.arrived += bytes.size();
  record("arrive", at, bytes);
  if (!end.closed) {
    if (!bytes.empty()) end.received += bytes;
    if (last) cut();
    return mark(at);
  }
  if (last) return cut();
  // Data for a socket that its process has closed.
  send(at, Kind::rst);
  end.dead = true;
}

void SimConnection::kill(int side) {
  End& end = ends_[side];
  if (end.dead) return;
  // As tcp_reset() has it.
  end.error = !end.connected ? ECONNREFUSED : end.fin ? EPIPE : ECONNRESET;
  end.dead = true;
  mark(side);
}

void SimConnection::cut() {
  if (ends_[kClient].dead && ends_[kServer].dead) return;
  record("cut", kClient);
  up_.under_way.clear();
  down_.under_way.clear();
  kill(kClient);
  kill(kServer);
}

void SimConnection::shutdown(int side) {
  End& end = ends_[side];
  if (end.dead || !end.connected || pipe(side).fin_sent) return;
  record("shutdown", side);
  pipe(side).fin_sent = true;
  send(side, Kind::fin);
  mark(side);
}

void SimConnection::close(int side) {
  End& end = ends_[side];
  if (end.closed) return;
  // Bytes that nobody will read: the peer must not believe that they were (RFC 2525, 2.17).
  if (end.taken != end.received.size()) return reset(side);
  record("close", side);
  end.closed = true;
  end.transport = nullptr;
  if (!end.connected) end.dead = true;
  if (!end.dead && !pipe(side).fin_sent) {
    pipe(side).fin_sent = true;
    send(side, Kind::fin);
  }
  if (side == kServer)
    if (SimListener* listener = world_.find_listener(listener_)) listener->one_closed();
}

void SimConnection::reset(int side) {
  End& end = ends_[side];
  if (end.closed) return;
  record("reset", side);
  const bool accepted = end.transport != nullptr;
  end.closed = true;
  end.transport = nullptr;
  if (end.connected && !end.dead) send(side, Kind::rst);
  end.dead = true;
  if (side == kServer && accepted)
    if (SimListener* listener = world_.find_listener(listener_)) listener->one_closed();
}

bool SimConnection::can_read(int side) const noexcept {
  const End& end = ends_[side];
  return end.taken != end.received.size() || end.fin || end.dead || end.error != 0;
}

bool SimConnection::can_write(int side) const noexcept {
  const End& end = ends_[side];
  if (end.dead || end.error != 0) return true;
  if (!end.connected) return false;
  const Pipe& into = pipe(side);
  // As Linux: not for every byte that the peer reads.
  const std::size_t enough = std::max<std::size_t>(into.plan.buffer / 3, 1);
  return into.fin_sent || into.plan.buffer - into.unread >= enough;
}

bool SimConnection::ending(int side) const noexcept {
  const End& end = ends_[side];
  return end.fin || end.dead || end.error != 0;
}

void SimConnection::happen(int what) {
  switch (what) {
    case arrive_at_client:
      return arrive(kClient);
    case arrive_at_server:
      return arrive(kServer);
    case space_client:
      return mark(kClient);
    case space_server:
      return mark(kServer);
    case syn:
      return syn_arrives();
    case answer:
      return answer_arrives();
    case cut_now:
      return cut();
    default:
      return;
  }
}

void SimConnection::mark(int side) {
  if (ends_[side].transport != nullptr) ends_[side].transport->mark();
}

void SimConnection::record(std::string_view kind, int side, std::string_view bytes) {
  world_.record(kind, plan_.number * 2 + static_cast<unsigned>(side), bytes.size(),
                std::hash<std::string_view>{}(bytes));
}

IoResult SimTransport::read_some(std::span<char> into) noexcept {
  if (!readable_) return {0, IoResult::kWouldBlock};
  const IoResult result = connection_->read(side_, into);
  if (result.would_block()) readable_ = false;
  if (result.bytes > 0 && result.bytes < into.size() && !ending_) readable_ = false;
  return result;
}

IoResult SimTransport::write_some(std::span<const std::string_view> pieces) noexcept {
  if (!writable_) return {0, IoResult::kWouldBlock};
  std::size_t wanted = 0;
  for (const std::string_view piece : pieces.first(std::min<std::size_t>(pieces.size(), 16)))
    wanted += piece.size();
  const IoResult result = connection_->write(side_, pieces);
  if (result.would_block() || (result.error == 0 && result.bytes < wanted)) writable_ = false;
  return result;
}

int SimTransport::connect_result() noexcept {
  return connection_ ? connection_->take_error(side_) : EBADF;
}

void SimTransport::shutdown_write() noexcept {
  if (connection_) connection_->shutdown(side_);
}

void SimTransport::reset() noexcept {
  if (!connection_) return;
  connection_->reset(side_);
  let_go();
}

void SimTransport::close() noexcept {
  if (!connection_) return;
  connection_->close(side_);
  let_go();
}

void SimTransport::let_go() noexcept {
  forget_waiters();
  loop_.forget(*this);
  connection_.reset();
  readable_ = writable_ = false;
}

void SimTransport::on_events() {
  const bool ending = connection_->ending(side_);
  const bool can_read = connection_->can_read(side_);
  if (ending) ending_ = true;
  if (connection_->can_write(side_)) {
    writable_ = true;
    if (writer_ != nullptr) {
      SimLoop& loop = loop_;  // the waiter may destroy this transport
      std::exchange(writer_, nullptr)->ready();
      if (!loop.target_lives()) return;
    }
  }
  if (can_read) {
    readable_ = true;
    if (reader_ != nullptr) std::exchange(reader_, nullptr)->ready();
  }
}

SimListener::SimListener(SimLoop& loop, Address at, AcceptHandler& handler)
    : loop_(loop), at_(at), handler_(handler), id_(++loop.world_.listens_) {
  loop_.world_.listeners_.push_back(this);
}

SimListener::~SimListener() {
  loop_.forget(*this);
  std::erase(loop_.world_.listeners_, this);
  for (const auto& waiting : backlog_) waiting->reset(SimConnection::kServer);
}

void SimListener::add(std::shared_ptr<SimConnection> connection) {
  backlog_.push_back(std::move(connection));
  if (can_accept()) loop_.mark(*this);
}

void SimListener::one_closed() {
  --open_;
  if (can_accept()) loop_.mark(*this);
}

// As SocketListener: at most 64 a turn, and again in the next while there are more.
void SimListener::on_events() {
  SimLoop& loop = loop_;
  for (int i = 0; i < 64 && can_accept(); ++i) {
    const auto connection = std::move(backlog_.front());
    backlog_.pop_front();
    ++open_;
    handler_.accepted(connection->accept(loop_, id_));
    if (!loop.target_lives()) return;  // the handler has destroyed this listener
  }
  if (can_accept()) loop_.mark(*this);
}

}  // namespace onbeat::net
