// What only the real loop has: threads, spinning, kinds of sockets, descriptors that run out. What
// it shares with the simulated one is in transport_conformance_test.cpp.
#include "net/epoll_loop.hpp"

#include <fcntl.h>
#include <gtest/gtest.h>
#include <netinet/in.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <cerrno>
#include <filesystem>
#include <functional>
#include <memory>
#include <numeric>
#include <string>
#include <thread>
#include <vector>

namespace onbeat::net {
namespace {

using namespace std::chrono_literals;

struct Call final : Waiter {
  explicit Call(std::function<void()> call) : call(std::move(call)) {}
  void ready() noexcept override { call(); }
  std::function<void()> call;
};

struct Alarm final : Timer {
  explicit Alarm(std::function<void()> call) : call(std::move(call)) {}
  void on_timer(Instant) noexcept override { call(); }
  std::function<void()> call;
};

struct Accepting final : AcceptHandler {
  void accepted(std::unique_ptr<Transport> connection) override {
    connections.push_back(std::move(connection));
    if (then) then();
  }
  std::vector<std::unique_ptr<Transport>> connections;
  std::function<void()> then;
};

class EpollLoopTest : public testing::Test {
 protected:
  // Runs until something stops the loop; false when nothing has for a long time.
  bool run() {
    bool in_time = true;
    Alarm limit([&] {
      in_time = false;
      loop_.stop();
    });
    loop_.timers().arm(limit, loop_.now() + 20s);
    loop_.run();
    return in_time;
  }
  // A connection over `listener`, both ends in hand.
  bool open(const Address& to) {
    auto connecting = loop_.connect(to, {});
    if (!connecting) return false;
    client_ = *std::move(connecting);
    accepting_.then = [&] { loop_.stop(); };
    return run() && accepting_.connections.size() == 1;
  }
  std::expected<Address, int> listen(const Address& at) {
    auto listening = loop_.listen(at, accepting_);
    if (!listening) return std::unexpected(listening.error());
    listener_ = *std::move(listening);
    return listener_->address();
  }
  // Sends all of `bytes` from the client's end to the server's, as far and as often as it goes.
  std::string carry(const std::string& bytes) {
    Transport& server = *accepting_.connections.front();
    std::string received;
    std::string_view left = bytes;
    Call writer([&] {
      for (;;) {
        const IoResult result = client_->write_some({&left, 1});
        if (result.would_block()) return client_->wait_writable(writer);
        if (result.error != 0) return loop_.stop();
        left.remove_prefix(result.bytes);
        if (left.empty()) return client_->shutdown_write();
      }
    });
    Call reader([&] {
      for (;;) {
        const IoResult result = server.read_some(loop_.scratch());
        if (result.would_block()) return server.wait_readable(reader);
        if (result.bytes == 0) return loop_.stop();
        received.append(loop_.scratch().data(), result.bytes);
      }
    });
    loop_.post([&] {
      writer.ready();
      reader.ready();
    });
    EXPECT_TRUE(run());
    return received;
  }

