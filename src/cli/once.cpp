#include "cli/once.hpp"

#include "bench/inspector.hpp"
#include "bench/renderer.hpp"
#include "cli/console.hpp"
#include "http/client.hpp"
#include "http/http2_connection.hpp"
#include "net/epoll_loop.hpp"
#include "options/format.hpp"
#include "run/redact.hpp"
#include <onbeat/kernel/task.hpp>

#include <fmt/format.h>

#include <optional>
#include <string>

namespace onbeat::cli {
namespace {

class Capture final : public http::ResponseSink {
 public:
  /// `inspector` sees what this sees; may be null.
  Capture(net::Loop& loop, bench::Inspector* inspector) : loop_(loop), inspector_(inspector) {}
  void on_status(int status, std::string_view reason) override {
    if (first_byte == kernel::Instant{}) first_byte = loop_.now();
    // HTTP/2 has no reason phrase, HTTP/1.1 always its space.
    head += http2 ? fmt::format("< HTTP/2 {}\n", status)
                  : fmt::format("< HTTP/1.1 {} {}\n", status, reason);
    if (inspector_ != nullptr) inspector_->on_status(status, reason);
  }
  void on_field(std::string_view name, std::string_view value) override {
    head += "< " + run::redact_header(fmt::format("{}: {}", name, value)) + "\n";
    if (inspector_ != nullptr) inspector_->on_field(name, value);
  }
  void on_body(std::string_view part) override {
    body += part;
    if (inspector_ != nullptr) inspector_->on_body(part);
  }
  void on_trailer(std::string_view name, std::string_view value) override {
    trailers += "< " + run::redact_header(fmt::format("{}: {}", name, value)) + "\n";
  }

  std::string head, body, trailers;
  bool http2 = false;
  kernel::Instant first_byte{};

 private:
  net::Loop& loop_;
  bench::Inspector* inspector_;
};

// Head lines with a mark, secrets hidden; then the body as it is.
std::string sent_text(const std::string& bytes) {
  const auto end = bytes.find("\r\n\r\n");
  std::string text;
  std::size_t at = 0;
  while (at < end) {
    const auto line_end = bytes.find("\r\n", at);
    const std::string line = bytes.substr(at, line_end - at);
    text += "> " + (at == 0 ? run::redact_url(line) : run::redact_header(line)) + "\n";
    at = line_end + 2;
  }
  const std::string body = bytes.substr(end + 4);
  return body.empty() ? text : text + "\n" + body + (body.ends_with('\n') ? "" : "\n");
}

// The fields as they are sent; then the body.
std::string sent_text(const http::Http2Request& request) {
  std::string text;
  for (const nghttp2_nv& field : request.fields.view()) {
    const std::string line =
        fmt::format("{}: {}", http::Http2Fields::name(field), http::Http2Fields::value(field));
    text +=
        "> " + (line.starts_with(':') ? run::redact_url(line) : run::redact_header(line)) + "\n";
  }
  const std::string_view body = request.body;
  if (body.empty()) return text;
  return text.append("\n").append(body).append(body.ends_with('\n') ? "" : "\n");
}

kernel::Task<void> exchange(net::Loop& loop, http::Connection& connection,
                            const http::Request& request, kernel::Instant deadline,
                            Capture& capture, http::Exchange& outcome) {
  outcome = co_await connection.exchange(request, deadline, &capture);
  loop.stop();
}

kernel::Task<void> exchange(net::Loop& loop, http::Http2Connection& connection,
                            const http::Http2Request& request, kernel::Instant deadline,
                            Capture& capture, http::Exchange& outcome) {
  http::Http2Stream stream;
  outcome = co_await connection.exchange(stream, request, deadline, &capture);
  loop.stop();
}

}  // namespace

int once(const bench::HttpTarget& target, kernel::Duration timeout) {
  net::EpollLoop loop;
  const bench::HttpItem& item = target.plan.items.front();
  const auto request = bench::first_request(target.plan, item);
  if (!request) {
    print(stderr, "error: the request cannot be made: " + request.error() + "\n");
    return static_cast<int>(run::ExitCode::usage);
  }
  const bench::HttpOrigin& origin = target.plan.origins[item.origin];
  const auto peer = bench::make_peer(origin, target.plan.options);
  http::Connection connection(loop, *peer);
  http::Http2Connection connection2(loop, *peer);
  http::Http2Request request2;
  http::translate(request->bytes, origin.scheme, request2);
  const bench::Expectations& expected = *target.plan.expectations;
  std::optional<bench::Inspector> inspector;
  if (expected.needs_inspector()) inspector.emplace(expected);
  Capture capture(loop, inspector ? &*inspector : nullptr);
  capture.http2 = origin.http2;
  http::Exchange outcome;
  const kernel::Instant start = loop.now();
  auto task = origin.http2
                  ? exchange(loop, connection2, request2, start + timeout, capture, outcome)
                  : exchange(loop, connection, *request, start + timeout, capture, outcome);
  task.start();
  loop.run();
  const kernel::Instant end = loop.now();

  std::string text = origin.http2 ? sent_text(request2) : sent_text(request->bytes);
  text += "\n" + capture.head;
  if (!capture.body.empty())
    text += "\n" + capture.body + (capture.body.ends_with('\n') ? "" : "\n");
  if (!capture.trailers.empty()) text += "\n" + capture.trailers;
  const auto stamp = [start](kernel::Instant at) { return options::format_duration(at - start); };
  text += "\n* ";
  if (outcome.connected)
    text += fmt::format("connected to {} in {}, ", peer->addresses.front().to_string(),
                        options::format_duration(outcome.connect));
  if (outcome.tls > kernel::Duration{})
    text += fmt::format("TLS handshake {}, ", options::format_duration(outcome.tls));
  if (capture.first_byte != kernel::Instant{})
    text += fmt::format("first byte after {}, ", stamp(capture.first_byte));
  text += fmt::format("{} after {}; {} sent, {} received\n",
                      outcome.error == net::NetError::none ? "done" : "ended", stamp(end),
                      options::format_size(outcome.bytes_sent),
                      options::format_size(outcome.bytes_received));
  if (target.plan.options.redirects > 0 && outcome.status >= 300 && outcome.status < 400) {
    text += "* not followed: --once sends one request\n";
  }
  if (!print(stdout, text)) return static_cast<int>(run::ExitCode::usage);
  const std::string& failure = origin.http2 ? connection2.failure() : connection.failure();
  if (outcome.error != net::NetError::none) {
    print(stderr, fmt::format("error: {}: {}\n", net::to_string(outcome.error),
                              net::describe(outcome.error, outcome.system_error) +
                                  (failure.empty() ? "" : ": " + failure)));
    return static_cast<int>(run::ExitCode::unreachable);
  }
  if (!expected.status_is_right(outcome.status))
    return static_cast<int>(run::ExitCode::unreachable);
  if (!inspector) return 0;
  const net::NetError missed = inspector->verdict();
  if (missed == net::NetError::none) return 0;
  print(stderr, fmt::format("error: {}: {}\n", net::to_string(missed), inspector->failure()));
  return static_cast<int>(run::ExitCode::unreachable);
}

}  // namespace onbeat::cli
