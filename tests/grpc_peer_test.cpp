// The gRPC client on the real loop against servers of other implementations: grpc++ and Python's
// grpcio (tests/grpc_peer/). Each server is a child of this process, on ports of its own choice.
#include "grpc/client.hpp"
#include "grpc/message_reader.hpp"
#include "grpc/prepared_message.hpp"
#include "grpc/reflection.hpp"
#include "kernel/allocation_count.hpp"
#include "net/epoll_loop.hpp"
#include <onbeat/kernel/task.hpp>

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <spawn.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <functional>
#include <string>
#include <vector>

namespace onbeat::grpc {
namespace {

using namespace std::chrono_literals;
using testing::ElementsAre;
using testing::HasSubstr;

/// A child process that ends when its standard input does, so that it never outlives the test.
class Server {
 public:
  explicit Server(std::vector<std::string> command) {
    int input[2], output[2];
    if (pipe(input) != 0 || pipe(output) != 0) std::abort();
    posix_spawn_file_actions_t actions;
    posix_spawn_file_actions_init(&actions);
    posix_spawn_file_actions_adddup2(&actions, input[0], 0);
    posix_spawn_file_actions_adddup2(&actions, output[1], 1);
    for (const int fd : {input[0], input[1], output[0], output[1]})
      posix_spawn_file_actions_addclose(&actions, fd);
    std::vector<char*> arguments;
    for (std::string& word : command) arguments.push_back(word.data());
    arguments.push_back(nullptr);
    if (posix_spawn(&child_, arguments[0], &actions, nullptr, arguments.data(), environ) != 0)
      std::abort();
    posix_spawn_file_actions_destroy(&actions);
    close(input[0]);
    close(output[1]);
    alive_ = input[1];
    std::FILE* const lines = fdopen(output[0], "r");
    char line[64] = {};
    if (std::fgets(line, sizeof line, lines) == nullptr) std::abort();
    std::fclose(lines);
    int plain = 0, secure = 0;
    std::sscanf(line, "%d %d", &plain, &secure);
    port = static_cast<std::uint16_t>(plain);
    tls_port = static_cast<std::uint16_t>(secure);
  }
  ~Server() {
    close(alive_);
    waitpid(child_, nullptr, 0);
  }

  std::uint16_t port = 0, tls_port = 0;

 private:
  pid_t child_ = 0;
  int alive_ = -1;
};

/// Certificates for the server and for clients, signed by an authority of the test's own.
class Certificates {
 public:
  Certificates() {
    std::string pattern = testing::TempDir() + "grpc_peer_XXXXXX";
    folder = mkdtemp(pattern.data());
    run("req -x509 -newkey rsa:2048 -nodes -days 2 -subj /CN=ca -keyout ca.key -out ca.pem");
    for (const std::string name : {"server", "client"}) {
      run("req -newkey rsa:2048 -nodes -subj /CN=localhost -addext subjectAltName=DNS:localhost "
          "-keyout " +
          name + ".key -out " + name + ".csr");
      run("x509 -req -in " + name + ".csr -CA ca.pem -CAkey ca.key -CAcreateserial -days 2 " +
          "-copy_extensions copy -out " + name + ".pem");
    }
  }
  ~Certificates() { std::filesystem::remove_all(folder); }
  [[nodiscard]] std::string path(const char* name) const { return folder + "/" + name; }

  std::string folder;

