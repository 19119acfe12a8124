// The whole target over the simulated network, driven by raw bytes.
#include "target/http_target.hpp"

#include "net/sim.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cerrno>
#include <deque>
#include <string>
#include <vector>

namespace onbeat::target {
namespace {

using namespace std::chrono_literals;
using testing::HasSubstr;
using testing::StartsWith;

// What one end sends and receives, byte for byte.
class RawClient final : private net::Waiter {
 public:
  RawClient(net::Loop& loop, const net::Address& to)
      : loop_(loop), transport_(loop.connect(to, {}).value()) {
    transport_->wait_writable(*this);
    transport_->wait_readable(*this);
  }
  void send(std::string_view bytes) {
    unsent_ += bytes;
    flush();
  }
  void close() { transport_->close(); }

  std::string received;
  Instant first, last;  // when the first and the latest byte came
  bool ended = false;
  int error = 0;

 private:
  void ready() noexcept override {
    flush();
    for (;;) {
      const net::IoResult result = transport_->read_some(loop_.scratch());
      if (result.would_block()) return transport_->wait_readable(*this);
      if (result.bytes == 0) {
        error = result.error;
        ended = true;
        return transport_->close();
      }
      if (received.empty()) first = loop_.latest();
      last = loop_.latest();
      received.append(loop_.scratch().data(), result.bytes);
    }
  }
  void flush() {
    while (!unsent_.empty()) {
      const std::string_view piece = unsent_;
      const net::IoResult result = transport_->write_some({&piece, 1});
      if (result.would_block()) return transport_->wait_writable(*this);
      if (result.error != 0) return;
      unsent_.erase(0, result.bytes);
    }
  }
  net::Loop& loop_;
  std::unique_ptr<net::Transport> transport_;
  std::string unsent_;
};

std::string get(std::string_view path, std::string_view fields = "") {
  return "GET " + std::string(path) + " HTTP/1.1\r\nHost: t\r\n" + std::string(fields) + "\r\n";
}
std::string ok(std::string_view body) {
  return "HTTP/1.1 200 OK\r\nContent-Length: " + std::to_string(body.size()) + "\r\n\r\n" +
         std::string(body);
}

class HttpTargetTest : public testing::Test {
 protected:
  static constexpr Duration kOneWay = 50us, kRoundTrip = 2 * kOneWay;
  // A timer's tick, and the turns of the loops.
  static constexpr Duration kSlack = 200us;

  void serve(std::vector<std::string> faults = {}, HttpTargetOptions options = {}) {
    options.faults = parse_faults(faults).value();
    target_ = std::make_unique<HttpTarget>(server_, options);
    address_ = target_->listen(net::Address::ipv4_loopback(0)).value();
  }
  RawClient& connect() {
    RawClient& client = clients_.emplace_back(client_loop_, address_);
    run(1ms);
    return client;
  }
  void run(Duration time) { world_.run_until(world_.now() + time); }
  std::string exchange(RawClient& client, std::string_view bytes, Duration time = 10ms) {
    client.received.clear();
    client.send(bytes);
    run(time);
    return client.received;
  }

