#include "report/metrics_endpoint.hpp"

#include "http/request_parser.hpp"
#include "net/address.hpp"
#include "report/prometheus.hpp"
#include "run/figures.hpp"

#include <fcntl.h>
#include <fmt/format.h>
#include <poll.h>
#include <sys/eventfd.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <memory>
#include <mutex>
#include <system_error>
#include <thread>
#include <utility>

namespace onbeat::report {
namespace {

using kernel::Instant;
using kernel::Monotonic;

/// From accepting a connection to the last byte of the answer: a client that is slower is dropped,
/// for it keeps others waiting.
constexpr kernel::Duration kPatience = std::chrono::seconds(2);
constexpr std::size_t kLongestRequest = 16 * 1024;

class Descriptor {
 public:
  explicit Descriptor(int number = -1) : number_(number) {}
  ~Descriptor() {
    if (number_ >= 0) ::close(number_);
  }
  Descriptor(Descriptor&& other) noexcept : number_(std::exchange(other.number_, -1)) {}
  Descriptor& operator=(Descriptor&& other) noexcept {
    std::swap(number_, other.number_);
    return *this;
  }
  [[nodiscard]] int number() const { return number_; }

 private:
  int number_;
};

std::string response(std::string_view status, std::string_view type, std::string_view body,
                     bool head_only, std::string_view more = {}) {
  return fmt::format(
      "HTTP/1.1 {}\r\nContent-Type: {}\r\nContent-Length: {}\r\nConnection: close\r\n{}\r\n{}",
      status, type, body.size(), more, head_only ? std::string_view() : body);
}

std::string answer(const http::ReceivedRequest& request, const std::string& metrics) {
  const bool head = request.method == "HEAD";
  if (request.method != "GET" && !head)
    return response("405 Method Not Allowed", "text/plain", "GET only\n", false,
                    "Allow: GET, HEAD\r\n");
  if (request.target.substr(0, request.target.find('?')) != "/metrics")
    return response("404 Not Found", "text/plain", "the metrics are at /metrics\n", head);
  return response("200 OK", "text/plain; version=0.0.4; charset=utf-8", metrics, head);
}

}  // namespace

class MetricsEndpoint::Server {
 public:
  ~Server() {
    if (!thread_.joinable()) return;
    const std::uint64_t one = 1;
    while (::write(stop_.number(), &one, sizeof one) < 0 && errno == EINTR) {
    }
    thread_.join();
  }

  std::expected<void, std::string> open(const std::string& host, std::uint16_t port) {
    const auto addresses = net::resolve(host, port);
    if (!addresses) return std::unexpected(addresses.error());
    const net::Address& at = addresses->front();
    listener_ = Descriptor(::socket(at.family(), SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0));
    const int on = 1;
    ::setsockopt(listener_.number(), SOL_SOCKET, SO_REUSEADDR, &on, sizeof on);
    stop_ = Descriptor(::eventfd(0, EFD_CLOEXEC));
    if (listener_.number() < 0 || stop_.number() < 0 ||
        ::bind(listener_.number(), at.data(), at.size()) != 0 ||
        ::listen(listener_.number(), 16) != 0) {
      return std::unexpected(
          fmt::format("{}: {}", at.to_string(), std::generic_category().message(errno)));
    }
    sockaddr_storage bound{};
    socklen_t size = sizeof bound;
    ::getsockname(listener_.number(), reinterpret_cast<sockaddr*>(&bound), &size);
    address_ = net::Address(reinterpret_cast<const sockaddr*>(&bound), size);
    thread_ = std::thread([this] { serve(); });
    return {};
  }

  [[nodiscard]] const net::Address& address() const { return address_; }

  void show(std::string text) {
    auto next = std::make_shared<const std::string>(std::move(text));
    const std::lock_guard lock(mutex_);
    text_ = std::move(next);
  }

