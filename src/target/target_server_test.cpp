#include "target/target_server.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/socket.h>
#include <unistd.h>

#include <atomic>
#include <cerrno>
#include <cstdlib>
#include <new>
#include <string>
#include <vector>

namespace {
std::atomic<long> allocations{0};
}  // namespace

// Counts what the whole process allocates.
void* operator new(std::size_t size) {
  allocations.fetch_add(1, std::memory_order_relaxed);
  if (void* memory = std::malloc(size)) return memory;
  throw std::bad_alloc();
}
void operator delete(void* memory) noexcept { std::free(memory); }
void operator delete(void* memory, std::size_t) noexcept { std::free(memory); }

namespace onbeat::target {
namespace {

class BlockingClient {
 public:
  explicit BlockingClient(const net::Address& to) : fd_(::socket(to.family(), SOCK_STREAM, 0)) {
    EXPECT_EQ(::connect(fd_, to.data(), to.size()), 0);
  }
  ~BlockingClient() { ::close(fd_); }
  BlockingClient(const BlockingClient&) = delete;
  BlockingClient& operator=(const BlockingClient&) = delete;
  // Sends, then receives once: small answers come in one piece over loopback.
  std::string_view exchange(std::string_view request) {
    if (::send(fd_, request.data(), request.size(), MSG_NOSIGNAL) < 0) return "cannot send";
    const ssize_t n = ::recv(fd_, buffer_, sizeof buffer_, 0);
    return {buffer_, n > 0 ? static_cast<std::size_t>(n) : 0};
  }

 private:
  int fd_;
  char buffer_[4096];
};

constexpr std::string_view kGet = "GET / HTTP/1.1\r\nHost: t\r\n\r\n";
constexpr std::string_view kOk = "HTTP/1.1 200 OK\r\nContent-Length: 3\r\n\r\nxxx";

TEST(TargetServer, ServesWithManyThreadsAtOnePortAndStops) {
  auto server = TargetServer::start({.bytes = 3}, net::Address::ipv4_loopback(0), 3);
  ASSERT_TRUE(server.has_value()) << server.error();
  const net::Address address = (*server)->address();
  EXPECT_NE(address.port(), 0);
  {
    std::vector<std::unique_ptr<BlockingClient>> clients;
    for (int i = 0; i < 30; ++i) clients.push_back(std::make_unique<BlockingClient>(address));
    for (int round = 0; round < 3; ++round)
      for (auto& client : clients) EXPECT_EQ(client->exchange(kGet), kOk);
    EXPECT_EQ((*server)->counts().open, 30U);
    (*server)->stop();
    EXPECT_EQ(clients[0]->exchange(kGet), "");
  }
  const TargetCounts counts = (*server)->counts();
  EXPECT_EQ(counts.connections, 30U);
  EXPECT_EQ(counts.requests, 90U);
  EXPECT_EQ(counts.answers, 90U);
  EXPECT_EQ(counts.open, 0U);
}

TEST(TargetServer, ThreadsCountRequestsTogether) {
  auto server = TargetServer::start({.bytes = 3, .faults = {*parse_fault("status:every=5")}},
                                    net::Address::ipv4_loopback(0), 2);
  ASSERT_TRUE(server.has_value()) << server.error();
  int struck = 0;
  for (int i = 0; i < 50; ++i) {
    BlockingClient client((*server)->address());
    struck += client.exchange(kGet).starts_with("HTTP/1.1 503") ? 1 : 0;
  }
  EXPECT_EQ(struck, 10);
}

TEST(TargetServer, SaysWhyItCannotListen) {
  const auto server = TargetServer::start({}, net::Address::unix_path("/no/such/folder/socket"));
  ASSERT_FALSE(server.has_value());
  EXPECT_EQ(server.error(),
            "cannot listen at unix:/no/such/folder/socket: No such file or directory");
}

TEST(TargetServer, AllocatesNothingPerRequestOnceWarm) {
  auto server = TargetServer::start({.bytes = 3}, net::Address::ipv4_loopback(0));
  ASSERT_TRUE(server.has_value()) << server.error();
  BlockingClient client((*server)->address());
  for (int i = 0; i < 3; ++i) ASSERT_EQ(client.exchange(kGet), kOk);
  const long before = allocations;
  int good = 0;
  for (int i = 0; i < 1000; ++i) good += client.exchange(kGet) == kOk ? 1 : 0;
  EXPECT_EQ(allocations - before, 0);
  EXPECT_EQ(good, 1000);
}

}  // namespace
}  // namespace onbeat::target
