// One suite of scenarios, run over real sockets and over the simulated network: what can be seen of
// a Loop, its Transports and Listeners has to be the same on both.
#include "net/epoll_loop.hpp"
#include "net/sim.hpp"

#include <gtest/gtest.h>

#include <cerrno>
#include <functional>
#include <memory>
#include <stdexcept>
#include <string>
#include <system_error>
#include <vector>

namespace onbeat::net {
namespace {

using namespace std::chrono_literals;

struct RealNetwork {
  EpollLoop loop;
};

struct SimNetwork {
  SimWorld world{1};
  SimLoop loop{world};
};

struct Flag final : Waiter {
  void ready() noexcept override {
    ++calls;
    if (then) then();
  }
  int calls = 0;
  std::function<void()> then;
};

struct Acceptor final : AcceptHandler {
  void accepted(std::unique_ptr<Transport> connection) override {
    connections.push_back(std::move(connection));
  }
  std::vector<std::unique_ptr<Transport>> connections;
};

// Stops the loop when a condition holds, or when it has not for twenty seconds, told one by one: a
// process that got no turn for that long has not waited.
class Until final : private TurnHook, private Timer {
 public:
  Until(Loop& loop, std::function<bool()> condition) : loop_(loop), condition_(condition) {}
  bool run() {
    loop_.timers().arm(*this, loop_.now() + 1s);
    loop_.set_hook(this);
    loop_.run();
    loop_.set_hook(nullptr);
    return holds_;
  }

 private:
  Instant on_turn(Instant) noexcept override {
    if (!holds_ && condition_()) {
      holds_ = true;
      loop_.stop();
    }
    return kNever;
  }
  void turn_took(Duration) noexcept override {}
  void woke_late(Duration) noexcept override {}
  void on_timer(Instant now) noexcept override {
    if (--seconds_left_ == 0) return loop_.stop();
    loop_.timers().arm(*this, now + 1s);
  }

  Loop& loop_;
  std::function<bool()> condition_;
  int seconds_left_ = 20;
  bool holds_ = false;
};

std::string printable(const IoResult& result) {
  return std::to_string(result.bytes) + "/" + std::to_string(result.error);
}

template <class Network>
class TransportConformance : public testing::Test {
 protected:
  Loop& loop() { return network_.loop; }
  bool until(std::function<bool()> condition) { return Until(loop(), std::move(condition)).run(); }

  std::unique_ptr<Transport> begin(const Address& to) { return loop().connect(to, {}).value(); }
  // A connection with both ends in hand. Without it there is no test: throws.
  void open() {
    if (!listener_) listen();
    const std::size_t before = acceptor_.connections.size();
    client_ = begin(listener_->address());
    Flag connected;
    client_->wait_writable(connected);
    if (!until([&] { return connected.calls == 1 && acceptor_.connections.size() > before; })) {
      client_->forget_waiters();
      throw std::runtime_error("no connection in 20 s: the client was told " +
                               std::to_string(connected.calls) + " times");
    }
    if (const int error = client_->connect_result(); error != 0)
      throw std::system_error(error, std::generic_category(), "connect");
    server_ = std::move(acceptor_.connections.back());
    acceptor_.connections.pop_back();
  }
  void listen() { listener_ = loop().listen(Address::ipv4_loopback(0), acceptor_).value(); }
  static IoResult write(Transport& to, std::string_view bytes) {
    return to.write_some(std::span(&bytes, 1));
  }
  // The next outcome that is not "would block".
  IoResult read(Transport& from, std::span<char> into) {
    IoResult result;
    EXPECT_TRUE(until([&] {
      result = from.read_some(into);
      return !result.would_block();
    }));
    return result;
  }
  std::string read_outcome(Transport& from) {
    char bytes[64];
    return printable(read(from, bytes));
  }
  std::string read_bytes(Transport& from, std::size_t count) {
    std::string all;
    std::vector<char> bytes(count);
    while (all.size() < count) {
      const IoResult result = read(from, std::span(bytes).first(count - all.size()));
      if (result.bytes == 0) break;
      all.append(bytes.data(), result.bytes);
    }
    return all;
  }
  bool until_readable(Transport& transport) {
    return until([&] { return transport.readable(); });
  }

