#include "cli/call_command.hpp"

#include "bench/answer_judge.hpp"
#include "bench/document_set.hpp"
#include "bench/grpc_plan.hpp"
#include "cli/console.hpp"
#include "net/epoll_loop.hpp"
#include "options/format.hpp"
#include "options/surroundings.hpp"
#include "report/escape.hpp"
#include "run/redact.hpp"
#include <onbeat/kernel/task.hpp>

#include <fmt/format.h>

#include <memory>
#include <optional>
#include <string>
#include <vector>

namespace onbeat::cli {
namespace {

using document::Step;
using options::Problem;
using run::ExitCode;

constexpr int kPassed = 0, kNotPassed = 1;

/// Passes what an EXTRACT binds on to later requests of the same call.
class Watcher final : public bench::AnswerWatcher {
 public:
  Watcher(bench::AnswerJudge& judge, const bench::GrpcExchange& exchange,
          document::Variables& variables, const document::RenderContext& context)
      : judge_(judge), exchange_(exchange), variables_(variables), context_(context) {}
  void reached(const bench::GrpcCall& call, std::size_t step) override {
    judge_.advance(call, exchange_, variables_, context_, progress, step, true, true);
  }
  bench::JudgeProgress progress;

 private:
  bench::AnswerJudge& judge_;
  const bench::GrpcExchange& exchange_;
  document::Variables& variables_;
  const document::RenderContext& context_;
};

/// One file, on a loop of its own.
class Caller {
 public:
  Caller(const bench::GrpcPlan& plan, const bench::GrpcItem& item)
      : plan_(plan),
        item_(item),
        judge_(plan),
        exchange_(loop_, plan, true),
        variables_(item.prepared->make_variables()) {}

  int run() {
    std::optional<document::RowReader> rows;
    if (plan_.rows) {
      rows.emplace(*plan_.rows, item_.prepared->row_slots());
      if (const auto row = rows->row(0)) variables_.begin(*row);
    } else {
      variables_.begin({});
    }
    context_ = {.seed = plan_.seed, .arrival = 0, .values = variables_.values()};
    timespec now{};
    clock_gettime(CLOCK_REALTIME, &now);
    context_.unix_ms = std::int64_t{now.tv_sec} * 1000 + now.tv_nsec / 1'000'000;
    auto task = all();
    task.start();
    loop_.run();
    for (auto& connection : connections_) connection->cancel();
    if (!print(stdout, text_)) return static_cast<int>(ExitCode::usage);
    if (!error_.empty()) print(stderr, "error: " + error_ + "\n");
    return code_;
  }

 private:
  kernel::Task<void> all() {
    for (const bench::GrpcOrigin& origin : plan_.origins) {
      peers_.push_back(bench::make_peer(origin, plan_));
      connections_.push_back(std::make_unique<http::Http2Connection>(loop_, *peers_.back()));
    }
    for (const bench::GrpcCall& call : item_.calls) {
      if (!text_.empty()) text_ += "\n";
      if (!co_await one(call)) break;
    }
    loop_.stop();
  }

  kernel::Task<bool> one(const bench::GrpcCall& call) {
    http::Http2Connection& connection = *connections_[call.origin];
    if (!connection.is_open()) {
      http::Http2Stream stream;
      const http::Exchange opened = co_await connection.open(stream);
      if (opened.error != net::NetError::none) {
        error_ = fmt::format("{}: no connection to {}: {}{}", net::to_string(opened.error),
                             plan_.origins[call.origin].authority(),
                             net::describe(opened.error, opened.system_error),
                             connection.failure().empty() ? "" : ": " + connection.failure());
        code_ = static_cast<int>(ExitCode::unreachable);
        co_return false;
      }
    }
    Watcher watcher(judge_, exchange_, variables_, context_);
    show_request(call);
    const std::string_view fault = co_await exchange_.run(call, connection, context_, watcher);
    if (!fault.empty()) {
      error_ = fmt::format("{}: the request cannot be made: {}", call.path, fault);
      code_ = kNotPassed;
      co_return false;
    }
    const bool passed = judge_.advance(call, exchange_, variables_, context_, watcher.progress,
                                       call.steps.size(), true, true);
    show_answer(call, passed);
    if (!passed) code_ = kNotPassed;
    co_return passed;
  }

