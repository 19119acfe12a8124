#include "bench/http_load.hpp"

#include <algorithm>
#include <coroutine>
#include <utility>

namespace onbeat::bench {
namespace {

using kernel::Outcome;
using kernel::Result;
using net::NetError;

constexpr Duration kFirstBackOff = std::chrono::milliseconds(10);
constexpr Duration kLongestBackOff = std::chrono::seconds(1);

/// A wait that cancel() cuts short.
class Rest final : public net::Timer {
 public:
  explicit Rest(net::Timers& timers) noexcept : timers_(timers) {}

  struct Awaiter {
    Rest& rest;
    Instant until;
    [[nodiscard]] bool await_ready() const noexcept { return false; }
    void await_suspend(std::coroutine_handle<> waiting) noexcept {
      rest.waiting_ = waiting;
      rest.timers_.arm(rest, until);
    }
    void await_resume() const noexcept {}
  };
  [[nodiscard]] Awaiter until(Instant when) noexcept { return {*this, when}; }
  void cancel() noexcept {
    timers_.disarm(*this);
    if (waiting_) std::exchange(waiting_, nullptr).resume();
  }

 private:
  void on_timer(Instant) noexcept override { std::exchange(waiting_, nullptr).resume(); }

  net::Timers& timers_;
  std::coroutine_handle<> waiting_;
};

bool is_connect_failure(NetError error) {
  switch (error) {
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

std::vector<std::string> HttpPlan::counters() const {
  std::vector<std::string> result(run::kConnectionCounters.begin(), run::kConnectionCounters.end());
  for (const HttpOrigin& origin : origins)
    for (const net::Address& address : origin.addresses)
      result.push_back(std::string(run::kAddressCounterPrefix) + address.to_string());
  return result;
}

class HttpWorkload::HttpWorker final : public run::Worker {
 public:
  HttpWorker(HttpWorkload& workload, std::uint64_t id)
      : workload_(workload),
        rest_(workload.load_.loop().timers()),
        random_(kernel::splitmix64(workload.plan_.seed, id)),
        connections_(workload.plan_.origins.size()),
        life_(live()) {}

  void start(bool connect) {
    connect_first_ = connect;
    life_.start();
  }

 private:
  // One connection, one exchange after another.
  kernel::Task<void> live() {
    run::LoadLoop& load = workload_.load_;
    if (connect_first_) {
      note(co_await connection(0).open(), connection(0));
      load.connected(connection(0).is_open());
    }
    while (co_await load.next(*this)) {
      const HttpItem& item =
          workload_.plan_.items[workload_.plan_.mix.item(unit.arrival, workload_.mix_cache_)];
      busy_ = &connection(item.origin);
      const http::Exchange exchange =
          co_await busy_->exchange(item.request, unit.started + workload_.plan_.timeout);
      finish(item, exchange);
      if (is_connect_failure(exchange.error)) {
        co_await rest_.until(load.loop().latest() + next_back_off());
        load.rested();
      }
    }
  }

  void finish(const HttpItem& item, const http::Exchange& exchange) {
    run::LoadLoop& load = workload_.load_;
    note(exchange, *busy_);
    Result result{.unit = unit,
                  .done = load.loop().now(),
                  .endpoint = item.endpoint,
                  .bytes_sent = exchange.bytes_sent,
                  .bytes_received = exchange.bytes_received};
    if (exchange.status != 0) result.code = workload_.code_of(exchange.status);
    if (exchange.error == NetError::none && is_success(exchange.status)) {
      result.outcome = Outcome::ok;
      back_off_ = {};
    } else if (exchange.error == NetError::cancelled) {
      result.outcome = load.cut_off();
    } else {
      const NetError error = exchange.error == NetError::none ? NetError::status : exchange.error;
      // A response that was followed by bytes of no request counts; the connection alone was at
      // fault.
      const bool counts = error == NetError::excess_data && is_success(exchange.status);
      result.outcome = counts                       ? Outcome::ok
                       : error == NetError::timeout ? Outcome::timed_out
                                                    : Outcome::failed;
      result.error = workload_.error_of(error);
      workload_.keep_sample(error, exchange, *busy_);
    }
    load.finish(result);
  }

  void note(const http::Exchange& exchange, const http::Connection& at) {
    if (exchange.connected && workload_.load_.recording())
      workload_.load_.recorder().record(run::kConnectHistogram, exchange.connect);
    if (is_connect_failure(exchange.error)) workload_.keep_sample(exchange.error, exchange, at);
  }

  http::Connection& connection(std::size_t origin) {
    auto& connection = connections_[origin];
    if (connection == nullptr)
      connection =
          std::make_unique<http::Connection>(workload_.load_.loop(), workload_.peers_[origin]);
    return *connection;
  }

  // Doubling from 10 ms to 1 s, each time somewhere in its upper half.
  Duration next_back_off() {
    back_off_ = std::clamp(2 * back_off_, kFirstBackOff, kLongestBackOff);
    return back_off_ / 2 +
           Duration(random_.below(static_cast<std::uint64_t>(back_off_.count()) / 2));
  }

  void cancel() noexcept override {
    rest_.cancel();
    for (const auto& connection : connections_)
      if (connection != nullptr) connection->cancel();
  }

  HttpWorkload& workload_;
  Rest rest_;
  kernel::Random random_;
  Duration back_off_{};
  std::vector<std::unique_ptr<http::Connection>> connections_;  // by origin, made when first needed
  http::Connection* busy_ = nullptr;
  bool connect_first_ = false;
  kernel::Task<void> life_;
};

HttpWorkload::HttpWorkload(run::LoadLoop& load, const HttpPlan& plan) : load_(load), plan_(plan) {
  for (const HttpOrigin& origin : plan.origins) {
    http::Peer& peer = peers_.emplace_back();
    peer.addresses = origin.addresses;
    peer.connect_timeout = plan.connect_timeout;
    peer.next_address = load.index();
    peer.ledger.by_address.resize(origin.addresses.size());
    flushed_.push_back(peer.ledger);
  }
  codes_.fill(kernel::kNoName);
  errors_.fill(kernel::kNoName);
}

HttpWorkload::~HttpWorkload() = default;

run::Worker& HttpWorkload::add_worker(bool connect) {
  const std::uint64_t id = (std::uint64_t{load_.index()} << 32) + workers_.size();
  HttpWorker& worker = *workers_.emplace_back(std::make_unique<HttpWorker>(*this, id));
  worker.start(connect);
  return worker;
}

kernel::CodeId HttpWorkload::code_of(int status) {
  kernel::CodeId& code = codes_[static_cast<std::size_t>(status) % codes_.size()];
  if (code == kernel::kNoName) code = plan_.names->codes.id(std::to_string(status));
  return code;
}

kernel::ErrorId HttpWorkload::error_of(NetError error) {
  kernel::ErrorId& id = errors_[static_cast<std::size_t>(error)];
  if (id == kernel::kNoName) id = plan_.names->errors.id(net::to_string(error));
  return id;
}

void HttpWorkload::keep_sample(NetError error, const http::Exchange& exchange,
                               const http::Connection& connection) {
  if (!plan_.samples->wants(error)) return;
  std::string text = error == NetError::status ? "HTTP status " + std::to_string(exchange.status)
                                               : net::describe(error, exchange.system_error);
  if (!connection.failure().empty() &&
      (error == NetError::protocol || error == NetError::tls || error == NetError::proxy))
    text += ": " + connection.failure();
  plan_.samples->keep(error, std::move(text));
}

void HttpWorkload::flush(kernel::Recorder& recorder) {
  std::size_t address = run::kConnectionCounters.size();
  for (std::size_t i = 0; i < peers_.size(); ++i) {
    const http::ConnectionLedger& now = peers_[i].ledger;
    http::ConnectionLedger& before = flushed_[i];
    const std::array deltas{now.opened - before.opened, now.open_peak - before.open_peak,
                            now.reused - before.reused, now.reopened - before.reopened,
                            now.failed - before.failed, now.closed_by_peer - before.closed_by_peer,
                            now.reset - before.reset};
    static_assert(deltas.size() == run::kConnectionCounters.size());
    for (std::size_t k = 0; k < deltas.size(); ++k) recorder.count(run::kCounters + k, deltas[k]);
    for (std::size_t k = 0; k < now.by_address.size(); ++k)
      recorder.count(run::kCounters + address++, now.by_address[k] - before.by_address[k]);
    before = now;
  }
}

}  // namespace onbeat::bench
