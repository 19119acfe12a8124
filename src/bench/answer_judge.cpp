#include "bench/answer_judge.hpp"

#include "grpc/metadata.hpp"

#include <fmt/format.h>

#include <algorithm>

namespace onbeat::bench {
namespace {

using document::Answer;
using document::JsonTree;
using document::JsonView;
using document::Step;
using grpc::StatusCode;

/// Builds a tree out of what a message reader reads.
class TreeSink final : public grpc::JsonSink {
 public:
  explicit TreeSink(JsonTree& tree) noexcept : tree_(tree) {}
  void begin_object() override { tree_.begin_object(); }
  void key(std::string_view name) override { tree_.key(name); }
  void end_object() override { tree_.end(); }
  void begin_array() override { tree_.begin_array(); }
  void end_array() override { tree_.end(); }
  void null() override { tree_.null(); }
  void boolean(bool value) override { tree_.boolean(value); }
  void integer(std::int64_t value) override { tree_.integer(value); }
  void real(double value) override { tree_.real(value); }
  void text(std::string_view value) override { tree_.text(value); }

 private:
  JsonTree& tree_;
};

}  // namespace

struct AnswerJudge::CallParts {
  explicit CallParts(const GrpcCall& call) : reader(*call.schema, *call.method.output) {}

  grpc::MessageReader reader;
  /// By step; of other steps empty.
  std::vector<std::optional<document::AssertionRunner>> assertions;
  std::vector<std::optional<document::ExtractionRunner>> extractions;
  bool reads_metadata = false;
};

struct AnswerJudge::Turn {
  const GrpcCall& call;
  const GrpcExchange& exchange;
  document::Variables& variables;
  const document::RenderContext& context;
  JudgeProgress& progress;
  CallParts& parts;
  bool check, collect;
  bool metadata_filled = false;
  std::optional<std::size_t> read;  // which message message_ holds