 private:
  void serve() {
    // It must not take the processor from a loop.
    ::setpriority(PRIO_PROCESS, static_cast<id_t>(::syscall(SYS_gettid)), 10);
    while (wait_for(listener_.number(), POLLIN, kernel::kNever)) {
      const Descriptor client(
          ::accept4(listener_.number(), nullptr, nullptr, SOCK_CLOEXEC | SOCK_NONBLOCK));
      if (client.number() >= 0) converse(client.number());
    }
  }

  /// False when it is not ready by then, or the endpoint is to stop.
  bool wait_for(int descriptor, short events, Instant deadline) const {
    std::array<pollfd, 2> both{{{descriptor, events, 0}, {stop_.number(), POLLIN, 0}}};
    int timeout = -1;
    if (deadline != kernel::kNever) {
      const auto left = std::chrono::ceil<std::chrono::milliseconds>(deadline - Monotonic::now());
      timeout = static_cast<int>(std::max<std::int64_t>(left.count(), 0));
    }
    const int ready = ::poll(both.data(), both.size(), timeout);
    if (ready < 0 && errno == EINTR) return wait_for(descriptor, events, deadline);
    return ready > 0 && both[1].revents == 0;
  }

  void converse(int client) const {
    const Instant deadline = Monotonic::now() + kPatience;
    http::RequestParser parser;
    parser.begin();
    std::array<char, 4096> buffer;
    std::size_t taken = 0;
    auto state = http::RequestParser::State::more;
    while (state == http::RequestParser::State::more && taken < kLongestRequest) {
      if (!wait_for(client, POLLIN, deadline)) return;
      const ssize_t got = ::recv(client, buffer.data(), buffer.size(), 0);
      if (got == 0 || (got < 0 && errno != EAGAIN && errno != EINTR)) return;
      if (got < 0) continue;
      taken += static_cast<std::size_t>(got);
      std::size_t consumed = 0;
      state = parser.feed({buffer.data(), static_cast<std::size_t>(got)}, consumed);
    }
    if (state != http::RequestParser::State::complete) {
      send(client, response("400 Bad Request", "text/plain", "not a request\n", false), deadline);
      return;
    }
    std::shared_ptr<const std::string> text;
    {
      const std::lock_guard lock(mutex_);
      text = text_;
    }
    send(client, answer(parser.request(), *text), deadline);
  }

  void send(int client, std::string_view text, Instant deadline) const {
    while (!text.empty() && wait_for(client, POLLOUT, deadline)) {
      const ssize_t sent = ::send(client, text.data(), text.size(), MSG_NOSIGNAL);
      if (sent < 0 && errno != EAGAIN && errno != EINTR) return;
      if (sent > 0) text.remove_prefix(static_cast<std::size_t>(sent));
    }
    ::shutdown(client, SHUT_WR);
  }

  Descriptor listener_, stop_;
  net::Address address_;
  mutable std::mutex mutex_;
  std::shared_ptr<const std::string> text_ = std::make_shared<const std::string>();
  std::thread thread_;
};

MetricsEndpoint::MetricsEndpoint() : server_(std::make_unique<Server>()) {}
MetricsEndpoint::~MetricsEndpoint() = default;

std::expected<void, std::string> MetricsEndpoint::open(const std::string& host,
                                                       std::uint16_t port) {
  return server_->open(host, port);
}

std::string MetricsEndpoint::url() const {
  return "http://" + server_->address().to_string() + "/metrics";
}

void MetricsEndpoint::begin(const run::Report& known) {
  so_far_ = known;
  so_far_.total = {};
  server_->show(to_prometheus(so_far_, Progress::running));
}

void MetricsEndpoint::interval(const kernel::Interval& interval, const kernel::Names& names,
                               const kernel::RecorderShape& shape) {
  so_far_.total.merge_next(interval);
  run::name_figures(so_far_, names, shape.histograms);
  so_far_.connections = run::connections_of(shape.counters, so_far_.total, {});
  server_->show(to_prometheus(so_far_, Progress::running));
}

void MetricsEndpoint::end(const run::Report& report) {
  server_->show(to_prometheus(report, Progress::over));
}

}  // namespace onbeat::report