  EpollLoop loop_;
  Accepting accepting_;
  std::unique_ptr<Listener> listener_;
  std::unique_ptr<Transport> client_;
};

// More than any socket buffer holds: writes go through in part, and each end waits for the other.
TEST_F(EpollLoopTest, PartialWritesArriveWhole) {
  const auto at = listen(Address::ipv4_loopback(0));
  ASSERT_TRUE(at.has_value());
  ASSERT_TRUE(open(*at));
  std::string bytes(16 << 20, '\0');
  std::iota(bytes.begin(), bytes.end(), '\0');
  EXPECT_TRUE(carry(bytes) == bytes);
}

TEST_F(EpollLoopTest, UnixSockets) {
  const auto folder =
      std::filesystem::temp_directory_path() / ("onbeat_unix_test." + std::to_string(::getpid()));
  std::filesystem::create_directory(folder);
  const std::string path = folder / "socket";
  const auto missing = loop_.connect(Address::unix_path(path), {});
  ASSERT_FALSE(missing.has_value());
  EXPECT_EQ(missing.error(), ENOENT);
  const auto at = listen(Address::unix_path(path));
  ASSERT_TRUE(at.has_value());
  EXPECT_EQ(at->to_string(), "unix:" + path);
  ASSERT_TRUE(open(*at));
  EXPECT_EQ(carry("over a file"), "over a file");
  EXPECT_EQ(client_->peer(), Address::unix_path(path));
  listener_.reset();
  const auto refused = loop_.connect(Address::unix_path(path), {});
  ASSERT_FALSE(refused.has_value());
  EXPECT_EQ(refused.error(), ECONNREFUSED);
  std::filesystem::remove_all(folder);
}

TEST_F(EpollLoopTest, Ipv6) {
  const auto loopback = resolve("::1", 0);
  ASSERT_TRUE(loopback.has_value());
  const auto at = listen(loopback->front());
  if (!at && at.error() == EADDRNOTAVAIL) GTEST_SKIP() << "this host has no IPv6";
  ASSERT_TRUE(at.has_value());
  EXPECT_NE(at->port(), 0);
  ASSERT_TRUE(open(*at));
  EXPECT_EQ(carry("six"), "six");
  EXPECT_EQ(client_->peer(), *at);
}

TEST_F(EpollLoopTest, ConnectsFromTheSourceThatWasAskedFor) {
  const auto at = listen(Address::ipv4_loopback(0));
  ASSERT_TRUE(at.has_value());
  const auto source = resolve("127.0.0.2", 0);
  ASSERT_TRUE(source.has_value());
  auto connecting = loop_.connect(*at, {.source = source->front()});
  ASSERT_TRUE(connecting.has_value());
  accepting_.then = [&] { loop_.stop(); };
  ASSERT_TRUE(run());
  EXPECT_TRUE(accepting_.connections.front()->peer().to_string().starts_with("127.0.0.2:"));
}

TEST_F(EpollLoopTest, TwoLoopsListenAtOnePort) {
  const auto at = listen(Address::ipv4_loopback(0));
  ASSERT_TRUE(at.has_value());
  EpollLoop other;
  Accepting handler;
  const auto second = other.listen(*at, handler);
  ASSERT_TRUE(second.has_value());
  EXPECT_EQ((*second)->address(), *at);
}

TEST_F(EpollLoopTest, AListenerMayGoWhenItHasAccepted) {
  const auto at = listen(Address::ipv4_loopback(0));
  ASSERT_TRUE(at.has_value());
  std::vector<std::unique_ptr<Transport>> clients;
  for (int i = 0; i < 3; ++i) {
    auto client = loop_.connect(*at, {});
    ASSERT_TRUE(client.has_value());
    clients.push_back(*std::move(client));
  }
  accepting_.then = [&] {
    listener_.reset();
    loop_.stop();
  };
  ASSERT_TRUE(run());
  EXPECT_EQ(accepting_.connections.size(), 1U);
}

// Without a descriptor for it the connection is closed: neither does it wait for ever, nor does the
// loop turn without rest.
TEST_F(EpollLoopTest, OutOfDescriptorsItTurnsConnectionsAway) {
  const auto at = listen(Address::ipv4_loopback(0));
  ASSERT_TRUE(at.has_value());
  auto connecting = loop_.connect(*at, {});
  ASSERT_TRUE(connecting.has_value());
  client_ = *std::move(connecting);

  rlimit before{};
  ASSERT_EQ(getrlimit(RLIMIT_NOFILE, &before), 0);
  std::vector<int> taken;
  for (int fd = 0; (fd = ::open("/dev/null", O_RDONLY)) >= 0;) {
    taken.push_back(fd);
    const rlimit low{static_cast<rlim_t>(fd) + 1, before.rlim_max};
    ASSERT_EQ(setrlimit(RLIMIT_NOFILE, &low), 0);
  }
  Call closed([&] { loop_.stop(); });
  client_->wait_readable(closed);
  const bool in_time = run();
  for (const int fd : taken) ::close(fd);
  ASSERT_EQ(setrlimit(RLIMIT_NOFILE, &before), 0);
  EXPECT_TRUE(in_time);
  EXPECT_TRUE(accepting_.connections.empty());

  // With descriptors again it accepts.
  EXPECT_TRUE(open(*at));
}

TEST_F(EpollLoopTest, PostsFromManyThreadsAllRunOnTheLoopsThread) {
  constexpr int kThreads = 4, kEach = 2'000;
  const auto here = std::this_thread::get_id();
  int ran = 0, elsewhere = 0;
  std::vector<std::jthread> threads;
  for (int i = 0; i < kThreads; ++i) {
    threads.emplace_back([&] {
      for (int n = 0; n < kEach; ++n)
        loop_.post([&] {
          if (std::this_thread::get_id() != here) ++elsewhere;
          if (++ran == kThreads * kEach) loop_.stop();
        });
    });
  }
  EXPECT_TRUE(run());
  EXPECT_EQ(ran, kThreads * kEach);
  EXPECT_EQ(elsewhere, 0);
}

TEST_F(EpollLoopTest, APostWakesASleepingLoop) {
  std::jthread other([&] {
    for (int i = 0; i < 100; ++i) {
      std::atomic<bool> done{false};
      loop_.post([&] {
        done = true;
        done.notify_one();
      });
      done.wait(false);
    }
    loop_.stop();
  });
  EXPECT_TRUE(run());
}

TEST_F(EpollLoopTest, CanRunAgainAfterAStop) {
  for (int i = 0; i < 3; ++i) {
    loop_.post([&] { loop_.stop(); });
    EXPECT_TRUE(run());
  }
}

TEST(EpollLoopSpin, ServesPostsTimersAndTheHook) {
  EpollLoop loop({.spin = true});
  struct Hook final : TurnHook {
    explicit Hook(EpollLoop& loop) : loop(loop) {}
    Instant on_turn(Instant now) noexcept override {
      if (now >= at) {
        loop.stop();
        return kNever;
      }
      return at;
    }
    void turn_took(Duration) noexcept override {}
    void woke_late(Duration) noexcept override {}
    EpollLoop& loop;
    Instant at;
  } hook(loop);
  bool posted = false, fired = false;
  Alarm alarm([&] { fired = true; });
  const Instant start = loop.now();
  hook.at = start + 5ms;
  loop.timers().arm(alarm, start + 1ms);
  loop.set_hook(&hook);
  std::jthread other([&] { loop.post([&] { posted = true; }); });
  other.join();
  loop.run();
  EXPECT_TRUE(posted);
  EXPECT_TRUE(fired);
  EXPECT_GE(loop.latest(), hook.at);
}

// How late a thread wakes from a millisecond's sleep when its timer slack is the default: the
// better of the quarters, which other load hardly touches.
Duration lateness_with_default_slack() {
  std::vector<Duration> late;
  std::jthread([&] {
    prctl(PR_SET_TIMERSLACK, 50'000);
    for (int i = 0; i < 200; ++i) {
      const Instant at = kernel::Monotonic::now() + 1ms;
      std::this_thread::sleep_until(
          std::chrono::time_point<std::chrono::steady_clock>(at.time_since_epoch()));
      late.push_back(kernel::Monotonic::now() - at);
    }
  }).join();
  std::ranges::nth_element(late, late.begin() + 50);
  return late[50];
}

Duration lateness_of_the_hook() {
  struct Hook final : TurnHook {
    explicit Hook(EpollLoop& loop) : loop(loop), next(loop.now() + 1ms) {}
    Instant on_turn(Instant now) noexcept override {
      if (now >= next) {
        late.push_back(now - next);
        next = now + 1ms;
        if (late.size() == 200) loop.stop();
      }
      return next;
    }
    void turn_took(Duration) noexcept override {}
    void woke_late(Duration) noexcept override {}
    EpollLoop& loop;
    Instant next;
    std::vector<Duration> late;
  };
  EpollLoop loop;
  Hook hook(loop);
  loop.set_hook(&hook);
  loop.run();
  std::ranges::nth_element(hook.late, hook.late.begin() + 50);
  return hook.late[50];
}

// How late a machine wakes differs; that the default slack of 50 us is off shows on each.
TEST(MeasuredEpollLoop, WakesWithoutTimerSlack) {
  Duration with_slack = Duration::max(), hook = Duration::max();
  for (int round = 0; round < 3; ++round) {
    with_slack = std::min(with_slack, lateness_with_default_slack());
    hook = std::min(hook, lateness_of_the_hook());
  }
  EXPECT_LT(hook + 15us, with_slack);
}

}  // namespace
}  // namespace onbeat::net
