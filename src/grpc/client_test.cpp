// Calls against scripted servers on the simulated network: what servers do wrong, and when.
#include "grpc/client.hpp"

#include "http/http2_test_server.hpp"
#include "net/sim.hpp"
#include <onbeat/kernel/task.hpp>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <list>

namespace onbeat::grpc {
namespace {

using namespace std::chrono_literals;
using http::Http2TestServer;
using net::NetError;
using testing::HasSubstr;
using Conversation = Http2TestServer::Conversation;
using Pairs = Http2TestServer::Pairs;

std::string framed(std::string_view message, bool compressed = false) {
  std::string bytes;
  append_message(bytes, message, compressed);
  return bytes;
}

const Pairs kGrpc{{"content-type", "application/grpc"}};

struct Got {
  CallOutcome outcome;
  std::vector<std::string> messages;
  std::vector<Instant> arrived;
  std::string words;
  bool done = false;
};

class GrpcClient : public testing::Test {
 public:
  ~GrpcClient() override {
    connection_.cancel();
    pass(1s);
    EXPECT_EQ(connection_.streams(), 0U);
  }

  Got unary(Duration timeout = 10s, const CallLimits& limits = {}) {
    Got got;
    run(unary_call(timeout, limits, got));
    pass(20s);
    EXPECT_TRUE(got.done);
    return got;
  }
  kernel::Task<void> unary_call(Duration timeout, CallLimits limits, Got& got) {
    Call call(loop_, limits);
    CallOptions options{.path = "/a.B/C", .authority = "h", .timeout = timeout};
    const std::string body = framed("request");
    const http::Http2Request request{call_fields(options), body};
    got.outcome = co_await call.unary(connection_, request, loop_.now() + timeout);
    got.messages.emplace_back(call.message());
    got.words = call.status_message();
    got.done = true;
  }
  Got stream(const std::vector<std::string>& requests, Shape shape = Shape::bidi_stream,
             Duration timeout = 10s) {
    Got got;
    run(stream_call(requests, shape, timeout, got));
    pass(20s);
    EXPECT_TRUE(got.done);
    return got;
  }
  kernel::Task<void> stream_call(std::vector<std::string> requests, Shape shape, Duration timeout,
                                 Got& got) {
    Call call(loop_);
    const http::Http2Request request{call_fields({.path = "/a.B/C", .authority = "h"}), {}};
    if (co_await call.start(connection_, request, loop_.now() + timeout, shape)) {
      for (const std::string& each : requests) {
        if (!co_await call.send(each)) break;
      }
      co_await call.half_close();
      while (co_await call.more()) {
        while (call.next()) {
          got.messages.emplace_back(call.message());
          got.arrived.push_back(call.message_arrived());
        }
      }
    }
    got.outcome = call.finish();
    got.words = call.status_message();
    got.done = true;
  }
  void run(kernel::Task<void> task) {
    tasks_.push_back(std::move(task));
    tasks_.back().start();
  }
  void pass(Duration time) { world_.run_until(world_.now() + time); }
  void at(Duration later, std::function<void()> work) {
    world_.at(world_.now() + later, std::move(work));
  }
  /// Every call is answered so.
  void respond(const std::string& http_status, const std::string& body, const Pairs& header,
               const Pairs& trailers = {}) {
    server_.on_request = [=](Conversation& with, std::int32_t id) {
      with.respond(id, http_status, body, header, trailers);
    };
  }

