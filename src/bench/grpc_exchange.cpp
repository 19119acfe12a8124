#include "bench/grpc_exchange.hpp"

#include "net/error.hpp"

#include <algorithm>

namespace onbeat::bench {
namespace {

using document::RenderContext;
using document::Step;
using grpc::StatusCode;

constexpr Duration kFirstRetryDelay = std::chrono::milliseconds(100);

/// What one empty message looks like.
const std::string& nothing() {
  static const std::string kNothing(grpc::kPrefix, '\0');
  return kNothing;
}

/// How many messages a section reads; a standalone ASSERTS reads one.
std::size_t reads(const GrpcStep& ready) {
  const Step& step = ready.step();
  switch (step.kind) {
    case Step::Kind::response:
      return ready.prepared->expected.size() * step.attributes.repeat;
    case Step::Kind::asserts:
      return step.attached ? 0 : step.attributes.repeat;
    default:
      return 0;
  }
}

bool reads_an_answer(const Step& step) {
  return step.kind == Step::Kind::response || step.kind == Step::Kind::error ||
         (step.kind == Step::Kind::asserts && !step.attached);
}

}  // namespace

GrpcExchange::GrpcExchange(net::Loop& loop, const GrpcPlan& plan, bool keep_metadata)
    : loop_(loop),
      plan_(plan),
      call_(loop, {.keep_metadata = keep_metadata}),
      rest_(loop.timers()),
      read_timer_(*this) {}

void GrpcExchange::reset() noexcept {
  bytes_.clear();
  received_.clear();
  single_ = ended_ = cancelled_ = read_timed_out_ = false;
}

// The fixed fields stay; what varies is put behind them.
std::string_view GrpcExchange::add_headers(const GrpcCall& call, const RenderContext& context) {
  if (own_of_ != &call) {
    own_.fields = call.request.fields;
    own_of_ = &call;
  } else {
    own_.fields.truncate(call.request.fields.size());
  }
  const auto& headers = call.document->headers;
  for (std::size_t i = call.varying_headers; i < headers.size(); ++i) {
    const auto& [name, value] = headers[i];
    if (name == "user-agent" && value.is_literal()) continue;
    scratch_.clear();
    const auto fault = value.render(context, scratch_);
    if (fault != document::RenderFault::none) return to_string(fault);
    if (grpc::is_binary(name)) {
      own_.fields.add(name, grpc::wire_value(name, scratch_));
    } else if (!grpc::metadata_fault(name, scratch_).empty()) {
      return "template_forbidden_byte";
    } else {
      own_.fields.add(name, scratch_);
    }
  }
  return {};
}

std::string_view GrpcExchange::render(const RequestMessage& message, bool gzip,
                                      const RenderContext& context) {
  std::string& plain = gzip ? scratch_ : body_;
  plain.clear();
  if (message.is_constant()) {
    plain = message.framed();
  } else if (const auto fault = message.append(context, request_scratch_, plain); !fault.empty()) {
    return fault;
  }
  if (!gzip) return {};
  if (!gzip_) gzip_ = std::make_unique<grpc::Gzip>();
  body_.clear();
  gzip_->compress_framed(plain, body_);
  return {};
}

std::string_view GrpcExchange::prepare(const GrpcCall& call, const RenderContext& context) {
  reset();
  if (call.constant) {
    request_ = &call.request;
    return {};
  }
  request_ = &own_;
  if (const auto fault = add_headers(call, context); !fault.empty()) return fault;
  own_.body = nothing();
  if (call.last_request == call.steps.size()) return {};
  const auto& messages = call.steps[call.last_request].messages;
  if (messages.empty()) return {};
  if (const auto fault = render(messages[0], call.gzip, context); !fault.empty()) return fault;
  own_.body = body_;
  return {};
}

void GrpcExchange::take_unary(Instant began, Instant done) noexcept {
  began_ = began;
  done_ = done;
  single_ = call_.outcome().status == StatusCode::ok;
  ended_ = true;
}

std::string_view GrpcExchange::message(std::size_t index) const noexcept {
  if (single_) return call_.message();
  const Received& received = received_[index];
  return std::string_view(bytes_).substr(received.begin, received.size);
}

Instant GrpcExchange::arrived(std::size_t index) const noexcept {
  return single_ ? Instant{} : received_[index].arrived;
}

bool GrpcExchange::timed_out() const noexcept {
  if (read_timed_out_) return true;
  const grpc::CallOutcome& outcome = call_.outcome();
  if (outcome.status != StatusCode::deadline_exceeded) return false;
  // The server keeps the same deadline, and may be the first to say so: its timers are rounded. One
  // that says so long before it means another deadline.
  return !outcome.from_server || done_ - began_ >= plan_.timeout / 10 * 9;
}

std::string GrpcExchange::failure() const {
  return read_timed_out_ ? "no message came in time" : call_.status_message();
}

void GrpcExchange::cancel() noexcept {
  cancelled_ = true;
  rest_.cancel();
  call_.cancel();
}

kernel::Task<std::string_view> GrpcExchange::run(const GrpcCall& call,
                                                 http::Http2Connection& connection,
                                                 const RenderContext& context,
                                                 AnswerWatcher& watcher) {
  const bool whole = call.method.shape == grpc::Shape::unary;
  for (std::uint64_t attempt = 1;; ++attempt) {
    reset();
    began_ = loop_.now();
    std::string_view fault;
    if (whole) {
      fault = co_await unary(call, connection, context);
    } else {
      fault = co_await stream(call, connection, context, watcher);
    }
    loop_.timers().disarm(read_timer_);
    if (!whole) done_ = loop_.now();
    ended_ = true;
    const StatusCode status = call_.outcome().status;
    const bool transient = read_timed_out_ || status == StatusCode::deadline_exceeded ||
                           status == StatusCode::unavailable;
    if (!fault.empty() || cancelled_ || !transient || attempt > call.retries) co_return fault;
    const Duration delay =
        call.retry_delay.value_or(kFirstRetryDelay * static_cast<std::int64_t>(attempt));
    co_await rest_.until(loop_.latest() + delay);
    if (cancelled_) co_return fault;
  }
}

kernel::Task<std::string_view> GrpcExchange::unary(const GrpcCall& call,
                                                   http::Http2Connection& connection,
                                                   const RenderContext& context) {
  const Instant began = began_;
  if (const auto fault = prepare(call, context); !fault.empty()) co_return fault;
  began_ = began;
  std::optional<Duration> timeout = call.timeout;
  for (const GrpcStep& step : call.steps)
    if (step.timeout && reads_an_answer(step.step())) timeout = step.timeout;
  const Instant deadline = began_ + std::min(plan_.timeout, timeout.value_or(plan_.timeout));
  static_cast<void>(co_await call_.unary(connection, *request_, deadline));
  take_unary(began_, loop_.now());
  co_return std::string_view();
}

void GrpcExchange::arm(std::optional<Duration> timeout) noexcept {
  loop_.timers().disarm(read_timer_);
  if (timeout) loop_.timers().arm(read_timer_, loop_.now() + *timeout);
}

void GrpcExchange::take_messages() {
  while (call_.next()) {
    received_.push_back({bytes_.size(), call_.message().size(), call_.message_arrived()});
    bytes_ += call_.message();
  }
}

kernel::Task<std::string_view> GrpcExchange::stream(const GrpcCall& call,
                                                    http::Http2Connection& connection,
                                                    const RenderContext& context,
                                                    AnswerWatcher& watcher) {
  if (const auto fault = add_headers(call, context); !fault.empty()) co_return fault;
  own_.body = {};
  request_ = &own_;
  std::string_view fault;
  bool closed = false;
  std::size_t wanted = 0;
  bool going = co_await call_.start(connection, own_, began_ + plan_.timeout, call.method.shape);
  if (going && call.last_request == call.steps.size()) {
    going = co_await call_.send(nothing(), true);  // a document without REQUEST sends {}
    closed = true;
  }
  for (std::size_t i = 0; i < call.steps.size() && going; ++i) {
    const GrpcStep& ready = call.steps[i];
    const Step& step = ready.step();
    if (step.attributes.skip) continue;
    if (step.kind == Step::Kind::request) {
      watcher.reached(call, i);
      const std::size_t count = ready.messages.size() * step.attributes.repeat;
      for (std::size_t k = 0; k < count && going; ++k) {
        fault = render(ready.messages[k % ready.messages.size()], call.gzip, context);
        if (!fault.empty()) {
          call_.cancel();
          break;
        }
        closed = i == call.last_request && k + 1 == count;
        going = co_await call_.send(body_, closed);
      }
      if (!fault.empty()) break;
    } else if (reads_an_answer(step)) {
      if (!closed && (i > call.last_request)) {
        closed = true;
        going = co_await call_.half_close();
      }
      wanted += reads(ready);
      const auto timeout = ready.timeout ? ready.timeout : call.timeout;
      while (received_.size() < wanted) {
        arm(timeout);
        going = co_await call_.more();
        if (!going) break;
        take_messages();
      }
    }
  }
  if (going && !closed) going = co_await call_.half_close();
  // The rest, for the trailers; surplus messages are counted.
  while (true) {
    arm(call.timeout);
    if (!co_await call_.more()) break;
    take_messages();
  }
  take_messages();
  call_.finish();
  co_return fault;
}

}  // namespace onbeat::bench