 private:
  void run(const std::string& arguments) const {
    const std::string command = "cd " + folder + " && openssl " + arguments + " 2>/dev/null";
    if (std::system(command.c_str()) != 0) std::abort();
  }
};

const Schema& schema() {
  static const std::unique_ptr<Schema> made = [] {
    const std::vector<std::string> files{GRPC_PEER_PROTO};
    return Schema::from_proto_files(files, {}).value();
  }();
  return *made;
}

/// What a call got: its messages as JSON, its outcome, and what its Call kept.
struct Got {
  CallOutcome outcome;
  std::vector<std::string> messages;
  std::vector<Instant> arrived;
  std::string words;
  std::string details;
  std::vector<std::pair<std::string, std::string>> metadata, trailers;
};

enum class Kind { cpp, python };

class GrpcPeer : public testing::TestWithParam<Kind> {
 public:
  static Server& server(Kind kind) {
    static const Certificates certificates;
    static Server cpp({GRPC_PEER, certificates.path("server.pem"), certificates.path("server.key"),
                       certificates.path("ca.pem")});
    static Server python({"/usr/bin/python3", GRPC_PEER_PY, GRPC_PEER_GENERATED});
    certificates_ = &certificates;
    return kind == Kind::cpp ? cpp : python;
  }

 protected:
  GrpcPeer() : GrpcPeer(GetParam()) {}
  explicit GrpcPeer(Kind kind) {
    peer_.addresses = {net::Address::ipv4_loopback(server(kind).port)};
  }

  /// Made when it is first asked for: by then the test has said where to.
  http::Http2Connection& connection() {
    if (!connection_) connection_ = std::make_unique<http::Http2Connection>(loop_, peer_);
    return *connection_;
  }
  /// Runs the loop until the coroutine has ended, at most for 20 s.
  void run(kernel::Task<void> task) {
    bool ended = false;
    auto whole = ending(std::move(task), ended);
    whole.start();
    net::Deadline<GrpcPeer, &GrpcPeer::give_up> watch(loop_.timers(), *this);
    watch.set(loop_.now() + 20s);
    if (!ended) {
      running_ = true;
      loop_.run();
      running_ = false;
    }
    watch.clear();
    ASSERT_TRUE(whole.done()) << "the call never ended";
  }
  kernel::Task<void> ending(kernel::Task<void> task, bool& ended) {
    co_await std::move(task);
    ended = true;
    if (running_) loop_.stop();  // it may have ended at once
  }
  void give_up(Instant /*now*/) noexcept {
    ADD_FAILURE() << "no end within 20 s";
    connection().cancel();
  }

  static std::string framed(std::string_view json, const char* type = "onbeat.peer.Message") {
    auto prepared = PreparedMessage::compile(json, *schema().find_message(type));
    EXPECT_TRUE(prepared) << prepared.error().front().message;
    return prepared->framed();
  }
  static std::string json(std::string_view message, const google::protobuf::Descriptor& type) {
    MessageReader reader(schema(), type);
    std::string text;
    JsonText sink(text);
    EXPECT_TRUE(reader.read(message, sink));
    return text;
  }
  CallOptions options(std::string_view method) {
    CallOptions made;
    made.path = schema().find_method("onbeat.peer.Peer/" + std::string(method)).value().path;
    made.authority = "localhost";
    made.scheme = peer_.tls ? "https" : "http";
    return made;
  }

  Got unary(std::string_view method, const std::string& body, const CallOptions& how,
            const CallLimits& limits = {.keep_metadata = true}) {
    Got got;
    run(unary_call(method, body, how, limits, got));
    return got;
  }
  Got unary(std::string_view method, std::string_view request) {
    return unary(method, framed(request), options(method));
  }
  kernel::Task<void> unary_call(std::string_view method, const std::string& body, CallOptions how,
                                CallLimits limits, Got& got) {
    Call call(loop_, limits);
    const http::Http2Request request{call_fields(how), body};
    const Instant deadline = how.timeout ? loop_.now() + *how.timeout : kernel::kNever;
    got.outcome = co_await call.unary(connection(), request, deadline);
    const auto& type = *schema().find_method("onbeat.peer.Peer/" + std::string(method))->output;
    if (got.outcome.status == StatusCode::ok) got.messages.push_back(json(call.message(), type));
    keep(call, got);
  }
  void keep(const Call& call, Got& got) {
    if (got.outcome.status != StatusCode::ok) got.words = call.status_message();
    got.details = call.details();
    for (std::size_t i = 0; i < call.metadata().size(); ++i)
      got.metadata.emplace_back(call.metadata().name(i), call.metadata().value(i));
    for (std::size_t i = 0; i < call.trailers().size(); ++i)
      got.trailers.emplace_back(call.trailers().name(i), call.trailers().value(i));
  }

