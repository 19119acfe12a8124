// The target's HTTP/2 and gRPC over the simulated network, driven by a client session of nghttp2.
#include "net/sim.hpp"
#include "target/http2_connection.hpp"
#include "target/http_target.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <deque>
#include <map>
#include <string>
#include <vector>

namespace onbeat::target {
namespace {

using namespace std::chrono_literals;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;
using testing::Pair;
using Fields = std::vector<std::pair<std::string, std::string>>;

struct Outcome {
  Fields head, trailers;
  std::vector<std::string> interim;  // their statuses
  std::string body;
  bool ended = false;   // by the target, in order
  bool closed = false;  // in any way
  std::uint32_t code = 0;
  Instant first, last;

  [[nodiscard]] std::string field(std::string_view name) const {
    for (const Fields* part : {&trailers, &head})
      for (const auto& [key, value] : *part)
        if (key == name) return value;
    return "none";
  }
};

// A client session, and all that it was told.
class Client final : private net::Waiter {
 public:
  Client(net::Loop& loop, const net::Address& to)
      : loop_(loop), transport_(loop.connect(to, {}).value()) {
    nghttp2_session_callbacks* callbacks = nullptr;
    nghttp2_session_callbacks_new(&callbacks);
    nghttp2_session_callbacks_set_on_header_callback(callbacks, header);
    nghttp2_session_callbacks_set_on_data_chunk_recv_callback(callbacks, data);
    nghttp2_session_callbacks_set_on_frame_recv_callback(callbacks, received);
    nghttp2_session_callbacks_set_on_stream_close_callback(callbacks, closed);
    nghttp2_session_client_new(&session_, callbacks, this);
    nghttp2_session_callbacks_del(callbacks);
    nghttp2_submit_settings(session_, NGHTTP2_FLAG_NONE, nullptr, 0);
    transport_->wait_writable(*this);
    transport_->wait_readable(*this);
  }
  ~Client() { nghttp2_session_del(session_); }
  Client(const Client&) = delete;
  Client& operator=(const Client&) = delete;

  // A request whose body is `body`; with `more`, send() goes on with it.
  std::int32_t request(const Fields& fields, std::string body = "", bool more = false) {
    std::vector<nghttp2_nv> list;
    for (const auto& [name, value] : fields)
      list.push_back({.name = reinterpret_cast<std::uint8_t*>(const_cast<char*>(name.data())),
                      .value = reinterpret_cast<std::uint8_t*>(const_cast<char*>(value.data())),
                      .namelen = name.size(),
                      .valuelen = value.size(),
                      .flags = 0});
    auto& upload = uploads_.emplace_back(Upload{std::move(body), !more});
    nghttp2_data_provider provider{};
    provider.source.ptr = &upload;
    provider.read_callback = read;
    const bool has_body = more || !upload.bytes.empty();
    const std::int32_t id = nghttp2_submit_request(session_, nullptr, list.data(), list.size(),
                                                   has_body ? &provider : nullptr, &upload);
    streams[id];
    flush();
    return id;
  }
  void send(std::int32_t id, std::string_view more, bool last) {
    auto* upload = static_cast<Upload*>(nghttp2_session_get_stream_user_data(session_, id));
    ASSERT_NE(upload, nullptr);
    upload->bytes += more;
    upload->last = last;
    nghttp2_session_resume_data(session_, id);
    flush();
  }
  void reset(std::int32_t id) {
    nghttp2_submit_rst_stream(session_, NGHTTP2_FLAG_NONE, id, NGHTTP2_CANCEL);
    flush();
  }
  void close() { transport_->close(); }
  [[nodiscard]] std::uint32_t allowed_streams() const {
    return nghttp2_session_get_remote_settings(session_, NGHTTP2_SETTINGS_MAX_CONCURRENT_STREAMS);
  }

  std::map<std::int32_t, Outcome> streams;
  std::vector<std::pair<std::int32_t, std::uint32_t>> goaways;  // last stream, code
  std::uint64_t bytes = 0, writes = 0;                          // received; in how many pieces
  bool ended = false;
  int error = 0;         // of the transport
  bool garbage = false;  // what came is no HTTP/2

 private:
  struct Upload {
    std::string bytes;
    bool last = true;
    std::size_t at = 0;
  };

