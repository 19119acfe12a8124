#include "grpc/client.hpp"

namespace onbeat::grpc {

using net::NetError;

namespace {

// A server that keeps the deadline itself may reset the stream a moment before our timer does.
constexpr Duration kSameMoment = std::chrono::milliseconds(1);
constexpr std::uint32_t kCancel = 0x8;  // RFC 9113, 7

StatusCode status_of(NetError error) noexcept {
  switch (error) {
    case NetError::timeout:
      return StatusCode::deadline_exceeded;
    case NetError::cancelled:
      return StatusCode::cancelled;
    case NetError::protocol:
    case NetError::excess_data:
    case NetError::body:
      return StatusCode::internal;
    default:
      return StatusCode::unavailable;
  }
}

}  // namespace

http::Http2Fields call_fields(const CallOptions& options) {
  http::Http2Fields fields;
  fields.add(":method", "POST");
  fields.add(":scheme", options.scheme);
  fields.add(":authority", options.authority);
  fields.add(":path", options.path);
  fields.add("te", "trailers");
  fields.add("content-type", "application/grpc");
  if (!options.user_agent.empty()) fields.add("user-agent", options.user_agent);
  if (options.timeout) fields.add("grpc-timeout", TimeoutText(*options.timeout).view());
  if (options.compression == Compression::gzip) {
    fields.add("grpc-encoding", "gzip");
    fields.add("grpc-accept-encoding", "identity,gzip");
  }
  for (const auto& [name, value] : options.metadata) fields.add(name, wire_value(name, value));
  return fields;
}

Call::Call(net::Loop& loop, const CallLimits& limits) noexcept
    : loop_(loop), limits_(limits), decoder_(limits.max_receive) {}

void Call::begin(const http::Http2Request& request, Instant deadline, Shape shape) noexcept {
  deadline_ = deadline;
  shape_ = shape;
  decoder_.reset();
  status_.reset();
  fault_.reset();
  bad_status_ = is_grpc_ = gzip_encoding_ = other_encoding_ = false;
  why_ = "";
  status_text_.clear();
  details_.clear();
  content_type_.clear();
  metadata_.clear();
  trailers_.clear();
  arrivals_.clear();
  handed_out_ = 0;
  message_ = {};
  outcome_ = {};
  refused_ = request.body.size() > kPrefix + std::size_t{limits_.max_send};
  if (refused_) fail(StatusCode::resource_exhausted, "the request is longer than the limit");
}

Call::Unary Call::unary(http::Http2Connection& connection, const http::Http2Request& request,
                        Instant deadline) noexcept {
  begin(request, deadline, Shape::unary);
  return {*this, connection.exchange(stream_, request, deadline, this), refused_};
}

Call::Start Call::start(http::Http2Connection& connection, const http::Http2Request& request,
                        Instant deadline, Shape shape) noexcept {
  begin(request, deadline, shape);
  return {connection.start(stream_, request, deadline, this), refused_};
}

http::Http2Stream::Send Call::send(std::string_view framed, bool last) noexcept {
  if (framed.size() > kPrefix + std::size_t{limits_.max_send}) {
    fail(StatusCode::resource_exhausted, "a message to be sent is longer than the limit");
    stream_.cancel();
  }
  return stream_.send(framed, last);
}

// --- the response ---

void Call::on_status(int /*status*/, std::string_view /*reason*/) {}

// What the protocol itself says; in the header too, when the server sends no message
// ("Trailers-Only").
bool Call::take_protocol_field(std::string_view name, std::string_view value) {
  if (name == "grpc-status") {
    status_ = parse_status(value);
    bad_status_ = !status_;
  } else if (name == "grpc-message") {
    status_text_.assign(value);
  } else if (name == "grpc-status-details-bin") {
    details_.assign(value);
  } else {
    return false;
  }
  return true;
}

void Call::on_field(std::string_view name, std::string_view value) {
  if (limits_.keep_metadata) metadata_.add(name, value);
  if (name == "content-type") {
    is_grpc_ = value.starts_with("application/grpc");
    if (!is_grpc_) content_type_.assign(value);
  } else if (name == "grpc-encoding") {
    gzip_encoding_ = value == "gzip";
    other_encoding_ = !gzip_encoding_ && value != "identity";
  } else {
    take_protocol_field(name, value);
  }
}

void Call::on_trailer(std::string_view name, std::string_view value) {
  if (limits_.keep_metadata) trailers_.add(name, value);
  take_protocol_field(name, value);
}

void Call::on_body(std::string_view part) {
  // Of a response that is no gRPC (a proxy's page) nothing is looked at but its status.
  if (!is_grpc_ || fault_) return;
  const std::uint64_t before = decoder_.whole();
  const auto fault = decoder_.feed(part);
  for (std::uint64_t i = before; i < decoder_.whole(); ++i) arrivals_.push_back(loop_.latest());
  if (fault == MessageDecoder::Fault::none) return;
  if (fault == MessageDecoder::Fault::too_long) {
    fail(StatusCode::resource_exhausted, "the server sent a message longer than the limit");
  } else {
    fail(StatusCode::internal, "the server sent what is no gRPC message");
  }
  stream_.cancel();
}

bool Call::next() noexcept {
  if (fault_ || !decoder_.next()) return false;
  message_ = decoder_.message();
  message_arrived_ = arrivals_[handed_out_++];
  if (handed_out_ == arrivals_.size()) {
    arrivals_.clear();
    handed_out_ = 0;
  }
  return !decoder_.compressed() || inflate();
}

bool Call::inflate() noexcept {
  if (!gzip_encoding_) {
    other_encoding_
        ? fail(StatusCode::unimplemented, "the server compresses with something else than gzip")
        : fail(StatusCode::internal, "the server sent a compressed message without grpc-encoding");
  } else {
    if (!gzip_) gzip_ = std::make_unique<Gzip>();
    const auto result = gzip_->decompress(message_, limits_.max_receive, inflated_);
    if (result == Gzip::Inflated::ok) {
      message_ = inflated_;
      return true;
    }
    result == Gzip::Inflated::too_long
        ? fail(StatusCode::resource_exhausted,
               "the server sent a message that is longer than the limit once decompressed")
        : fail(StatusCode::internal, "the server sent a message that is no valid gzip");
  }
  message_ = {};
  stream_.cancel();
  return false;
}

// --- the outcome ---

// The first fault counts.
void Call::fail(StatusCode status, const char* why) noexcept {
  if (fault_) return;
  fault_ = status;
  why_ = why;
}

const CallOutcome& Call::finish() noexcept {
  if (!refused_) outcome_.exchange = stream_.outcome();
  outcome_.messages = decoder_.whole();
  if (!fault_) judge(outcome_.exchange);
  if (!fault_ && outcome_.status == StatusCode::ok) judge_messages();
  if (fault_) {
    outcome_.status = *fault_;
    outcome_.from_server = false;
  }
  return outcome_;
}

// Messages must fit the OK that follows them.
void Call::judge_messages() noexcept {
  if (decoder_.within_message()) {
    fail(StatusCode::internal, "the server ended the call within a message");
  } else if (!receives_stream(shape_) && decoder_.whole() != 1) {
    fail(StatusCode::internal, decoder_.whole() == 0 ? "the server sent OK without a message"
                                                     : "the server sent more than one message");
  } else if (shape_ == Shape::unary) {
    static_cast<void>(next());  // it may be found corrupt
  }
}

// What the server said wins; then what HTTP says; then how the transport ended.
void Call::judge(const http::Exchange& exchange) noexcept {
  // Bytes behind a whole response are the connection's fault, not the call's.
  if (exchange.error == NetError::none || exchange.error == NetError::excess_data) {
    if (status_) {
      outcome_.status = *status_;
      outcome_.from_server = true;
    } else if (exchange.status != 200) {
      fail(from_http_status(exchange.status), "an HTTP error without grpc-status");
    } else if (!is_grpc_) {
      fail(StatusCode::unknown, "the response is no gRPC");
    } else {
      fail(StatusCode::internal, bad_status_ ? "the server sent a grpc-status that is no number"
                                             : "the server ended the call without grpc-status");
    }
    return;
  }
  const bool expired = loop_.latest() + kSameMoment >= deadline_;
  if (exchange.error == NetError::stream_reset || exchange.error == NetError::refused) {
    const bool at_deadline = exchange.http2_code == kCancel && expired;
    fail(at_deadline ? StatusCode::deadline_exceeded : from_reset(exchange.http2_code),
         at_deadline ? "the deadline has passed" : "the server reset the stream");
    return;
  }
  fail(status_of(exchange.error),
       exchange.error == NetError::timeout ? "the deadline has passed" : "");
}

std::string Call::status_message() const {
  if (!fault_) return decode_message(status_text_);
  std::string text = why_;
  const http::Exchange& exchange = outcome_.exchange;
  if (text.empty()) return net::describe(exchange.error, exchange.system_error);
  if (exchange.error == NetError::none && exchange.status != 200)
    text += " (" + std::to_string(exchange.status) + ")";
  if (exchange.error == NetError::none && !content_type_.empty())
    text += "; its content type is " + content_type_;
  return text;
}

}  // namespace onbeat::grpc