  /// Sends all, half-closes, and receives meanwhile.
  Got stream(std::string_view method, const std::vector<std::string>& requests,
             std::optional<Duration> timeout = {}) {
    Got got;
    run(stream_call(method, requests, timeout, got));
    return got;
  }
  kernel::Task<void> stream_call(std::string_view method, std::vector<std::string> requests,
                                 std::optional<Duration> timeout, Got& got) {
    Call call(loop_, {.keep_metadata = true});
    CallOptions how = options(method);
    how.timeout = timeout;
    const http::Http2Request request{call_fields(how), {}};
    const Method shape = schema().find_method("onbeat.peer.Peer/" + std::string(method)).value();
    const Instant deadline = timeout ? loop_.now() + *timeout : kernel::kNever;
    if (co_await call.start(connection(), request, deadline, shape.shape)) {
      for (const std::string& each : requests) {
        const std::string bytes = framed(each);
        if (!co_await call.send(bytes)) break;
      }
      co_await call.half_close();
      while (co_await call.more()) {
        while (call.next()) {
          got.messages.push_back(json(call.message(), *shape.output));
          got.arrived.push_back(call.message_arrived());
        }
      }
    }
    got.outcome = call.finish();
    keep(call, got);
  }

  static inline const Certificates* certificates_ = nullptr;
  net::EpollLoop loop_;
  bool running_ = false;
  http::Peer peer_;
  std::unique_ptr<http::Http2Connection> connection_;
};

TEST_P(GrpcPeer, UnaryCalls) {
  for (int i = 0; i < 20; ++i) {
    const std::string text = R"({"text":"call )" + std::to_string(i) + R"(","count":"5"})";
    const Got got = unary("Echo", text);
    EXPECT_EQ(got.outcome.status, StatusCode::ok) << got.words;
    EXPECT_TRUE(got.outcome.from_server);
    EXPECT_EQ(got.outcome.messages, 1U);
    EXPECT_THAT(got.messages, ElementsAre(text));
  }
  EXPECT_EQ(peer_.ledger.opened, 1U);
}

/// Calls until it is warm, then counts.
kernel::Task<void> count_allocations(net::Loop& loop, http::Http2Connection& connection,
                                     const http::Http2Request& request,
                                     const PreparedMessage& varying, std::uint64_t& allocations,
                                     int& failed) {
  Call call(loop);
  http::Http2Request mine = request;
  std::string body;
  constexpr int kWarm = 300, kCounted = 300;
  for (int i = 0; i < kWarm + kCounted; ++i) {
    if (i == kWarm) allocations = kernel::allocations_of_this_thread();
    const HoleValue value{i % 2 == 0 ? "12345" : "6"};
    body.clear();
    if (varying.append({&value, 1}, body)) ++failed;
    mine.body = i % 3 == 0 ? request.body : std::string_view(body);
    const CallOutcome& outcome = co_await call.unary(connection, mine, loop.latest() + 10s);
    if (outcome.status != StatusCode::ok || call.message().empty()) ++failed;
  }
  allocations = kernel::allocations_of_this_thread() - allocations;
}

TEST_P(GrpcPeer, UnaryCallsAllocateNothingOnceWarm) {
  const std::string body = framed(R"({"text":"always the same"})");
  const http::Http2Request request{call_fields(options("Echo")), body};
  const auto varying = PreparedMessage::compile(
      R"({"text":"user $0","count":"$0"})", *schema().find_message("onbeat.peer.Message"),
      [](std::string_view text) {
        return text == "$0" ? std::optional<std::uint32_t>(0) : std::nullopt;
      });
  std::uint64_t allocations = 0;
  int failed = 0;
  run(count_allocations(loop_, connection(), request, *varying, allocations, failed));
  EXPECT_EQ(failed, 0);
  if (kernel::kCountsAllocations) EXPECT_EQ(allocations, 0U);
}

TEST_P(GrpcPeer, EmptyMessages) {
  const Got got = unary("Nothing", framed("{}", "google.protobuf.Empty"), options("Nothing"));
  EXPECT_EQ(got.outcome.status, StatusCode::ok) << got.words;
  EXPECT_THAT(got.messages, ElementsAre("{}"));
}

TEST_P(GrpcPeer, EveryKindOfField) {
  const std::string json =
      R"({"an_int32":-5,"an_int64":"-9","a_uint64":"18446744073709551615","a_sint64":"-2",)"
      R"("a_fixed64":"8","a_float":0.1,"a_double":1e+100,"a_bool":true,"a_string":"é","some_bytes":"AAH/",)"
      R"("colour":"GREEN","nested":{"an_int32":3},"maybe":0,"right":0,"numbers":[1,-2],"words":["a",""],)"
      R"("children":[{},{"an_int32":1}],"counts":{"a":"1"},"at":"2024-02-29T12:00:00Z","lasts":"-1.500s",)"
      R"("mask":"user.displayName","structure":{"a":[null,true]},"value":5,"list":[1],)"
      R"("any":{"@type":"type.googleapis.com/onbeat.peer.Message","text":"x"},"empty":{},)"
      R"("wrapped_int64":"0"})";
  const Got got = unary("Mirror", framed(json, "onbeat.peer.Everything"), options("Mirror"));
  EXPECT_EQ(got.outcome.status, StatusCode::ok) << got.words;
  EXPECT_THAT(got.messages, ElementsAre(json));
}

TEST_P(GrpcPeer, LargeMessagesBothWays) {
  // Larger than a stream's first window, so that both sides wait for the other's.
  const std::string text = R"({"text":")" + std::string(1'500'000, 'x') + "\"}";
  EXPECT_THAT(unary("Echo", text).messages, ElementsAre(text));
}

TEST_P(GrpcPeer, ClientStream) {
  const Got got = stream("Collect", {R"({"text":"a","count":1})", R"({"text":"b","count":2})",
                                     R"({"text":"c","count":3})"});
  EXPECT_EQ(got.outcome.status, StatusCode::ok) << got.words;
  EXPECT_THAT(got.messages, ElementsAre(R"({"text":"abc","count":"6","delay_ms":3})"));
  EXPECT_THAT(stream("Collect", {}).messages, ElementsAre("{}"));
}

TEST_P(GrpcPeer, ServerStream) {
  const Got got = stream("Expand", {R"({"text":"m","count":5,"delay_ms":20})"});
  EXPECT_EQ(got.outcome.status, StatusCode::ok) << got.words;
  ASSERT_EQ(got.messages.size(), 5U);
  EXPECT_EQ(got.messages[4], R"({"text":"m","count":"4","delay_ms":20})");
  // The gaps are the server's: none is less than a small part of its delay.
  for (std::size_t i = 1; i < got.arrived.size(); ++i)
    EXPECT_GT(got.arrived[i] - got.arrived[i - 1], 5ms) << i;
  EXPECT_THAT(stream("Expand", {R"({"count":0})"}).messages, ElementsAre());
  EXPECT_EQ(stream("Expand", {R"({"count":2000})"}).outcome.messages, 2000U);
}

TEST_P(GrpcPeer, BidirectionalStream) {
  std::vector<std::string> requests;
  for (int i = 1; i <= 100; ++i) requests.push_back(R"({"count":")" + std::to_string(i) + "\"}");
  const Got got = stream("Chat", requests);
  EXPECT_EQ(got.outcome.status, StatusCode::ok) << got.words;
  EXPECT_EQ(got.messages, requests);
}