  static Client& self(void* user) { return *static_cast<Client*>(user); }
  static int header(nghttp2_session*, const nghttp2_frame* frame, const std::uint8_t* name,
                    std::size_t name_size, const std::uint8_t* value, std::size_t value_size,
                    std::uint8_t, void* user) {
    Outcome& outcome = self(user).streams[frame->hd.stream_id];
    const std::pair field{std::string(reinterpret_cast<const char*>(name), name_size),
                          std::string(reinterpret_cast<const char*>(value), value_size)};
    if (field.first == ":status" && field.second.starts_with('1'))
      outcome.interim.push_back(field.second);
    const bool trailing = frame->headers.cat == NGHTTP2_HCAT_HEADERS && !outcome.head.empty() &&
                          outcome.field(":status")[0] != '1';
    if (!trailing && field.first == ":status") outcome.head.clear();
    (trailing ? outcome.trailers : outcome.head).push_back(field);
    return 0;
  }
  static int data(nghttp2_session*, std::uint8_t, std::int32_t id, const std::uint8_t* piece,
                  std::size_t size, void* user) {
    Client& client = self(user);
    Outcome& outcome = client.streams[id];
    if (outcome.body.empty()) outcome.first = client.loop_.latest();
    outcome.last = client.loop_.latest();
    outcome.body.append(reinterpret_cast<const char*>(piece), size);
    return 0;
  }
  static int received(nghttp2_session*, const nghttp2_frame* frame, void* user) {
    Client& client = self(user);
    if (frame->hd.type == NGHTTP2_GOAWAY)
      client.goaways.emplace_back(frame->goaway.last_stream_id, frame->goaway.error_code);
    if ((frame->hd.type == NGHTTP2_HEADERS || frame->hd.type == NGHTTP2_DATA) &&
        (frame->hd.flags & NGHTTP2_FLAG_END_STREAM) != 0) {
      client.streams[frame->hd.stream_id].ended = true;
      client.streams[frame->hd.stream_id].last = client.loop_.latest();
    }
    return 0;
  }
  static int closed(nghttp2_session*, std::int32_t id, std::uint32_t code, void* user) {
    Outcome& outcome = self(user).streams[id];
    outcome.closed = true;
    outcome.code = code;
    outcome.last = self(user).loop_.latest();
    return 0;
  }
  static ssize_t read(nghttp2_session*, std::int32_t, std::uint8_t* into, std::size_t room,
                      std::uint32_t* flags, nghttp2_data_source* source, void*) {
    auto& upload = *static_cast<Upload*>(source->ptr);
    const std::size_t n = std::min(room, upload.bytes.size() - upload.at);
    std::copy_n(upload.bytes.data() + upload.at, n, into);
    upload.at += n;
    if (upload.at == upload.bytes.size()) {
      if (upload.last) {
        *flags |= NGHTTP2_DATA_FLAG_EOF;
      } else if (n == 0) {
        return NGHTTP2_ERR_DEFERRED;
      }
    }
    return static_cast<ssize_t>(n);
  }

  void ready() noexcept override {
    flush();
    while (!ended) {
      const net::IoResult result = transport_->read_some(loop_.scratch());
      if (result.would_block()) {
        transport_->wait_readable(*this);
        break;
      }
      if (result.bytes == 0) {
        error = result.error;
        ended = true;
        transport_->close();
        return;
      }
      bytes += result.bytes;
      ++writes;
      const auto* const from = reinterpret_cast<const std::uint8_t*>(loop_.scratch().data());
      if (nghttp2_session_mem_recv(session_, from, result.bytes) < 0) garbage = true;
    }
    flush();
  }
  void flush() {
    while (!ended) {
      while (unsent_.size() < 100'000) {
        const std::uint8_t* frame = nullptr;
        const ssize_t n = nghttp2_session_mem_send(session_, &frame);
        if (n <= 0) break;
        unsent_.append(reinterpret_cast<const char*>(frame), static_cast<std::size_t>(n));
      }
      if (unsent_.empty()) return;
      const std::string_view piece = unsent_;
      const net::IoResult result = transport_->write_some({&piece, 1});
      if (result.would_block()) return transport_->wait_writable(*this);
      if (result.error != 0) return;
      unsent_.erase(0, result.bytes);
    }
  }

  net::Loop& loop_;
  std::unique_ptr<net::Transport> transport_;
  nghttp2_session* session_ = nullptr;
  std::deque<Upload> uploads_;
  std::string unsent_;
};

class Http2TargetTest : public testing::Test {
 protected:
  // One way takes 50 us; a timer's tick is 131 us.
  static constexpr Duration kSlack = 500us;

  void serve(const std::vector<std::string>& faults = {}, HttpTargetOptions options = {}) {
    options.faults = parse_faults(faults).value();
    target_.reset();
    target_ = std::make_unique<HttpTarget>(server_, options);
    address_ = target_->listen(net::Address::ipv4_loopback(0)).value();
  }
  Client& connect() {
    Client& client = clients_.emplace_back(client_loop_, address_);
    run(1ms);
    return client;
  }
  void run(Duration time) { world_.run_until(world_.now() + time); }

