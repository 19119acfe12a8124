#include "bench/http_worker.hpp"

#include <onbeat/kernel/random.hpp>

#include <utility>

namespace onbeat::bench {

using kernel::Outcome;
using kernel::Result;
using net::NetError;

namespace {

// Positions of kHttpHistograms, after those of every run.
constexpr std::size_t kTlsHistogram = run::kConnectHistogram + 1;
constexpr std::size_t kFirstByteHistogram = kTlsHistogram + 1;
constexpr std::size_t kBodyHistogram = kFirstByteHistogram + 1;

bool is_connect_failure(NetError error) {
  switch (error) {
    case NetError::dns:
    case NetError::connect_refused:
    case NetError::connect_timeout:
    case NetError::connect_failed:
    case NetError::unreachable:
    case NetError::local_ports:
    case NetError::local_fds:
    case NetError::tls:
    case NetError::proxy:
      return true;
    default:
      return false;
  }
}

}  // namespace

HttpWorkload::Worker::Worker(HttpWorkload& workload, std::uint64_t id, ConnectionSet& connections,
                             bool shares, SharedConnections& shared, bool opens)
    : workload_(workload),
      connections_(connections),
      shared_(shared),
      shares_(shares),
      opens_(opens),
      rest_(workload.load_.loop().timers()),
      back_off_(kernel::splitmix64(workload.plan_.seed, id)),
      life_(live()) {
  if (workload.plan_.expectations != nullptr && workload.plan_.expectations->needs_inspector())
    inspector_ = std::make_unique<Inspector>(*workload.plan_.expectations);
}

// One exchange after another.
kernel::Task<void> HttpWorkload::Worker::live() {
  run::LoadLoop& load = workload_.load_;
  if (connect_first_) load.connected(co_await open_first());
  while (co_await load.next(*this)) {
    const HttpPlan& plan = workload_.plan_;
    const HttpItem& item = plan.items[plan.mix.item(unit.arrival, workload_.mix_cache_)];
    const http::Request* request = &item.request;
    if (item.message) {
      if (const auto fault = workload_.renderer_->render(item, unit.arrival, rendered_.bytes);
          !fault.empty()) {
        finish_unsent(item, fault);
        continue;
      }
      rendered_.is_head = item.request.is_head;
      request = &rendered_;
    }
    use(item.origin);
    if (inspector_ != nullptr) inspector_->begin();
    const Instant deadline = unit.started + plan.timeout;
    http::Exchange exchange;
    if (busy_ != nullptr) {
      exchange =
          co_await busy_->exchange(stream_, in_http2(item, *request), deadline, inspector_.get());
    } else {
      exchange = co_await own_->exchange(*request, deadline, inspector_.get());
    }
    if (plan.options.redirects != 0 && leads_on(exchange))
      exchange = co_await follow(item, *request, exchange, deadline);
    finish(item, exchange);
    if (is_connect_failure(exchange.error)) {
      co_await rest_.until(load.loop().latest() + back_off_.next());
      load.rested();
    }
  }
}

/// Whether this worker has opened a connection.
kernel::Task<bool> HttpWorkload::Worker::open_first() {
  use(0);
  if (busy_ != nullptr) {
    if (!opens_) co_return false;
    const http::Exchange exchange = co_await busy_->open(stream_);
    note(exchange);
    // It may be connected, and yet speak something else.
    if (exchange.error != NetError::none) keep_sample(exchange.error, exchange);
    co_return busy_->is_open();
  }
  if (shares_) co_return false;
  note(co_await own_->open());
  co_return own_->is_open();
}

void HttpWorkload::Worker::use(std::size_t origin) {
  const bool http2 = workload_.origin(origin).http2;
  busy_ = http2 ? &workload_.connection(shared_, origin) : nullptr;
  own_ = http2 ? nullptr : &workload_.connection(connections_, origin);
}

const http::Http2Request& HttpWorkload::Worker::in_http2(const HttpItem& item,
                                                         const http::Request& request) {
  if (&request == &item.request) return item.request2;
  http::translate(request.bytes, item.url.scheme, translated_);
  return translated_;
}

bool HttpWorkload::Worker::leads_on(const http::Exchange& exchange) const {
  return exchange.error == NetError::none && http::is_redirect(exchange.status) &&
         !inspector_->location().empty();
}

/// The exchanges that a redirect leads to; bytes and connecting add up.
kernel::Task<http::Exchange> HttpWorkload::Worker::follow(const HttpItem& item,
                                                          const http::Request& first,
                                                          http::Exchange exchange,
                                                          Instant deadline) {
  http::Url at = item.url;
  http::Request request;
  const http::Request* sent = &first;
  for (unsigned hops = 0; hops < workload_.plan_.options.redirects && leads_on(exchange); ++hops) {
    const auto to = http::resolve_reference(at, inspector_->location());
    if (!to) break;
    request = http::redirected(sent->bytes, exchange.status, at, *to,
                               proxy_form(workload_.plan_.options, *to));
    sent = &request;
    at = *to;
    const std::size_t origin = co_await workload_.origin_of(at);
    const http::Exchange before = exchange;
    if (origin == kNoOrigin) {
      exchange.error = NetError::dns;
      break;
    }
    use(origin);
    inspector_->begin();
    if (busy_ != nullptr) {
      http::translate(request.bytes, at.scheme, translated_);
      exchange = co_await busy_->exchange(stream_, translated_, deadline, inspector_.get());
    } else {
      exchange = co_await own_->exchange(request, deadline, inspector_.get());
    }
    exchange.started = before.started;
    exchange.bytes_sent += before.bytes_sent;
    exchange.bytes_received += before.bytes_received;
  }
  co_return exchange;
}

void HttpWorkload::Worker::finish(const HttpItem& item, const http::Exchange& exchange) {
  run::LoadLoop& load = workload_.load_;
  note(exchange);
  Result result{.unit = unit,
                .done = load.loop().now(),
                .endpoint = item.endpoint,
                .bytes_sent = exchange.bytes_sent,
                .bytes_received = exchange.bytes_received};
  // Who had to wait for a stream has waited, not been served.
  if (exchange.started != Instant{}) result.unit.started = exchange.started;
  if (exchange.status != 0) result.code = workload_.code_of(exchange.status);
  NetError error = exchange.error;
  if (error == NetError::none || error == NetError::excess_data) {
    note_parts(exchange, result.unit.started, result.done);
    if (!status_is_right(exchange.status)) {
      error = NetError::status;
    } else if (inspector_ != nullptr && error == NetError::none) {
      error = inspector_->verdict();
      // A peer that ends its bodies wrongly is not trusted with another request.
      if (error == NetError::body && own_ != nullptr && !own_->busy()) own_->close();
    }
  }
  if (error == NetError::none) [[likely]] {
    back_off_.reset();
  } else if (error == NetError::cancelled) {
    result.outcome = load.cut_off();
  } else {
    // A response that was followed by bytes of no request counts; the connection alone was at
    // fault.
    result.outcome = error == NetError::excess_data ? Outcome::ok
                     : error == NetError::timeout   ? Outcome::timed_out
                                                    : Outcome::failed;
    result.error = workload_.error_of(error);
    keep_sample(error, exchange);
  }
  load.finish(result);
}

/// A unit whose request could not be made.
void HttpWorkload::Worker::finish_unsent(const HttpItem& item, std::string_view fault) {
  run::LoadLoop& load = workload_.load_;
  Result result{.unit = unit,
                .done = load.loop().now(),
                .outcome = Outcome::failed,
                .endpoint = item.endpoint};
  result.error = workload_.plan_.names->errors.id(fault);
  load.finish(result);
}

bool HttpWorkload::Worker::status_is_right(int status) const {
  const Expectations* expected = workload_.plan_.expectations.get();
  return expected != nullptr ? expected->status_is_right(status) : status >= 200 && status < 400;
}

// Where the time of a whole response went, as far as its parts came apart.
void HttpWorkload::Worker::note_parts(const http::Exchange& exchange, Instant started,
                                      Instant done) {
  kernel::Recorder& recorder = workload_.load_.recorder();
  const bool apart = exchange.header_done != Instant{};
  recorder.record(kFirstByteHistogram, (apart ? exchange.header_done : done) - started);
  if (apart) recorder.record(kBodyHistogram, done - exchange.header_done);
}

void HttpWorkload::Worker::note(const http::Exchange& exchange) {
  if (exchange.connected && workload_.load_.recording()) {
    kernel::Recorder& recorder = workload_.load_.recorder();
    recorder.record(run::kConnectHistogram, exchange.connect);
    if (exchange.tls > Duration{}) recorder.record(kTlsHistogram, exchange.tls);
  }
  if (is_connect_failure(exchange.error)) keep_sample(exchange.error, exchange);
}

void HttpWorkload::Worker::keep_sample(NetError error, const http::Exchange& exchange) {
  if (!workload_.plan_.samples->wants(error)) return;
  if (error == NetError::status)
    return workload_.keep_sample(error, "HTTP status " + std::to_string(exchange.status));
  if (error == NetError::expectation || error == NetError::body)
    return workload_.keep_sample(error, inspector_->failure());
  std::string text = net::describe(error, exchange.system_error);
  const bool told = error == NetError::protocol || error == NetError::tls ||
                    error == NetError::proxy || error == NetError::stream_reset ||
                    error == NetError::goaway;
  if (const std::string& more = busy_ != nullptr ? busy_->failure() : own_->failure();
      told && !more.empty())
    text += ": " + more;
  workload_.keep_sample(error, std::move(text));
}

void HttpWorkload::Worker::cancel() noexcept {
  rest_.cancel();
  stream_.cancel();
  for (const auto& connection : connections_)
    if (connection != nullptr) connection->cancel();
}

}  // namespace onbeat::bench