kernel::Task<void> ping_pong(net::Loop& loop, http::Http2Connection& connection,
                             const CallOptions& how, const std::string& message, int& turns,
                             CallOutcome& outcome) {
  Call call(loop);
  const http::Http2Request request{call_fields(how), {}};
  if (co_await call.start(connection, request, kernel::kNever, Shape::bidi_stream)) {
    // The next message goes out when the answer to the last one has come; G13: the server's side
    // stays open after ours has ended.
    for (turns = 0; turns < 20; ++turns) {
      if (!co_await call.send(message)) break;
      while (!call.next()) {
        if (!co_await call.more()) co_return;
      }
    }
    co_await call.send(message);
    co_await call.half_close();
    while (co_await call.more()) {
      while (call.next()) ++turns;
    }
  }
  outcome = call.finish();
}

TEST_P(GrpcPeer, G13_TurnByTurnAndHalfClose) {
  int turns = 0;
  CallOutcome outcome;
  const std::string message = framed(R"({"text":"x"})");
  run(ping_pong(loop_, connection(), options("Chat"), message, turns, outcome));
  EXPECT_EQ(turns, 21);
  EXPECT_EQ(outcome.status, StatusCode::ok);
  EXPECT_EQ(outcome.messages, 21U);
}

TEST_P(GrpcPeer, ErrorsWithTheirMessages) {
  for (int code = 1; code <= 16; ++code) {
    const Got got =
        unary("Fail", R"({"text":"50% größer\n","count":)" + std::to_string(code) + "}");
    EXPECT_EQ(got.outcome.status, static_cast<StatusCode>(code));
    EXPECT_TRUE(got.outcome.from_server);
    EXPECT_EQ(got.words, "50% größer\n");
    EXPECT_EQ(got.details, "");
  }
  EXPECT_EQ(peer_.ledger.opened, 1U);
}

