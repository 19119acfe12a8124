// The client against scripted servers on the simulated network.
#include "http/client.hpp"

#include "net/sim.hpp"
#include <onbeat/kernel/task.hpp>

#include <gtest/gtest.h>

#include <functional>
#include <list>
#include <string>
#include <vector>

namespace onbeat::http {
namespace {

using namespace std::chrono_literals;
using net::NetError;

/// Answers as its script says, and keeps what each connection has received.
class ScriptedServer final : private net::AcceptHandler {
 public:
  struct Conversation final : net::Waiter {
    ScriptedServer* server = nullptr;
    std::size_t number = 0;
    std::unique_ptr<net::Transport> transport;
    std::string received;

    void ready() noexcept override {
      for (;;) {
        char bytes[4096];
        const auto result = transport->read_some(bytes);
        if (result.would_block()) return transport->wait_readable(*this);
        if (result.bytes == 0) return transport->close();
        received.append(bytes, result.bytes);
        server->script(*this);
      }
    }
    void send(std::string_view bytes) {
      EXPECT_EQ(transport->write_some(std::span(&bytes, 1)).bytes, bytes.size());
    }
    [[nodiscard]] std::size_t requests() const {
      std::size_t count = 0;
      for (auto at = received.find("\r\n\r\n"); at != std::string::npos;
           at = received.find("\r\n\r\n", at + 1))
        ++count;
      return count;
    }
  };

  explicit ScriptedServer(net::SimLoop& loop)
      : listener_(loop.listen(net::Address::ipv4_loopback(0), *this).value()) {}
  [[nodiscard]] net::Address address() const { return listener_->address(); }

  /// Called after every piece that has arrived.
  std::function<void(Conversation&)> script = [](Conversation&) {};
  std::list<Conversation> conversations;

 private:
  void accepted(std::unique_ptr<net::Transport> transport) override {
    Conversation& made = conversations.emplace_back();
    made.server = this;
    made.number = conversations.size();
    made.transport = std::move(transport);
    made.transport->wait_readable(made);
  }
  std::unique_ptr<net::Listener> listener_;
};

const std::string kOk = "HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok";
const std::string kLast = "HTTP/1.1 200 OK\r\nConnection: close\r\nContent-Length: 2\r\n\r\nok";

class HttpClient : public testing::Test {
 protected:
  /// `count` exchanges at once, each with a path of its own; their outcomes by position.
  std::vector<Exchange> exchange(std::size_t count = 1, kernel::Duration timeout = 10s) {
    std::vector<Exchange> outcomes(count);
    std::vector<Request> requests(count);
    std::list<kernel::Task<void>> tasks;
    std::size_t left = count;
    for (std::size_t i = 0; i < count; ++i) {
      requests[i].bytes = "GET /" + std::to_string(i) + " HTTP/1.1\r\nHost: h\r\n\r\n";
      tasks.push_back(one(requests[i], outcomes[i], left, timeout));
      tasks.back().start();
    }
    world_.run_until(world_.now() + 2 * timeout);
    EXPECT_EQ(left, 0U);
    return outcomes;
  }
  kernel::Task<void> one(const Request& request, Exchange& outcome, std::size_t& left,
                         kernel::Duration timeout) {
    outcome = co_await connection_.exchange(request, loop_.now() + timeout);
    --left;
  }
  void pass(kernel::Duration time) { world_.run_until(world_.now() + time); }