  void line(std::string_view mark, std::string_view what) {
    text_ += fmt::format("{} {}\n", mark, report::for_terminal(what));
  }

  void show_request(const bench::GrpcCall& call) {
    const bench::GrpcOrigin& origin = plan_.origins[call.origin];
    line(">", fmt::format("{} on {}://{} ({})", call.document->document->endpoint(), origin.scheme,
                          origin.authority(), grpc::to_string(call.method.shape)));
    for (const auto& [name, value] : call.document->headers) {
      std::string rendered;
      static_cast<void>(value.render(context_, rendered));
      line(">", run::redact_header(fmt::format("{}: {}", name, rendered)));
    }
    grpc::MessageReader reader(*call.schema, *call.method.input);
    bench::RequestScratch scratch;
    for (const bench::GrpcStep& step : call.steps) {
      if (step.step().kind != Step::Kind::request || step.step().attributes.skip) continue;
      for (const bench::RequestMessage& message : step.messages) {
        std::string bytes = message.is_constant() ? message.framed() : std::string();
        if (bytes.empty() && !message.append(context_, scratch, bytes).empty()) continue;
        std::string json;
        grpc::JsonText sink(json);
        if (reader.read(std::string_view(bytes).substr(grpc::kPrefix), sink)) line(">", json);
      }
    }
  }

  void show_metadata(const grpc::MetadataList& list) {
    for (std::size_t i = 0; i < list.size(); ++i) {
      if (list.name(i).starts_with(':')) continue;
      line("<", run::redact_header(fmt::format("{}: {}", list.name(i), list.value(i))));
    }
  }

  void show_answer(const bench::GrpcCall& call, bool passed) {
    show_metadata(exchange_.headers());
    for (std::size_t i = 0; i < exchange_.messages(); ++i)
      line("<", judge_.message_json(call, exchange_.message(i)));
    show_metadata(exchange_.trailers());
    const grpc::CallOutcome& outcome = exchange_.outcome();
    std::string status =
        fmt::format("{} after {}", grpc::to_string(outcome.status),
                    options::format_duration(exchange_.done() - exchange_.began()));
    status +=
        fmt::format("; {} sent, {} received", options::format_size(outcome.exchange.bytes_sent),
                    options::format_size(outcome.exchange.bytes_received));
    line("*", status);
    if (outcome.status != grpc::StatusCode::ok) line("*", judge_.status_json(call, exchange_));
    for (const std::string& failure : judge_.failures()) line("!", failure);
    line("*", passed ? "passed" : "not passed");
  }

  const bench::GrpcPlan& plan_;
  const bench::GrpcItem& item_;
  net::EpollLoop loop_;
  std::vector<std::unique_ptr<http::Peer>> peers_;
  std::vector<std::unique_ptr<http::Http2Connection>> connections_;
  bench::AnswerJudge judge_;
  bench::GrpcExchange exchange_;
  document::Variables variables_;
  document::RenderContext context_;
  std::string text_, error_;
  int code_ = kPassed;
};

}  // namespace

int call_command(const options::Settings& settings) {
  const options::Surroundings around = options::system_surroundings();
  bench::DocumentSet documents = bench::read_documents({.paths = settings.all("file")}, around);
  std::vector<Problem> errors = std::move(documents.errors);
  bench::GrpcPlanOptions options{.address = settings.text("address")};
  if (const auto time = options::parse_duration(settings.text("timeout")); time)
    options.timeout = *time;
  if (const auto time = options::parse_duration(settings.text("connect-timeout")); time)
    options.connect_timeout = *time;
  bench::GrpcTarget target;
  if (errors.empty()) {
    auto rows = bench::open_rows(documents, options.seed, around, errors);
    if (errors.empty())
      target = bench::make_grpc_target(documents.chains, std::move(rows), options, around, errors);
  }
  show(errors);
  if (!errors.empty()) return static_cast<int>(ExitCode::usage);
  show(documents.warnings, "warning");
  if (target.unreachable) {
    show({*target.unreachable});
    return static_cast<int>(ExitCode::unreachable);
  }
  int code = kPassed;
  for (const bench::GrpcItem& item : target.plan.items)
    code = std::max(code, Caller(target.plan, item).run());
  return code;
}

}  // namespace onbeat::cli
