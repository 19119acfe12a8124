// The HTTP/2 client against scripted servers on the simulated network.
#include "http/http2_connection.hpp"

#include "http/http2_test_server.hpp"
#include "net/sim.hpp"
#include <onbeat/kernel/task.hpp>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <functional>
#include <list>
#include <string>
#include <vector>

namespace onbeat::http {
namespace {

using namespace std::chrono_literals;
using net::NetError;
using testing::HasSubstr;
using Conversation = Http2TestServer::Conversation;

struct Capture final : ResponseSink {
  void on_status(int code, std::string_view) override { status = code; }
  void on_field(std::string_view name, std::string_view value) override {
    fields.append(name).append(": ").append(value).append("\n");
  }
  void on_body(std::string_view part) override { body += part; }
  void on_trailer(std::string_view name, std::string_view value) override {
    trailers.append(name).append(": ").append(value).append("\n");
  }
  int status = 0;
  std::string fields, body, trailers;
};

Http2Request get(const std::string& path, const std::string& method = "GET") {
  Http2Request request;
  request.fields.add(":method", method);
  request.fields.add(":scheme", "http");
  request.fields.add(":authority", "h");
  request.fields.add(":path", path);
  return request;
}

struct One {
  Http2Request request;
  Http2Stream stream;
  Capture sink;
  Exchange outcome;
  bool done = false;
};

class Http2Client : public testing::Test {
 public:
  ~Http2Client() override {
    connection_.cancel();
    pass(1s);
    EXPECT_EQ(connection_.streams(), 0U);
  }

  /// `count` exchanges at once, with a path of their own each; all must end.
  std::list<One>& exchange(std::size_t count = 1, kernel::Duration timeout = 10s) {
    ones_.clear();
    for (std::size_t i = 0; i < count; ++i) begin(get("/" + std::to_string(i)), timeout);
    world_.run_until(world_.now() + 2 * timeout);
    for (const One& one : ones_) EXPECT_TRUE(one.done);
    return ones_;
  }
  Exchange one(kernel::Duration timeout = 10s) { return exchange(1, timeout).front().outcome; }
  One& begin(Http2Request request, kernel::Duration timeout = 10s) {
    One& made = ones_.emplace_back();
    made.request = std::move(request);
    run([](Http2Client& test, One& self, Instant deadline) -> kernel::Task<void> {
      self.outcome =
          co_await test.connection_.exchange(self.stream, self.request, deadline, &self.sink);
      self.done = true;
    }(*this, made, loop_.now() + timeout));
    return made;
  }
  void run(kernel::Task<void> task) {
    tasks_.push_back(std::move(task));
    tasks_.back().start();
  }
  void pass(kernel::Duration time) { world_.run_until(world_.now() + time); }
  void at(kernel::Duration later, std::function<void()> work) {
    world_.at(world_.now() + later, std::move(work));
  }
  Conversation& conversation(std::size_t number = 1) {
    return *std::next(server_.conversations.begin(), static_cast<std::ptrdiff_t>(number) - 1);
  }
  std::size_t count(NetError error) const {
    return static_cast<std::size_t>(std::ranges::count_if(
        ones_, [error](const One& one) { return one.outcome.error == error; }));
  }