TEST_P(GrpcPeer, ErrorsWithDetails) {
  const std::string expected =
      R"([{"@type":"type.googleapis.com/google.rpc.ErrorInfo","reason":"R","domain":"d"},)"
      R"({"@type":"type.googleapis.com/onbeat.peer.Message","text":"own"}])";
  // The status is made here, so that its types come from two schemas.
  const auto status =
      PreparedMessage::compile(R"({"code":5,"message":"m","details":)" + expected + "}",
                               *rpc_types().find_message("google.rpc.Status"));
  // google.rpc's schema does not know the peer's type: it goes in by hand.
  std::string bytes;
  if (status) {
    bytes = status->framed().substr(kPrefix);
  } else {
    const auto known = PreparedMessage::compile(
        R"({"code":5,"message":"m","details":[{"@type":"type.googleapis.com/google.rpc.ErrorInfo",)"
        R"("reason":"R","domain":"d"}]})",
        *rpc_types().find_message("google.rpc.Status"));
    const std::string url = "type.googleapis.com/onbeat.peer.Message";
    const std::string own = "\x0a" + std::string(1, static_cast<char>(url.size())) + url +
                            std::string("\x12\x05\x0a\x03") + "own";
    bytes = known->framed().substr(kPrefix) + "\x1a" +
            std::string(1, static_cast<char>(own.size())) + own;
  }
  std::string text = R"({"text":"m","count":5,"fill":")" + wire_value("fill-bin", bytes) + "\"}";
  const Got got = unary("Fail", text);
  EXPECT_EQ(got.outcome.status, StatusCode::not_found);
  std::string json;
  JsonText sink(json);
  ASSERT_TRUE(read_details(got.details, schema(), sink));
  EXPECT_EQ(json, expected);
}

TEST_P(GrpcPeer, UnknownMethods) {
  CallOptions how = options("Echo");
  how.path = "/onbeat.peer.Peer/Unknown";
  const Got got = unary("Echo", framed("{}"), how);
  EXPECT_EQ(got.outcome.status, StatusCode::unimplemented);
  EXPECT_TRUE(got.outcome.from_server);
}

