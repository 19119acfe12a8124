// What an exchange costs the target, beside what it costs a client that does the least that one
// thread can do over epoll: no parser, no statistics.
#include "target/target_server.hpp"

#include <gtest/gtest.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <sched.h>
#include <sys/epoll.h>
#include <sys/socket.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <ctime>
#include <string_view>
#include <thread>
#include <vector>

namespace onbeat::target {
namespace {

double cpu_seconds(clockid_t clock) {
  timespec time{};
  clock_gettime(clock, &time);
  return static_cast<double>(time.tv_sec) + static_cast<double>(time.tv_nsec) * 1e-9;
}

void pin_to(std::size_t core) {
  cpu_set_t cores;
  CPU_ZERO(&cores);
  CPU_SET(core, &cores);
  sched_setaffinity(0, sizeof cores, &cores);
}

class FloorClient {
 public:
  FloorClient(const net::Address& to, int connections) : epoll_(epoll_create1(0)) {
    for (int i = 0; i < connections; ++i) {
      const int fd = ::socket(to.family(), SOCK_STREAM, 0), one = 1;
      fds_.push_back(fd);
      EXPECT_EQ(::connect(fd, to.data(), to.size()), 0);
      setsockopt(fd, IPPROTO_TCP, TCP_NODELAY, &one, sizeof one);
      epoll_event event{};
      event.events = EPOLLIN | EPOLLET;
      event.data.fd = fd;
      epoll_ctl(epoll_, EPOLL_CTL_ADD, fd, &event);
      send(fd);
    }
  }
  ~FloorClient() {
    for (const int fd : fds_) ::close(fd);
    ::close(epoll_);
  }
  FloorClient(const FloorClient&) = delete;
  FloorClient& operator=(const FloorClient&) = delete;

  void exchange(int count) {
    for (int done = 0; done < count;) {
      const int n = epoll_wait(epoll_, events_.data(), static_cast<int>(events_.size()), 1000);
      ASSERT_GT(n, 0) << "the target has stopped answering";
      for (int i = 0; i < n; ++i) {
        const int fd = events_[static_cast<std::size_t>(i)].data.fd;
        ASSERT_GT(::recv(fd, buffer_.data(), buffer_.size(), MSG_DONTWAIT), 0);
        send(fd);
      }
      done += n;
    }
  }

 private:
  static void send(int fd) {
    constexpr std::string_view request = "GET / HTTP/1.1\r\nHost: 127.0.0.1\r\n\r\n";
    ::send(fd, request.data(), request.size(), MSG_NOSIGNAL);
  }
  int epoll_;
  std::vector<int> fds_;
  std::array<epoll_event, 1024> events_;
  std::array<char, 4096> buffer_;
};

TEST(MeasuredTarget, AnExchangeCostsAtMostATenthMoreThanTheFloorClients) {
#ifndef NDEBUG
  GTEST_SKIP() << "an unoptimised build says nothing of the cost";
#endif
  if (std::thread::hardware_concurrency() < 2) GTEST_SKIP() << "needs two cores";
  cpu_set_t before;
  ASSERT_EQ(sched_getaffinity(0, sizeof before, &before), 0);
  pin_to(0);  // the server's thread inherits it
  auto server = TargetServer::start({}, net::Address::ipv4_loopback(0));
  ASSERT_TRUE(server.has_value()) << server.error();
  pin_to(1);
  double best = 1e9;
  {
    FloorClient client((*server)->address(), 64);
    client.exchange(20'000);
    for (int round = 0; round < 5 && !HasFatalFailure(); ++round) {
      const double all = cpu_seconds(CLOCK_PROCESS_CPUTIME_ID);
      const double own = cpu_seconds(CLOCK_THREAD_CPUTIME_ID);
      client.exchange(60'000);
      const double clients = cpu_seconds(CLOCK_THREAD_CPUTIME_ID) - own;
      const double targets = cpu_seconds(CLOCK_PROCESS_CPUTIME_ID) - all - clients;
      best = std::min(best, targets / clients);
    }
  }
  sched_setaffinity(0, sizeof before, &before);
  RecordProperty("target_over_floor", std::to_string(best));
  EXPECT_LE(best, 1.1);
}

}  // namespace
}  // namespace onbeat::target
