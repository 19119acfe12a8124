#include "bench/http_load.hpp"

#include "http/redirect.hpp"
#include <onbeat/kernel/random.hpp>
#include <onbeat/kernel/task.hpp>

#include <algorithm>
#include <coroutine>
#include <thread>
#include <utility>

namespace onbeat::bench {
namespace {

using kernel::Outcome;
using kernel::Result;
using net::NetError;

constexpr Duration kFirstBackOff = std::chrono::milliseconds(10);
constexpr Duration kLongestBackOff = std::chrono::seconds(1);

// Positions of kHttpHistograms, after those of every run.
constexpr std::size_t kTlsHistogram = run::kConnectHistogram + 1;
constexpr std::size_t kFirstByteHistogram = kTlsHistogram + 1;
constexpr std::size_t kBodyHistogram = kFirstByteHistogram + 1;

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

/// Runs blocking work on a thread of its own and resumes on the loop. For what is rare.
template <class T>
struct Elsewhere {
  net::Loop& loop;
  std::function<T()> work;
  T result{};
  std::thread thread{};

  [[nodiscard]] bool await_ready() const noexcept { return false; }
  void await_suspend(std::coroutine_handle<> waiting) {
    thread = std::thread([this, waiting] {
      result = work();
      loop.post([this, waiting] {
        thread.join();
        waiting.resume();
      });
    });
  }
  T await_resume() { return std::move(result); }
};

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

std::vector<std::string> HttpPlan::counters() const {
  std::vector<std::string> result(run::kConnectionCounters.begin(), run::kConnectionCounters.end());
  for (const HttpOrigin& origin : origins)
    for (const net::Address& address : origin.addresses)
      result.push_back(std::string(run::kAddressCounterPrefix) + address.to_string());
  return result;
}

class HttpWorkload::HttpWorker final : public run::Worker {
 public:
  HttpWorker(HttpWorkload& workload, std::uint64_t id, ConnectionSet& connections, bool shares)
      : workload_(workload),
        connections_(connections),
        shares_(shares),
        rest_(workload.load_.loop().timers()),
        random_(kernel::splitmix64(workload.plan_.seed, id)),
        life_(live()) {
    if (workload.plan_.expectations != nullptr && workload.plan_.expectations->needs_inspector())
      inspector_ = std::make_unique<Inspector>(*workload.plan_.expectations);
  }

  void start(bool connect) {
    connect_first_ = connect;
    life_.start();
  }

 private:
  // One exchange after another.
  kernel::Task<void> live() {
    run::LoadLoop& load = workload_.load_;
    if (connect_first_) {
      if (!shares_) note(co_await connection(0).open());
      load.connected(!shares_ && connection(0).is_open());
    }
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
      busy_ = &connection(item.origin);
      if (inspector_ != nullptr) inspector_->begin();
      const Instant deadline = unit.started + plan.timeout;
      http::Exchange exchange = co_await busy_->exchange(*request, deadline, inspector_.get());
      if (plan.options.redirects != 0 && leads_on(exchange))
        exchange = co_await follow(item, *request, exchange, deadline);
      finish(item, exchange);
      if (is_connect_failure(exchange.error)) {
        co_await rest_.until(load.loop().latest() + next_back_off());
        load.rested();
      }
    }
  }

  [[nodiscard]] bool leads_on(const http::Exchange& exchange) const {
    return exchange.error == NetError::none && http::is_redirect(exchange.status) &&
           !inspector_->location().empty();
  }

  /// The exchanges that a redirect leads to; bytes and connecting add up.
  kernel::Task<http::Exchange> follow(const HttpItem& item, const http::Request& first,
                                      http::Exchange exchange, Instant deadline) {
    http::Url at = item.url;
    http::Request request;
    const http::Request* sent = &first;
    for (unsigned hops = 0; hops < workload_.plan_.options.redirects && leads_on(exchange);
         ++hops) {
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
      busy_ = &connection(origin);
      inspector_->begin();
      exchange = co_await busy_->exchange(request, deadline, inspector_.get());
      exchange.bytes_sent += before.bytes_sent;
      exchange.bytes_received += before.bytes_received;
    }
    co_return exchange;
  }