TEST_P(GrpcPeer, G12_Deadlines) {
  CallOptions how = options("Echo");
  how.timeout = 50ms;
  const Instant before = loop_.now();
  const Got got = unary("Echo", framed(R"({"delay_ms":300})"), how);
  EXPECT_EQ(got.outcome.status, StatusCode::deadline_exceeded) << got.words;
  EXPECT_GE(loop_.now() - before, 49ms);
  EXPECT_LT(loop_.now() - before, 250ms);
  // The connection goes on.
  EXPECT_EQ(unary("Echo", "{}").outcome.status, StatusCode::ok);
  EXPECT_EQ(peer_.ledger.opened, 1U);
  EXPECT_EQ(stream("Expand", {R"({"count":5,"delay_ms":100})"}, 150ms).outcome.status,
            StatusCode::deadline_exceeded);
}

TEST_P(GrpcPeer, G15_MetadataGoesThereAndBack) {
  CallOptions how = options("Echo");
  how.metadata = {{"x-tenant", "t 1"}, {"x-trace-bin", std::string("\0\xff\x10", 3)}};
  const Got got = unary("Echo", framed("{}"), how);
  EXPECT_THAT(got.metadata, testing::Contains(testing::Pair("x-tenant", "t 1")));
  EXPECT_THAT(got.trailers, testing::Contains(testing::Pair("x-tenant-trailer", "t 1")));
  const auto binary = std::ranges::find(got.trailers, std::string("x-trace-trailer-bin"),
                                        &std::pair<std::string, std::string>::first);
  ASSERT_NE(binary, got.trailers.end());
  EXPECT_EQ(decode_binary(binary->second), std::string("\0\xff\x10", 3));
}

