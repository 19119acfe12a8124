#include "bench/grpc_load.hpp"

#include <onbeat/kernel/task.hpp>

#include <algorithm>
#include <ctime>
#include <utility>

namespace onbeat::bench {
namespace {

using grpc::StatusCode;
using kernel::Outcome;
using kernel::Result;
using kernel::Timing;
using kernel::Verdict;
using net::NetError;

constexpr std::size_t kTlsHistogram = run::kConnectHistogram + 1;

std::int64_t unix_ms() {
  timespec now{};
  clock_gettime(CLOCK_REALTIME_COARSE, &now);
  return std::int64_t{now.tv_sec} * 1000 + now.tv_nsec / 1'000'000;
}

bool reads_metadata(const GrpcPlan& plan) {
  return std::ranges::any_of(plan.items, [](const GrpcItem& item) {
    return std::ranges::any_of(item.calls, [](const GrpcCall& call) {
      return std::ranges::any_of(call.steps, [](const GrpcStep& step) {
        return step.prepared->assertions.size() != 0 || step.prepared->extractions.size() != 0;
      });
    });
  });
}

}  // namespace

class GrpcWorkload::GrpcWorker final : public run::Worker, private AnswerWatcher {
 public:
  GrpcWorker(GrpcWorkload& workload, std::size_t number)
      : workload_(workload),
        plan_(workload.plan_),
        number_(number),
        exchange_(workload.load_.loop(), plan_, workload.keep_metadata_),
        life_(live()) {
    for (const GrpcItem& item : plan_.items) variables_.push_back(item.prepared->make_variables());
  }

  void start(bool connect) {
    connect_first_ = connect;
    life_.start();
  }

 private:
  /// How an iteration ended; of a chain its last call.
  struct End {
    Instant done{};
    StatusCode status = StatusCode::unknown;
    NetError error = NetError::none;
    bool called = false;
    bool timed_out = false, cancelled = false;
    std::uint32_t sent = 0, received = 0;  // bytes of all calls so far
    std::string_view fault;                // a class of our own: what could not be sent
    Verdict verdict = Verdict::not_judged;
  };

  kernel::Task<void> live() {
    run::LoadLoop& load = workload_.load_;
    if (connect_first_) co_await connect();
    while (co_await load.next(*this)) {
      const GrpcItem& item = plan_.items[unit.arrival % plan_.items.size()];
      begin(item);
      if (!end_.fault.empty()) {
        finish(item);
        continue;
      }
      if (item.calls.size() == 1 && item.calls[0].unary) {
        const GrpcCall& call = item.calls[0];
        end_.fault = exchange_.prepare(call, context_);
        if (end_.fault.empty()) {
          const grpc::CallOutcome& outcome =
              co_await exchange_.call().unary(workload_.connection(call.origin, number_),
                                              exchange_.request(), unit.started + plan_.timeout);
          end_.done = load.loop().now();
          exchange_.take_unary(unit.started, end_.done);
          note(outcome.exchange);
          take(call);
          judge(call);
        }
      } else {
        co_await chain(item);
      }
      finish(item);
    }
  }

  // The first workers open a connection each; to every origin.
  kernel::Task<void> connect() {
    run::LoadLoop& load = workload_.load_;
    const bool opens = number_ < workload_.connections_;
    bool up = false;
    if (opens) {
      for (std::size_t origin = 0; origin < plan_.origins.size(); ++origin) {
        http::Http2Connection& connection = workload_.connection(origin, number_);
        const http::Exchange exchange = co_await connection.open(opening_);
        note(exchange);
        if (exchange.error != NetError::none) keep_sample(exchange, connection);
        up = connection.is_open();
        if (!up) break;
      }
    }
    load.connected(up);
  }

  void begin(const GrpcItem& item) {
    end_ = {};
    ++iteration_;
    check_ = plan_.checking != Checking::none && iteration_ % plan_.check_every == 0;
    document::Variables& variables = variables_[item.id];
    end_.fault = workload_.read_rows(item, unit.arrival);
    keep_row(item);
    variables.begin(row_);
    context_ = {.seed = plan_.seed,
                .arrival = unit.arrival,
                .unix_ms = plan_.uses_clock ? unix_ms() : 0,
                .values = variables.values()};
    item_ = &item;
    progress_ = {};
  }