  net::SimWorld world_{1, Instant{} + 1h};
  net::SimLoop server_loop_{world_};
  net::SimLoop loop_{world_};
  Http2TestServer server_{server_loop_};
  Peer peer_{.addresses = {server_.address()}};
  std::list<One> ones_;
  Http2Connection connection_{loop_, peer_};
  std::list<kernel::Task<void>> tasks_;
};

// --- exchanges ---

TEST_F(Http2Client, ManyStreamsOnOneConnection) {
  server_.on_request = [this](Conversation& with, std::int32_t id) {
    at(1ms, [&with, id] { with.respond(id, "200", "ok"); });
  };
  for (int round = 0; round < 3; ++round) {
    for (const One& each : exchange(25)) {
      EXPECT_EQ(each.outcome.error, NetError::none) << connection_.failure();
      EXPECT_EQ(each.outcome.status, 200);
      EXPECT_EQ(each.sink.body, "ok");
      EXPECT_EQ(each.outcome.started, Instant{});
      EXPECT_TRUE(each.outcome.processed);
    }
  }
  EXPECT_EQ(server_.conversations.size(), 1U);
  EXPECT_EQ(conversation().most_open, 25U);
  EXPECT_EQ(peer_.ledger.opened, 1U);
  EXPECT_EQ(peer_.ledger.open, 1U);
  EXPECT_EQ(peer_.ledger.reused, 74U);
  EXPECT_TRUE(connection_.serves());
}

TEST_F(Http2Client, TheFirstStreamIsToldOfTheConnect) {
  EXPECT_TRUE(one().connected);
  EXPECT_FALSE(one().connected);
}

TEST_F(Http2Client, OpenEndsWhenTheSettingsHaveCome) {
  server_.on_accept = [&](Conversation& with) {
    with.held = true;
    with.settings();
    at(5ms, [&with] { with.release(); });
  };
  Http2Stream stream;
  Exchange outcome;
  run([](auto& connection, auto& its, Exchange& told) -> kernel::Task<void> {
    told = co_await connection.open(its);
  }(connection_, stream, outcome));
  pass(4ms);
  EXPECT_TRUE(stream.active());
  EXPECT_FALSE(connection_.is_open());
  pass(4ms);
  EXPECT_FALSE(stream.active());
  EXPECT_TRUE(outcome.connected);
  EXPECT_TRUE(connection_.is_open());
}

TEST_F(Http2Client, WhatOneTurnBeginsGoesOutInOneWrite) {
  exchange(1);
  std::size_t pieces = 0;
  server_.on_frame = [&](Conversation& with, std::int32_t id, std::uint8_t) {
    ++pieces;
    with.respond(id, "200");
  };
  std::ostringstream trace;
  world_.set_trace_text(&trace);
  exchange(25);
  world_.set_trace_text(nullptr);
  EXPECT_EQ(pieces, 25U);
  std::size_t writes = 0;
  const std::string text = trace.str();
  for (auto where = text.find(" write 0"); where != std::string::npos;
       where = text.find(" write 0", where + 1))
    ++writes;
  EXPECT_LE(writes, 2U) << text;
}

TEST_F(Http2Client, RequestsArriveAsTheyAre) {
  const std::string body(100'000, 'b');
  Http2Request request = get("/a%2Fb?q=%20%7B", "POST");
  request.fields.add("X-Upper", "Value");
  request.body = body;
  begin(std::move(request));
  pass(1s);
  const auto& received = conversation().streams.at(1);
  EXPECT_EQ(received.field(":path"), "/a%2Fb?q=%20%7B");
  EXPECT_EQ(received.field(":method"), "POST");
  EXPECT_EQ(received.field("x-upper"), "Value");
  EXPECT_EQ(received.body, body);
  EXPECT_EQ(ones_.front().outcome.error, NetError::none);
  EXPECT_GE(ones_.front().outcome.bytes_sent, body.size());
}

TEST_F(Http2Client, TrailersAndInterimResponses) {
  server_.on_request = [](Conversation& with, std::int32_t id) {
    with.headers(id, "100", {}, false);
    with.headers(id, "103", {{"link", "<x>"}}, false);
    with.respond(id, "200", "body", {{"a", "1"}}, {{"grpc-status", "0"}});
  };
  const One& each = exchange().front();
  EXPECT_EQ(each.outcome.error, NetError::none);
  EXPECT_EQ(each.outcome.status, 200);
  EXPECT_EQ(each.sink.status, 200);
  EXPECT_EQ(each.sink.fields, "a: 1\n");
  EXPECT_EQ(each.sink.body, "body");
  EXPECT_EQ(each.sink.trailers, "grpc-status: 0\n");
}

TEST_F(Http2Client, ResponsesWithoutABody) {
  server_.on_request = [](Conversation& with, std::int32_t id) {
    with.headers(id, id == 1 ? "200" : id == 3 ? "204" : "304", {{"content-length", "357"}}, true);
  };
  begin(get("/", "HEAD"));
  pass(1s);
  EXPECT_EQ(ones_.back().outcome.error, NetError::none);
  begin(get("/"));
  begin(get("/"));
  pass(1s);
  EXPECT_EQ(ones_.back().outcome.error, NetError::none);
  EXPECT_EQ(ones_.back().outcome.status, 304);
  EXPECT_EQ(peer_.ledger.opened, 1U);
}

TEST_F(Http2Client, H7_LessThanTheContentLengthSaid) {
  server_.on_request = [](Conversation& with, std::int32_t id) {
    with.respond(id, "200", "short", {{"content-length", id == 1 ? "6" : "5"}});
  };
  EXPECT_EQ(one().error, NetError::short_body);
  EXPECT_EQ(one().error, NetError::none);
  EXPECT_EQ(peer_.ledger.opened, 1U);
}

TEST_F(Http2Client, MoreThanTheContentLengthSaid) {
  server_.on_request = [](Conversation& with, std::int32_t id) {
    with.respond(id, "200", "longer", {{"content-length", "5"}});
  };
  EXPECT_EQ(one().error, NetError::protocol);
}

TEST_F(Http2Client, AResponseWithoutAStatusIsNone) {
  server_.on_request = [](Conversation& with, std::int32_t) {
    with.raw(std::string_view("\0\0\1\0\1\0\0\0\1x", 10));
  };
  EXPECT_EQ(one().error, NetError::protocol);
}

TEST_F(Http2Client, HeadersLargerThanAllowed) {
  peer_.http2.max_header_list = 1000;
  server_.on_request = [](Conversation& with, std::int32_t id) {
    with.respond(id, "200", "ok", {{"x", std::string(id == 1 ? 1000 : 500, 'x')}});
  };
  EXPECT_EQ(one().error, NetError::protocol);
  EXPECT_THAT(connection_.failure(), HasSubstr("larger than 1000 bytes"));
  EXPECT_EQ(one().error, NetError::none);
  EXPECT_EQ(peer_.ledger.opened, 1U);
}

TEST_F(Http2Client, HeaderAndBodyApartOnlyWhereTheyAre) {
  EXPECT_EQ(one().header_done, Instant{});
  server_.on_request = [this](Conversation& with, std::int32_t id) {
    with.headers(id, "200", {}, false);
    at(5ms, [&with, id] { with.data(id, "ok", true); });
  };
  EXPECT_NE(one().header_done, Instant{});
}

TEST_F(Http2Client, AResponseBeforeTheRequestIsWhole) {
  server_.on_frame = [](Conversation& with, std::int32_t id, std::uint8_t type) {
    if (type == NGHTTP2_HEADERS) with.respond(id, "413", "too large");
  };
  Http2Request request = get("/", "POST");
  const std::string body(1 << 20, 'b');
  request.body = body;
  begin(std::move(request));
  pass(1s);
  EXPECT_EQ(ones_.front().outcome.error, NetError::none);
  EXPECT_EQ(ones_.front().outcome.status, 413);
  EXPECT_TRUE(conversation().streams.at(1).was_reset);
  EXPECT_EQ(conversation().streams.at(1).reset, NGHTTP2_NO_ERROR);
  server_.on_frame = nullptr;
  EXPECT_EQ(one().error, NetError::none);
  EXPECT_EQ(peer_.ledger.opened, 1U);
}

// --- deadlines, cancelling ---

TEST_F(Http2Client, ATimeoutEndsItsStreamAlone) {
  server_.on_request = [](Conversation& with, std::int32_t id) {
    if (with.streams.at(id).field(":path") != "/1") with.respond(id, "200");
  };
  exchange(3, 1s);
  EXPECT_EQ(count(NetError::none), 2U);
  EXPECT_EQ(count(NetError::timeout), 1U);
  EXPECT_EQ(conversation().streams.at(3).reset, NGHTTP2_CANCEL);
  EXPECT_TRUE(conversation().streams.at(3).was_reset);
  EXPECT_EQ(one().error, NetError::none);
  EXPECT_EQ(peer_.ledger.opened, 1U);
}

TEST_F(Http2Client, DeadlinesOfTheirOwn) {
  server_.on_request = [](Conversation&, std::int32_t) {};
  const Instant start = loop_.now();
  std::vector<Instant> ends(4);
  for (int i = 3; i >= 0; --i) {
    One& made = ones_.emplace_back();
    made.request = get("/");
    run([](Http2Client& test, One& self, Instant deadline, Instant& end) -> kernel::Task<void> {
      self.outcome = co_await test.connection_.exchange(self.stream, self.request, deadline);
      end = test.loop_.now();
    }(*this, made, start + (i + 1) * 100ms, ends[static_cast<std::size_t>(i)]));
  }
  pass(1s);
  for (int i = 0; i < 4; ++i) {
    const auto late = ends[static_cast<std::size_t>(i)] - start - (i + 1) * 100ms;
    EXPECT_GE(late, 0ns);
    EXPECT_LT(late, 1ms);
  }
  EXPECT_EQ(count(NetError::timeout), 4U);
}

TEST_F(Http2Client, CancelEndsAllAtOnce) {
  server_.on_request = [](Conversation&, std::int32_t) {};
  peer_.http2.max_streams = 2;
  for (int i = 0; i < 4; ++i) begin(get("/"));
  pass(100ms);
  connection_.cancel();
  EXPECT_EQ(count(NetError::cancelled), 4U);
  EXPECT_EQ(peer_.ledger.open, 0U);
}

TEST_F(Http2Client, CancelWhileItConnects) {
  begin(get("/"));
  connection_.cancel();
  EXPECT_EQ(count(NetError::cancelled), 1U);
  EXPECT_EQ(peer_.ledger.failed, 1U);
  pass(1s);
  EXPECT_EQ(one().error, NetError::none);
}

TEST_F(Http2Client, AStreamCancelledTellsThePeer) {
  server_.on_request = [](Conversation&, std::int32_t) {};
  One& made = begin(get("/"));
  pass(100ms);
  made.stream.cancel();
  EXPECT_TRUE(made.done);
  EXPECT_EQ(made.outcome.error, NetError::cancelled);
  pass(100ms);
  EXPECT_EQ(conversation().streams.at(1).reset, NGHTTP2_CANCEL);
  EXPECT_TRUE(connection_.is_open());
}

TEST_F(Http2Client, ACoroutineMayDestroyTheConnectionWhenItIsDone) {
  auto connection = std::make_unique<Http2Connection>(loop_, peer_);
  Http2Stream stream;
  const Http2Request request = get("/");
  bool done = false;
  run([](auto& its, auto& with, auto& what, bool& end) -> kernel::Task<void> {
    co_await its->exchange(with, what, kNever);
    its.reset();
    end = true;
  }(connection, stream, request, done));
  pass(1s);
  EXPECT_TRUE(done);
  EXPECT_EQ(peer_.ledger.open, 0U);
  EXPECT_EQ(conversation().goaway_received, NGHTTP2_NO_ERROR);
}

// --- connecting ---

TEST_F(Http2Client, NobodyListens) {
  peer_.addresses = {net::Address::ipv4_loopback(9)};
  exchange(3);
  EXPECT_EQ(count(NetError::connect_refused), 3U);
  EXPECT_EQ(peer_.ledger.failed, 1U);
  EXPECT_FALSE(ones_.front().outcome.processed);
  EXPECT_FALSE(connection_.serves());
}

TEST_F(Http2Client, APeerThatNeverGreets) {
  server_.on_accept = [](Conversation& with) { with.held = true; };
  peer_.connect_timeout = 2s;
  exchange(2);
  EXPECT_EQ(count(NetError::connect_timeout), 2U);
  EXPECT_EQ(peer_.ledger.open, 0U);
}

TEST_F(Http2Client, APeerThatSpeaksHttp1) {
  server_.on_bytes = [](Conversation& with, std::string_view) {
    with.raw("HTTP/1.1 400 Bad Request\r\n\r\n");
    with.close();
  };
  exchange(2);
  EXPECT_EQ(count(NetError::protocol), 2U);
  EXPECT_THAT(connection_.failure(), HasSubstr("does not speak HTTP/2"));
}

TEST_F(Http2Client, APeerThatSpeaksGarbage) {
  server_.on_bytes = [](Conversation& with, std::string_view) {
    with.raw(std::string(200, '\x55'));
  };
  exchange(2);
  EXPECT_EQ(count(NetError::protocol), 2U);
  EXPECT_EQ(peer_.ledger.open, 0U);
}

TEST_F(Http2Client, H2_BytesThatBelongToNoRequest) {
  server_.on_request = [](Conversation& with, std::int32_t id) {
    with.respond(id, "200", "whole");
    with.raw(std::string(20, '!'));  // a frame that is too long
  };
  for (std::size_t i = 1; i <= 3; ++i) {
    const Exchange exchange = one();
    EXPECT_EQ(exchange.error, NetError::excess_data);
    EXPECT_EQ(exchange.status, 200);
    EXPECT_EQ(conversation(i).goaway_received, NGHTTP2_FRAME_SIZE_ERROR);
    EXPECT_EQ(peer_.ledger.opened, i);
  }
  EXPECT_EQ(peer_.ledger.open, 0U);
}

TEST_F(Http2Client, AnIdleConnectionThatThePeerClosed) {
  for (int i = 0; i < 3; ++i) {
    EXPECT_EQ(one().error, NetError::none);
    conversation(static_cast<std::size_t>(i) + 1).close();
    pass(1s);
  }
  EXPECT_EQ(peer_.ledger.opened, 3U);
  EXPECT_EQ(peer_.ledger.closed_by_peer, 3U);
  EXPECT_EQ(peer_.ledger.open, 0U);
}

TEST_F(Http2Client, AsManyRequestsAsAConnectionMayCarry) {
  peer_.requests_per_connection = 4;
  exchange(10);
  EXPECT_EQ(count(NetError::none), 10U);
  EXPECT_EQ(server_.conversations.size(), 3U);
  EXPECT_EQ(conversation(1).streams.size(), 4U);
  EXPECT_EQ(conversation(1).goaway_received, NGHTTP2_NO_ERROR);
  EXPECT_EQ(peer_.ledger.open, 1U);
}

TEST_F(Http2Client, OneRequestAConnection) {
  peer_.keep_alive = false;
  exchange(3);
  EXPECT_EQ(count(NetError::none), 3U);
  EXPECT_EQ(server_.conversations.size(), 3U);
  EXPECT_EQ(peer_.ledger.open, 0U);
}

// --- rows of the specification ---

TEST_F(Http2Client, G1_GracefulGoaway) {
  // The first says that an end comes, the second how far it goes: 5 was the last.
  server_.on_request = [this](Conversation& with, std::int32_t id) {
    if (with.number > 1) return with.respond(id, "200");
    if (id != 15) return;
    with.goaway((1U << 31) - 1);
    at(1ms, [&with] { with.goaway(5); });
    at(2ms, [&with] {
      for (const std::int32_t each : {1, 3, 5}) with.respond(each, "200");
    });
  };
  for (int i = 0; i < 8; ++i) begin(get("/" + std::to_string(i)));
  pass(500us);
  begin(get("/late"));  // after the first GOAWAY has come: not on the old one
  pass(5s);
  EXPECT_EQ(count(NetError::none), 9U);
  EXPECT_EQ(server_.conversations.size(), 2U);
  EXPECT_EQ(conversation(1).streams.size(), 8U);
  EXPECT_EQ(conversation(2).streams.size(), 6U);
  EXPECT_EQ(peer_.ledger.open, 1U);
  EXPECT_EQ(peer_.ledger.closed_by_peer, 1U);
  // The first of them to be refused is the first to be sent again.
  EXPECT_EQ(conversation(2).streams.at(1).field(":path"), "/late");
  EXPECT_EQ(conversation(2).streams.at(3).field(":path"), "/3");
}

TEST_F(Http2Client, G1_APeerThatServesOneRequestAConnection) {
  // However often what stands behind is turned away: it is served in the end.
  server_.on_request = [](Conversation& with, std::int32_t id) {
    if (id != 1) return;
    with.goaway(1);
    with.respond(1, "200");
  };
  exchange(20);
  EXPECT_EQ(count(NetError::none), 20U);
  EXPECT_EQ(server_.conversations.size(), 20U);
}

TEST_F(Http2Client, G2_GoawayOnEveryConnection) {
  server_.on_accept = [](Conversation& with) {
    with.settings();
    with.goaway(0);
  };
  const Instant start = world_.now();
  Instant end{};
  server_.on_frame = [&](Conversation&, std::int32_t, std::uint8_t) {};
  exchange(10, 30s);
  end = world_.now();
  EXPECT_EQ(count(NetError::refused), 10U);
  EXPECT_FALSE(ones_.front().outcome.processed);
  EXPECT_LE(server_.conversations.size(), Http2Connection::kMostTries);
  EXPECT_GE(end - start, 10ms);
  EXPECT_EQ(peer_.ledger.open, 0U);
}

TEST_F(Http2Client, G2_NewRequestsMakeNoConnectionStorm) {
  server_.on_request = [](Conversation& with, std::int32_t) { with.goaway(0); };
  std::size_t ended = 0;
  run([](Http2Client& test, std::size_t& count) -> kernel::Task<void> {
    Http2Stream stream;
    const Http2Request request = get("/");
    while (test.loop_.now() < Instant{} + 1h + 10s) {
      co_await test.connection_.exchange(stream, request, test.loop_.now() + 30s);
      ++count;
    }
  }(*this, ended));
  pass(20s);
  EXPECT_GE(ended, 1U);
  EXPECT_LE(server_.conversations.size(), 40U);  // a second apart, in the end
}

TEST_F(Http2Client, G3_GoawayWithAComplaint) {
  server_.on_request = [](Conversation& with, std::int32_t id) {
    if (id == 5) with.goaway(0, NGHTTP2_ENHANCE_YOUR_CALM, "too_many_pings");
  };
  exchange(3);
  EXPECT_EQ(count(NetError::goaway), 3U);
  EXPECT_EQ(ones_.front().outcome.http2_code, NGHTTP2_ENHANCE_YOUR_CALM);
  EXPECT_EQ(server_.conversations.size(), 1U);
  EXPECT_EQ(connection_.failure(), "ENHANCE_YOUR_CALM: too_many_pings");
}

TEST_F(Http2Client, G4_ConnectionDiesWithMuchStillToDo) {
  peer_.http2.max_streams = 10;
  server_.on_request = [](Conversation& with, std::int32_t id) {
    if (with.number > 1) return with.respond(id, "200");
    if (id == 19) with.reset();
  };
  exchange(40);
  EXPECT_EQ(count(NetError::reset), 10U);
  EXPECT_EQ(count(NetError::none), 30U);
  EXPECT_EQ(server_.conversations.size(), 2U);
  EXPECT_EQ(peer_.ledger.reset, 1U);
}

TEST_F(Http2Client, G5_AsManyStreamsAsThePeerAllows) {
  std::uint32_t allowed = 10;
  server_.on_accept = [&](Conversation& with) {
    with.settings({{NGHTTP2_SETTINGS_MAX_CONCURRENT_STREAMS, allowed}});
  };
  server_.on_request = [this](Conversation& with, std::int32_t id) {
    at(10ms, [&with, id] { with.respond(id, "200"); });
  };
  const Instant begun = loop_.now();
  exchange(35);
  EXPECT_EQ(count(NetError::none), 35U);
  EXPECT_EQ(conversation().most_open, 10U);
  int waited = 0;
  Duration before{};
  for (const One& each : ones_) {
    if (each.outcome.started == Instant{}) continue;
    ++waited;
    EXPECT_GE(each.outcome.started - begun, 10ms);
    EXPECT_GE(each.outcome.started - begun, before);  // in their order
    before = each.outcome.started - begun;
  }
  EXPECT_EQ(waited, 25);
}

TEST_F(Http2Client, G5_LoweredDuringTheRun) {
  server_.on_request = [this](Conversation& with, std::int32_t id) {
    at(10ms, [&with, id] { with.respond(id, "200"); });
  };
  for (int i = 0; i < 20; ++i) begin(get("/"));
  pass(5ms);
  EXPECT_EQ(conversation().most_open, 20U);
  conversation().settings({{NGHTTP2_SETTINGS_MAX_CONCURRENT_STREAMS, 3}});
  pass(1ms);
  conversation().most_open = 0;
  for (int i = 0; i < 20; ++i) begin(get("/"));
  pass(100ms);
  EXPECT_EQ(count(NetError::none), 40U);
  EXPECT_LE(conversation().most_open, 20U);
  conversation().most_open = 0;
  for (int i = 0; i < 20; ++i) begin(get("/"));
  pass(100ms);
  EXPECT_EQ(count(NetError::none), 60U);
  EXPECT_EQ(conversation().most_open, 3U);
}

TEST_F(Http2Client, G5_WhatWaitsHasItsDeadline) {
  server_.on_accept = [](Conversation& with) {
    with.settings({{NGHTTP2_SETTINGS_MAX_CONCURRENT_STREAMS, 1}});
  };
  server_.on_request = [](Conversation&, std::int32_t) {};
  exchange(3, 1s);
  EXPECT_EQ(count(NetError::timeout), 3U);
  std::size_t processed = 0;
  for (const One& each : ones_) processed += each.outcome.processed ? 1 : 0;
  EXPECT_EQ(processed, 1U);
}

TEST_F(Http2Client, G6_ResetStreams) {
  std::map<std::string, int> tries;
  server_.on_request = [&](Conversation& with, std::int32_t id) {
    const std::string path = with.streams.at(id).field(":path");
    const int before = tries[path]++;
    if (path == "/0" && before < 3) return with.reset_stream(id, NGHTTP2_REFUSED_STREAM);
    if (path == "/1") return with.reset_stream(id, NGHTTP2_CANCEL);
    if (path == "/2") return with.reset_stream(id, NGHTTP2_INTERNAL_ERROR);
    with.respond(id, "200");
  };
  exchange(4);
  const std::vector<NetError> expected{NetError::none, NetError::stream_reset,
                                       NetError::stream_reset, NetError::none};
  std::size_t i = 0;
  for (const One& each : ones_) EXPECT_EQ(each.outcome.error, expected[i++]) << i;
  EXPECT_EQ(tries["/0"], 4);
  EXPECT_EQ(std::next(ones_.begin(), 1)->outcome.http2_code, NGHTTP2_CANCEL);
  EXPECT_EQ(std::next(ones_.begin(), 2)->outcome.http2_code, NGHTTP2_INTERNAL_ERROR);
  EXPECT_EQ(server_.conversations.size(), 1U);
}

TEST_F(Http2Client, G6_RefusedAgainAndAgain) {
  std::size_t tries = 0;
  server_.on_request = [&](Conversation& with, std::int32_t id) {
    ++tries;
    with.reset_stream(id, NGHTTP2_REFUSED_STREAM);
  };
  EXPECT_EQ(one().error, NetError::refused);
  EXPECT_EQ(tries, Http2Connection::kMostTries);
  EXPECT_EQ(server_.conversations.size(), 1U);
}

TEST_F(Http2Client, G7_AnUploadLargerThanTheWindow) {
  server_.holds_windows = true;
  Http2Request request = get("/", "POST");
  const std::string body(200'000, 'b');
  request.body = body;
  begin(std::move(request));
  pass(1s);
  EXPECT_EQ(conversation().streams.at(1).body.size(), 65'535U);
  begin(get("/"));  // others go on
  pass(100ms);
  EXPECT_EQ(ones_.back().outcome.error, NetError::none);
  conversation().widen(1, 100'000);
  pass(1s);
  EXPECT_EQ(conversation().streams.at(1).body.size(), 165'535U);
  EXPECT_FALSE(ones_.front().done);
  conversation().widen(1, 100'000);
  pass(1s);
  EXPECT_EQ(conversation().streams.at(1).body, body);
  EXPECT_EQ(ones_.front().outcome.error, NetError::none);
}

// --- keep-alive ---

TEST_F(Http2Client, AKeepAliveFindsADeadPeer) {
  peer_.http2.keepalive = 1s;
  peer_.http2.keepalive_timeout = 500ms;
  server_.on_request = [](Conversation&, std::int32_t) {};
  begin(get("/"), 60s);
  pass(5s);
  EXPECT_GE(conversation().pings, 4U);  // answered
  EXPECT_FALSE(ones_.front().done);
  world_.freeze(server_loop_, world_.now(), world_.now() + 10s);
  pass(3s);
  EXPECT_EQ(ones_.front().outcome.error, NetError::keepalive);
}

TEST_F(Http2Client, NoPingWithoutAStreamUnlessAsked) {
  peer_.http2.keepalive = 1s;
  one();
  EXPECT_EQ(conversation().pings, 0U);
  connection_.cancel();
  peer_.http2.keepalive_while_idle = true;
  one();
  EXPECT_GE(conversation(2).pings, 5U);
}

// --- streams whose body follows ---

struct Dialogue {
  Http2Request request = get("/", "POST");
  Http2Stream stream;
  Capture sink;
  bool started = false;
  std::vector<std::string> events;
  Exchange outcome;
};

class Http2Streams : public Http2Client {
 public:
  kernel::Task<void> listen(Dialogue& with) {
    while (co_await with.stream.receive()) with.events.push_back(std::exchange(with.sink.body, {}));
    with.outcome = with.stream.outcome();
    with.events.emplace_back("end");
  }
};

TEST_F(Http2Streams, BothSidesTalk) {
  server_.on_frame = [](Conversation& with, std::int32_t id, std::uint8_t type) {
    auto& received = with.streams.at(id);
    if (type == NGHTTP2_HEADERS) return with.headers(id, "200", {}, false);
    with.data(id, "echo " + std::exchange(received.body, {}), received.ended);
  };
  Dialogue with;
  run([](Http2Streams& test, Dialogue& its) -> kernel::Task<void> {
    its.started =
        co_await test.connection_.start(its.stream, its.request, test.loop_.now() + 10s, &its.sink);
    EXPECT_TRUE(co_await its.stream.send("one"));
    while (co_await its.stream.receive()) {
      const std::string said = std::exchange(its.sink.body, {});
      its.events.push_back(said);
      if (said == "echo one") EXPECT_TRUE(co_await its.stream.send("two"));
      if (said == "echo two") EXPECT_TRUE(co_await its.stream.send("last", true));
    }
    its.outcome = its.stream.outcome();
  }(*this, with));
  pass(1s);
  EXPECT_TRUE(with.started);
  EXPECT_EQ(with.outcome.error, NetError::none);
  EXPECT_EQ(with.outcome.status, 200);
  EXPECT_THAT(with.events, testing::ElementsAre("echo one", "echo two", "echo last"));
  EXPECT_TRUE(conversation().streams.at(1).ended);
}

TEST_F(Http2Streams, AHalfClosedStreamStillReceives) {
  server_.on_frame = [this](Conversation& with, std::int32_t id, std::uint8_t) {
    if (!with.streams.at(id).ended) return;
    with.headers(id, "200", {}, false);
    at(1ms, [&with, id] { with.data(id, "a", false); });
    at(2ms, [&with, id] { with.data(id, "b", true, {{"grpc-status", "0"}}); });
  };
  Dialogue with;
  run([](Http2Streams& test, Dialogue& its) -> kernel::Task<void> {
    co_await test.connection_.start(its.stream, its.request, kNever, &its.sink);
    co_await its.stream.send({}, true);
    co_await test.listen(its);
  }(*this, with));
  pass(1s);
  EXPECT_THAT(with.events, testing::ElementsAre("", "a", "b", "end"));
  EXPECT_EQ(with.sink.trailers, "grpc-status: 0\n");
  EXPECT_EQ(with.outcome.error, NetError::none);
}

TEST_F(Http2Streams, SendingIsHeldBackByThePeersWindow) {
  server_.holds_windows = true;
  server_.on_frame = [](Conversation& with, std::int32_t id, std::uint8_t) {
    if (with.streams.at(id).ended) with.respond(id, "200");
  };
  Dialogue with;
  int sent = 0;
  run([](Http2Streams& test, Dialogue& its, int& count) -> kernel::Task<void> {
    co_await test.connection_.start(its.stream, its.request, kNever, &its.sink);
    const std::string piece(10'000, 'p');
    for (int i = 0; i < 30; ++i) {
      EXPECT_TRUE(co_await its.stream.send(piece, i == 29));
      ++count;
    }
  }(*this, with, sent));
  pass(1s);
  EXPECT_EQ(conversation().streams.at(1).body.size(), 65'535U);
  EXPECT_GE(sent, 12);
  EXPECT_LE(sent, 13);  // the window, and what may wait
  conversation().widen(1, 1'000'000);
  pass(1s);
  EXPECT_EQ(sent, 30);
  EXPECT_EQ(conversation().streams.at(1).body.size(), 300'000U);
  EXPECT_EQ(with.stream.outcome().error, NetError::none);
  EXPECT_EQ(with.stream.outcome().status, 200);
}

TEST_F(Http2Streams, ManySmallMessagesGoOutTogether) {
  std::vector<std::size_t> frames;
  server_.on_frame = [&](Conversation& with, std::int32_t id, std::uint8_t type) {
    if (type == NGHTTP2_DATA) frames.push_back(with.streams.at(id).body.size());
    if (with.streams.at(id).ended) with.respond(id, "200");
  };
  Dialogue with;
  run([](Http2Streams& test, Dialogue& its) -> kernel::Task<void> {
    co_await test.connection_.start(its.stream, its.request, kNever, &its.sink);
    for (int i = 0; i < 100; ++i) co_await its.stream.send("0123456789", i == 99);
  }(*this, with));
  pass(1s);
  EXPECT_EQ(conversation().streams.at(1).body.size(), 1000U);
  EXPECT_LE(frames.size(), 2U);
  EXPECT_EQ(with.stream.outcome().error, NetError::none);
}

TEST_F(Http2Streams, TheEndOfTheStreamWakesWhoSendsAndWhoReceives) {
  server_.holds_windows = true;
  server_.on_frame = [](Conversation&, std::int32_t, std::uint8_t) {};
  Dialogue with;
  bool sender_ended = false;
  run([](Http2Streams& test, Dialogue& its, bool& ended) -> kernel::Task<void> {
    co_await test.connection_.start(its.stream, its.request, kNever, &its.sink);
    test.run(test.listen(its));
    const std::string piece(100'000, 'p');
    while (co_await its.stream.send(piece)) {
    }
    ended = true;
  }(*this, with, sender_ended));
  pass(1s);
  EXPECT_FALSE(sender_ended);
  conversation().reset_stream(1, NGHTTP2_INTERNAL_ERROR);
  pass(1s);
  EXPECT_TRUE(sender_ended);
  EXPECT_EQ(with.events.back(), "end");
  EXPECT_EQ(with.outcome.error, NetError::stream_reset);
  EXPECT_EQ(with.outcome.http2_code, NGHTTP2_INTERNAL_ERROR);
}

TEST_F(Http2Streams, AStreamIsNotSentAgainByItself) {
  server_.on_frame = [](Conversation& with, std::int32_t id, std::uint8_t) {
    with.reset_stream(id, NGHTTP2_REFUSED_STREAM);
  };
  Dialogue with;
  run([](Http2Streams& test, Dialogue& its) -> kernel::Task<void> {
    its.started = co_await test.connection_.start(its.stream, its.request, kNever, &its.sink);
    co_await test.listen(its);
  }(*this, with));
  pass(1s);
  EXPECT_TRUE(with.started);
  EXPECT_EQ(with.outcome.error, NetError::refused);
  EXPECT_FALSE(with.outcome.processed);
  EXPECT_EQ(conversation().streams.size(), 1U);
}

TEST_F(Http2Streams, AStreamThatCannotStart) {
  peer_.addresses = {net::Address::ipv4_loopback(9)};
  Dialogue with;
  bool told = false;
  run([](Http2Streams& test, Dialogue& its, bool& ended) -> kernel::Task<void> {
    its.started = co_await test.connection_.start(its.stream, its.request, kNever, &its.sink);
    EXPECT_FALSE(co_await its.stream.send("x"));
    EXPECT_FALSE(co_await its.stream.receive());
    ended = true;
  }(*this, with, told));
  pass(1s);
  EXPECT_TRUE(told);
  EXPECT_FALSE(with.started);
  EXPECT_EQ(with.stream.outcome().error, NetError::connect_refused);
}

TEST_F(Http2Streams, ASinkMayCancelItsStream) {
  struct Canceller final : ResponseSink {
    void on_status(int, std::string_view) override { stream->cancel(); }
    void on_field(std::string_view, std::string_view) override { ++after; }
    void on_body(std::string_view) override { ++after; }
    Http2Stream* stream = nullptr;
    int after = 0;
  } sink;
  server_.on_request = [](Conversation& with, std::int32_t id) {
    with.respond(id, "200", "body", {{"a", "b"}});
  };
  Http2Stream stream;
  sink.stream = &stream;
  const Http2Request request = get("/");
  Exchange outcome;
  run([](auto& test, auto& its, auto& what, auto& into, Exchange& end) -> kernel::Task<void> {
    end = co_await test.connection_.exchange(its, what, kNever, &into);
  }(*this, stream, request, sink, outcome));
  pass(1s);
  EXPECT_EQ(outcome.error, NetError::cancelled);
  EXPECT_EQ(sink.after, 0);
  EXPECT_EQ(one().error, NetError::none);
}

// --- in any pieces ---

/// What the peer sends in a conversation of three exchanges: settings, interim responses, bodies,
/// trailers, a ping, a wider window, and a GOAWAY in the end.
class Http2Pieces : public Http2Client {
 public:
  void SetUp() override {
    server_.on_request = [](Conversation& with, std::int32_t id) {
      if (id != 5) return;
      with.headers(1, "103", {{"link", "<x>"}}, false);
      with.respond(1, "200", "first", {{"a", "1"}});
      with.raw(std::string_view("\0\0\x08\x06\0\0\0\0\0pingpong", 17));
      with.widen(0, 1000);
      with.respond(3, "404", std::string(300, 'x'), {}, {{"sum", "300"}});
      with.headers(5, "204", {}, true);
      with.goaway(5);
    };
    exchange(3);
    recorded_ = std::exchange(server_.sent, {});
    ASSERT_EQ(count(NetError::none), 3U);
    connection_.cancel();
    pass(10s);
    server_.on_bytes = [this](Conversation& with, std::string_view bytes) { replay(with, bytes); };
  }
  void replay(Conversation& with, std::string_view bytes) {
    received_ += bytes.size();
    if (std::exchange(replayed_, true)) return;
    with.raw(recorded_.substr(0, cut_));
    at(10ms, [this, &with] {
      if (closes_) return with.close();
      with.raw(recorded_.substr(cut_));
    });
  }
  /// The same three exchanges again.
  void again() {
    server_.conversations.clear();
    replayed_ = false;
    peer_.ledger = {};
    peer_.ledger.by_address.resize(1);
    exchange(3, 3s);
  }
  std::string recorded_;
  std::size_t cut_ = 0, received_ = 0;
  bool closes_ = false, replayed_ = false;
};

TEST_F(Http2Pieces, CutAtEveryByteThePartsMeanTheSame) {
  // The first piece comes before the requests are sent, so it ends within the settings at most
  // where it must; what comes too early is refused as any answer to an idle stream is.
  const std::size_t settings = 9 + recorded_[2];
  ASSERT_LT(settings, recorded_.size());
  server_.on_bytes = [&, sent = false](Conversation& with, std::string_view bytes) mutable {
    if (bytes.starts_with("PRI")) {
      sent = false;
      with.raw(recorded_.substr(0, std::min(cut_, settings)));
      if (cut_ < settings) at(10ms, [&] { with.raw(recorded_.substr(cut_, settings - cut_)); });
      return;
    }
    if (std::exchange(sent, true)) return;
    with.raw(recorded_.substr(settings, std::max(cut_, settings) - settings));
    at(10ms, [&] { with.raw(recorded_.substr(std::max(cut_, settings))); });
  };
  for (cut_ = 0; cut_ <= recorded_.size(); ++cut_) {
    again();
    ASSERT_EQ(count(NetError::none), 3U) << cut_;
    const One& second = *std::next(ones_.begin());
    ASSERT_EQ(ones_.front().sink.body, "first") << cut_;
    ASSERT_EQ(ones_.front().sink.fields, "a: 1\n") << cut_;
    ASSERT_EQ(second.outcome.status, 404) << cut_;
    ASSERT_EQ(second.sink.body.size(), 300U) << cut_;
    ASSERT_EQ(second.sink.trailers, "sum: 300\n") << cut_;
    ASSERT_EQ(ones_.back().outcome.status, 204) << cut_;
    connection_.cancel();
    ASSERT_EQ(peer_.ledger.open, 0U) << cut_;
  }
}

TEST_F(Http2Pieces, APeerThatClosesAtAnyByteHangsNobody) {
  closes_ = true;
  for (cut_ = 0; cut_ <= recorded_.size(); ++cut_) {
    again();  // expects that all end
    ASSERT_EQ(connection_.streams(), 0U) << cut_;
    connection_.cancel();
    ASSERT_EQ(peer_.ledger.open, 0U) << cut_;
  }
}

TEST_F(Http2Pieces, AnyByteChangedHangsNobody) {
  const std::string right = recorded_;
  cut_ = right.size();
  closes_ = false;
  for (std::size_t i = 0; i < right.size(); ++i) {
    recorded_ = right;
    recorded_[i] = static_cast<char>(recorded_[i] ^ (1 << (i % 8)));
    again();
    ASSERT_EQ(connection_.streams(), 0U) << i;
    connection_.cancel();
    ASSERT_EQ(peer_.ledger.open, 0U) << i;
  }
}

}  // namespace
}  // namespace onbeat::http