TEST_P(GrpcPeer, CompressionBothWays) {
  CallOptions how = options("Echo");
  how.compression = Compression::gzip;
  const std::string text = R"({"text":")" + std::string(10'000, 'x') + R"(","compress":true})";
  std::string body;
  Gzip().compress_framed(framed(text), body);
  ASSERT_LT(body.size(), 1'000U);
  const Got got = unary("Echo", body, how);
  EXPECT_EQ(got.outcome.status, StatusCode::ok) << got.words;
  EXPECT_THAT(got.messages, ElementsAre(text));
  EXPECT_LT(got.outcome.exchange.bytes_received, 2'000U);
  EXPECT_THAT(got.metadata, testing::Contains(testing::Pair("grpc-encoding", "gzip")));
}

TEST_P(GrpcPeer, MessagesOverTheLimit) {
  const std::string text = R"({"text":")" + std::string(1'000, 'x') + "\"}";
  Got got = unary("Echo", framed(text), options("Echo"), {.max_receive = 500});
  EXPECT_EQ(got.outcome.status, StatusCode::resource_exhausted);
  EXPECT_FALSE(got.outcome.from_server);
  EXPECT_THAT(got.words, HasSubstr("longer than the limit"));
  got = unary("Echo", framed(text), options("Echo"), {.max_send = 500});
  EXPECT_EQ(got.outcome.status, StatusCode::resource_exhausted);
  EXPECT_EQ(got.outcome.exchange.bytes_sent, 0U);
  EXPECT_EQ(unary("Echo", text).outcome.status, StatusCode::ok);
}

INSTANTIATE_TEST_SUITE_P(Peers, GrpcPeer, testing::Values(Kind::cpp, Kind::python),
                         [](const auto& peer) {
                           return peer.param == Kind::cpp ? "Cpp" : "Python";
                         });

// The grpc++ server speaks v1alpha alone and sends what a file imports along; the Python one speaks
// v1 alone and sends each file by itself.
class GrpcReflection : public GrpcPeer {
 protected:
  GrpcReflection() = default;
  explicit GrpcReflection(Kind kind) : GrpcPeer(kind) {}

  /// `tenant` tells the Python server whether to have reflection ("none": no).
  Schema::Made reflected(std::vector<std::string> services, std::string tenant = "any") {
    Schema::Made made = std::unexpected(Schema::Errors{"not asked"});
    run(reflect_into(std::move(services), std::move(tenant), made));
    return made;
  }
  kernel::Task<void> reflect_into(std::vector<std::string> services, std::string tenant,
                                  Schema::Made& made) {
    const ReflectionTarget target{.authority = "localhost", .metadata = {{"x-reflection", tenant}}};
    made = co_await reflect(loop_, connection(), target, std::move(services));
  }
};

TEST_P(GrpcReflection, OfAService) {
  const auto made = reflected({"onbeat.peer.Peer"});
  ASSERT_TRUE(made) << made.error().front();
  EXPECT_EQ((*made)->find_method("onbeat.peer.Peer/Chat").value().shape, Shape::bidi_stream);
  EXPECT_NE((*made)->find_message("google.protobuf.Struct"), nullptr);
}

TEST_P(GrpcReflection, OfAll) {
  const auto made = reflected({});
  ASSERT_TRUE(made) << made.error().front();
  EXPECT_THAT((*made)->services(), testing::Contains("onbeat.peer.Peer"));
}

TEST_P(GrpcReflection, OfWhatIsNotThere) {
  const auto made = reflected({"onbeat.peer.Pear"});
  ASSERT_FALSE(made);
  EXPECT_THAT(made.error(), ElementsAre(AllOf(HasSubstr("\"onbeat.peer.Pear\""),
                                              HasSubstr("did you mean \"onbeat.peer.Peer\"?"))));
}

INSTANTIATE_TEST_SUITE_P(Peers, GrpcReflection, testing::Values(Kind::cpp, Kind::python),
                         [](const auto& peer) {
                           return peer.param == Kind::cpp ? "Cpp" : "Python";
                         });

class GrpcCppPeer : public GrpcPeer {
 protected:
  GrpcCppPeer() : GrpcPeer(Kind::cpp) {}
};

TEST_F(GrpcCppPeer, TlsWithCertificates) {
  peer_.addresses = {net::Address::ipv4_loopback(server(Kind::cpp).tls_port)};
  peer_.server_name = "localhost";
  net::TlsOptions tls{.ca_file = certificates_->path("ca.pem"),
                      .certificate = certificates_->path("client.pem"),
                      .key = certificates_->path("client.key"),
                      .alpn = {"h2"}};
  peer_.tls = net::TlsContext::make(tls).value();
  EXPECT_EQ(unary("Echo", R"({"text":"x"})").outcome.status, StatusCode::ok);
}

TEST_F(GrpcCppPeer, TlsWithoutTheClientsCertificate) {
  peer_.addresses = {net::Address::ipv4_loopback(server(Kind::cpp).tls_port)};
  peer_.server_name = "localhost";
  peer_.tls =
      net::TlsContext::make({.ca_file = certificates_->path("ca.pem"), .alpn = {"h2"}}).value();
  const Got got = unary("Echo", framed("{}"), options("Echo"));
  EXPECT_EQ(got.outcome.status, StatusCode::unavailable);
  EXPECT_FALSE(got.outcome.from_server);
}

class GrpcNoPeer : public GrpcReflection {
 protected:
  GrpcNoPeer() : GrpcReflection(Kind::python) {}
};

TEST_F(GrpcNoPeer, ReflectionThatTheServerDoesNotHave) {
  const auto made = reflected({}, "none");
  ASSERT_FALSE(made);
  EXPECT_THAT(made.error(), ElementsAre(HasSubstr("server reflection: Unimplemented")));
}

TEST_F(GrpcNoPeer, NothingListens) {
  // A port that was free a moment ago, and bound by nobody.
  peer_.addresses = {net::Address::ipv4_loopback(1)};
  CallOptions how = options("Echo");
  how.timeout = 2s;
  const Got got = unary("Echo", framed("{}"), how);
  EXPECT_EQ(got.outcome.status, StatusCode::unavailable) << got.words;
  EXPECT_EQ(got.outcome.exchange.error, net::NetError::connect_refused);
}

}  // namespace
}  // namespace onbeat::grpc