  /// The loop's readers go on while this worker waits for an answer.
  void keep_row(const GrpcItem& item) {
    const auto& slots = item.prepared->row_slots();
    if (slots.empty()) return;
    row_.assign(workload_.row_.size(), std::string_view());
    row_bytes_.clear();
    std::size_t size = 0;
    for (const std::uint32_t slot : slots) size += workload_.row_[slot].size();
    row_bytes_.reserve(size);
    for (const std::uint32_t slot : slots) {
      const std::string_view value = workload_.row_[slot];
      if (value.data() == nullptr) continue;  // the row has no such value
      const std::size_t at = row_bytes_.size();
      row_bytes_ += value;
      row_[slot] = std::string_view(row_bytes_).substr(at, value.size());
    }
  }

  kernel::Task<void> chain(const GrpcItem& item) {
    for (const GrpcCall& call : item.calls) {
      progress_ = {};
      const Instant started = item.calls.size() == 1 ? unit.started : workload_.load_.loop().now();
      end_.fault =
          co_await exchange_.run(call, workload_.connection(call.origin, number_), context_, *this);
      end_.done = exchange_.done();
      if (!end_.fault.empty()) co_return;
      note(exchange_.outcome().exchange);
      take(call);
      note_gaps(call);
      judge(call);
      if (item.calls.size() > 1) part(call, started);
      const bool goes_on = !end_.cancelled &&
                           (end_.verdict == Verdict::passed ||
                            (end_.verdict == Verdict::not_judged && end_.status == StatusCode::ok));
      if (!goes_on) co_return;
    }
  }

  /// An earlier answer may hold what the next REQUEST of the stream needs.
  void reached(const GrpcCall& call, std::size_t step) override {
    for (std::size_t i = progress_.step; i < step; ++i) {
      if (call.steps[i].prepared->extractions.size() == 0) continue;
      workload_.judge_.advance(call, exchange_, variables_[item_->id], context_, progress_, step,
                               check_);
      return;
    }
  }

  void take(const GrpcCall& call) {
    const grpc::CallOutcome& outcome = exchange_.outcome();
    end_.called = true;
    end_.sent += outcome.exchange.bytes_sent;
    end_.received += outcome.exchange.bytes_received;
    end_.status = outcome.status;
    end_.timed_out = exchange_.timed_out();
    end_.cancelled = outcome.exchange.error == NetError::cancelled && !end_.timed_out;
    end_.error = NetError::none;
    if (outcome.status == StatusCode::ok) return;
    end_.error = end_.timed_out                             ? NetError::timeout
                 : outcome.from_server                      ? NetError::status
                 : outcome.exchange.error == NetError::none ? NetError::protocol
                                                            : outcome.exchange.error;
    if (!end_.cancelled && plan_.samples->wants(end_.error)) {
      std::string text(grpc::to_string(outcome.status));
      if (const std::string more = exchange_.failure(); !more.empty()) text += ": " + more;
      const std::string& connection = workload_.connection(call.origin, number_).failure();
      const bool told = end_.error == NetError::protocol || end_.error == NetError::tls ||
                        end_.error == NetError::stream_reset || end_.error == NetError::goaway;
      if (told && !connection.empty()) text += ": " + connection;
      plan_.samples->keep(end_.error, std::move(text));
    }
  }

  void judge(const GrpcCall& call) {
    if (end_.cancelled || !call.judged) return;
    const bool extracts = !check_ && std::ranges::any_of(call.steps, [](const GrpcStep& step) {
      return step.prepared->extractions.size() != 0;
    });
    if (!check_ && !extracts) return;
    const bool collect =
        plan_.checking == Checking::all && plan_.samples->wants(NetError::expectation);
    const bool passed = workload_.judge_.advance(call, exchange_, variables_[item_->id], context_,
                                                 progress_, call.steps.size(), check_, collect);
    judged_ = true;
    if (!check_ && passed) return;
    end_.verdict = passed ? Verdict::passed : Verdict::not_passed;
    if (passed || !plan_.samples->wants(NetError::expectation)) return;
    std::string text;
    for (const std::string& failure : workload_.judge_.failures())
      text += (text.empty() ? "" : "; ") + failure;
    plan_.samples->keep(NetError::expectation, std::move(text));
  }

