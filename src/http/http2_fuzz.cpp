// Any bytes as what a server sends to the HTTP/2 client. Whatever they are and however they are
// cut: every stream ends, nothing hangs, nothing is left. Input: a byte of flags (1: the peer
// closes at the end, 2: the bytes come one by one, 4: in two pieces, after the requests have been
// sent), a byte that says where they are cut, then what the peer sends.
#include "http/http2_connection.hpp"
#include "net/sim.hpp"
#include <onbeat/kernel/task.hpp>

#include <array>
#include <cstdlib>
#include <list>
#include <string_view>

namespace {

using namespace std::chrono_literals;
using namespace onbeat;

void require(bool condition) {
  if (!condition) std::abort();
}

/// Sends its bytes to the first connection; those after it hear nothing.
class Server final : private net::AcceptHandler, private net::Waiter {
 public:
  Server(net::SimLoop& loop, std::string_view bytes, std::size_t cut, bool closes)
      : loop_(loop),
        listener_(loop.listen(net::Address::ipv4_loopback(0), *this).value()),
        bytes_(bytes),
        cut_(cut),
        closes_(closes) {}
  [[nodiscard]] net::Address address() const { return listener_->address(); }

 private:
  void accepted(std::unique_ptr<net::Transport> transport) override {
    if (transport_ != nullptr) return;
    transport_ = std::move(transport);
    send(cut_);
    net::SimWorld& world = loop_.world();
    world.at(world.now() + 10ms, [this] {
      send(bytes_.size());
      if (closes_) transport_->close();
    });
  }
  void ready() noexcept override {}
  void send(std::size_t until) {
    const std::string_view piece = bytes_.substr(0, until);
    bytes_.remove_prefix(piece.size());
    if (!piece.empty()) transport_->write_some(std::span(&piece, 1));
  }

  net::SimLoop& loop_;
  std::unique_ptr<net::Listener> listener_;
  std::string_view bytes_;
  std::size_t cut_;
  bool closes_;
  std::unique_ptr<net::Transport> transport_;
};

struct Sink final : http::ResponseSink {
  void on_status(int, std::string_view) override { ++calls; }
  void on_field(std::string_view, std::string_view) override { ++calls; }
  void on_body(std::string_view part) override { calls += part.size(); }
  void on_trailer(std::string_view, std::string_view) override { ++calls; }
  std::size_t calls = 0;
};

kernel::Task<void> whole(http::Http2Connection& connection, const http::Http2Request& request,
                         kernel::Instant deadline, int& ended) {
  http::Http2Stream stream;
  Sink sink;
  const http::Exchange exchange = co_await connection.exchange(stream, request, deadline, &sink);
  require(!stream.active());
  if (exchange.error == net::NetError::none) require(exchange.status >= 200);
  ++ended;
}

kernel::Task<void> dialogue(http::Http2Connection& connection, const http::Http2Request& request,
                            kernel::Instant deadline, int& ended) {
  http::Http2Stream stream;
  Sink sink;
  co_await connection.start(stream, request, deadline, &sink);
  for (int i = 0; i < 3; ++i) co_await stream.send("message", i == 2);
  while (co_await stream.receive()) require(sink.calls != 0);
  require(!stream.active());
  ++ended;
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  if (size < 2) return 0;
  const std::string_view bytes(reinterpret_cast<const char*>(data) + 2, size - 2);
  net::SimWorld world(1, kernel::Instant{} + 1h);
  if ((data[0] & 2) != 0)
    world.set_planner([](net::SimPlan& plan) { plan.to_client.split = net::SimSplit::bytes; });
  net::SimLoop server_loop(world), loop(world);
  // The settings first, or nothing but an error comes of what follows.
  const std::size_t cut = (data[0] & 4) != 0 ? 9 : data[1];
  Server server(server_loop, bytes, cut, (data[0] & 1) != 0);
  http::Peer peer{.addresses = {server.address()}};
  peer.connect_timeout = 1s;
  http::Http2Request request;
  http::translate("POST / HTTP/1.1\r\nHost: h\r\nContent-Length: 4\r\n\r\nbody", "http", request);
  http::Http2Connection connection(loop, peer);
  int ended = 0;
  std::list<kernel::Task<void>> tasks;
  for (int i = 0; i < 3; ++i) tasks.push_back(whole(connection, request, loop.now() + 3s, ended));
  tasks.push_back(dialogue(connection, request, loop.now() + 3s, ended));
  for (auto& task : tasks) task.start();
  world.run_until(world.now() + 10s);
  require(ended == 4);
  require(connection.streams() == 0);
  connection.cancel();
  require(peer.ledger.open == 0);
  return 0;
}
