#include "net/sim.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <cerrno>
#include <map>
#include <memory>
#include <sstream>
#include <stdexcept>
#include <string>
#include <vector>

namespace onbeat::net {
namespace {

using namespace std::chrono_literals;

constexpr Instant kStart = Instant{} + 1h;

// One end of a connection: reads all that comes, with the instant of every read, and writes what it
// was given as far as it goes.
class Talker final {
 public:
  Talker(SimLoop& loop, std::unique_ptr<Transport> transport)
      : loop_(loop), transport_(std::move(transport)) {
    transport_->wait_writable(writer_);
    transport_->wait_readable(reader_);
  }
  void say(std::string_view bytes) {
    unsent_ += bytes;
    if (connect_error >= 0) write();
  }
  void close() { transport_->close(); }
  void shut() { transport_->shutdown_write(); }
  void reset() { transport_->reset(); }

  std::string heard;
  std::vector<Instant> reads;
  std::vector<std::size_t> sizes;
  Instant connected = kNever, ended = kNever;
  int connect_error = -1;  // not known
  int error = -1;          // of reading: 0 is the end
  int write_error = 0;
  std::size_t sent = 0;
  bool echo = false;

 private:
  struct Reader final : Waiter {
    explicit Reader(Talker& owner) : talker(owner) {}
    void ready() noexcept override { talker.read(); }
    Talker& talker;
  };
  struct Writer final : Waiter {
    explicit Writer(Talker& owner) : talker(owner) {}
    void ready() noexcept override { talker.write(); }
    Talker& talker;
  };

  void read() {
    for (;;) {
      const IoResult result = transport_->read_some(loop_.scratch());
      if (result.would_block()) return transport_->wait_readable(reader_);
      if (result.bytes == 0) {
        error = result.error;
        ended = loop_.latest();
        return;
      }
      const std::string_view bytes(loop_.scratch().data(), result.bytes);
      heard += bytes;
      reads.push_back(loop_.latest());
      sizes.push_back(result.bytes);
      if (echo) say(bytes);
    }
  }
  void write() {
    // Ready for the first time: the outcome of the connect.
    if (connect_error < 0) {
      connect_error = transport_->connect_result();
      connected = loop_.latest();
    }
    while (!unsent_.empty()) {
      const std::string_view piece = unsent_;
      const IoResult result = transport_->write_some(std::span(&piece, 1));
      sent += result.bytes;
      unsent_.erase(0, result.bytes);
      if (result.would_block()) return transport_->wait_writable(writer_);
      if (result.error != 0) {
        write_error = result.error;
        return unsent_.clear();
      }
    }
  }

  SimLoop& loop_;
  std::unique_ptr<Transport> transport_;
  Reader reader_{*this};
  Writer writer_{*this};
  std::string unsent_;
};

class Server final : public AcceptHandler {
 public:
  explicit Server(SimLoop& loop, std::uint16_t port = 80)
      : loop_(loop), listener_(*loop.listen(Address::ipv4_loopback(port), *this)) {}
  void accepted(std::unique_ptr<Transport> connection) override {
    talkers.push_back(std::make_unique<Talker>(loop_, std::move(connection)));
    talkers.back()->echo = echo;
    accepted_at.push_back(loop_.latest());
    if (close_after != 0 && talkers.size() == close_after) listener_.reset();
  }
  void close() { listener_.reset(); }
  [[nodiscard]] Address address() const { return listener_->address(); }

  std::vector<std::unique_ptr<Talker>> talkers;
  std::vector<Instant> accepted_at;
  std::size_t close_after = 0;
  bool echo = false;

 private:
  SimLoop& loop_;
  std::unique_ptr<Listener> listener_;
};

class SimTest : public testing::Test {
 protected:
  std::unique_ptr<Talker> connect(std::uint16_t port = 80) {
    auto transport = client_loop_.connect(Address::ipv4_loopback(port), {});
    EXPECT_TRUE(transport.has_value());
    return std::make_unique<Talker>(client_loop_, std::move(*transport));
  }
  void plan(std::function<void(SimPlan&)> planner) { world_.set_planner(std::move(planner)); }
  void settle() { EXPECT_TRUE(world_.run_until_idle(kStart + 24h)); }
  Talker& server_end() { return *server_.talkers.at(0); }