  /// What a verdict and an outcome mean for the books.
  [[nodiscard]] Result result_of(kernel::EndpointId endpoint) {
    Result result{.unit = unit, .done = end_.done, .endpoint = endpoint};
    if (end_.called) result.code = plan_.codes[static_cast<std::size_t>(end_.status)];
    result.bytes_sent = end_.sent;
    result.bytes_received = end_.received;
    if (!end_.fault.empty()) {
      result.outcome = Outcome::failed;
      result.error = plan_.names->errors.id(end_.fault);
      result.code = plan_.codes[static_cast<std::size_t>(StatusCode::invalid_argument)];
      if (plan_.checking != Checking::none) result.verdict = Verdict::not_passed;
      return result;
    }
    if (end_.cancelled) {
      result.outcome = workload_.load_.cut_off();
      result.code = kernel::kNoName;
      return result;
    }
    result.verdict = end_.verdict;
    if (end_.error != NetError::none) {
      result.outcome = end_.timed_out ? Outcome::timed_out : Outcome::failed;
      result.error = workload_.error_of(end_.error);
    }
    if (end_.verdict == Verdict::passed && result.outcome != Outcome::ok) {
      result.timing = Timing::headline;
    } else if (end_.verdict == Verdict::not_passed && result.outcome != Outcome::timed_out) {
      result.timing = Timing::failures;
      if (result.error == kernel::kNoName) result.error = workload_.error_of(NetError::expectation);
    }
    if (plan_.count_errors_in_latency && result.outcome != Outcome::timed_out)
      result.timing = Timing::headline;
    return result;
  }

  void part(const GrpcCall& call, Instant started) {
    Result result = result_of(call.endpoint);
    result.bytes_sent = exchange_.outcome().exchange.bytes_sent;
    result.bytes_received = exchange_.outcome().exchange.bytes_received;
    result.unit.due = result.unit.released = result.unit.started = started;
    workload_.load_.recorder().part_finished(result);
  }

  void finish(const GrpcItem& item) {
    run::LoadLoop& load = workload_.load_;
    if (end_.done == Instant{}) end_.done = load.loop().now();
    Result result = result_of(item.endpoint);
    thin_out(result);
    load.finish(result);
    // The time of judging belongs to no call.
    if (std::exchange(judged_, false)) load.rested();
  }

  /// sample_rate and skip_first: whose time is recorded.
  void thin_out(Result& result) {
    const bool sample = result.timing == Timing::headline ||
                        (result.timing == Timing::by_outcome && result.outcome == Outcome::ok);
    if (!sample || (plan_.record_every == 1 && plan_.skip_first == 0)) return;
    const std::uint64_t number = samples_++;
    if (plan_.record_every == 0 || number % plan_.record_every != 0) {
      result.timing = Timing::nowhere;
    } else if (skipped_ < plan_.skip_first) {
      ++skipped_;
      result.timing = Timing::endpoint_only;
    }
  }

  void note_gaps(const GrpcCall& call) {
    for (std::size_t i = 1; i < exchange_.messages(); ++i)
      workload_.load_.recorder().message_gap(call.endpoint,
                                             exchange_.arrived(i) - exchange_.arrived(i - 1));
  }

  void note(const http::Exchange& exchange) {
    if (!exchange.connected || !workload_.load_.recording()) return;
    kernel::Recorder& recorder = workload_.load_.recorder();
    recorder.record(run::kConnectHistogram, exchange.connect);
    if (exchange.tls > Duration{}) recorder.record(kTlsHistogram, exchange.tls);
  }