  net::SimWorld world_{1};
  net::SimLoop server_{world_}, client_loop_{world_};
  std::unique_ptr<HttpTarget> target_;
  net::Address address_;
  std::deque<RawClient> clients_;
};

TEST_F(HttpTargetTest, AnswersAndKeepsTheConnection) {
  serve({}, {.bytes = 5});
  RawClient& client = connect();
  for (int i = 0; i < 3; ++i) EXPECT_EQ(exchange(client, get("/")), ok("xxxxx"));
  const TargetCounts counts = target_->counts();
  EXPECT_EQ(counts.connections, 1U);
  EXPECT_EQ(counts.open, 1U);
  EXPECT_EQ(counts.requests, 3U);
  EXPECT_EQ(counts.answers, 3U);
  client.close();
  run(1ms);
  EXPECT_EQ(target_->counts().open, 0U);
}

// What is answered without parsing is exactly what equals the request before it.
TEST_F(HttpTargetTest, ARequestThatOnlyBeginsLikeTheOneBeforeIsReadAnew) {
  serve();
  RawClient& client = connect();
  EXPECT_EQ(exchange(client, get("/bytes/1")), ok("x"));
  EXPECT_EQ(exchange(client, get("/bytes/1")), ok("x"));
  EXPECT_EQ(exchange(client, get("/bytes/2")), ok("xx"));
  EXPECT_EQ(exchange(client, get("/bytes/1")), ok("x"));
  EXPECT_EQ(exchange(client, get("/bytes/1", "X: y\r\n")), ok("x"));
  const std::string post = "POST /bytes/3 HTTP/1.1\r\nContent-Length: 4\r\n\r\n";
  EXPECT_EQ(exchange(client, post + "1234"), ok("xxx"));
  EXPECT_EQ(exchange(client, post + "5678"), ok("xxx"));
  EXPECT_EQ(exchange(client, post + "56"), "");
  EXPECT_EQ(exchange(client, "78"), ok("xxx"));
}

TEST_F(HttpTargetTest, PipelinedRequestsAreAnsweredInOrder) {
  serve();
  RawClient& client = connect();
  EXPECT_EQ(exchange(client, get("/bytes/1") + get("/bytes/1") + get("/delay/2ms/bytes/2") +
                                 get("/bytes/3") + get("/bytes/3")),
            ok("x") + ok("x") + ok("xx") + ok("xxx") + ok("xxx"));
}

TEST_F(HttpTargetTest, RequestsInBytesAndBuffersOfAByteGetTheSameAnswer) {
  world_.set_planner([](net::SimPlan& plan) {
    plan.to_server.split = net::SimSplit::bytes;
    plan.to_client.buffer = 1;
  });
  serve();
  RawClient& client = connect();
  const std::string post =
      "POST /bytes/7 HTTP/1.1\r\nTransfer-Encoding: chunked\r\n\r\n"
      "3\r\nabc\r\n4;x=y\r\ndefg\r\n0\r\nX-T: 1\r\n\r\n";
  EXPECT_EQ(exchange(client, get("/bytes/2") + post + get("/bytes/1"), 1s),
            ok("xx") + ok("xxxxxxx") + ok("x"));
}

TEST_F(HttpTargetTest, EchoReturnsTheHeadByteForByteAndTheBody) {
  serve();
  const std::string head =
      "PUT /echo?q=%20%7B HTTP/1.1\r\nhOsT:  [::1]:80\r\nTransfer-Encoding: chunked\r\n\r\n";
  EXPECT_THAT(exchange(connect(), head + "3\r\nabc\r\n2\r\nde\r\n0\r\n\r\n"),
              testing::EndsWith("\r\n\r\n" + head + "abcde"));
}

TEST_F(HttpTargetTest, ContinueIsSentBeforeTheBodyAndOnlyOnce) {
  serve();
  RawClient& client = connect();
  EXPECT_EQ(exchange(client,
                     "POST /bytes/1 HTTP/1.1\r\nExpect: 100-continue\r\n"
                     "Content-Length: 3\r\n\r\n"),
            "HTTP/1.1 100 Continue\r\n\r\n");
  EXPECT_EQ(exchange(client, "a"), "");
  EXPECT_EQ(exchange(client, "bc"), ok("x"));
}

TEST_F(HttpTargetTest, BodiesLargerThanAllBuffersArriveWhole) {
  world_.set_planner([](net::SimPlan& plan) { plan.to_client.buffer = 5'000; });
  serve();
  const std::string head = "HTTP/1.1 200 OK\r\nContent-Length: 1000000\r\n\r\n";
  EXPECT_TRUE(exchange(connect(), get("/bytes/1M"), 10s) == head + std::string(1'000'000, 'x'));
  const std::string chunked = exchange(connect(), get("/chunked/1M"), 10s);
  EXPECT_EQ(std::ranges::count(chunked, 'x'), 1'000'000);
  EXPECT_THAT(chunked, testing::EndsWith("x\r\n0\r\n\r\n"));
}

TEST_F(HttpTargetTest, CloseIsHonoured) {
  serve();
  RawClient& client = connect();
  EXPECT_EQ(exchange(client, get("/", "Connection: close\r\n") + get("/")),
            "HTTP/1.1 200 OK\r\nContent-Length: 0\r\nConnection: close\r\n\r\n");
  EXPECT_TRUE(client.ended);
  EXPECT_EQ(client.error, 0);
  EXPECT_EQ(target_->counts().requests, 1U);
  RawClient& old = connect();
  EXPECT_THAT(exchange(old, "GET / HTTP/1.0\r\n\r\n"), HasSubstr("Connection: close"));
  EXPECT_TRUE(old.ended);
  RawClient& kept = connect();
  EXPECT_THAT(exchange(kept, "GET / HTTP/1.0\r\nConnection: keep-alive\r\n\r\n"),
              HasSubstr("Connection: keep-alive"));
  EXPECT_FALSE(kept.ended);
}

TEST_F(HttpTargetTest, BodilessAnswers) {
  serve();
  RawClient& client = connect();
  EXPECT_EQ(exchange(client, "HEAD /bytes/357 HTTP/1.1\r\nHost: t\r\n\r\n"),
            "HTTP/1.1 200 OK\r\nContent-Length: 357\r\n\r\n");
  EXPECT_EQ(exchange(client, get("/status/204/bytes/9")), "HTTP/1.1 204 No Content\r\n\r\n");
  EXPECT_EQ(exchange(client, get("/status/304/bytes/9")),
            "HTTP/1.1 304 Not Modified\r\nContent-Length: 9\r\n\r\n");
}

TEST_F(HttpTargetTest, RawAnswersAreExactlyWhatWasAskedFor) {
  serve();
  RawClient& client = connect();
  EXPECT_EQ(exchange(client, get("/raw/HTTP%2F1.1%20204%20?%0d%0A%0D%0A%zz")),
            "HTTP/1.1 204 ?\r\n\r\n%zz");
  EXPECT_FALSE(client.ended);
  EXPECT_EQ(exchange(client, get("/raw-close/a%00b")), std::string("a\0b", 3));
  EXPECT_TRUE(client.ended);
}

TEST_F(HttpTargetTest, WhatIsNoRequestIsRefused) {
  serve();
  RawClient& client = connect();
  EXPECT_THAT(exchange(client, "nonsense\r\n\r\n"), StartsWith("HTTP/1.1 400 Bad Request\r\n"));
  EXPECT_TRUE(client.ended);
  EXPECT_EQ(target_->counts().requests, 0U);
  EXPECT_THAT(exchange(connect(), get("/", "X-Fault: bogus\r\n")), HasSubstr("no such fault"));
}

TEST_F(HttpTargetTest, DelaysByOptionAndByPath) {
  serve({}, {.delay = 5ms});
  for (const auto& [path, delay] :
       {std::pair{"/", Duration(5ms)}, {"/delay/50ms", 50ms}, {"/delay/0", 0ms}}) {
    RawClient& client = connect();
    const Instant sent = world_.now();
    exchange(client, get(path), 100ms);
    EXPECT_GE(client.first - sent, delay + kRoundTrip) << path;
    EXPECT_LE(client.first - sent, delay + kRoundTrip + kSlack) << path;
  }
}

TEST_F(HttpTargetTest, StallHoldsAnswersBackAndThenLetsAllGo) {
  serve({"stall:at=1s,for=500ms"});
  RawClient &first = connect(), &second = connect();
  const Instant start = world_.now();
  EXPECT_EQ(exchange(first, get("/"), 1100ms), ok(""));
  EXPECT_EQ(exchange(first, get("/"), 100ms), "");
  EXPECT_EQ(exchange(second, get("/"), 100ms), "");
  run(1s);
  for (const RawClient* client : {&first, &second}) {
    EXPECT_EQ(client->received, ok(""));
    EXPECT_FALSE(client->ended);
    EXPECT_GE(client->first - start, 1500ms + kOneWay);
    EXPECT_LE(client->first - start, 1500ms + kRoundTrip + kSlack);
  }
  EXPECT_EQ(exchange(first, get("/"), 1ms), ok(""));
}

TEST_F(HttpTargetTest, ADelayedAnswerThatFallsIntoAStallWaitsForItsEnd) {
  serve({"stall:at=10ms,for=1s"});
  RawClient& client = connect();
  const Instant start = world_.now();
  exchange(client, get("/delay/20ms"), 2s);
  EXPECT_GE(client.first - start, 1010ms);
}

TEST_F(HttpTargetTest, FreezeHandlesNothingAtAll) {
  serve({"freeze:at=1s,for=500ms"});
  RawClient& client = connect();
  exchange(client, get("/"), 1100ms);
  EXPECT_EQ(exchange(client, get("/"), 100ms), "");
  RawClient& late = connect();
  EXPECT_EQ(exchange(late, get("/bytes/1"), 100ms), "");
  EXPECT_EQ(target_->counts().requests, 1U);  // not even read
  run(300ms);
  EXPECT_EQ(client.received, ok(""));
  EXPECT_EQ(late.received, ok("x"));
}

TEST_F(HttpTargetTest, ARequestMayAskForAStallOfTheWholeServer) {
  serve();
  RawClient &asks = connect(), &other = connect();
  EXPECT_EQ(exchange(asks, get("/", "X-Fault: stall:for=100ms\r\n"), 20ms), "");
  EXPECT_EQ(exchange(other, get("/"), 50ms), "");
  run(50ms);
  EXPECT_EQ(asks.received, ok(""));
  EXPECT_EQ(other.received, ok(""));
}

TEST_F(HttpTargetTest, ResetStrikesEachNthRequestOfTheServer) {
  serve({"reset:every=3"});
  RawClient &first = connect(), &second = connect();
  EXPECT_EQ(exchange(first, get("/")), ok(""));
  EXPECT_EQ(exchange(second, get("/")), ok(""));
  EXPECT_EQ(exchange(first, get("/")), "");
  EXPECT_EQ(first.error, ECONNRESET);
  EXPECT_EQ(exchange(second, get("/")), ok(""));
  EXPECT_FALSE(second.ended);
}

TEST_F(HttpTargetTest, SharesAreDrawnByNumberFromTheSeed) {
  const auto struck = [&](std::string fault) {
    serve({std::move(fault)});
    RawClient& client = connect();
    std::vector<int> numbers;
    for (int i = 0; i < 1000; ++i)
      if (exchange(client, get("/"), 1ms) != ok("")) numbers.push_back(i);
    return numbers;
  };
  const auto some = struck("status:share=10%,seed=5");
  EXPECT_NEAR(static_cast<double>(some.size()), 100, 40);
  EXPECT_EQ(struck("status:share=10%,seed=5"), some);
  EXPECT_NE(struck("status:share=10%,seed=6"), some);
}

TEST_F(HttpTargetTest, AFaultHasItsTimeAndItsNumber) {
  serve({"status:at=1s,for=1s", "status:code=429,request=2"});
  RawClient& client = connect();
  EXPECT_THAT(exchange(client, get("/"), 500ms), StartsWith("HTTP/1.1 200"));
  EXPECT_THAT(exchange(client, get("/"), 700ms), StartsWith("HTTP/1.1 429"));
  EXPECT_THAT(exchange(client, get("/"), 900ms), StartsWith("HTTP/1.1 503"));
  EXPECT_THAT(exchange(client, get("/"), 100ms), StartsWith("HTTP/1.1 200"));
}

TEST_F(HttpTargetTest, M8_TenPercentAfterThreeSeconds) {
  serve({"delay:time=3s,every=10"});
  RawClient& client = connect();
  for (int i = 1; i < 10; ++i) EXPECT_EQ(exchange(client, get("/"), 1ms), ok(""));
  const Instant sent = world_.now();
  exchange(client, get("/"), 4s);
  EXPECT_GE(client.first - sent, 3s);
}

TEST_F(HttpTargetTest, M18_CapacityIsOneQueueForAllConnections) {
  serve({"capacity:rate=500"});
  std::vector<RawClient*> clients;
  for (int i = 0; i < 16; ++i) clients.push_back(&connect());
  const Instant start = world_.now();
  for (RawClient* client : clients) client->send(get("/") + get("/"));
  run(1s);
  for (std::size_t i = 0; i < clients.size(); ++i) {
    const Duration served = Duration(2ms) * (static_cast<int>(i) + 1);
    EXPECT_GE(clients[i]->first - start, served);
    EXPECT_LE(clients[i]->first - start, served + kRoundTrip + kSlack);
    // A connection's second request joins the queue when its first is answered.
    EXPECT_GE(clients[i]->last - start, served + 32ms);
    EXPECT_LE(clients[i]->last - start, served + 32ms + kRoundTrip + 2 * kSlack);
  }
}

TEST_F(HttpTargetTest, H9_ClosesAnIdleConnectionSilently) {
  serve({"close:wait=50ms"});
  RawClient& client = connect();
  EXPECT_EQ(exchange(client, get("/"), 40ms), ok(""));
  EXPECT_FALSE(client.ended);
  run(20ms);
  EXPECT_TRUE(client.ended);
  EXPECT_EQ(client.error, 0);
}

TEST_F(HttpTargetTest, ClosesUnanswered) {
  serve({"close:mode=unanswered"});
  RawClient& client = connect();
  EXPECT_EQ(exchange(client, get("/")), "");
  EXPECT_TRUE(client.ended);
  EXPECT_EQ(client.error, 0);
}

TEST_F(HttpTargetTest, H10_SaysCloseAmidAPipeline) {
  serve({"close:mode=said,request=3"});
  RawClient& client = connect();
  std::string eight;
  for (int i = 0; i < 8; ++i) eight += get("/");
  EXPECT_EQ(exchange(client, eight),
            ok("") + ok("") + "HTTP/1.1 200 OK\r\nContent-Length: 0\r\nConnection: close\r\n\r\n");
  EXPECT_TRUE(client.ended);
}

TEST_F(HttpTargetTest, H7_CutsInMidBody) {
  serve({"cut"});
  RawClient& client = connect();
  EXPECT_EQ(exchange(client, get("/bytes/10")),
            "HTTP/1.1 200 OK\r\nContent-Length: 10\r\n\r\nxxxxx");
  EXPECT_TRUE(client.ended);
  EXPECT_EQ(exchange(connect(), get("/bytes/100k", "X-Fault: cut:bytes=7\r\n")), "HTTP/1.");
}

TEST_F(HttpTargetTest, H20_OneByteAtATime) {
  serve({"slow-bytes:gap=1ms"});
  RawClient& client = connect();
  const Instant sent = world_.now();
  const std::string whole = ok("xxx");
  EXPECT_EQ(exchange(client, get("/bytes/3"), 1s), whole);
  EXPECT_GE(client.last - sent, Duration(1ms) * (static_cast<int>(whole.size()) - 1));
  EXPECT_EQ(exchange(client, get("/bytes/3"), 1s), whole);
}

TEST_F(HttpTargetTest, H8_Garbage) {
  serve({"garbage"});
  RawClient& client = connect();
  const std::string answer = exchange(client, get("/"));
  EXPECT_FALSE(answer.empty());
  EXPECT_FALSE(answer.starts_with("HTTP"));
  EXPECT_TRUE(client.ended);
}

TEST_F(HttpTargetTest, H1_H2_H3_FaultsThatChangeBytesGoTogether) {
  serve();
  RawClient& client = connect();
  EXPECT_EQ(exchange(client, get("/bytes/4", "X-Fault: trailers; interim; excess:bytes=2\r\n")),
            "HTTP/1.1 100 Continue\r\n\r\n"
            "HTTP/1.1 103 Early Hints\r\nLink: </style.css>; rel=preload\r\n\r\n"
            "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n"
            "Trailer: X-Trailer, X-Trailer-Two\r\n\r\n"
            "2\r\nxx\r\n2\r\nxx\r\n0\r\nX-Trailer: first\r\nX-Trailer-Two: second\r\n\r\n!!");
  EXPECT_EQ(exchange(client, get("/bytes/4")), ok("xxxx"));
}

TEST_F(HttpTargetTest, H19_RefusesBeyondALimit) {
  serve({"refuse:beyond=2"});
  RawClient &first = connect(), &second = connect(), &third = connect();
  EXPECT_EQ(third.error, ECONNRESET);
  EXPECT_EQ(exchange(second, get("/")), ok(""));
  first.close();
  run(1ms);
  EXPECT_EQ(exchange(connect(), get("/")), ok(""));
  EXPECT_EQ(target_->counts().refused, 1U);
  EXPECT_EQ(target_->counts().open, 2U);
}

TEST_F(HttpTargetTest, AllFaultsOverAHostileNetworkEndInNoDanglingConnection) {
  for (std::uint64_t seed = 1; seed <= 50; ++seed) {
    net::SimWorld world{seed};
    world.set_faults({.latency_max = 1ms,
                      .cut = 0.3,
                      .cut_within = 50ms,
                      .stall = 0.3,
                      .split = 0.3,
                      .one_byte = 0.2,
                      .small_buffer = 0.3});
    net::SimLoop server{world}, client_loop{world};
    const std::vector<std::string> texts{"reset:share=5%",
                                         "cut:share=5%,seed=2",
                                         "close:share=5%,seed=3",
                                         "slow-bytes:share=9%,gap=50us",
                                         "delay:share=9%,time=3ms,seed=4",
                                         "stall:at=20ms,for=10ms",
                                         "freeze:at=40ms,for=10ms"};
    HttpTarget target(server, {.bytes = 40, .faults = parse_faults(texts).value()});
    const net::Address address = target.listen(net::Address::ipv4_loopback(0)).value();
    std::deque<RawClient> clients;
    for (int i = 0; i < 20; ++i) {
      RawClient& client = clients.emplace_back(client_loop, address);
      for (int n = 0; n < 5; ++n) client.send(get(n % 2 == 0 ? "/" : "/chunked/300"));
    }
    world.run_until(world.now() + 60s);
    EXPECT_GT(target.counts().answers, 0U);
    clients.clear();
    world.run_until(world.now() + 60s);
    EXPECT_EQ(target.counts().open, 0U) << "seed " << seed;
  }
}

}  // namespace
}  // namespace onbeat::target
