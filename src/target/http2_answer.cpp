// What the HTTP/2 connection of a target answers: the rest of its members.
#include "target/http2_connection.hpp"

#include <array>
#include <charconv>
#include <string>
#include <utility>

namespace onbeat::target {
namespace {

constexpr std::uint32_t kDeadlineExceeded = 4, kInternal = 13;

// The fields of one head, in the form that the encoder takes.
class Fields {
 public:
  /// Both must live until the head has gone out.
  Fields& add(std::string_view name, std::string_view value) noexcept {
    return push(name, value, NGHTTP2_NV_FLAG_NO_COPY_NAME | NGHTTP2_NV_FLAG_NO_COPY_VALUE);
  }
  /// The value must live until the fields are submitted.
  Fields& add_copy(std::string_view name, std::string_view value) noexcept {
    return push(name, value, NGHTTP2_NV_FLAG_NO_COPY_NAME);
  }
  Fields& add(std::string_view name, std::uint64_t value) noexcept {
    Digits& digits = digits_[numbers_++];
    const char* const end = std::to_chars(digits.begin(), digits.end(), value).ptr;
    return add_copy(name, {digits.data(), static_cast<std::size_t>(end - digits.data())});
  }
  Fields& add_status(int status) noexcept {
    return status == 200 ? add(":status", "200")
                         : add(":status", static_cast<std::uint64_t>(status));
  }
  operator std::span<const nghttp2_nv>() const noexcept { return {fields_.data(), size_}; }

 private:
  using Digits = std::array<char, 20>;

  Fields& push(std::string_view name, std::string_view value, int flags) noexcept {
    const auto bytes = [](std::string_view text) {
      return reinterpret_cast<std::uint8_t*>(const_cast<char*>(text.data()));  // NOLINT: C API
    };
    fields_[size_++] = {.name = bytes(name),
                        .value = bytes(value),
                        .namelen = name.size(),
                        .valuelen = value.size(),
                        .flags = static_cast<std::uint8_t>(flags)};
    return *this;
  }