  net::SimWorld world_{1, kernel::Instant{} + 1h};
  net::SimLoop server_loop_{world_};
  net::SimLoop loop_{world_};
  ScriptedServer server_{server_loop_};
  Peer peer_{.addresses = {server_.address()}};
  Connection connection_{loop_, peer_};
};

TEST_F(HttpClient, OneConnectionForManyExchanges) {
  server_.script = [](auto& conversation) { conversation.send(kOk); };
  for (int i = 0; i < 5; ++i) {
    const Exchange outcome = exchange().front();
    EXPECT_EQ(outcome.error, NetError::none);
    EXPECT_EQ(outcome.status, 200);
    EXPECT_EQ(outcome.connected, i == 0);
    EXPECT_EQ(outcome.bytes_received, kOk.size());
  }
  EXPECT_EQ(peer_.ledger.opened, 1U);
  EXPECT_EQ(peer_.ledger.reused, 4U);
}

TEST_F(HttpClient, ResponsesThatAreAlmostAlike) {
  // Whatever is remembered of the responses before, each is judged by its own bytes.
  const std::vector<std::string> responses{
      kOk,   kOk, "HTTP/1.1 500 OK\r\nContent-Length: 2\r\n\r\nok", kOk, kOk + kOk, kOk,
      kLast, kOk, "HTTP/1.1 200 OK\r\nContent-Length: 1\r\n\r\nok", kOk, kOk};
  std::size_t next = 0;
  server_.script = [&](auto& conversation) { conversation.send(responses[next++]); };
  const std::vector<int> statuses{200, 200, 500, 200, 200, 200, 200, 200, 200, 200, 200};
  const std::vector<bool> excess{false, false, false, false, true, false,
                                 false, false, true,  false, false};
  const std::vector<bool> connects{true,  false, false, false, false, true,
                                   false, true,  false, true,  false};
  for (std::size_t i = 0; i < responses.size(); ++i) {
    const Exchange outcome = exchange().front();
    EXPECT_EQ(outcome.status, statuses[i]) << i;
    EXPECT_EQ(outcome.error == NetError::excess_data, excess[i]) << i;
    EXPECT_EQ(outcome.connected, connects[i]) << i;
  }
}

TEST_F(HttpClient, H2_ExcessData) {
  server_.script = [](auto& conversation) { conversation.send(kOk + "more"); };
  for (int i = 0; i < 3; ++i) {
    const Exchange outcome = exchange().front();
    EXPECT_EQ(outcome.error, NetError::excess_data);
    EXPECT_EQ(outcome.status, 200);
    EXPECT_FALSE(connection_.is_open());
  }
  EXPECT_EQ(peer_.ledger.opened, 3U);
  EXPECT_EQ(peer_.ledger.open, 0U);
}

TEST_F(HttpClient, H2_ExcessDataThatComesLater) {
  // It is not taken for the response to the next request.
  server_.script = [this](auto& conversation) {
    conversation.send(kOk);
    if (conversation.number == 1)
      world_.at(world_.now() + 1ms,
                [&conversation] { conversation.send("HTTP/1.1 500 No\r\n\r\n"); });
  };
  EXPECT_EQ(exchange().front().status, 200);
  EXPECT_EQ(exchange().front().status, 200);
  EXPECT_EQ(peer_.ledger.opened, 2U);
}

TEST_F(HttpClient, H9_ConnectionThatEndsWhileIdle) {
  server_.script = [this](auto& conversation) {
    conversation.send(kOk);
    world_.at(world_.now() + 1ms, [&conversation] { conversation.transport->close(); });
  };
  for (int i = 0; i < 4; ++i) {
    const Exchange outcome = exchange().front();
    EXPECT_EQ(outcome.error, NetError::none);
    EXPECT_TRUE(outcome.connected);
    pass(1s);
  }
  EXPECT_EQ(server_.conversations.size(), 4U);
  for (const auto& conversation : server_.conversations) EXPECT_EQ(conversation.requests(), 1U);
  EXPECT_EQ(peer_.ledger.reopened, 3U);
  EXPECT_EQ(peer_.ledger.closed_by_peer, 3U);
}

TEST_F(HttpClient, H10_CloseAmidAPipelineOf8) {
  // The third answer says that it is the last: the five behind it are sent again, once.
  server_.script = [](auto& conversation) {
    if (conversation.number > 1) {
      for (std::size_t i = conversation.requests(); i != 0; --i) conversation.send(kOk);
      conversation.received.clear();
    } else if (conversation.requests() == 8) {
      conversation.send(kOk + kOk + kLast);
      conversation.transport->close();
    }
  };
  const auto outcomes = exchange(8);
  for (const Exchange& outcome : outcomes) {
    EXPECT_EQ(outcome.error, NetError::none);
    EXPECT_EQ(outcome.status, 200);
  }
  EXPECT_EQ(server_.conversations.size(), 2U);
  EXPECT_EQ(server_.conversations.front().requests(), 8U);
}

TEST_F(HttpClient, H10_EndAmidAPipelineWithoutAWord) {
  // Two are answered; of the others nobody knows whether they were processed.
  server_.script = [](auto& conversation) {
    if (conversation.requests() == 8) {
      conversation.send(kOk + kOk);
      conversation.transport->close();
    }
  };
  const auto outcomes = exchange(8);
  for (std::size_t i = 0; i < outcomes.size(); ++i) {
    const bool answered = i < 2;
    EXPECT_EQ(outcomes[i].error == NetError::none, answered) << i;
    EXPECT_EQ(outcomes[i].status, answered ? 200 : 0) << i;
  }
  EXPECT_EQ(server_.conversations.size(), 1U);
}

TEST_F(HttpClient, PipelinedResponsesInAnyPieces) {
  std::string all;
  for (int i = 0; i < 8; ++i) all += kOk;
  for (std::size_t cut = 1; cut < all.size(); cut += 7) {
    server_.script = [&](auto& conversation) {
      if (conversation.requests() % 8 != 0) return;
      conversation.send(std::string_view(all).substr(0, cut));
      world_.at(world_.now() + 1ms, [&conversation, &all, cut] {
        conversation.send(std::string_view(all).substr(cut));
      });
    };
    for (const Exchange& outcome : exchange(8)) ASSERT_EQ(outcome.error, NetError::none) << cut;
  }
  EXPECT_EQ(peer_.ledger.opened, 1U);
}

TEST_F(HttpClient, TimeoutEndsTheConnectionAndAllBehindIt) {
  server_.script = [](auto& conversation) {
    if (conversation.requests() == 3) conversation.send(kOk);
  };
  const auto outcomes = exchange(3, 1s);
  EXPECT_EQ(outcomes[0].error, NetError::none);
  EXPECT_EQ(outcomes[1].error, NetError::timeout);
  EXPECT_EQ(outcomes[2].error, NetError::reset);
  EXPECT_FALSE(connection_.is_open());
}

TEST_F(HttpClient, HeaderAndBodyApartOnlyWhereTheyAre) {
  server_.script = [](auto& conversation) { conversation.send(kOk); };
  EXPECT_EQ(exchange().front().header_done, kernel::Instant{});
  server_.script = [this](auto& conversation) {
    conversation.send(std::string_view(kOk).substr(0, kOk.size() - 2));
    world_.at(world_.now() + 5ms, [&conversation] { conversation.send("ok"); });
  };
  EXPECT_NE(exchange().front().header_done, kernel::Instant{});
}

TEST_F(HttpClient, TunnelThenExchange) {
  peer_.tunnel = "CONNECT h:443 HTTP/1.1\r\nHost: h:443\r\n\r\n";
  server_.script = [](auto& conversation) {
    conversation.send(conversation.requests() == 1 ? "HTTP/1.1 200 Fine\r\n\r\n" : kOk);
  };
  EXPECT_EQ(exchange().front().status, 200);
  EXPECT_TRUE(server_.conversations.front().received.starts_with(peer_.tunnel + "GET /0 "));
}

TEST_F(HttpClient, TunnelThatIsRefused) {
  peer_.tunnel = "CONNECT h:443 HTTP/1.1\r\nHost: h:443\r\n\r\n";
  server_.script = [](auto& conversation) {
    conversation.send("HTTP/1.1 407 No\r\nContent-Length: 0\r\n\r\n");
  };
  EXPECT_EQ(exchange().front().error, NetError::proxy);
  EXPECT_EQ(connection_.failure(), "the proxy answered 407");
  EXPECT_EQ(peer_.ledger.failed, 1U);
}

TEST_F(HttpClient, AsManyRequestsAsAConnectionMayCarry) {
  peer_.requests_per_connection = 2;
  server_.script = [](auto& conversation) { conversation.send(kOk); };
  for (int i = 0; i < 5; ++i) EXPECT_EQ(exchange().front().error, NetError::none);
  EXPECT_EQ(peer_.ledger.opened, 3U);
}

}  // namespace
}  // namespace onbeat::http