  SimWorld world_{7, kStart};
  SimLoop client_loop_{world_};
  SimLoop server_loop_{world_};
  Server server_{server_loop_};
};

TEST_F(SimTest, ConnectTakesOneRoundTripAndDataOneWay) {
  plan([](SimPlan& plan) {
    plan.to_server.latency = 3ms;
    plan.to_client.latency = 4ms;
  });
  const auto client = connect();
  client->say("ping");
  settle();
  EXPECT_EQ(client->connected, kStart + 7ms);
  EXPECT_EQ(client->connect_error, 0);
  EXPECT_EQ(server_.accepted_at, std::vector{kStart + 10ms});
  EXPECT_EQ(server_end().heard, "ping");
  EXPECT_EQ(server_end().reads, std::vector{kStart + 10ms});
}

TEST_F(SimTest, BandwidthDelaysByLength) {
  plan([](SimPlan& plan) {
    plan.to_server.latency = 1ms;
    plan.to_client.latency = 1ms;
    plan.to_server.bytes_per_second = 1'000;
  });
  const auto client = connect();
  client->say("");
  world_.run_until(kStart + 10ms);
  client->say("0123456789");
  client->say("0123456789");
  settle();
  EXPECT_EQ(server_end().reads, (std::vector{kStart + 21ms, kStart + 31ms}));
}

TEST_F(SimTest, JitterKeepsTheOrder) {
  plan([](SimPlan& plan) { plan.to_server.jitter = 10ms; });
  const auto client = connect();
  world_.run_until(kStart + 20ms);
  std::string said;
  for (char each = 'a'; each <= 'z'; ++each) {
    world_.at(world_.now() + 100us * (each - 'a'),
              [&client, each] { client->say(std::string(1, each)); });
    said += each;
  }
  settle();
  EXPECT_EQ(server_end().heard, said);
  EXPECT_GT(server_end().reads.back() - kStart, 22ms);
}

TEST_F(SimTest, AStallHoldsBackWhatArrivesInIt) {
  plan([](SimPlan& plan) { plan.to_server.stalls = {{kStart + 5ms, kStart + 50ms}}; });
  const auto client = connect();
  world_.at(kStart + 4ms, [&] { client->say("a"); });
  world_.at(kStart + 6ms, [&] { client->say("b"); });
  world_.at(kStart + 49ms + 960us, [&] { client->say("c"); });
  settle();
  EXPECT_EQ(server_end().reads,
            (std::vector{kStart + 4ms + 50us, kStart + 50ms, kStart + 50ms + 10us}));
}

TEST_F(SimTest, PiecesByTheByteArriveOneByOne) {
  plan([](SimPlan& plan) {
    plan.to_server.split = SimSplit::bytes;
    plan.to_server.split_gap = 10us;
  });
  const auto client = connect();
  client->say("hello");
  settle();
  EXPECT_EQ(server_end().heard, "hello");
  EXPECT_EQ(server_end().sizes, (std::vector<std::size_t>{1, 1, 1, 1, 1}));
  EXPECT_EQ(server_end().reads[4] - server_end().reads[0], 40us);
}

TEST_F(SimTest, RandomPiecesAddUp) {
  plan([](SimPlan& plan) { plan.to_server.split = SimSplit::random; });
  const auto client = connect();
  std::string said;
  for (int i = 0; i < 1'000; ++i) said += std::to_string(i);
  client->say(said);
  settle();
  EXPECT_EQ(server_end().heard, said);
  EXPECT_GT(server_end().sizes.size(), 2u);
}

TEST_F(SimTest, ASmallBufferTakesAPartAndTheRestWhenThePeerHasRead) {
  plan([](SimPlan& plan) { plan.to_server.buffer = 4; });
  const auto client = connect();
  world_.run_until(kStart + 1ms);
  client->say("0123456789");
  EXPECT_EQ(client->sent, 4u);
  settle();
  EXPECT_EQ(server_end().heard, "0123456789");
  EXPECT_EQ(server_end().sizes, (std::vector<std::size_t>{4, 4, 2}));
  // One round trip for each buffer full.
  EXPECT_EQ(server_end().reads[1] - server_end().reads[0], 100us);
}

TEST_F(SimTest, CutAtAnInstantLosesWhatIsUnderWayAndResetsBothSides) {
  plan([](SimPlan& plan) {
    plan.to_server.latency = plan.to_client.latency = 1ms;
    plan.cut_at = kStart + 10ms;
  });
  const auto client = connect();
  world_.at(kStart + 8ms, [&] { client->say("arrives"); });
  world_.at(kStart + 9ms + 1us, [&] {
    client->say("lost");
    server_end().say("lost too");
  });
  settle();
  EXPECT_EQ(server_end().heard, "arrives");
  EXPECT_EQ(server_end().error, ECONNRESET);
  EXPECT_EQ(server_end().ended, kStart + 10ms);
  EXPECT_EQ(client->heard, "");
  EXPECT_EQ(client->error, ECONNRESET);
  EXPECT_EQ(client->ended, kStart + 10ms);
}

TEST_F(SimTest, CutAfterBytesDeliversExactlySoMany) {
  for (const std::uint64_t offset : {0u, 1u, 5u, 9u, 10u}) {
    SCOPED_TRACE(offset);
    server_.talkers.clear();
    plan([&](SimPlan& plan) { plan.to_client.cut_after = offset; });
    const auto client = connect();
    world_.run_until(world_.now() + 1ms);
    server_end().say("01234");
    server_end().say("56789");
    settle();
    EXPECT_EQ(client->heard, std::string("0123456789").substr(0, offset));
    EXPECT_EQ(client->error, ECONNRESET);
    EXPECT_EQ(server_end().error, ECONNRESET);
  }
}

TEST_F(SimTest, NoCutAfterFewerBytes) {
  plan([&](SimPlan& plan) { plan.to_client.cut_after = 11; });
  const auto client = connect();
  world_.run_until(kStart + 1ms);
  server_end().say("0123456789");
  settle();
  EXPECT_EQ(client->heard, "0123456789");
  EXPECT_EQ(client->error, -1);
}

TEST_F(SimTest, ConnectErrorsComeAfterTheirDelay) {
  plan([&](SimPlan& plan) {
    plan.connect_error = EHOSTUNREACH;
    plan.connect_delay = 2s;
  });
  const auto client = connect();
  settle();
  EXPECT_EQ(client->connect_error, EHOSTUNREACH);
  EXPECT_EQ(client->connected, kStart + 2s + 100us);
  EXPECT_TRUE(server_.talkers.empty());
}

TEST_F(SimTest, NobodyListensAtAnotherPort) {
  const auto client = connect(81);
  settle();
  EXPECT_EQ(client->connect_error, ECONNREFUSED);
}

TEST_F(SimTest, UnansweredConnectsTimeOutAsLinuxDoes) {
  plan([&](SimPlan& plan) { plan.never_answer(); });
  const auto client = connect();
  const auto closed = connect();
  world_.run_until(kStart + 126s);
  EXPECT_EQ(client->connect_error, -1);
  closed->close();
  settle();
  EXPECT_EQ(client->connect_error, ETIMEDOUT);
  EXPECT_EQ(closed->connect_error, -1);
}

TEST_F(SimTest, AConnectThatIsGivenUpIsNeverAccepted) {
  const auto client = connect();
  world_.run_until(kStart + 60us);
  client->close();
  settle();
  EXPECT_TRUE(server_.talkers.empty());
}

TEST_F(SimTest, ConnectFailsAtOnce) {
  plan([&](SimPlan& plan) { plan.fails_at_once = EMFILE; });
  const auto outcome = client_loop_.connect(server_.address(), {});
  ASSERT_FALSE(outcome.has_value());
  EXPECT_EQ(outcome.error(), EMFILE);
}

TEST_F(SimTest, AcceptLimitLeavesTheRestConnectedAndUnserved) {
  world_.set_accept_limit(server_.address(), 2);
  std::vector<std::unique_ptr<Talker>> clients;
  for (int i = 0; i < 5; ++i) clients.push_back(connect());
  settle();
  for (const auto& each : clients) EXPECT_EQ(each->connect_error, 0);
  EXPECT_EQ(server_.talkers.size(), 2u);
  server_.talkers[0]->close();
  server_.talkers[1]->reset();
  settle();
  EXPECT_EQ(server_.talkers.size(), 4u);
}

TEST_F(SimTest, ClosingTheListenerResetsTheBacklog) {
  world_.set_accept_limit(server_.address(), 1);
  const auto first = connect();
  const auto second = connect();
  settle();
  server_.close();
  settle();
  EXPECT_EQ(first->error, -1);
  EXPECT_EQ(second->error, ECONNRESET);
  EXPECT_EQ(connect()->connect_error, -1);
}

TEST_F(SimTest, TheAcceptHandlerMayCloseTheListener) {
  server_.close_after = 2;
  std::vector<std::unique_ptr<Talker>> clients;
  for (int i = 0; i < 4; ++i) clients.push_back(connect());
  settle();
  EXPECT_EQ(server_.talkers.size(), 2u);
  EXPECT_EQ(std::ranges::count(clients, ECONNRESET, [](auto& each) { return each->error; }), 2);
}

TEST_F(SimTest, SeveralListenersShareAnAddress) {
  Server second(server_loop_);
  std::vector<std::unique_ptr<Talker>> clients;
  for (int i = 0; i < 100; ++i) clients.push_back(connect());
  settle();
  EXPECT_EQ(server_.talkers.size() + second.talkers.size(), 100u);
  EXPECT_GT(server_.talkers.size(), 20u);
  EXPECT_GT(second.talkers.size(), 20u);
}

TEST_F(SimTest, AFrozenLoopFindsEverythingWhenItThaws) {
  const auto client = connect();
  const auto other = connect();
  world_.freeze(server_loop_, kStart + 1ms, kStart + 1s);
  world_.at(kStart + 2ms, [&] { client->say("a"); });
  world_.at(kStart + 3ms, [&] { client->say("b"); });
  std::unique_ptr<Talker> late;
  world_.at(kStart + 4ms, [&] { late = connect(); });
  settle();
  EXPECT_EQ(server_end().reads, std::vector{kStart + 1s});
  EXPECT_EQ(server_end().heard, "ab");
  // The kernel of a stopped process goes on: it completes connects.
  EXPECT_EQ(late->connected, kStart + 4ms + 100us);
  EXPECT_EQ(server_.accepted_at.back(), kStart + 1s);
}

struct Hook final : TurnHook {
  Instant on_turn(Instant now) noexcept override {
    turns.push_back(now);
    if (loop != nullptr) loop->spend(work);
    if (loop != nullptr) (void)loop->now();
    return now >= wanted ? kNever : wanted;
  }
  void turn_took(Duration took) noexcept override { longest = std::max(longest, took); }
  void woke_late(Duration by) noexcept override { late.push_back(by); }
  SimLoop* loop = nullptr;
  Duration work{0}, longest{0};
  Instant wanted = kStart + 5ms;
  std::vector<Instant> turns;
  std::vector<Duration> late;
};

TEST_F(SimTest, TheHookIsCalledAtItsInstantAndTheLoopTellsHowLate) {
  Hook hook;
  client_loop_.set_hook(&hook);
  settle();
  EXPECT_EQ(hook.turns.back(), kStart + 5ms);
  EXPECT_EQ(hook.late, std::vector<Duration>{0ns});

  Hook frozen;
  frozen.wanted = kStart + 10ms;
  world_.freeze(client_loop_, kStart + 9ms, kStart + 30ms);
  client_loop_.set_hook(&frozen);
  settle();
  EXPECT_EQ(frozen.turns.back(), kStart + 30ms);
  EXPECT_EQ(frozen.late, std::vector<Duration>{20ms});
  client_loop_.set_hook(nullptr);
}

TEST_F(SimTest, ComputingTakesTheLoopsOwnTime) {
  Hook busy;
  busy.loop = &client_loop_;
  busy.work = 40ms;
  busy.wanted = kNever;
  Hook other;
  client_loop_.set_hook(&busy);
  server_loop_.set_hook(&other);
  const auto client = connect();  // sent before the first turn: its answer finds the loop busy
  settle();
  EXPECT_EQ(busy.longest, 40ms);
  EXPECT_EQ(client->connected, kStart + 40ms);
  // The other loop has its own core.
  EXPECT_EQ(other.late, std::vector<Duration>{0ns});
  client_loop_.set_hook(nullptr);
  server_loop_.set_hook(nullptr);
}

TEST_F(SimTest, AReadingCostsWhatItIsToldTo) {
  SimLoop loop(world_, 50ns);
  const Instant before = loop.now();
  EXPECT_EQ(loop.now() - before, 50ns);
  EXPECT_EQ(loop.latest() - before, 50ns);
}

TEST_F(SimTest, WhatALoopSendsLeavesAtItsOwnTime) {
  const auto client = connect();
  settle();
  const Instant begin = world_.now();
  Instant posted = kNever;
  client_loop_.post([&] {
    client_loop_.spend(7ms);
    client->say("x");
    server_loop_.post([&] { posted = server_loop_.latest(); });
  });
  settle();
  EXPECT_EQ(server_end().reads.back(), begin + 7ms + 50us);
  EXPECT_EQ(posted, begin + 7ms);
}

TEST_F(SimTest, RunMovesTheWorldUntilItsLoopIsStopped) {
  server_.echo = true;
  const auto client = connect();
  client->say("x");
  world_.at(kStart + 3s, [&] { client_loop_.stop(); });
  client_loop_.run();
  EXPECT_EQ(client->heard, "x");
  EXPECT_EQ(world_.now(), kStart + 3s);
}

TEST_F(SimTest, ALoopThatWasStoppedWhileAnotherRanReturnsAtOnce) {
  server_loop_.stop();
  world_.at(kStart + 1s, [&] { client_loop_.stop(); });
  client_loop_.run();
  server_loop_.run();
  EXPECT_EQ(world_.now(), kStart + 1s);
}

TEST_F(SimTest, ARunThatNothingCanEndIsAnError) {
  EXPECT_THROW(client_loop_.run(), std::logic_error);
}

TEST_F(SimTest, ALoopThatNeverSleepsIsAnError) {
  std::function<void()> again = [&] { client_loop_.post(again); };
  client_loop_.post(again);
  EXPECT_THROW(world_.run_until(kStart + 1s), std::logic_error);
}

TEST_F(SimTest, IdleMeansThatNothingIsLeft) {
  EXPECT_TRUE(world_.run_until_idle(kStart));
  world_.at(kStart + 2s, [] {});
  EXPECT_FALSE(world_.run_until_idle(kStart + 1s));
  EXPECT_TRUE(world_.run_until_idle(kStart + 2s));
}

// A hundred clients say their piece to an echo server over a bad network.
struct Outcome {
  std::uint64_t trace = 0;
  std::string text;
  std::map<int, int> connects, ends;
  int complete = 0;
};

Outcome bad_day(std::uint64_t seed, const SimFaults& faults, int count = 100, bool text = false) {
  SimWorld world(seed, kStart);
  std::ostringstream out;
  if (text) world.set_trace_text(&out);
  SimLoop client_loop(world), server_loop(world);
  Server server(server_loop);
  server.echo = true;
  world.set_faults(faults);
  std::vector<std::unique_ptr<Talker>> clients;
  Outcome outcome;
  std::string said;
  for (int i = 0; i < 50; ++i) said += std::to_string(i);
  for (int i = 0; i < count; ++i)
    clients.push_back(
        std::make_unique<Talker>(client_loop, *client_loop.connect(server.address(), {})));
  for (auto& each : clients) each->say(said);
  EXPECT_TRUE(world.run_until_idle(kStart + 24h)) << seed;
  for (auto& each : clients) {
    // What comes back is what was said, as far as it goes; and nothing is lost without an error.
    EXPECT_EQ(each->heard, said.substr(0, each->heard.size())) << seed;
    const bool failed = each->connect_error > 0 || each->error > 0 || each->write_error > 0;
    EXPECT_TRUE(each->heard == said || failed) << seed;
    ++outcome.connects[each->connect_error];
    ++outcome.ends[each->error];
    if (each->heard == said) ++outcome.complete;
  }
  outcome.trace = world.trace();
  outcome.text = out.str();
  return outcome;
}

SimFaults all_faults() {
  return {.latency_min = 10us,
          .latency_max = 2ms,
          .jitter = 1ms,
          .refused = 0.05,
          .unanswered = 0.05,
          .slow_connect = 0.2,
          .connect_delay = 1s,
          .cut = 0.2,
          .cut_within = 50ms,
          .cut_bytes = 100,
          .stall = 0.2,
          .stall_within = 50ms,
          .split = 0.3,
          .one_byte = 0.2,
          .small_buffer = 0.3};
}

TEST(SimFaultsTest, OneSeedGivesTheSameTraceTwiceAndAnotherAnother) {
  const Outcome first = bad_day(1, all_faults(), 50, true);
  const Outcome again = bad_day(1, all_faults(), 50, true);
  EXPECT_EQ(first.trace, again.trace);
  EXPECT_EQ(first.text, again.text);
  EXPECT_NE(first.trace, bad_day(2, all_faults(), 50).trace);
}

TEST(SimFaultsTest, TheTextDoesNotChangeTheTrace) {
  EXPECT_EQ(bad_day(3, all_faults(), 20, true).trace, bad_day(3, all_faults(), 20).trace);
}

TEST(SimFaultsTest, StreamsStayWholeOrFailOver200Seeds) {
  for (std::uint64_t seed = 0; seed < 200; ++seed) bad_day(seed, all_faults(), 5);
}

TEST(SimFaultsTest, WithoutFaultsEverythingIsComplete) { EXPECT_EQ(bad_day(1, {}).complete, 100); }

TEST(SimFaultsTest, EveryFaultComesAsOftenAsAsked) {
  EXPECT_EQ(bad_day(1, {.refused = 1}).connects, (std::map<int, int>{{ECONNREFUSED, 100}}));
  EXPECT_EQ(bad_day(1, {.unanswered = 1}).connects, (std::map<int, int>{{ETIMEDOUT, 100}}));
  EXPECT_NEAR(bad_day(1, {.refused = 0.3}, 1'000).connects[ECONNREFUSED], 300, 60);
  Outcome cut = bad_day(1, {.cut = 1, .cut_within = 10ms, .cut_bytes = 80}, 1'000);
  EXPECT_EQ(cut.connects[ECONNREFUSED] + cut.ends[ECONNRESET], 1'000);
  EXPECT_EQ(bad_day(1, {.split = 1, .one_byte = 1, .small_buffer = 1}).complete, 100);
}

TEST(SimFaultsTest, DrawsDoNotDependOnWhatElseHappens) {
  // The fifth connection of a seed has the same plan whatever the first four did.
  const auto fifth = [](Duration step) {
    SimWorld world(9, kStart);
    SimLoop loop(world);
    world.set_faults({.latency_min = 0us, .latency_max = 1s});
    SimPlan plan;
    world.set_planner([&](SimPlan& drawn) { plan = drawn; });
    for (int i = 0; i < 5; ++i) {
      auto transport = *loop.connect(Address::ipv4_loopback(80), {});
      if (step.count() > 0) world.run_until(world.now() + step);
    }
    return plan.to_client.latency;
  };
  EXPECT_EQ(fifth(0s), fifth(1s));
}

// Real time: a thousand seconds of a hundred connections, each asking once a second.
TEST(MeasuredSim, AThousandSecondsInAFractionOfOne) {
  SimWorld world(1, kStart);
  SimLoop client_loop(world), server_loop(world);
  Server server(server_loop);
  server.echo = true;
  std::vector<std::unique_ptr<Talker>> clients;
  for (int i = 0; i < 100; ++i)
    clients.push_back(
        std::make_unique<Talker>(client_loop, *client_loop.connect(server.address(), {})));
  std::function<void()> tick = [&] {
    for (auto& each : clients) each->say("request");
    world.at(world.now() + 1s, tick);
  };
  world.at(kStart + 1s, tick);
  const Instant before = kernel::Monotonic::now();
  world.run_until(kStart + 1'000s);
  const Duration took = kernel::Monotonic::now() - before;
  EXPECT_EQ(clients[0]->heard.size(), 7u * 999);
  EXPECT_LT(took, 2s) << "debug builds and sanitizers included";
  RecordProperty("milliseconds", static_cast<int>(took / 1ms));
}

}  // namespace
}  // namespace onbeat::net