  std::array<nghttp2_nv, 6> fields_;
  std::array<Digits, 3> digits_;
  std::size_t size_ = 0, numbers_ = 0;
};

ssize_t read_body(nghttp2_session* session, std::int32_t, std::uint8_t* into, std::size_t room,
                  std::uint32_t* flags, nghttp2_data_source* source, void*) noexcept {
  auto& stream = *static_cast<Http2Stream*>(source->ptr);
  bool done = false;
  const ssize_t n = stream.read({into, room}, done);
  if (!done) return n;
  *flags |= NGHTTP2_DATA_FLAG_EOF;
  if (!stream.has_trailers) return n;
  *flags |= NGHTTP2_DATA_FLAG_NO_END_STREAM;
  Fields fields;
  if (stream.is_grpc()) {
    if (stream.grpc_status == 0) {
      fields.add("grpc-status", "0");
    } else {
      fields.add("grpc-status", stream.grpc_status);
    }
    if (!stream.grpc_message.empty()) fields.add_copy("grpc-message", stream.grpc_message);
  }
  if (!stream.is_grpc() || stream.effects.trailers)
    fields.add("x-trailer", "first").add("x-trailer-two", "second");
  const std::span<const nghttp2_nv> view = fields;
  nghttp2_submit_trailer(session, stream.id(), view.data(), view.size());
  return n;
}

}  // namespace

void Http2Connection::submit(Http2Stream& stream, std::span<const nghttp2_nv> fields,
                             bool body) noexcept {
  const nghttp2_data_provider provider{.source = {.ptr = &stream}, .read_callback = read_body};
  nghttp2_submit_response(session_, stream.id(), fields.data(), fields.size(),
                          body ? &provider : nullptr);
}

const Wanted& Http2Connection::wanted_by(Http2Stream& stream) {
  const http::ReceivedRequest& request = stream.request();
  if (known_path_ != request.target || known_.text) {
    known_ = read_wishes(request, target_.defaults_);
    known_path_ = request.target;
  }
  return known_;
}

void Http2Connection::answer(Http2Stream& stream, Instant now) noexcept {
  stream.answering = true;
  if (!stream.is_grpc()) stream.finishing = true;
  if (!lets_answer(stream)) {
    stream.finishing = true;
  } else if (stream.is_grpc()) {
    answer_grpc(stream, now);
  } else {
    answer_http(stream);
  }
}

// Does what a fault wants instead of the answer (then false) or ahead of it.
bool Http2Connection::lets_answer(Http2Stream& stream) noexcept {
  const Effects& effects = stream.effects;
  if (effects.reset) {
    transport_->reset();
    ending_ = Ending::dead;
  } else if (effects.garbage) {
    fill();
    output_.add("\x16\x03\x01 this is not HTTP\r\n\r\n");
    linger(effects.close_wait);
  } else if (effects.unanswered) {
    linger(effects.close_wait);
  } else if (effects.reset_stream) {
    nghttp2_submit_rst_stream(session_, NGHTTP2_FLAG_NONE, stream.id(), *effects.reset_stream);
  } else {
    if (effects.say_close) go_away(stream.id(), NGHTTP2_NO_ERROR, Duration{0});
    begin_bytes_faults(effects);
    if (effects.interim) send_interim(stream);
    return true;
  }
  return false;
}

// These count from the first byte of the answer: what is ahead of it is made first.
void Http2Connection::begin_bytes_faults(const Effects& effects) noexcept {
  if (!effects.cut && effects.slow_bytes == 0) return;
  fill();
  if (effects.slow_bytes > 0) output_.slow(effects.slow_bytes, effects.slow_gap);
  if (!effects.cut) return;
  cut_base_ = output_.total();
  cut_in_half_ = !effects.cut_at;
  if (effects.cut_at) output_.cut_at(cut_base_ + *effects.cut_at);
  if (output_.is_cut()) linger(Duration{0});
}

void Http2Connection::send_interim(Http2Stream& stream) noexcept {
  Fields first, second;
  first.add(":status", "100");
  second.add(":status", "103").add("link", "</style.css>; rel=preload");
  for (const std::span<const nghttp2_nv> fields :
       {std::span<const nghttp2_nv>(first), std::span<const nghttp2_nv>(second)})
    nghttp2_submit_headers(session_, NGHTTP2_FLAG_NONE, stream.id(), nullptr, fields.data(),
                           fields.size(), nullptr);
}

void Http2Connection::answer_http(Http2Stream& stream) noexcept {
  const Effects& effects = stream.effects;
  Wanted refused;
  if (!stream.refusal().empty()) {
    refused.status = 400;
    refused.text = stream.refusal();
  }
  const Wanted& wanted = stream.refusal().empty() ? wanted_by(stream) : refused;
  if (wanted.raw) return answer_raw(wanted);
  const int status = effects.status != 0 ? effects.status : wanted.status;
  const bool streamed = wanted.chunked || effects.trailers;
  Fields fields;
  fields.add_status(status);
  if (!streamed && status != 204) fields.add("content-length", wanted.body_size());
  if (wanted.text) fields.add("content-type", "text/plain");
  if (effects.trailers) fields.add("trailer", "x-trailer, x-trailer-two");
  const bool body =
      !is_bodiless(stream.request().method, status) && (wanted.body_size() > 0 || effects.trailers);
  if (body)
    stream.answer_with(wanted.text.value_or(std::string()), wanted.text ? 0 : wanted.bytes,
                       effects.trailers);
  submit(stream, fields, body);
}

// The bytes stand between frames, wherever those are.
void Http2Connection::answer_raw(const Wanted& wanted) noexcept {
  fill();
  output_.add(*wanted.raw);
  target_.answers_.add(1);
  if (wanted.close) linger(Duration{0});
}

void Http2Connection::choose_grpc_status(Http2Stream& stream, Instant now) noexcept {
  stream.grpc_status = target_.grpc_->status;
  stream.grpc_message = target_.grpc_->message;
  if (const Effects& effects = stream.effects; effects.grpc_status) {
    stream.grpc_status = *effects.grpc_status;
    stream.grpc_message = effects.grpc_message;
  }
  if (now >= stream.deadline()) {
    stream.grpc_status = kDeadlineExceeded;
    stream.grpc_message = "deadline exceeded";
  }
  if (!stream.refusal().empty()) {
    stream.grpc_status = kInternal;
    stream.grpc_message = stream.refusal();
  }
}

void Http2Connection::answer_grpc(Http2Stream& stream, Instant now) noexcept {
  const Effects& effects = stream.effects;
  choose_grpc_status(stream, now);
  Fields fields;
  const bool only_http = effects.status != 0 || !stream.has_grpc_content();
  if (only_http) {
    fields.add_status(effects.status != 0 ? effects.status : 415);
  } else {
    fields.add(":status", "200").add("content-type", "application/grpc");
  }
  const bool replies = !only_http && (stream.grpc_status == 0 || effects.status_in_trailers) &&
                       now < stream.deadline() && stream.refusal().empty() &&
                       (!effects.grpc_status || effects.status_in_trailers);
  if (replies) {
    stream.has_trailers = !effects.no_grpc_status;
    stream.finishing = stream.is_whole();
    stream.reply(stream.finishing);
  } else {
    stream.finishing = true;
    if ((!only_http || effects.grpc_status) && !effects.no_grpc_status) {
      fields.add("grpc-status", stream.grpc_status);
      if (!stream.grpc_message.empty()) fields.add_copy("grpc-message", stream.grpc_message);
    }
  }
  submit(stream, fields, replies);
}

// More messages have come, or the end of the request, or the deadline.
void Http2Connection::go_on(Http2Stream& stream, Instant now) noexcept {
  stream.finishing = stream.is_whole() || now >= stream.deadline();
  if (stream.finishing) choose_grpc_status(stream, now);
  stream.reply(stream.finishing);
  if (std::exchange(stream.deferred, false)) nghttp2_session_resume_data(session_, stream.id());
}

}  // namespace onbeat::target