  [[nodiscard]] bool over() const { return !progress.passed && !collect; }
  [[nodiscard]] bool call_failed() const {
    return exchange.ended() && exchange.outcome().status != StatusCode::ok;
  }
};

AnswerJudge::AnswerJudge(const GrpcPlan& plan) : parts_(plan.calls) {}
AnswerJudge::~AnswerJudge() = default;

AnswerJudge::CallParts& AnswerJudge::parts(const GrpcCall& call) {
  auto& slot = parts_[call.id];
  if (slot) return *slot;
  slot = std::make_unique<CallParts>(call);
  slot->assertions.resize(call.steps.size());
  slot->extractions.resize(call.steps.size());
  for (std::size_t i = 0; i < call.steps.size(); ++i) {
    const document::PreparedStep& step = *call.steps[i].prepared;
    if (step.assertions.size() != 0) slot->assertions[i].emplace(step.assertions);
    if (step.extractions.size() != 0) slot->extractions[i].emplace(step.extractions);
    slot->reads_metadata =
        slot->reads_metadata || step.assertions.size() != 0 || step.extractions.size() != 0;
  }
  return *slot;
}

void AnswerJudge::fail(Turn& turn, document::Position at, std::string message) {
  turn.progress.passed = false;
  failures_.push_back(fmt::format("{}:{}: {}", turn.call.path, at.line, message));
}

void AnswerJudge::fail(Turn& turn, std::size_t index, std::string message) {
  fail(turn, turn.call.steps[index].step().at, std::move(message));
}

bool AnswerJudge::advance(const GrpcCall& call, const GrpcExchange& exchange,
                          document::Variables& variables, const document::RenderContext& context,
                          JudgeProgress& progress, std::size_t step, bool check, bool collect) {
  if (progress.step == 0) failures_.clear();
  Turn turn{.call = call,
            .exchange = exchange,
            .variables = variables,
            .context = context,
            .progress = progress,
            .parts = parts(call),
            .check = check,
            .collect = collect};
  for (; progress.step < step && !turn.over(); ++progress.step) {
    const std::size_t index = progress.step;
    const Step& one = call.steps[index].step();
    if (one.attributes.skip) continue;
    switch (one.kind) {
      case Step::Kind::request:
        break;
      case Step::Kind::response:
        response(turn, index);
        break;
      case Step::Kind::error:
        error(turn, index);
        break;
      case Step::Kind::asserts:
        if (!one.attached) asserts(turn, index);
        break;
      case Step::Kind::extract:
        extract(turn, index);
        break;
    }
  }
  if (exchange.ended() && progress.step == call.steps.size() && !turn.over()) finish(turn);
  return progress.passed;
}

// A message that several sections look at is read once.
bool AnswerJudge::read(Turn& turn, std::size_t message) {
  if (turn.read == message) return true;
  turn.read.reset();
  message_.clear();
  TreeSink sink(message_);
  if (!turn.parts.reader.read(turn.exchange.message(message), sink)) return false;
  turn.read = message;
  return true;
}

void AnswerJudge::read_status(Turn& turn, JsonTree& tree) {
  const grpc::CallOutcome& outcome = turn.exchange.outcome();
  tree.clear();
  tree.begin_object();
  tree.key("code");
  tree.integer(static_cast<int>(outcome.status));
  if (const std::string message = turn.exchange.failure(); !message.empty()) {
    tree.key("message");
    tree.text(message);
  }
  if (const std::string_view details = turn.exchange.details(); !details.empty()) {
    // Details that are no status are left out: the code and the message stand by themselves.
    JsonTree read;
    TreeSink sink(read);
    if (grpc::read_details(details, *turn.call.schema, sink)) {
      tree.key("details");
      tree.copy(read.root());
    }
  }
  tree.end();
}

void AnswerJudge::fill_metadata(Turn& turn) {
  if (turn.metadata_filled || !turn.parts.reads_metadata) return;
  turn.metadata_filled = true;
  decoded_.clear();
  const auto fill = [this](const grpc::MetadataList& from,
                           std::vector<document::MetadataItem>& to) {
    to.clear();
    for (std::size_t i = 0; i < from.size(); ++i) {
      std::string_view value = from.value(i);
      if (grpc::is_binary(from.name(i))) {
        if (auto bytes = grpc::decode_binary(value))
          value = decoded_.emplace_back(std::move(*bytes));
      }
      to.push_back({from.name(i), value});
    }
  };
  // Views into `decoded_` must not move.
  decoded_.reserve(turn.exchange.headers().size() + turn.exchange.trailers().size());
  fill(turn.exchange.headers(), headers_);
  fill(turn.exchange.trailers(), trailers_);
}

Answer AnswerJudge::answer(Turn& turn, JsonView view, std::size_t message, std::size_t in_scope) {
  fill_metadata(turn);
  Instant arrived = turn.exchange.done();
  if (message < turn.exchange.messages() && turn.exchange.arrived(message) != Instant{})
    arrived = turn.exchange.arrived(message);
  JudgeProgress& progress = turn.progress;
  if (progress.scope == Instant{}) progress.scope = turn.exchange.began();
  return {.message = view,
          .headers = headers_,
          .trailers = trailers_,
          .elapsed = arrived - progress.scope,
          .total_elapsed = arrived - turn.exchange.began(),
          .message_count = in_scope,
          .index = in_scope};
}

// The ASSERTS section right behind a RESPONSE or ERROR, for one message of it.
void AnswerJudge::attached(Turn& turn, std::size_t index, const Answer& answer) {
  if (index + 1 >= turn.call.steps.size()) return;
  const Step& next = turn.call.steps[index + 1].step();
  if (next.kind != Step::Kind::asserts || !next.attached || next.attributes.skip) return;
  auto& runner = turn.parts.assertions[index + 1];
  if (!runner) return;
  const auto failed = runner->run(answer, turn.variables);
  if (!failed) return;
  if (!turn.collect)
    return fail(turn, next.assertions[failed->line].at,
                fmt::format("{}: {}", failed->text, failed->message));
  for (const document::AssertionFailure& each : runner->run_all(answer, turn.variables))
    fail(turn, next.assertions[each.line].at, fmt::format("{}: {}", each.text, each.message));
}

void AnswerJudge::response(Turn& turn, std::size_t index) {
  const GrpcStep& ready = turn.call.steps[index];
  const Step& step = ready.step();
  JudgeProgress& progress = turn.progress;
  progress.partial = step.match.partial;
  if (!turn.check) {
    progress.message += ready.prepared->expected.size() * step.attributes.repeat;
    return;
  }
  if (ready.prepared->expected.empty() && progress.message < turn.exchange.messages()) {
    progress.partial = true;  // told here
    return fail(turn, index,
                fmt::format("no message was expected, and {} came",
                            turn.exchange.messages() - progress.message));
  }
  std::size_t in_scope = 0;
  for (std::uint64_t round = 0; round < step.attributes.repeat; ++round) {
    for (const document::Expectation& expected : ready.prepared->expected) {
      if (turn.over()) return;
      if (progress.message >= turn.exchange.messages()) {
        progress.read_status = true;
        const std::string why =
            turn.call_failed()
                ? fmt::format("the call failed with {}: {}",
                              grpc::to_string(turn.exchange.outcome().status),
                              turn.exchange.failure())
                : fmt::format("the call ended after {} messages", turn.exchange.messages());
        return fail(turn, index, "a message was expected, and none came: " + why);
      }
      const std::size_t message = progress.message++;
      ++in_scope;
      if (!read(turn, message)) {
        fail(turn, index, "the message cannot be read by its descriptor");
        continue;
      }
      if (const auto difference = expected.difference(message_.root(), turn.context, expected_))
        fail(turn, index, to_string(*difference));
      if (step.match.with_asserts && !turn.over())
        attached(turn, index, answer(turn, message_.root(), message, in_scope));
    }
  }
  if (progress.message != 0 && turn.exchange.arrived(progress.message - 1) != Instant{})
    progress.scope = turn.exchange.arrived(progress.message - 1);
}

void AnswerJudge::error(Turn& turn, std::size_t index) {
  const GrpcStep& ready = turn.call.steps[index];
  turn.progress.read_status = true;
  if (!turn.check) return;
  if (!turn.call_failed()) return fail(turn, index, "the call was to fail, and its status is OK");
  read_status(turn, status_);
  for (const document::Expectation& expected : ready.prepared->expected) {
    if (const auto difference = expected.difference(status_.root(), turn.context, expected_))
      fail(turn, index, to_string(*difference));
  }
  if (ready.step().match.with_asserts && !turn.over())
    attached(turn, index, answer(turn, status_.root(), turn.exchange.messages(), 1));
}

// One message further, or the last one again; of a call that failed, its status.
void AnswerJudge::asserts(Turn& turn, std::size_t index) {
  const GrpcStep& ready = turn.call.steps[index];
  auto& runner = turn.parts.assertions[index];
  JudgeProgress& progress = turn.progress;
  for (std::uint64_t round = 0; round < ready.step().attributes.repeat && !turn.over(); ++round) {
    const std::size_t count = turn.exchange.messages();
    std::size_t message = progress.message;
    JsonView view;
    if (message < count) {
      ++progress.message;
    } else if (turn.call_failed()) {
      progress.read_status = true;
    } else if (count != 0) {
      message = count - 1;
    }
    if (!turn.check || !runner) continue;
    if (message < count) {
      if (!read(turn, message)) {
        fail(turn, index, "the message cannot be read by its descriptor");
        continue;
      }
      view = message_.root();
    } else if (turn.call_failed()) {
      read_status(turn, status_);
      view = status_.root();
    }
    const Answer seen = answer(turn, view, message, 1);
    const auto failed = runner->run(seen, turn.variables);
    if (!failed) continue;
    const auto& lines = ready.step().assertions;
    if (!turn.collect) {
      fail(turn, lines[failed->line].at, fmt::format("{}: {}", failed->text, failed->message));
      continue;
    }
    for (const document::AssertionFailure& each : runner->run_all(seen, turn.variables))
      fail(turn, lines[each.line].at, fmt::format("{}: {}", each.text, each.message));
  }
}

void AnswerJudge::extract(Turn& turn, std::size_t index) {
  auto& runner = turn.parts.extractions[index];
  if (!runner) return;
  const std::size_t count = turn.exchange.messages();
  const std::size_t message = turn.progress.message != 0 ? turn.progress.message - 1 : 0;
  JsonView view;
  if (message < count) {
    if (!read(turn, message))
      return fail(turn, index, "the message cannot be read by its descriptor");
    view = message_.root();
  } else if (turn.call_failed()) {
    read_status(turn, status_);
    view = status_.root();
  }
  if (const auto failed = runner->run(answer(turn, view, message, 1), turn.variables))
    fail(turn, turn.call.steps[index].step().extractions[failed->line].at,
         fmt::format("{}: {}", failed->text, failed->message));
}

void AnswerJudge::finish(Turn& turn) {
  if (!turn.check) return;
  const JudgeProgress& progress = turn.progress;
  const document::Position at = turn.call.document->document->at;
  if (turn.call_failed() && !progress.read_status)
    return fail(
        turn, at,
        fmt::format("the call failed with {}: {}", grpc::to_string(turn.exchange.outcome().status),
                    turn.exchange.failure()));
  const std::size_t count = turn.exchange.messages();
  if (count > progress.message && !progress.partial && !turn.call_failed())
    fail(turn, at,
         fmt::format("{} messages came, {} more than expected", count, count - progress.message));
}

std::string AnswerJudge::message_json(const GrpcCall& call, std::string_view bytes) {
  std::string text;
  grpc::JsonText sink(text);
  if (parts(call).reader.read(bytes, sink)) return text;
  return fmt::format("({} bytes that are no {})", bytes.size(), "message of the descriptor");
}

std::string AnswerJudge::status_json(const GrpcCall& call, const GrpcExchange& exchange) {
  document::Variables variables(0, 0);
  const document::RenderContext context;
  JudgeProgress progress;
  Turn turn{.call = call,
            .exchange = exchange,
            .variables = variables,
            .context = context,
            .progress = progress,
            .parts = parts(call),
            .check = true,
            .collect = true};
  read_status(turn, status_);
  std::string text;
  document::append_json(status_.root(), text);
  return text;
}

}  // namespace onbeat::bench