  static Fields get(const std::string& path, const Fields& more = {}) {
    Fields fields{{":method", "GET"}, {":scheme", "http"}, {":authority", "t"}, {":path", path}};
    fields.insert(fields.end(), more.begin(), more.end());
    return fields;
  }
  Outcome exchange(Client& client, const Fields& fields, const std::string& body = "",
                   Duration time = 10ms) {
    const std::int32_t id = client.request(fields, body);
    run(time);
    return client.streams[id];
  }
  Outcome get_at(Client& client, const std::string& path, Duration time = 10ms) {
    return exchange(client, get(path), "", time);
  }

  net::SimWorld world_{1};
  net::SimLoop server_{world_}, client_loop_{world_};
  std::unique_ptr<HttpTarget> target_;
  net::Address address_;
  std::deque<Client> clients_;
};

TEST_F(Http2TargetTest, AnswersWithItsDefaultsAndCounts) {
  serve({}, {.bytes = 5, .status = 201});
  Client& client = connect();
  for (int i = 0; i < 3; ++i) {
    const Outcome outcome = get_at(client, "/");
    EXPECT_THAT(outcome.head, ElementsAre(Pair(":status", "201"), Pair("content-length", "5")));
    EXPECT_EQ(outcome.body, "xxxxx");
    EXPECT_TRUE(outcome.ended);
    EXPECT_THAT(outcome.trailers, IsEmpty());
  }
  EXPECT_EQ(client.allowed_streams(), 10'000U);
  TargetCounts counts = target_->counts();
  EXPECT_EQ(counts.connections, 1U);
  EXPECT_EQ(counts.open, 1U);
  EXPECT_EQ(counts.requests, 3U);
  EXPECT_EQ(counts.answers, 3U);
  client.close();
  run(1ms);
  EXPECT_EQ(target_->counts().open, 0U);
}

TEST_F(Http2TargetTest, ThePathSaysWhatIsWanted) {
  serve();
  Client& client = connect();
  EXPECT_EQ(get_at(client, "/status/404/bytes/3").field(":status"), "404");
  EXPECT_EQ(get_at(client, "/bytes/3").body, "xxx");
  EXPECT_EQ(get_at(client, "/bytes/4").body, "xxxx");
  const Outcome streamed = get_at(client, "/chunked/10");
  EXPECT_EQ(streamed.field("content-length"), "none");
  EXPECT_EQ(streamed.body, "xxxxxxxxxx");
  EXPECT_EQ(get_at(client, "/status/204/bytes/3").body, "");
  Fields head = get("/bytes/3");
  head[0].second = "HEAD";
  const Outcome bodiless = exchange(client, head);
  EXPECT_EQ(bodiless.field("content-length"), "3");
  EXPECT_TRUE(bodiless.ended && bodiless.body.empty());
  const Instant before = world_.now();
  const Outcome late = get_at(client, "/delay/20ms/bytes/1", 30ms);
  EXPECT_GE(late.last - before, 20ms);
  EXPECT_LE(late.last - before, 20ms + kSlack);
}

TEST_F(Http2TargetTest, EchoReturnsTheFieldsAndTheBody) {
  serve();
  Client& client = connect();
  EXPECT_EQ(
      exchange(client, get("/echo", {{"x-y", "z"}}), "hello").body,
      ":method: GET\r\n:scheme: http\r\n:authority: t\r\n:path: /echo\r\nx-y: z\r\n\r\nhello");
  EXPECT_THAT(exchange(client, get("/echo"), "again").body, testing::EndsWith("\r\n\r\nagain"));
}

// What a turn makes goes out in one piece.
TEST_F(Http2TargetTest, ManyStreamsAreAnsweredInOneWrite) {
  serve({}, {.bytes = 10});
  Client& client = connect();
  world_.at(world_.now() + 1ms, [&] {
    for (int i = 0; i < 100; ++i) client.request(get("/"));
  });
  run(2ms);
  client.writes = 0;
  client.streams.clear();
  // Their delays end in one turn, too.
  for (int i = 0; i < 100; ++i) client.request(get("/delay/5ms"));
  run(20ms);
  EXPECT_EQ(client.streams.size(), 100U);
  EXPECT_TRUE(std::ranges::all_of(client.streams, [](auto& s) { return s.second.ended; }));
  EXPECT_LE(client.writes, 4U);
}

TEST_F(Http2TargetTest, LargeBodiesGoBothWaysThroughSmallBuffers) {
  world_.set_planner([](net::SimPlan& plan) {
    plan.to_client.buffer = 5'000;
    plan.to_server.split = net::SimSplit::random;
  });
  serve();
  Client& client = connect();
  const Outcome outcome = get_at(client, "/bytes/1M", 10s);
  EXPECT_EQ(outcome.body.size(), 1'000'000U);
  EXPECT_TRUE(outcome.ended);
  const Outcome upload = exchange(client, get("/echo"), std::string(1'000'000, 'u'), 10s);
  EXPECT_THAT(upload.body,  // what an echo keeps
              testing::EndsWith("\r\n\r\n" + std::string(http::ReceivedRequest::kBodyKept, 'u')));
  EXPECT_TRUE(upload.ended);
}

TEST_F(Http2TargetTest, BytesOneByOneGetTheSameAnswer) {
  world_.set_planner([](net::SimPlan& plan) {
    plan.to_server.split = net::SimSplit::bytes;
    plan.to_client.buffer = 1;
  });
  serve();
  Client& client = connect();
  run(100ms);
  EXPECT_EQ(get_at(client, "/bytes/20", 1s).body, std::string(20, 'x'));
}

TEST_F(Http2TargetTest, AStreamThatTheClientResetsIsForgotten) {
  serve();
  Client& client = connect();
  for (int i = 0; i < 50; ++i) {
    const std::int32_t id = client.request(get("/delay/50ms"));
    if (i % 2 == 0) run(1ms);  // else the reset comes in the same turn
    client.reset(id);
  }
  run(100ms);
  EXPECT_EQ(target_->counts().answers, 0U);
  EXPECT_EQ(get_at(client, "/bytes/1").body, "x");
}

TEST_F(Http2TargetTest, ConnectionsThatEndWithWorkPendingAreForgotten) {
  serve();
  Client& first = connect();
  for (int i = 0; i < 10; ++i) first.request(get("/delay/50ms"));
  run(1ms);
  first.close();
  run(100ms);
  EXPECT_EQ(target_->counts().open, 0U);
  Client& second = connect();
  second.request(get("/delay/1s"));
  run(1ms);
  target_.reset();  // with a stream that waits
  run(1ms);
  EXPECT_TRUE(second.ended);
}

TEST_F(Http2TargetTest, ARequestAsksForItsOwnFaults) {
  serve();
  Client& client = connect();
  EXPECT_EQ(exchange(client, get("/", {{"x-fault", "status:code=429"}})).field(":status"), "429");
  EXPECT_EQ(get_at(client, "/").field(":status"), "200");
  const Outcome refused = exchange(client, get("/", {{"x-fault", "sttus"}}));
  EXPECT_EQ(refused.field(":status"), "400");
  EXPECT_THAT(refused.body, HasSubstr("did you mean 'status'"));
}

TEST_F(Http2TargetTest, FaultsOfTheConnectionEndIt) {
  serve();
  const auto struck = [&](const std::string& fault) -> Client& {
    Client& client = connect();
    client.request(get("/delay/1s"));  // in flight
    run(1ms);
    client.request(get("/bytes/100", {{"x-fault", fault}}));
    run(20ms);
    return client;
  };
  Client& reset = struck("reset");
  EXPECT_TRUE(reset.ended);
  EXPECT_EQ(reset.error, ECONNRESET);
  EXPECT_FALSE(reset.streams[3].ended);

  Client& silent = struck("close");
  EXPECT_TRUE(silent.ended);
  EXPECT_EQ(silent.error, 0);
  EXPECT_TRUE(silent.streams[3].ended);
  EXPECT_FALSE(silent.streams[1].ended);
  EXPECT_THAT(silent.goaways, IsEmpty());

  Client& unanswered = struck("close:mode=unanswered");
  EXPECT_TRUE(unanswered.ended);
  EXPECT_THAT(unanswered.streams[3].head, IsEmpty());

  Client& late = struck("close:wait=50ms");
  EXPECT_TRUE(late.streams[3].ended);
  EXPECT_FALSE(late.ended);
  run(50ms);
  EXPECT_TRUE(late.ended);

  Client& garbage = struck("garbage");
  EXPECT_TRUE(garbage.ended);
  EXPECT_THAT(garbage.streams[3].head, IsEmpty());
  EXPECT_EQ(target_->counts().open, 0U);
}

TEST_F(Http2TargetTest, CloseWithNoticeLetsTheOthersEnd) {
  serve();
  Client& client = connect();
  client.request(get("/delay/50ms/bytes/1"));
  client.request(get("/", {{"x-fault", "close:mode=said"}}));
  run(20ms);
  EXPECT_TRUE(client.streams[3].ended);
  EXPECT_FALSE(client.ended);
  EXPECT_THAT(client.goaways, ElementsAre(Pair(0x7fffffff, 0), Pair(3, 0)));
  run(50ms);
  EXPECT_TRUE(client.streams[1].ended);
  EXPECT_TRUE(client.ended);
}

TEST_F(Http2TargetTest, CutsAtEveryByte) {
  serve();
  Client& whole = connect();
  const std::uint64_t settings = whole.bytes;
  get_at(whole, "/bytes/10");
  const std::uint64_t answer = whole.bytes - settings;
  ASSERT_GT(answer, 20U);
  for (std::uint64_t n = 0; n <= answer; ++n) {
    Client& client = connect();
    const Outcome outcome =
        exchange(client, get("/bytes/10", {{"x-fault", "cut:bytes=" + std::to_string(n)}}));
    EXPECT_EQ(client.bytes - settings, n);
    EXPECT_TRUE(client.ended);
    EXPECT_EQ(outcome.ended, n == answer);
  }
  Client& half = connect();
  exchange(half, get("/bytes/10", {{"x-fault", "cut"}}));
  EXPECT_EQ(half.bytes - settings, answer / 2);
}

TEST_F(Http2TargetTest, SlowBytesTrickleAndOnlyThem) {
  serve();
  Client& client = connect();
  client.writes = 0;
  const std::int32_t slow =
      client.request(get("/bytes/100", {{"x-fault", "slow-bytes:gap=2ms,bytes=10"}}));
  run(1s);
  EXPECT_EQ(client.streams[slow].body.size(), 100U);
  EXPECT_GE(client.streams[slow].last - client.streams[slow].first, 16ms);
  EXPECT_GE(client.writes, 12U);
  client.writes = 0;
  EXPECT_EQ(get_at(client, "/bytes/100").body.size(), 100U);
  EXPECT_EQ(client.writes, 1U);
}

TEST_F(Http2TargetTest, InterimTrailersAndExcess) {
  serve();
  Client& client = connect();
  const Outcome interim = exchange(client, get("/bytes/1", {{"x-fault", "interim"}}));
  EXPECT_THAT(interim.interim, ElementsAre("100", "103"));
  EXPECT_EQ(interim.field(":status"), "200");
  EXPECT_EQ(interim.body, "x");
  const Outcome trailers = exchange(client, get("/bytes/1", {{"x-fault", "trailers"}}));
  EXPECT_THAT(trailers.trailers,
              ElementsAre(Pair("x-trailer", "first"), Pair("x-trailer-two", "second")));
  const Outcome excess = exchange(client, get("/bytes/1", {{"x-fault", "excess:bytes=20"}}));
  EXPECT_TRUE(excess.ended);
  EXPECT_TRUE(client.garbage || client.ended);
}

TEST_F(Http2TargetTest, StallsAndFreezesHoldAnswersBack) {
  serve({"stall:request=2,for=20ms", "freeze:request=4,for=20ms"});
  Client& client = connect();
  get_at(client, "/");
  for (int struck = 2; struck <= 4; struck += 2) {
    const Instant before = world_.now();
    const std::int32_t id = client.request(get("/"));
    run(1ms);
    const std::int32_t other = client.request(get("/"));
    run(30ms);
    for (const std::int32_t each : {id, other}) {
      EXPECT_GE(client.streams[each].last - before, 20ms) << struck << " " << each;
      EXPECT_LE(client.streams[each].last - before, 20ms + 2 * kSlack) << struck << " " << each;
    }
  }
}

// G1: streams up to the last one named end, later ones were surely not processed.
TEST_F(Http2TargetTest, GoawayInOrder) {
  serve({"goaway:request=2,wait=5ms"});
  Client& client = connect();
  client.request(get("/delay/20ms"));
  client.request(get("/delay/20ms"));  // struck: stream 3
  run(1ms);
  EXPECT_THAT(client.goaways, ElementsAre(Pair(0x7fffffff, 0)));
  // nghttp2 begins no stream after a GOAWAY, but this one could have been on its way.
  run(10ms);
  EXPECT_THAT(client.goaways, ElementsAre(Pair(0x7fffffff, 0), Pair(3, 0)));
  EXPECT_FALSE(client.ended);
  run(30ms);
  EXPECT_TRUE(client.streams[1].ended && client.streams[3].ended);
  EXPECT_TRUE(client.ended);
  EXPECT_EQ(client.error, 0);
  EXPECT_EQ(get_at(connect(), "/bytes/1").body, "x");
}

TEST_F(Http2TargetTest, StreamsBehindTheLastOfAGoawayAreNotAnswered) {
  serve({"goaway:request=1,wait=5ms"});
  Client& client = connect();
  // All arrive together: the first is struck, the others are behind it.
  for (int i = 0; i < 5; ++i) client.request(get("/"));
  run(20ms);
  EXPECT_TRUE(client.streams[1].ended);
  for (const std::int32_t later : {3, 5, 7, 9}) EXPECT_FALSE(client.streams[later].ended);
  EXPECT_EQ(target_->counts().requests, 1U);
  EXPECT_TRUE(client.ended);
}

// G2
TEST_F(Http2TargetTest, GoawayOnEveryConnection) {
  serve({"goaway:when=connect"});
  for (int i = 0; i < 3; ++i) {
    Client& client = connect();
    run(5ms);
    EXPECT_THAT(client.goaways, ElementsAre(Pair(0, 0)));
    EXPECT_TRUE(client.ended);
  }
  EXPECT_EQ(target_->counts().requests, 0U);
}

// G3
TEST_F(Http2TargetTest, GoawayWithAnErrorEndsEverything) {
  serve({"goaway:code=enhance_your_calm,request=2"});
  Client& client = connect();
  client.request(get("/delay/20ms"));
  client.request(get("/"));
  run(5ms);
  EXPECT_THAT(client.goaways, ElementsAre(Pair(1, NGHTTP2_ENHANCE_YOUR_CALM)));
  EXPECT_TRUE(client.ended);
  EXPECT_FALSE(client.streams[1].ended);
}

// G5
TEST_F(Http2TargetTest, TheNumberOfStreamsIsLimitedFromTheStartOrLater) {
  serve({"max-streams:limit=10"});
  EXPECT_EQ(connect().allowed_streams(), 10U);
  serve({"max-streams:limit=3,request=2"});
  Client& client = connect();
  EXPECT_EQ(client.allowed_streams(), 10'000U);
  get_at(client, "/");
  EXPECT_EQ(client.allowed_streams(), 10'000U);
  EXPECT_TRUE(get_at(client, "/").ended);
  EXPECT_EQ(client.allowed_streams(), 3U);
  // The excess waits at the client, and is served.
  for (int i = 0; i < 20; ++i) client.request(get("/delay/1ms"));
  run(100ms);
  EXPECT_TRUE(std::ranges::all_of(client.streams, [](auto& s) { return s.second.ended; }));
}

// G6
TEST_F(Http2TargetTest, ResetsStreams) {
  serve();
  Client& client = connect();
  const auto code = [&](const std::string& fault) {
    return exchange(client, get("/", {{"x-fault", fault}})).code;
  };
  EXPECT_EQ(code("reset-stream"), NGHTTP2_INTERNAL_ERROR);
  EXPECT_EQ(code("reset-stream:code=refused_stream"), NGHTTP2_REFUSED_STREAM);
  EXPECT_EQ(code("reset-stream:code=cancel"), NGHTTP2_CANCEL);
  EXPECT_EQ(code("reset-stream:code=77"), 77U);
  EXPECT_TRUE(get_at(client, "/").ended);
}

// G7
TEST_F(Http2TargetTest, AnUploadWaitsForItsWindow) {
  serve({"window-stall:time=50ms,request=1"});
  Client& client = connect();
  const Instant before = world_.now();
  const std::int32_t id = client.request(get("/"), std::string(100'000, 'u'));
  const std::int32_t other = client.request(get("/"), std::string(100'000, 'u'));
  run(200ms);
  EXPECT_TRUE(client.streams[id].ended && client.streams[other].ended);
  EXPECT_GE(client.streams[id].last - before, 50ms);
  EXPECT_LE(client.streams[id].last - before, 52ms);
  EXPECT_LE(client.streams[other].last - before, 2ms);  // its own window is open
}

TEST_F(Http2TargetTest, WhatIsNoHttp2IsHungUpOn) {
  serve({}, {.grpc = GrpcAnswers{}});
  auto transport = client_loop_.connect(address_, {}).value();
  run(1ms);
  const std::string_view text = "GET / HTTP/1.1\r\nHost: t\r\n\r\n";
  transport->write_some({&text, 1});
  run(2s);
  EXPECT_EQ(target_->counts().open, 0U);
}

class GrpcTargetTest : public Http2TargetTest {
 protected:
  static Fields call(const Fields& more = {}) {
    Fields fields{{":method", "POST"}, {":scheme", "http"},
                  {":authority", "t"}, {":path", "/any.Service/Method"},
                  {"te", "trailers"},  {"content-type", "application/grpc"}};
    fields.insert(fields.end(), more.begin(), more.end());
    return fields;
  }
  void serve_grpc(const std::vector<std::string>& faults = {}, GrpcAnswers answers = {},
                  Duration delay = {}) {
    serve(faults, {.delay = delay, .grpc = std::move(answers)});
  }
  static std::string empty_replies(std::size_t count) { return std::string(5 * count, '\0'); }
};

TEST_F(GrpcTargetTest, AnswersAnyMethodWithAReplyAndStatusOk) {
  serve_grpc();
  Client& client = connect();
  for (int i = 0; i < 3; ++i) {
    const Outcome outcome = exchange(client, call(), grpc_frame("hello"));
    EXPECT_THAT(outcome.head,
                ElementsAre(Pair(":status", "200"), Pair("content-type", "application/grpc")));
    EXPECT_EQ(outcome.body, empty_replies(1));
    EXPECT_THAT(outcome.trailers, ElementsAre(Pair("grpc-status", "0")));
    EXPECT_TRUE(outcome.closed);
    EXPECT_EQ(outcome.code, 0U);
  }
  EXPECT_EQ(target_->counts().requests, 3U);
  EXPECT_EQ(target_->counts().answers, 3U);
}

TEST_F(GrpcTargetTest, OneReplyForEachMessageAndAtLeastOne) {
  serve_grpc({}, {.frame = grpc_frame("abc")});
  Client& client = connect();
  std::string four;
  for (const std::size_t size : {0U, 1U, 300U, 70'000U}) four += grpc_frame(std::string(size, 'm'));
  std::string replies;
  for (int i = 0; i < 4; ++i) replies += grpc_frame("abc");
  EXPECT_EQ(exchange(client, call(), four, 1s).body, replies);
  const std::int32_t none = client.request(call(), "", true);
  run(2ms);
  EXPECT_THAT(client.streams[none].head, IsEmpty());
  client.send(none, "", true);
  run(2ms);
  EXPECT_EQ(client.streams[none].body, grpc_frame("abc"));
  EXPECT_EQ(client.streams[none].field("grpc-status"), "0");
}

// G13: and the replies come while the request goes on.
TEST_F(GrpcTargetTest, MessagesOfBothSidesTakeTurns) {
  serve_grpc();
  Client& client = connect();
  const std::int32_t id = client.request(call(), grpc_frame("1"), true);
  for (std::size_t i = 1; i <= 5; ++i) {
    run(1ms);
    EXPECT_EQ(client.streams[id].body, empty_replies(i));
    EXPECT_FALSE(client.streams[id].ended);
    const std::string next = grpc_frame("next");
    client.send(id, next.substr(0, 3), false);
    run(1ms);
    client.send(id, next.substr(3), false);
  }
  run(1ms);
  client.send(id, "", true);
  run(1ms);
  EXPECT_EQ(client.streams[id].body, empty_replies(6));
  EXPECT_EQ(client.streams[id].field("grpc-status"), "0");
  EXPECT_EQ(target_->counts().requests, 1U);
}

TEST_F(GrpcTargetTest, RepliesLargerThanTheWindowArriveWhole) {
  serve_grpc({}, {.frame = grpc_frame(std::string(200'000, 'r'))});
  const Outcome outcome = exchange(connect(), call(), grpc_frame("a") + grpc_frame("b"), 1s);
  EXPECT_EQ(outcome.body.size(), 2U * 200'005U);
  EXPECT_EQ(outcome.field("grpc-status"), "0");
}

TEST_F(GrpcTargetTest, TheDelayHoldsTheAnswerBack) {
  serve_grpc({}, {}, 20ms);
  Client& client = connect();
  const Instant before = world_.now();
  const Outcome outcome = exchange(client, call(), grpc_frame(""), 40ms);
  EXPECT_GE(outcome.last - before, 20ms);
  EXPECT_LE(outcome.last - before, 20ms + kSlack);
}

TEST_F(GrpcTargetTest, DeadlinesAreKept) {
  serve_grpc({}, {}, 20ms);
  Client& client = connect();
  const Instant before = world_.now();
  const Outcome late = exchange(client, call({{"grpc-timeout", "5m"}}), grpc_frame(""), 50ms);
  EXPECT_EQ(late.field("grpc-status"), "4");
  EXPECT_EQ(late.body, "");
  EXPECT_GE(late.last - before, 5ms);
  EXPECT_LE(late.last - before, 5ms + kSlack);
  const Outcome in_time = exchange(client, call({{"grpc-timeout", "30m"}}), grpc_frame(""), 50ms);
  EXPECT_EQ(in_time.field("grpc-status"), "0");
  // A request that goes on and on.
  const std::int32_t open = client.request(call({{"grpc-timeout", "50m"}}), grpc_frame(""), true);
  run(40ms);
  EXPECT_EQ(client.streams[open].body, empty_replies(1));
  EXPECT_FALSE(client.streams[open].ended);
  run(20ms);
  EXPECT_EQ(client.streams[open].field("grpc-status"), "4");
  EXPECT_TRUE(client.streams[open].closed);
  // And one of which nothing has come but its head.
  const std::int32_t silent = client.request(call({{"grpc-timeout", "5m"}}), "", true);
  run(10ms);
  EXPECT_EQ(client.streams[silent].field("grpc-status"), "4");
  const Outcome unclear = exchange(client, call({{"grpc-timeout", "5x"}}), grpc_frame(""), 50ms);
  EXPECT_EQ(unclear.field("grpc-status"), "13");
}

TEST_F(GrpcTargetTest, AnotherStatusComesWithoutReplies) {
  serve_grpc({}, {.status = 14, .message = percent_encoded("down for\n50% of us")});
  const Outcome outcome = exchange(connect(), call(), grpc_frame(""));
  EXPECT_EQ(outcome.field("grpc-status"), "14");
  EXPECT_EQ(outcome.field("grpc-message"), "down for%0A50%25 of us");
  EXPECT_THAT(outcome.trailers, IsEmpty());
  EXPECT_EQ(outcome.body, "");
}

// G8 to G11
TEST_F(GrpcTargetTest, FaultsOfGrpc) {
  serve_grpc();
  Client& client = connect();
  const auto struck = [&](const std::string& fault) {
    return exchange(client, call({{"x-fault", fault}}), grpc_frame(""));
  };
  const Outcome only_head = struck("grpc-status:code=12,message=no such thing");
  EXPECT_THAT(only_head.trailers, IsEmpty());
  EXPECT_EQ(only_head.field("grpc-status"), "12");
  EXPECT_EQ(only_head.field("grpc-message"), "no such thing");
  EXPECT_EQ(only_head.body, "");

  const Outcome behind = struck("grpc-status:form=trailers");
  EXPECT_EQ(behind.body, empty_replies(1));
  EXPECT_THAT(behind.trailers, ElementsAre(Pair("grpc-status", "14")));

  const Outcome without = struck("no-grpc-status");
  EXPECT_EQ(without.field(":status"), "200");
  EXPECT_EQ(without.body, empty_replies(1));
  EXPECT_EQ(without.field("grpc-status"), "none");
  EXPECT_TRUE(without.ended);

  const Outcome both = struck("status:code=503;grpc-status:code=14");
  EXPECT_EQ(both.field(":status"), "503");
  EXPECT_EQ(both.field("grpc-status"), "14");
  const Outcome http = struck("status:code=502");
  EXPECT_EQ(http.field(":status"), "502");
  EXPECT_EQ(http.field("grpc-status"), "none");
  EXPECT_TRUE(http.ended);

  EXPECT_EQ(struck("grpc-status:message=a%20b%zz%2").field("grpc-message"), "a%20b%zz%2");
  EXPECT_EQ(struck("trailers").field("x-trailer"), "first");
  const Outcome refused = struck("stats");
  EXPECT_EQ(refused.field("grpc-status"), "13");
  EXPECT_THAT(refused.field("grpc-message"), HasSubstr("no such fault 'stats'"));
}

TEST_F(GrpcTargetTest, WhatIsNoCallIsRefused) {
  serve_grpc();
  Client& client = connect();
  EXPECT_EQ(get_at(client, "/").field(":status"), "415");
  const Outcome torn = exchange(client, call(), grpc_frame("hello").substr(0, 7));
  EXPECT_EQ(torn.field("grpc-status"), "13");
  EXPECT_EQ(torn.field("grpc-message"), "the request ends within a message");
}

// The client is told that the rest of its request is of no use.
TEST_F(GrpcTargetTest, AnEarlyEndStopsTheRequest) {
  serve_grpc({"grpc-status:code=8"});
  Client& client = connect();
  const std::int32_t id = client.request(call(), grpc_frame("1"), true);
  run(2ms);
  EXPECT_EQ(client.streams[id].field("grpc-status"), "8");
  EXPECT_TRUE(client.streams[id].closed);
  EXPECT_EQ(client.streams[id].code, NGHTTP2_NO_ERROR);
}

TEST(GrpcWords, TimeoutsAndMessages) {
  EXPECT_EQ(parse_grpc_timeout("2S"), 2s);
  EXPECT_EQ(parse_grpc_timeout("00000010m"), 10ms);
  EXPECT_EQ(parse_grpc_timeout("1H"), 1h);
  EXPECT_EQ(parse_grpc_timeout("3M"), 3min);
  EXPECT_EQ(parse_grpc_timeout("7u"), 7us);
  EXPECT_EQ(parse_grpc_timeout("9n"), 9ns);
  EXPECT_GT(parse_grpc_timeout("99999999H").value(), 24h * 365 * 100);
  for (const char* bad : {"", "S", "5", "123456789S", "-1S", "1s", "1 S", "+1S"})
    EXPECT_EQ(parse_grpc_timeout(bad), std::nullopt) << bad;
  EXPECT_EQ(grpc_frame("abc"), std::string("\0\0\0\0\3abc", 8));
  EXPECT_EQ(grpc_frame(std::string(70'000, 'x')).substr(0, 5), std::string("\0\0\1\x11\x70", 5));
  EXPECT_EQ(filler_message(4), "xxxx");
  EXPECT_EQ(filler_message(5), "x\xf8\x01xx");
  EXPECT_EQ(filler_message(0), "");
}

}  // namespace
}  // namespace onbeat::target