  void finish(const HttpItem& item, const http::Exchange& exchange) {
    run::LoadLoop& load = workload_.load_;
    note(exchange);
    Result result{.unit = unit,
                  .done = load.loop().now(),
                  .endpoint = item.endpoint,
                  .bytes_sent = exchange.bytes_sent,
                  .bytes_received = exchange.bytes_received};
    if (exchange.status != 0) result.code = workload_.code_of(exchange.status);
    NetError error = exchange.error;
    if (error == NetError::none || error == NetError::excess_data) {
      note_parts(exchange, result.done);
      if (!status_is_right(exchange.status)) {
        error = NetError::status;
      } else if (inspector_ != nullptr && error == NetError::none) {
        error = inspector_->verdict();
        // A peer that ends its bodies wrongly is not trusted with another request.
        if (error == NetError::body && !busy_->busy()) busy_->close();
      }
    }
    if (error == NetError::none) [[likely]] {
      back_off_ = {};
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
  void finish_unsent(const HttpItem& item, std::string_view fault) {
    run::LoadLoop& load = workload_.load_;
    Result result{.unit = unit,
                  .done = load.loop().now(),
                  .outcome = Outcome::failed,
                  .endpoint = item.endpoint};
    result.error = workload_.plan_.names->errors.id(fault);
    load.finish(result);
  }

  [[nodiscard]] bool status_is_right(int status) const {
    const Expectations* expected = workload_.plan_.expectations.get();
    return expected != nullptr ? expected->status_is_right(status) : status >= 200 && status < 400;
  }

  // Where the time of a whole response went, as far as its parts came apart.
  void note_parts(const http::Exchange& exchange, Instant done) {
    kernel::Recorder& recorder = workload_.load_.recorder();
    const bool apart = exchange.header_done != Instant{};
    recorder.record(kFirstByteHistogram, (apart ? exchange.header_done : done) - unit.started);
    if (apart) recorder.record(kBodyHistogram, done - exchange.header_done);
  }

  void note(const http::Exchange& exchange) {
    if (exchange.connected && workload_.load_.recording()) {
      kernel::Recorder& recorder = workload_.load_.recorder();
      recorder.record(run::kConnectHistogram, exchange.connect);
      if (exchange.tls > Duration{}) recorder.record(kTlsHistogram, exchange.tls);
    }
    if (is_connect_failure(exchange.error)) keep_sample(exchange.error, exchange);
  }

  void keep_sample(NetError error, const http::Exchange& exchange) {
    if (!workload_.plan_.samples->wants(error)) return;
    if (error == NetError::status)
      return workload_.keep_sample(error, "HTTP status " + std::to_string(exchange.status));
    if (error == NetError::expectation || error == NetError::body)
      return workload_.keep_sample(error, inspector_->failure());
    std::string text = net::describe(error, exchange.system_error);
    const bool told =
        error == NetError::protocol || error == NetError::tls || error == NetError::proxy;
    if (const std::string& more = (busy_ != nullptr ? *busy_ : connection(0)).failure();
        told && !more.empty())
      text += ": " + more;
    workload_.keep_sample(error, std::move(text));
  }

  http::Connection& connection(std::size_t origin) {
    return workload_.connection(connections_, origin);
  }

  // Doubling from 10 ms to 1 s, each time somewhere in its upper half.
  Duration next_back_off() {
    back_off_ = std::clamp(2 * back_off_, kFirstBackOff, kLongestBackOff);
    return back_off_ / 2 +
           Duration(random_.below(static_cast<std::uint64_t>(back_off_.count()) / 2));
  }

  void cancel() noexcept override {
    rest_.cancel();
    for (std::size_t i = 0; i < connections_.size(); ++i)
      if (connections_[i] != nullptr) connections_[i]->cancel();
  }

  HttpWorkload& workload_;
  ConnectionSet& connections_;
  const bool shares_;  // a connection that another worker opens
  Rest rest_;
  kernel::Random random_;
  Duration back_off_{};
  http::Connection* busy_ = nullptr;
  http::Request rendered_;
  std::unique_ptr<Inspector> inspector_;
  bool connect_first_ = false;
  kernel::Task<void> life_;

 public:
  static constexpr std::size_t kNoOrigin = SIZE_MAX;
};

HttpWorkload::HttpWorkload(run::LoadLoop& load, const HttpPlan& plan) : load_(load), plan_(plan) {
  for (const HttpOrigin& origin : plan.origins) add_peer(origin);
  if (std::ranges::any_of(plan.items,
                          [](const HttpItem& item) { return item.message.has_value(); }))
    renderer_ = std::make_unique<Renderer>(plan);
  codes_.fill(kernel::kNoName);
  errors_.fill(kernel::kNoName);
}

HttpWorkload::~HttpWorkload() = default;

std::size_t HttpWorkload::add_peer(const HttpOrigin& origin) {
  peers_.push_back(make_peer(origin, plan_.options));
  http::Peer& peer = *peers_.back();
  peer.next_address = load_.index();
  peer.ledger.by_address.resize(origin.addresses.size());
  flushed_.push_back(peer.ledger);
  return peers_.size() - 1;
}

run::Worker& HttpWorkload::add_worker(bool connect) {
  const std::size_t number = workers_.size();
  const std::size_t pipeline = plan_.options.pipeline;
  if (number / pipeline == connections_.size())
    connections_.push_back(std::make_unique<ConnectionSet>());
  const std::uint64_t id = (std::uint64_t{load_.index()} << 32) + number;
  HttpWorker& worker = *workers_.emplace_back(std::make_unique<HttpWorker>(
      *this, id, *connections_[number / pipeline], number % pipeline != 0));
  worker.start(connect);
  return worker;
}

http::Connection& HttpWorkload::connection(ConnectionSet& set, std::size_t origin) {
  if (set.size() <= origin) set.resize(std::max(peers_.size(), origin + 1));
  if (set[origin] == nullptr)
    set[origin] = std::make_unique<http::Connection>(load_.loop(), *peers_[origin]);
  return *set[origin];
}

kernel::Task<std::size_t> HttpWorkload::origin_of(const http::Url& url) {
  for (std::size_t i = 0; i < plan_.origins.size(); ++i)
    if (plan_.origins[i].is(url)) co_return i;
  const auto known = [&]() -> std::size_t {
    for (std::size_t i = 0; i < further_origins_.size(); ++i)
      if (further_origins_[i]->is(url)) return plan_.origins.size() + i;
    return HttpWorker::kNoOrigin;
  };
  if (const std::size_t index = known(); index != HttpWorker::kNoOrigin) co_return index;
  auto origin = std::make_unique<HttpOrigin>(HttpOrigin{url.scheme, url.host, url.port, {}});
  using Addresses = std::expected<std::vector<net::Address>, std::string>;
  Addresses addresses = co_await Elsewhere<Addresses>{
      load_.loop(),
      [&origin = *origin, &options = plan_.options] { return resolve_origin(origin, options); }};
  if (!addresses) {
    keep_sample(NetError::dns, addresses.error());
    co_return HttpWorker::kNoOrigin;
  }
  // Another worker may have asked for the same meanwhile.
  if (const std::size_t index = known(); index != HttpWorker::kNoOrigin) co_return index;
  origin->addresses = std::move(*addresses);
  further_origins_.push_back(std::move(origin));
  co_return add_peer(*further_origins_.back());
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

void HttpWorkload::keep_sample(NetError error, std::string message) {
  plan_.samples->keep(error, std::move(message));
}

void HttpWorkload::flush(kernel::Recorder& recorder) {
  std::uint64_t serving = 0;
  for (const auto& set : connections_)
    for (const auto& connection : *set)
      if (connection != nullptr && connection->serves()) ++serving;
  // Counters add up: what is written is by how much the peak has grown.
  serving -= std::min(serving, serving_peak_);
  serving_peak_ += serving;
  std::size_t address = run::kConnectionCounters.size();
  for (std::size_t i = 0; i < peers_.size(); ++i) {
    const http::ConnectionLedger& now = peers_[i]->ledger;
    http::ConnectionLedger& before = flushed_[i];
    const std::array deltas{now.opened - before.opened, i == 0 ? serving : 0,
                            now.reused - before.reused, now.reopened - before.reopened,
                            now.failed - before.failed, now.closed_by_peer - before.closed_by_peer,
                            now.reset - before.reset};
    static_assert(deltas.size() == run::kConnectionCounters.size());
    for (std::size_t k = 0; k < deltas.size(); ++k) recorder.count(run::kCounters + k, deltas[k]);
    // Addresses that redirects have led to are not among the counters: the names were not known at
    // the start.
    if (i < plan_.origins.size())
      for (std::size_t k = 0; k < now.by_address.size(); ++k)
        recorder.count(run::kCounters + address++, now.by_address[k] - before.by_address[k]);
    before = now;
  }
}

}  // namespace onbeat::bench