  Network network_;
  Acceptor acceptor_;
  std::unique_ptr<Listener> listener_;
  std::unique_ptr<Transport> client_, server_;
  char buffer_[64];
};

using Networks = testing::Types<RealNetwork, SimNetwork>;
struct NetworkName {
  template <class Network>
  static std::string GetName(int) {
    return std::is_same_v<Network, RealNetwork> ? "Real" : "Simulated";
  }
};
TYPED_TEST_SUITE(TransportConformance, Networks, NetworkName);

TYPED_TEST(TransportConformance, BytesGoBothWays) {
  this->open();
  EXPECT_EQ(printable(this->write(*this->client_, "hello")), "5/0");
  EXPECT_EQ(this->read_bytes(*this->server_, 5), "hello");
  EXPECT_EQ(printable(this->write(*this->server_, "goodbye")), "7/0");
  EXPECT_EQ(this->read_bytes(*this->client_, 7), "goodbye");
}

TYPED_TEST(TransportConformance, PeersAreNamed) {
  this->open();
  EXPECT_NE(this->listener_->address().port(), 0);
  EXPECT_EQ(this->client_->peer(), this->listener_->address());
  EXPECT_EQ(this->server_->peer().family(), AF_INET);
  EXPECT_NE(this->server_->peer().port(), 0);
}

TYPED_TEST(TransportConformance, NothingWorksBeforeTheConnectIsThrough) {
  this->listen();
  this->client_ = this->begin(this->listener_->address());
  EXPECT_TRUE(this->client_->read_some(this->buffer_).would_block());
  EXPECT_TRUE(this->write(*this->client_, "early").would_block());
  EXPECT_FALSE(this->client_->readable());
}

TYPED_TEST(TransportConformance, ReadingNothingWouldBlockAndChangesNothing) {
  this->open();
  for (int i = 0; i < 3; ++i) {
    EXPECT_TRUE(this->server_->read_some(this->buffer_).would_block());
    EXPECT_FALSE(this->server_->readable());
  }
  this->write(*this->client_, "x");
  ASSERT_TRUE(this->until_readable(*this->server_));
  EXPECT_EQ(printable(this->server_->read_some(this->buffer_)), "1/0");
  EXPECT_TRUE(this->server_->read_some(this->buffer_).would_block());
}

TYPED_TEST(TransportConformance, ReadsTakeWhatFits) {
  this->open();
  this->write(*this->client_, "abcdef");
  ASSERT_TRUE(this->until_readable(*this->server_));
  EXPECT_EQ(printable(this->server_->read_some(std::span(this->buffer_).first(4))), "4/0");
  EXPECT_TRUE(this->server_->readable());
  EXPECT_EQ(printable(this->server_->read_some(std::span(this->buffer_).first(4))), "2/0");
  EXPECT_FALSE(this->server_->readable());
}

TYPED_TEST(TransportConformance, PiecesAreWrittenInOrder) {
  this->open();
  const std::string_view pieces[] = {"a", "bc", "", "def"};
  EXPECT_EQ(printable(this->client_->write_some(pieces)), "6/0");
  EXPECT_EQ(this->read_bytes(*this->server_, 6), "abcdef");
}

TYPED_TEST(TransportConformance, AtMostSixteenPiecesACall) {
  this->open();
  const std::vector<std::string_view> pieces(20, "x");
  EXPECT_EQ(printable(this->client_->write_some(pieces)), "16/0");
  EXPECT_EQ(this->read_bytes(*this->server_, 16), std::string(16, 'x'));
}

TYPED_TEST(TransportConformance, TheEndComesAfterTheDataAndStays) {
  this->open();
  this->write(*this->client_, "last words");
  this->client_.reset();
  EXPECT_EQ(this->read_bytes(*this->server_, 10), "last words");
  EXPECT_EQ(this->read_outcome(*this->server_), "0/0");
  EXPECT_TRUE(this->server_->readable());
  EXPECT_EQ(printable(this->server_->read_some(this->buffer_)), "0/0");
}

TYPED_TEST(TransportConformance, AnIdleConnectionThatThePeerClosesIsReadable) {
  this->open();
  EXPECT_FALSE(this->client_->readable());
  this->server_.reset();
  EXPECT_TRUE(this->until_readable(*this->client_));
}

TYPED_TEST(TransportConformance, HalfCloseLeavesTheOtherDirectionOpen) {
  this->open();
  this->write(*this->client_, "request");
  this->client_->shutdown_write();
  EXPECT_EQ(printable(this->write(*this->client_, "more")), "0/" + std::to_string(EPIPE));
  EXPECT_EQ(this->read_bytes(*this->server_, 7), "request");
  EXPECT_EQ(this->read_outcome(*this->server_), "0/0");
  EXPECT_EQ(printable(this->write(*this->server_, "response")), "8/0");
  EXPECT_EQ(this->read_bytes(*this->client_, 8), "response");
}

TYPED_TEST(TransportConformance, ResetIsToldOnceToTheReader) {
  this->open();
  this->client_->reset();
  EXPECT_EQ(this->read_outcome(*this->server_), "0/" + std::to_string(ECONNRESET));
  EXPECT_EQ(this->read_outcome(*this->server_), "0/0");
  EXPECT_EQ(printable(this->write(*this->server_, "x")), "0/" + std::to_string(EPIPE));
}

TYPED_TEST(TransportConformance, ResetIsToldOnceToTheWriter) {
  this->open();
  this->client_->reset();
  ASSERT_TRUE(this->until_readable(*this->server_));
  EXPECT_EQ(printable(this->write(*this->server_, "x")), "0/" + std::to_string(ECONNRESET));
  EXPECT_EQ(printable(this->write(*this->server_, "x")), "0/" + std::to_string(EPIPE));
}

TYPED_TEST(TransportConformance, DataBeforeAResetIsRead) {
  this->open();
  this->write(*this->client_, "data");
  ASSERT_TRUE(this->until_readable(*this->server_));
  this->client_->reset();
  EXPECT_EQ(this->read_bytes(*this->server_, 4), "data");
  EXPECT_EQ(this->read_outcome(*this->server_), "0/" + std::to_string(ECONNRESET));
}

TYPED_TEST(TransportConformance, ClosingWithUnreadDataResetsThePeer) {
  this->open();
  this->write(*this->client_, "never read");
  ASSERT_TRUE(this->until_readable(*this->server_));
  this->server_.reset();
  EXPECT_EQ(this->read_outcome(*this->client_), "0/" + std::to_string(ECONNRESET));
}

TYPED_TEST(TransportConformance, WritingToAPeerThatHasClosedEndsInABrokenPipe) {
  this->open();
  this->server_.reset();
  ASSERT_TRUE(this->until_readable(*this->client_));
  EXPECT_EQ(printable(this->write(*this->client_, "x")), "1/0");
  IoResult result;
  EXPECT_TRUE(this->until([&] {
    result = this->write(*this->client_, "x");
    return result.error != 0;
  }));
  EXPECT_EQ(printable(result), "0/" + std::to_string(EPIPE));
  EXPECT_EQ(this->read_outcome(*this->client_), "0/0");
}

TYPED_TEST(TransportConformance, AClosedTransportWouldBlockForEver) {
  this->open();
  this->client_->close();
  EXPECT_TRUE(this->client_->read_some(this->buffer_).would_block());
  EXPECT_TRUE(this->write(*this->client_, "x").would_block());
  EXPECT_FALSE(this->client_->readable());
  EXPECT_EQ(this->client_->connect_result(), EBADF);
  this->client_->close();
  this->client_->reset();
  this->client_->shutdown_write();
}

TYPED_TEST(TransportConformance, NobodyListens) {
  this->listen();
  const Address at = this->listener_->address();
  this->listener_.reset();
  this->client_ = this->begin(at);
  Flag done;
  this->client_->wait_writable(done);
  ASSERT_TRUE(this->until([&] { return done.calls == 1; }));
  EXPECT_EQ(this->client_->connect_result(), ECONNREFUSED);
  EXPECT_EQ(this->client_->connect_result(), 0);
  EXPECT_EQ(this->read_outcome(*this->client_), "0/0");
  EXPECT_EQ(printable(this->write(*this->client_, "x")), "0/" + std::to_string(EPIPE));
}

TYPED_TEST(TransportConformance, AReaderIsToldOfARefusedConnectToo) {
  this->listen();
  const Address at = this->listener_->address();
  this->listener_.reset();
  this->client_ = this->begin(at);
  Flag done;
  this->client_->wait_readable(done);
  ASSERT_TRUE(this->until([&] { return done.calls == 1; }));
  EXPECT_EQ(this->read_outcome(*this->client_), "0/" + std::to_string(ECONNREFUSED));
}

TYPED_TEST(TransportConformance, AWaiterIsCalledOnce) {
  this->open();
  Flag flag;
  this->server_->wait_readable(flag);
  this->write(*this->client_, "a");
  ASSERT_TRUE(this->until([&] { return flag.calls == 1; }));
  EXPECT_EQ(this->read_bytes(*this->server_, 1), "a");
  this->write(*this->client_, "b");
  EXPECT_EQ(this->read_bytes(*this->server_, 1), "b");
  EXPECT_EQ(flag.calls, 1);
}

TYPED_TEST(TransportConformance, AForgottenWaiterIsNotCalled) {
  this->open();
  Flag flag;
  this->server_->wait_readable(flag);
  this->server_->forget_waiters();
  this->write(*this->client_, "a");
  EXPECT_EQ(this->read_bytes(*this->server_, 1), "a");
  EXPECT_EQ(flag.calls, 0);
}

TYPED_TEST(TransportConformance, AWaiterMayDestroyItsTransport) {
  this->open();
  Flag reader;
  reader.then = [&] { this->server_.reset(); };
  this->server_->wait_readable(reader);
  this->write(*this->client_, "a");
  ASSERT_TRUE(this->until([&] { return reader.calls == 1; }));
  EXPECT_EQ(this->server_, nullptr);
}

TYPED_TEST(TransportConformance, AWritersWaiterMayDestroyItsTransportWhileAReaderWaits) {
  this->listen();
  const Address at = this->listener_->address();
  this->listener_.reset();
  this->client_ = this->begin(at);
  Flag writer, reader;
  writer.then = [&] { this->client_.reset(); };
  this->client_->wait_writable(writer);
  this->client_->wait_readable(reader);
  ASSERT_TRUE(this->until([&] { return writer.calls == 1; }));
  EXPECT_EQ(reader.calls, 0);
}

TYPED_TEST(TransportConformance, AWaiterMayDestroyAnotherTransportThatHasEvents) {
  this->open();
  auto client = std::move(this->client_);
  auto server = std::move(this->server_);
  this->open();
  // Both have something to read in one turn; whoever is called first destroys the other.
  Flag first, second;
  first.then = [&] { this->server_.reset(); };
  second.then = [&] { server.reset(); };
  server->wait_readable(first);
  this->server_->wait_readable(second);
  this->loop().post([&] {
    this->write(*client, "a");
    this->write(*this->client_, "b");
  });
  ASSERT_TRUE(this->until([&] { return first.calls + second.calls > 0; }));
  EXPECT_EQ(first.calls + second.calls, 1);
}

TYPED_TEST(TransportConformance, CloseInAWaiterIsSafe) {
  this->open();
  Flag reader;
  reader.then = [&] { this->server_->close(); };
  this->server_->wait_readable(reader);
  this->write(*this->client_, "a");
  ASSERT_TRUE(this->until([&] { return reader.calls == 1; }));
  EXPECT_EQ(this->read_outcome(*this->client_), "0/" + std::to_string(ECONNRESET));
}

TYPED_TEST(TransportConformance, AFullBufferBlocksTheWriterUntilThePeerReads) {
  this->open();
  const std::string chunk(64 * 1024, 'x');
  std::string sent;
  IoResult result;
  // Until it blocks and, the peer reading nothing, stays blocked over a hundred turns.
  int idle = 0;
  std::function<void()> turn = [&] {
    result = this->write(*this->client_, chunk);
    sent += chunk.substr(0, result.bytes);
    idle = result.bytes == 0 ? idle + 1 : 0;
    if (idle < 100) this->loop().post(turn);
  };
  this->loop().post(turn);
  ASSERT_TRUE(this->until([&] { return idle == 100; }));
  EXPECT_TRUE(result.would_block());
  EXPECT_GT(sent.size(), 0u);
  Flag space;
  this->client_->wait_writable(space);
  EXPECT_EQ(this->read_bytes(*this->server_, sent.size()), sent);
  ASSERT_TRUE(this->until([&] { return space.calls == 1; }));
  EXPECT_GT(this->write(*this->client_, chunk).bytes, 0u);
}

TYPED_TEST(TransportConformance, ManyConnectsAreAllAccepted) {
  this->listen();
  std::vector<std::unique_ptr<Transport>> clients;
  for (int i = 0; i < 200; ++i) clients.push_back(this->begin(this->listener_->address()));
  EXPECT_TRUE(this->until([&] { return this->acceptor_.connections.size() == 200; }));
}

TYPED_TEST(TransportConformance, PostedWorkRunsInOrderAndWhatItPostsComesLater) {
  std::string order;
  this->loop().post([&] {
    order += 'a';
    this->loop().post([&] { order += 'c'; });
  });
  this->loop().post([&] { order += 'b'; });
  ASSERT_TRUE(this->until([&] { return order.size() == 3; }));
  EXPECT_EQ(order, "abc");
}

TYPED_TEST(TransportConformance, WhatIsCalledLaterIsCalledOnceWithinTheTurn) {
  Flag outside, within, chained, taken_back;
  within.then = [&] { this->loop().call_later(chained); };
  this->loop().call_later(outside);
  this->loop().call_later(taken_back);
  this->loop().forget_later(taken_back);
  int seen_by_next_posted = -1;
  this->loop().post([&] {
    this->loop().call_later(within);
    EXPECT_EQ(within.calls, 0);
    this->loop().post([&] { seen_by_next_posted = within.calls + chained.calls; });
  });
  ASSERT_TRUE(this->until([&] { return seen_by_next_posted >= 0; }));
  EXPECT_EQ(seen_by_next_posted, 2);
  EXPECT_EQ(outside.calls, 1);
  EXPECT_EQ(within.calls, 1);
  EXPECT_EQ(taken_back.calls, 0);
}

TYPED_TEST(TransportConformance, WhatIsCalledLaterWakesALoopThatSleeps) {
  Flag later;
  later.then = [&] { this->loop().stop(); };
  this->loop().call_later(later);
  this->loop().run();
  EXPECT_EQ(later.calls, 1);
}

TYPED_TEST(TransportConformance, AStopBeforeTheRunEndsIt) {
  this->loop().stop();
  this->loop().run();
  this->loop().stop();
  this->loop().run();
}

TYPED_TEST(TransportConformance, TheHookIsCalledAtOnceAndThenWhenItAsked) {
  struct Hook final : TurnHook {
    explicit Hook(Loop& with) : loop(with) {}
    Instant on_turn(Instant now) noexcept override {
      EXPECT_EQ(now, loop.latest());
      if (wanted == kNever) return wanted = now + 3ms;
      if (now < wanted) return wanted;
      early = now < wanted;
      called = true;
      loop.stop();
      return kNever;
    }
    void turn_took(Duration took) noexcept override {
      EXPECT_GE(took.count(), 0);
      ++turns;
    }
    void woke_late(Duration by) noexcept override {
      EXPECT_GE(by.count(), 0);
      ++late;
    }
    Loop& loop;
    Instant wanted = kNever;
    bool called = false, early = false;
    int turns = 0, late = 0;
  } hook(this->loop());
  this->loop().set_hook(&hook);
  this->loop().run();
  this->loop().set_hook(nullptr);
  EXPECT_TRUE(hook.called);
  EXPECT_EQ(hook.late, 1);
  EXPECT_GE(hook.turns, 1);
}

TYPED_TEST(TransportConformance, ATimerFiresNotEarly) {
  struct Ring final : Timer {
    void on_timer(Instant now) noexcept override { rang = now; }
    Instant rang = kNever;
  } ring;
  const Instant when = this->loop().now() + 2ms;
  this->loop().timers().arm(ring, when);
  ASSERT_TRUE(this->until([&] { return ring.rang != kNever; }));
  EXPECT_GE(ring.rang, when);
}

TYPED_TEST(TransportConformance, ScratchHolds64KiB) {
  EXPECT_EQ(this->loop().scratch().size(), 64u * 1024);
}

}  // namespace
}  // namespace onbeat::net