  net::SimWorld world_{1, Instant{} + 1h};
  net::SimLoop server_loop_{world_};
  net::SimLoop loop_{world_};
  Http2TestServer server_{server_loop_};
  http::Peer peer_{.addresses = {server_.address()}};
  http::Http2Connection connection_{loop_, peer_};
  std::list<kernel::Task<void>> tasks_;
};

TEST_F(GrpcClient, WhatIsSent) {
  Http2TestServer::Received received;
  server_.on_request = [&](Conversation& with, std::int32_t id) {
    received = with.streams[id];
    with.respond(id, "200", framed("answer"), kGrpc, {{"grpc-status", "0"}});
  };
  const Got got = unary(2s);
  EXPECT_EQ(got.outcome.status, StatusCode::ok);
  EXPECT_EQ(got.messages.front(), "answer");
  EXPECT_EQ(received.body, framed("request"));
  EXPECT_EQ(received.field(":method"), "POST");
  EXPECT_EQ(received.field(":path"), "/a.B/C");
  EXPECT_EQ(received.field("te"), "trailers");
  EXPECT_EQ(received.field("content-type"), "application/grpc");
  EXPECT_EQ(received.field("grpc-timeout"), "2000000u");
  EXPECT_EQ(received.field("grpc-encoding"), "");
}

TEST_F(GrpcClient, FieldsOfACall) {
  const http::Http2Fields fields = call_fields({.path = "/p",
                                                .scheme = "https",
                                                .authority = "h:1",
                                                .user_agent = "u",
                                                .compression = Compression::gzip,
                                                .metadata = {{"x-a", "1"}, {"x-b-bin", "\xff"}}});
  std::string text;
  for (const auto& field : fields.view()) text.append(http::Http2Fields::name(field)) += "=";
  EXPECT_EQ(text,
            ":method=:scheme=:authority=:path=te=content-type=user-agent=grpc-encoding="
            "grpc-accept-encoding=x-a=x-b-bin=");
  EXPECT_EQ(http::Http2Fields::value(fields.view().back()), "/w");
}

TEST_F(GrpcClient, G8_TrailersOnly) {
  respond("200", "",
          {{"content-type", "application/grpc"},
           {"grpc-status", "12"},
           {"grpc-message", "no%20such method"}});
  const Got got = unary();
  EXPECT_EQ(got.outcome.status, StatusCode::unimplemented);
  EXPECT_TRUE(got.outcome.from_server);
  EXPECT_EQ(got.words, "no such method");
}

TEST_F(GrpcClient, G9_NoStatus) {
  respond("200", framed("answer"), kGrpc);
  const Got got = unary();
  EXPECT_EQ(got.outcome.status, StatusCode::internal);
  EXPECT_FALSE(got.outcome.from_server);
  EXPECT_EQ(got.words, "the server ended the call without grpc-status");
  respond("200", framed("answer"), kGrpc, {{"grpc-status", "none"}});
  EXPECT_EQ(unary().outcome.status, StatusCode::internal);
  EXPECT_EQ(stream({framed("a")}).outcome.status, StatusCode::internal);
}

TEST_F(GrpcClient, G10_HttpErrors) {
  respond("503", "", {{"grpc-status", "14"}, {"grpc-message", "busy"}});
  Got got = unary();
  EXPECT_EQ(got.outcome.status, StatusCode::unavailable);
  EXPECT_TRUE(got.outcome.from_server);
  EXPECT_EQ(got.words, "busy");
  respond("404", "", {{"grpc-status", "5"}});
  EXPECT_EQ(unary().outcome.status, StatusCode::not_found);
  const std::pair<const char*, StatusCode> statuses[] = {
      {"502", StatusCode::unavailable},     {"404", StatusCode::unimplemented},
      {"401", StatusCode::unauthenticated}, {"403", StatusCode::permission_denied},
      {"500", StatusCode::unknown},         {"400", StatusCode::internal}};
  for (const auto& [status, code] : statuses) {
    respond(status, "<html>proxy</html>", {{"content-type", "text/html"}});
    got = unary();
    EXPECT_EQ(got.outcome.status, code) << status;
    EXPECT_FALSE(got.outcome.from_server);
    EXPECT_THAT(got.words, AllOf(HasSubstr(status), HasSubstr("text/html")));
  }
}

TEST_F(GrpcClient, AResponseThatIsNoGrpc) {
  respond("200", "<html>", {{"content-type", "text/html"}});
  const Got got = unary();
  EXPECT_EQ(got.outcome.status, StatusCode::unknown);
  EXPECT_EQ(got.words, "the response is no gRPC; its content type is text/html");
}

TEST_F(GrpcClient, MessagesThatDoNotFitTheStatus) {
  const Pairs ok{{"grpc-status", "0"}};
  const std::pair<std::string, const char*> bodies[] = {
      {"", "OK without a message"},
      {framed("a") + framed("b"), "more than one message"},
      {framed("abc").substr(0, 7), "within a message"},
      {std::string("\5\0\0\0\0", 5), "no gRPC message"},
      {framed("a", true), "without grpc-encoding"},
  };
  for (const auto& [body, words] : bodies) {
    respond("200", body, kGrpc, ok);
    const Got got = unary();
    EXPECT_EQ(got.outcome.status, StatusCode::internal) << words;
    EXPECT_FALSE(got.outcome.from_server);
    EXPECT_THAT(got.words, HasSubstr(words));
  }
  // The server's own failure wins over what it sent before.
  respond("200", framed("abc").substr(0, 7), kGrpc, {{"grpc-status", "8"}});
  EXPECT_EQ(unary().outcome.status, StatusCode::resource_exhausted);
  EXPECT_TRUE(unary().outcome.from_server);
}

TEST_F(GrpcClient, CompressedMessages) {
  Pairs header = kGrpc;
  header.emplace_back("grpc-encoding", "gzip");
  const Pairs ok{{"grpc-status", "0"}};
  Gzip gzip;
  std::string body;
  gzip.compress_framed(framed(std::string(5'000, 'x')), body);
  respond("200", body, header, ok);
  EXPECT_EQ(unary().messages.front(), std::string(5'000, 'x'));
  EXPECT_EQ(unary(10s, {.max_receive = 4'999}).outcome.status, StatusCode::resource_exhausted);
  respond("200", framed("plain"), header, ok);
  EXPECT_EQ(unary().messages.front(), "plain");
  respond("200", framed("garbage", true), header, ok);
  EXPECT_EQ(unary().outcome.status, StatusCode::internal);
  header.back().second = "snappy";
  respond("200", framed("?", true), header, ok);
  EXPECT_EQ(unary().outcome.status, StatusCode::unimplemented);
}

TEST_F(GrpcClient, TooLongIsNotReadToItsEnd) {
  std::uint32_t code = 0;
  server_.on_request = [&](Conversation& with, std::int32_t id) {
    with.headers(id, "200", kGrpc, false);
    with.data(id, framed(std::string(1'000, 'x')).substr(0, 100), false);  // the rest never comes
    at(1s, [&with, id, &code] { code = with.streams[id].reset; });
  };
  const Instant before = loop_.now();
  const Got got = unary(10s, {.max_receive = 999});
  EXPECT_EQ(got.outcome.status, StatusCode::resource_exhausted);
  EXPECT_EQ(code, 8U);  // CANCEL
  EXPECT_LT(before, loop_.now());
  EXPECT_EQ(peer_.ledger.opened, 1U);
}

TEST_F(GrpcClient, Resets) {
  const std::pair<std::uint32_t, StatusCode> codes[] = {{0x2, StatusCode::internal},
                                                        {0x8, StatusCode::cancelled},
                                                        {0xb, StatusCode::resource_exhausted},
                                                        {0xc, StatusCode::permission_denied}};
  for (const auto& [code, status] : codes) {
    server_.on_request = [code](Conversation& with, std::int32_t id) {
      with.headers(id, "200", kGrpc, false);
      with.reset_stream(id, code);
    };
    const Got got = unary();
    EXPECT_EQ(got.outcome.status, status) << code;
    EXPECT_FALSE(got.outcome.from_server);
    EXPECT_EQ(got.outcome.exchange.http2_code, code);
    EXPECT_EQ(stream({framed("a")}).outcome.status, status);
  }
  EXPECT_EQ(peer_.ledger.opened, 1U);
}

TEST_F(GrpcClient, RefusedIsSentAgain) {
  int calls = 0;
  server_.on_request = [&](Conversation& with, std::int32_t id) {
    if (++calls == 1) return with.reset_stream(id, 0x7);
    with.respond(id, "200", framed("answer"), kGrpc, {{"grpc-status", "0"}});
  };
  EXPECT_EQ(unary().outcome.status, StatusCode::ok);
  EXPECT_EQ(calls, 2);
  // A stream is not started again by itself, but it is told that it may be.
  calls = 0;
  const Got got = stream({framed("a")});
  EXPECT_EQ(got.outcome.status, StatusCode::unavailable);
  EXPECT_FALSE(got.outcome.exchange.processed);
}

TEST_F(GrpcClient, G12_TheDeadline) {
  std::uint32_t code = 0;
  server_.on_request = [&](Conversation& with, std::int32_t id) {
    at(3s, [&with, id, &code] { code = with.streams[id].reset; });
  };
  EXPECT_EQ(unary(2s).outcome.status, StatusCode::deadline_exceeded);
  EXPECT_EQ(code, 8U);  // CANCEL
  EXPECT_EQ(stream({framed("a")}, Shape::bidi_stream, 2s).outcome.status,
            StatusCode::deadline_exceeded);
}

TEST_F(GrpcClient, G12_TheServerResetsAtTheSameMoment) {
  Duration after{};
  server_.on_request = [&](Conversation& with, std::int32_t id) {
    at(after, [&with, id] { with.reset_stream(id, 0x8); });
  };
  static_cast<void>(unary(2s));  // connects
  int at_the_deadline = 0, before = 0;
  for (after = 1900ms; after <= 2s; after += 500us) {
    const Got got = unary(2s);
    const bool expired = got.outcome.status == StatusCode::deadline_exceeded;
    if (got.outcome.exchange.error != NetError::stream_reset) {
      EXPECT_TRUE(expired);
      continue;
    }
    // Reset before our timer: of the last millisecond, it is the server's timer.
    EXPECT_TRUE(expired || got.outcome.status == StatusCode::cancelled);
    ++(expired ? at_the_deadline : before);
  }
  EXPECT_GE(at_the_deadline, 1);
  EXPECT_LE(at_the_deadline, 3);
  EXPECT_GE(before, 100);
  after = 1s;
  EXPECT_EQ(unary(2s).outcome.status, StatusCode::cancelled);
}

TEST_F(GrpcClient, ConnectionsThatEnd) {
  server_.on_request = [](Conversation& with, std::int32_t) { with.reset(); };
  Got got = unary();
  EXPECT_EQ(got.outcome.status, StatusCode::unavailable);
  EXPECT_EQ(got.outcome.exchange.error, NetError::reset);
  EXPECT_NE(got.words, "");
  server_.on_request = [](Conversation& with, std::int32_t id) {
    with.headers(id, "200", kGrpc, false);
    with.data(id, framed("a"), false);
    with.close();
  };
  got = stream({framed("a")});
  EXPECT_EQ(got.outcome.status, StatusCode::unavailable);
  EXPECT_THAT(got.messages, testing::ElementsAre("a"));
}

TEST_F(GrpcClient, CancelledByThisSide) {
  server_.on_request = [](Conversation&, std::int32_t) {};
  Got got;
  run(unary_call(10s, {}, got));
  pass(1s);
  EXPECT_FALSE(got.done);
  connection_.cancel();
  pass(1s);
  EXPECT_TRUE(got.done);
  EXPECT_EQ(got.outcome.status, StatusCode::cancelled);
}

TEST_F(GrpcClient, StreamCutAtEveryByte) {
  const std::vector<std::string> messages{"one", "", "three"};
  std::string body;
  for (const std::string& each : messages) append_message(body, each);
  for (std::size_t first = 0; first <= body.size(); ++first) {
    server_.on_request = [&](Conversation& with, std::int32_t id) {
      with.headers(id, "200", kGrpc, false);
      if (first != 0) with.data(id, body.substr(0, first), false);
      at(10ms, [&with, id, first, &body] {
        with.data(id, body.substr(first), true, {{"grpc-status", "0"}});
      });
    };
    const Got got = stream({framed("a")}, Shape::server_stream);
    EXPECT_EQ(got.outcome.status, StatusCode::ok) << first << " " << got.words;
    EXPECT_EQ(got.messages, messages) << first;
    // Cut short there, it is no whole answer.
    server_.on_request = [&](Conversation& with, std::int32_t id) {
      with.respond(id, "200", body.substr(0, first), kGrpc, {{"grpc-status", "0"}});
    };
    const bool whole = first == 0 || first == 8 || first == 13 || first == body.size();
    EXPECT_EQ(stream({framed("a")}, Shape::server_stream).outcome.status,
              whole ? StatusCode::ok : StatusCode::internal)
        << first;
  }
}

TEST_F(GrpcClient, WhenMessagesCame) {
  server_.on_request = [&](Conversation& with, std::int32_t id) {
    with.headers(id, "200", kGrpc, false);
    for (int i = 1; i <= 3; ++i)
      at(i * 100ms, [&with, id, i] {
        with.data(id, framed("m"), i == 3, i == 3 ? Pairs{{"grpc-status", "0"}} : Pairs{});
      });
  };
  const Got got = stream({framed("a")}, Shape::server_stream);
  ASSERT_EQ(got.arrived.size(), 3U);
  EXPECT_NEAR(static_cast<double>((got.arrived[1] - got.arrived[0]).count()), 1e8, 5e6);
  EXPECT_NEAR(static_cast<double>((got.arrived[2] - got.arrived[1]).count()), 1e8, 5e6);
}

TEST_F(GrpcClient, ClientStreamHasOneAnswer) {
  const Pairs ok{{"grpc-status", "0"}};
  respond("200", framed("a"), kGrpc, ok);
  EXPECT_EQ(stream({framed("1"), framed("2")}, Shape::client_stream).outcome.status,
            StatusCode::ok);
  respond("200", framed("a") + framed("b"), kGrpc, ok);
  EXPECT_EQ(stream({}, Shape::client_stream).outcome.status, StatusCode::internal);
  respond("200", "", kGrpc, ok);
  EXPECT_EQ(stream({}, Shape::client_stream).outcome.status, StatusCode::internal);
  EXPECT_EQ(stream({}, Shape::server_stream).outcome.status, StatusCode::ok);
}

TEST_F(GrpcClient, OneCallAfterAnotherForgetsTheLast) {
  Call call(loop_, {.keep_metadata = true});
  respond("200", framed("a"), {{"content-type", "application/grpc"}, {"x-a", "1"}},
          {{"grpc-status", "5"}, {"grpc-message", "m"}, {"grpc-status-details-bin", "d"}});
  CallOutcome outcome;
  const auto once = [&](CallOutcome& into) {
    run([](GrpcClient& test, Call& each, CallOutcome& result) -> kernel::Task<void> {
      const std::string body = framed("r");
      const http::Http2Request request{call_fields({.path = "/p", .authority = "h"}), body};
      result = co_await each.unary(test.connection_, request, kernel::kNever);
    }(*this, call, into));
    pass(1s);
  };
  once(outcome);
  EXPECT_EQ(outcome.status, StatusCode::not_found);
  EXPECT_EQ(call.status_message(), "m");
  EXPECT_EQ(call.details(), "d");
  EXPECT_EQ(call.metadata().find("x-a"), "1");
  EXPECT_EQ(call.trailers().find("grpc-status"), "5");
  respond("200", framed("b"), kGrpc, {{"grpc-status", "0"}});
  once(outcome);
  EXPECT_EQ(outcome.status, StatusCode::ok);
  EXPECT_EQ(call.message(), "b");
  EXPECT_EQ(call.details(), "");
  EXPECT_FALSE(call.metadata().find("x-a"));
}

}  // namespace
}  // namespace onbeat::grpc
