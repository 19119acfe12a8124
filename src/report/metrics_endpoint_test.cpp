#include "report/metrics_endpoint.hpp"

#include "report/golden.hpp"
#include "report/prometheus.hpp"

#include <arpa/inet.h>
#include <gtest/gtest.h>
#include <netinet/in.h>
#include <sys/socket.h>
#include <unistd.h>

#include <chrono>

namespace onbeat::report {
namespace {

using namespace std::chrono_literals;

std::uint16_t port_of(const MetricsEndpoint& endpoint) {
  const std::string url = endpoint.url();
  return static_cast<std::uint16_t>(std::stoi(url.substr(std::string("http://127.0.0.1:").size())));
}

int connected(std::uint16_t port) {
  const int client = ::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
  sockaddr_in address{};
  address.sin_family = AF_INET;
  address.sin_port = htons(port);
  address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
  EXPECT_EQ(::connect(client, reinterpret_cast<const sockaddr*>(&address), sizeof address), 0);
  return client;
}

/// Sends the text and reads until the end.
std::string ask(std::uint16_t port, const std::string& request) {
  const int client = connected(port);
  EXPECT_EQ(::send(client, request.data(), request.size(), MSG_NOSIGNAL),
            static_cast<ssize_t>(request.size()));
  std::string answer;
  char buffer[4096];
  for (ssize_t got = 0; (got = ::recv(client, buffer, sizeof buffer, 0)) > 0;)
    answer.append(buffer, static_cast<std::size_t>(got));
  ::close(client);
  return answer;
}
std::string get(std::uint16_t port, const std::string& target = "/metrics") {
  return ask(port, "GET " + target + " HTTP/1.1\r\nHost: x\r\n\r\n");
}

class Metrics : public ::testing::Test {
 protected:
  Metrics() {
    EXPECT_TRUE(endpoint_.open("127.0.0.1", 0));
    endpoint_.begin(run::testing::healthy_open());
  }
  void interval(std::uint64_t count) {
    kernel::Interval interval;
    interval.counts.planned = interval.counts.started = interval.counts.ok = count;
    interval.response = interval.service = run::testing::always(5ms, count);
    interval.codes = {count};
    interval.endpoints.push_back({.counts = {.ok = count}, .response = interval.response});
    interval.counters = {2, 2, 0, 0, 0, 0, 0};
    endpoint_.interval(interval, names_, shape_);
  }

  kernel::Names names_;
  kernel::RecorderShape shape_{.histograms = {},
                               .counters = {"opened", "open_peak", "reused", "reopened", "failed",
                                            "closed_by_peer", "reset"}};
  MetricsEndpoint endpoint_;
};

TEST_F(Metrics, CountersGrowWithTheIntervals) {
  (void)names_.codes.id("200");
  (void)names_.endpoints.id("/");
  interval(100);
  const std::string first = get(port_of(endpoint_));
  EXPECT_TRUE(first.starts_with("HTTP/1.1 200 OK\r\n")) << first.substr(0, 200);
  EXPECT_TRUE(first.contains("\r\nContent-Type: text/plain; version=0.0.4; charset=utf-8\r\n"));
  EXPECT_TRUE(first.contains("\nonbeat_requests_started_total 100\n"));
  EXPECT_FALSE(first.contains("onbeat_verdict"));
  interval(50);
  const std::string second = get(port_of(endpoint_));
  EXPECT_TRUE(second.contains("\nonbeat_requests_started_total 150\n"));
  EXPECT_TRUE(second.contains("\nonbeat_responses_total{code=\"200\"} 150\n"));
  EXPECT_TRUE(second.contains("\nonbeat_connections_opened_total 4\n"));
  EXPECT_TRUE(second.contains("\nonbeat_response_seconds_bucket{le=\"0.005\"} 150\n")) << second;
  EXPECT_TRUE(second.contains("\nonbeat_response_seconds_bucket{le=\"0.002\"} 0\n"));
  EXPECT_TRUE(
      second.contains("onbeat_endpoint_requests_ended_total{endpoint=\"/\",outcome=\"ok\"} 150\n"));
}

TEST_F(Metrics, TheEndShowsTheVerdict) {
  const run::Report report = testing::troubled();
  endpoint_.end(report);
  const std::string answer = get(port_of(endpoint_));
  EXPECT_TRUE(answer.ends_with("\r\n\r\n" + to_prometheus(report)));
}

TEST_F(Metrics, OtherRequestsAreRefusedInOrder) {
  const std::uint16_t port = port_of(endpoint_);
  EXPECT_TRUE(get(port, "/").starts_with("HTTP/1.1 404 "));
  EXPECT_TRUE(get(port, "/metrics?x=1").starts_with("HTTP/1.1 200 "));
  EXPECT_TRUE(ask(port, "POST /metrics HTTP/1.1\r\nHost: x\r\nContent-Length: 0\r\n\r\n")
                  .starts_with("HTTP/1.1 405 "));
  EXPECT_TRUE(ask(port, "\r\n\x01garbage\r\n\r\n").starts_with("HTTP/1.1 400 "));
  EXPECT_TRUE(ask(port, "GET /metrics HTTP/1.1\r\nX: " + std::string(20'000, 'x'))
                  .starts_with("HTTP/1.1 400 "));
  const std::string head = ask(port, "HEAD /metrics HTTP/1.1\r\nHost: x\r\n\r\n");
  EXPECT_TRUE(head.starts_with("HTTP/1.1 200 ") && head.ends_with("\r\n\r\n")) << head;
  EXPECT_TRUE(get(port).starts_with("HTTP/1.1 200 "));
}

TEST_F(Metrics, APortInUseIsAProblem) {
  MetricsEndpoint second;
  const auto opened = second.open("127.0.0.1", port_of(endpoint_));
  ASSERT_FALSE(opened);
  EXPECT_TRUE(opened.error().ends_with("Address already in use")) << opened.error();
}

TEST(MetricsEndpointEnd, AClientThatSaysNothingDoesNotHoldItUp) {
  int silent = -1;
  const auto began = std::chrono::steady_clock::now();
  {
    MetricsEndpoint endpoint;
    ASSERT_TRUE(endpoint.open("127.0.0.1", 0));
    silent = connected(port_of(endpoint));
  }
  EXPECT_LT(std::chrono::steady_clock::now() - began, 1900ms);
  ::close(silent);
}

}  // namespace
}  // namespace onbeat::report