  void keep_sample(const http::Exchange& exchange, const http::Http2Connection& connection) {
    if (!plan_.samples->wants(exchange.error)) return;
    std::string text = net::describe(exchange.error, exchange.system_error);
    if (!connection.failure().empty()) text += ": " + connection.failure();
    plan_.samples->keep(exchange.error, std::move(text));
  }

  void cancel() noexcept override {
    opening_.cancel();
    exchange_.cancel();
  }

  GrpcWorkload& workload_;
  const GrpcPlan& plan_;
  const std::size_t number_;
  http::Http2Stream opening_;  // before the first unit
  GrpcExchange exchange_;
  std::vector<document::Variables> variables_;  // by item
  document::RenderContext context_;
  std::string row_bytes_;
  std::vector<std::string_view> row_;
  const GrpcItem* item_ = nullptr;
  JudgeProgress progress_;
  End end_;
  std::uint64_t iteration_ = 0, samples_ = 0, skipped_ = 0;
  bool check_ = true, judged_ = false, connect_first_ = false;
  kernel::Task<void> life_;
};

GrpcWorkload::GrpcWorkload(run::LoadLoop& load, const GrpcPlan& plan)
    : load_(load), plan_(plan), judge_(plan), keep_metadata_(reads_metadata(plan)) {
  const std::uint32_t k = load.index();
  connections_ = std::max<std::size_t>(
      plan.connections / plan.loops + (k < plan.connections % plan.loops ? 1 : 0), 1);
  for (const GrpcOrigin& origin : plan.origins) {
    peers_.push_back(make_peer(origin, plan));
    peers_.back()->next_address = k;
    peers_.back()->ledger.by_address.resize(origin.addresses.size());
    flushed_.push_back(peers_.back()->ledger);
    pools_.emplace_back(connections_);
  }
  if (plan.rows) {
    std::vector<std::uint32_t> columns;
    for (const GrpcItem& item : plan.items)
      columns.insert(columns.end(), item.prepared->row_slots().begin(),
                     item.prepared->row_slots().end());
    std::ranges::sort(columns);
    columns.erase(std::ranges::unique(columns).begin(), columns.end());
    rows_ = std::make_unique<document::RowReader>(*plan.rows, columns);
  }
  errors_.fill(kernel::kNoName);
}

GrpcWorkload::~GrpcWorkload() = default;

run::Worker& GrpcWorkload::add_worker(bool connect) {
  GrpcWorker& worker = *workers_.emplace_back(std::make_unique<GrpcWorker>(*this, workers_.size()));
  worker.start(connect);
  return worker;
}

http::Http2Connection& GrpcWorkload::connection(std::size_t origin, std::size_t worker) {
  auto& connection = pools_[origin][worker % connections_];
  if (connection == nullptr) [[unlikely]]
    connection = std::make_unique<http::Http2Connection>(load_.loop(), *peers_[origin]);
  return *connection;
}

std::string_view GrpcWorkload::read_rows(const GrpcItem& item, std::uint64_t arrival) {
  if (item.prepared->row_slots().empty()) return {};
  const auto row = rows_->row(arrival);
  if (!row) return to_string(row.error());
  row_.assign(row->begin(), row->end());
  return {};
}

kernel::ErrorId GrpcWorkload::error_of(NetError error) {
  kernel::ErrorId& id = errors_[static_cast<std::size_t>(error)];
  if (id == kernel::kNoName) id = plan_.names->errors.id(net::to_string(error));
  return id;
}

void GrpcWorkload::flush(kernel::Recorder& recorder) {
  std::uint64_t serving = 0;
  for (const auto& pool : pools_)
    for (const auto& connection : pool)
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
    for (std::size_t k = 0; k < now.by_address.size(); ++k)
      recorder.count(run::kCounters + address++, now.by_address[k] - before.by_address[k]);
    before = now;
  }
  if (!rows_) return;
  const document::JoinCounts now = rows_->counts();
  for (const std::uint64_t by :
       {now.lookups - joins_.lookups, now.hits - joins_.hits, now.in_memory - joins_.in_memory})
    recorder.count(run::kCounters + address++, by);
  joins_ = now;
}

}  // namespace onbeat::bench
