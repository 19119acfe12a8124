#include "report/http_post.hpp"

#include "http/client.hpp"
#include "http/url.hpp"
#include "net/epoll_loop.hpp"
#include "options/http_grammar.hpp"
#include "report/escape.hpp"
#include <onbeat/kernel/task.hpp>

#include <fmt/format.h>

#include <algorithm>
#include <memory>
#include <utility>

namespace onbeat::report {
namespace {

constexpr std::size_t kAnswerKept = 512;

/// Keeps the beginning of the body: what a server says when it refuses.
class Answer final : public http::ResponseSink {
 public:
  void on_status(int, std::string_view) override {}
  void on_field(std::string_view, std::string_view) override {}
  void on_body(std::string_view part) override {
    text += part.substr(0, kAnswerKept - std::min(kAnswerKept, text.size()));
  }
  std::string text;
};

kernel::Task<void> exchange(net::Loop& loop, http::Connection& connection,
                            const http::Request& request, kernel::Instant deadline, Answer& answer,
                            http::Exchange& outcome) {
  outcome = co_await connection.exchange(request, deadline, &answer);
  loop.stop();
}

http::Fields fields_of(const http::Url& url, const std::string& token) {
  http::Fields fields{{"Content-Type", "text/plain; charset=utf-8"}, {"Connection", "close"}};
  if (!url.user.empty()) {
    fields.emplace_back("Authorization",
                        "Basic " + options::base64_encode(http::percent_decoded(url.user)));
  } else if (!token.empty()) {
    fields.emplace_back("Authorization", "Token " + token);
  }
  return fields;
}

std::expected<std::unique_ptr<http::Peer>, std::string> peer_of(const http::Url& url,
                                                                kernel::Duration timeout) {
  auto addresses = net::resolve(url.host, url.port);
  if (!addresses) return std::unexpected(addresses.error());
  auto peer = std::make_unique<http::Peer>();
  peer->addresses = std::move(*addresses);
  peer->connect_timeout = timeout;
  peer->keep_alive = false;
  if (url.scheme == "https") {
    auto tls = net::TlsContext::make({});
    if (!tls) return std::unexpected(tls.error());
    peer->tls = std::move(*tls);
    peer->server_name = url.host;
  }
  return peer;
}

}  // namespace

bool is_url(std::string_view path) {
  return path.starts_with("http://") || path.starts_with("https://");
}

std::expected<void, std::string> check_url(const std::string& url) {
  const auto parsed = http::parse_url(url);
  if (!parsed) return std::unexpected("not a URL: " + parsed.error().message);
  return {};
}

std::expected<void, std::string> http_post(const std::string& url_text, std::string_view body,
                                           const std::string& token, kernel::Duration timeout) {
  const auto url = http::parse_url(url_text);
  if (!url) return std::unexpected("not a URL: " + url.error().message);
  auto peer = peer_of(*url, timeout);
  if (!peer) return std::unexpected(peer.error());
  net::EpollLoop loop;
  http::Connection connection(loop, **peer);
  const http::Request request = http::make_request("POST", *url, fields_of(*url, token), body);
  Answer answer;
  http::Exchange outcome;
  auto task = exchange(loop, connection, request, loop.now() + timeout, answer, outcome);
  task.start();
  loop.run();
  if (outcome.error != net::NetError::none) {
    return std::unexpected(net::describe(outcome.error, outcome.system_error) +
                           (connection.failure().empty() ? "" : ": " + connection.failure()));
  }
  if (outcome.status >= 200 && outcome.status < 300) return {};
  const std::string said = answer.text.substr(0, answer.text.find('\n'));
  return std::unexpected(fmt::format("the server answers {}{}{}", outcome.status,
                                     said.empty() ? "" : ": ", for_terminal(said)));
}

}  // namespace onbeat::report
