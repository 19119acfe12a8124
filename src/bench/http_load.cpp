#include "bench/http_load.hpp"

#include "bench/http_worker.hpp"
#include <onbeat/kernel/task.hpp>

#include <algorithm>
#include <coroutine>
#include <thread>
#include <utility>

namespace onbeat::bench {
namespace {

using net::NetError;

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

}  // namespace

std::vector<std::string> HttpPlan::counters() const {
  std::vector<std::string> result(run::kConnectionCounters.begin(), run::kConnectionCounters.end());
  for (const HttpOrigin& origin : origins)
    for (const net::Address& address : origin.addresses)
      result.push_back(std::string(run::kAddressCounterPrefix) + address.to_string());
  return result;
}

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
  const std::size_t slot = shared_slot(number);
  const bool opens = slot == shared_.size();
  if (opens) shared_.push_back(std::make_unique<SharedConnections>());
  const std::uint64_t id = (std::uint64_t{load_.index()} << 32) + number;
  Worker& worker = *workers_.emplace_back(std::make_unique<Worker>(
      *this, id, *connections_[number / pipeline], number % pipeline != 0, *shared_[slot], opens));
  worker.start(connect);
  return worker;
}

// Which of the shared connections a worker uses: a fixed number of them in turn, or one filled
// after the other.
std::size_t HttpWorkload::shared_slot(std::size_t number) const {
  const std::size_t share =
      plan_.connections / plan_.loops + (load_.index() < plan_.connections % plan_.loops ? 1 : 0);
  if (share != 0) return number % share;
  return number / plan_.options.http2.streams.value_or(kStreamsAConnection);
}

http::Connection& HttpWorkload::connection(ConnectionSet& set, std::size_t origin) {
  if (set.size() <= origin) set.resize(std::max(peers_.size(), origin + 1));
  if (set[origin] == nullptr)
    set[origin] = std::make_unique<http::Connection>(load_.loop(), *peers_[origin]);
  return *set[origin];
}

http::Http2Connection& HttpWorkload::connection(SharedConnections& set, std::size_t origin) {
  if (set.size() <= origin) set.resize(std::max(peers_.size(), origin + 1));
  if (set[origin] == nullptr)
    set[origin] = std::make_unique<http::Http2Connection>(load_.loop(), *peers_[origin]);
  return *set[origin];
}

const HttpOrigin& HttpWorkload::origin(std::size_t index) const {
  return index < plan_.origins.size() ? plan_.origins[index]
                                      : *further_origins_[index - plan_.origins.size()];
}

kernel::Task<std::size_t> HttpWorkload::origin_of(const http::Url& url) {
  for (std::size_t i = 0; i < plan_.origins.size(); ++i)
    if (plan_.origins[i].is(url)) co_return i;
  const auto known = [&]() -> std::size_t {
    for (std::size_t i = 0; i < further_origins_.size(); ++i)
      if (further_origins_[i]->is(url)) return plan_.origins.size() + i;
    return kNoOrigin;
  };
  if (const std::size_t index = known(); index != kNoOrigin) co_return index;
  auto origin = std::make_unique<HttpOrigin>(HttpOrigin{url.scheme, url.host, url.port, {}});
  using Addresses = std::expected<std::vector<net::Address>, std::string>;
  Addresses addresses =
      co_await Elsewhere<Addresses>{load_.loop(), [&origin = *origin, &options = plan_.options] {
                                      Addresses found = resolve_origin(origin, options);
                                      if (found) origin.addresses = *found;
                                      origin.http2 = ask_version(origin, options);
                                      return found;
                                    }};
  if (!addresses) {
    keep_sample(NetError::dns, addresses.error());
    co_return kNoOrigin;
  }
  // Another worker may have asked for the same meanwhile.
  if (const std::size_t index = known(); index != kNoOrigin) co_return index;
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
  const auto count = [&serving](const auto& sets) {
    for (const auto& set : sets)
      for (const auto& connection : *set)
        if (connection != nullptr && connection->serves()) ++serving;
  };
  count(connections_);
  count(shared_);
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
