#include "target/http2_stream.hpp"

#include "target/http2_connection.hpp"

#include <algorithm>
#include <charconv>
#include <cstring>
#include <utility>

namespace onbeat::target {
namespace {

constexpr std::uint32_t kPrefix = 5;  // of a gRPC message

std::size_t copy(std::span<std::uint8_t> into, std::string_view from) noexcept {
  const std::size_t n = std::min(into.size(), from.size());
  std::memcpy(into.data(), from.data(), n);
  return n;
}

}  // namespace

std::string grpc_frame(std::string_view message) {
  std::string frame(1, '\0');
  for (int shift = 24; shift >= 0; shift -= 8)
    frame += static_cast<char>(message.size() >> static_cast<unsigned>(shift) & 0xff);
  return frame.append(message);
}

// 'x' is both the tag of field 15, a varint, and a varint of one byte.
std::string filler_message(std::uint64_t bytes) {
  std::string message(bytes, 'x');
  if (bytes % 2 == 0 || bytes < 3) return message;
  message[1] = '\xf8';  // with the byte behind it a varint of two bytes
  message[2] = '\x01';
  return message;
}

std::string percent_encoded(std::string_view text) {
  constexpr std::string_view digits = "0123456789ABCDEF";
  std::string encoded;
  for (const char c : text) {
    if (c >= ' ' && c <= '~' && c != '%') {
      encoded += c;
    } else {
      const auto byte = static_cast<unsigned char>(c);
      encoded += {'%', digits[byte >> 4], digits[byte & 15]};
    }
  }
  return encoded;
}

std::optional<Duration> parse_grpc_timeout(std::string_view value) noexcept {
  constexpr std::string_view units = "HMSmun";
  constexpr std::int64_t ns[] = {3'600'000'000'000, 60'000'000'000, 1'000'000'000,
                                 1'000'000,         1'000,          1};
  if (value.size() < 2 || value.size() > 9) return std::nullopt;
  const std::size_t unit = units.find(value.back());
  std::int64_t number = 0;
  const char* const end = value.data() + value.size() - 1;
  const auto parsed = std::from_chars(value.data(), end, number);
  if (unit == std::string_view::npos || parsed.ec != std::errc{} || parsed.ptr != end || number < 0)
    return std::nullopt;
  // 8 digits of hours are more than 63 bits of ns.
  constexpr std::int64_t most = std::numeric_limits<std::int64_t>::max() / 2;
  return Duration(number > most / ns[unit] ? most : number * ns[unit]);
}

void Http2Stream::begin(Http2Connection& connection, std::int32_t id,
                        const GrpcAnswers* replies) noexcept {
  connection_ = &connection;
  replies_ = replies;
  id_ = id;
  request_.method.clear();
  request_.target.clear();
  request_.head.clear();
  request_.body.clear();
  request_.body_bytes = 0;
  if (!own_faults_.empty()) own_faults_.clear();
  refusal_.clear();
  echo_ = whole_ = grpc_content_ = false;
  deadline_ = kernel::kNever;
  prefix_bytes_ = length_ = message_left_ = 0;
  messages_ = 0;
  text_.clear();
  text_at_ = 0;
  filler_left_ = 0;
  replies_due_ = replied_ = 0;
  frame_at_ = 0;
  last_ = false;
  effects = {};
  counted = answering = finishing = deferred = touched = has_trailers = false;
  grpc_status = 0;
  grpc_message = {};
  window_opens = Instant::min();
  unconsumed = 0;
}

void Http2Stream::on_timer(Instant) noexcept { connection_->touch(*this); }

void Http2Stream::take_field(std::string_view name, std::string_view value, Instant now) {
  if (name == ":path") {
    request_.target = value;
    echo_ = !is_grpc() && value.find("echo") != std::string_view::npos;
  } else if (name == ":method") {
    request_.method = value;
  } else if (name == "x-fault") {
    auto faults = parse_fault_header(value);
    if (faults) {
      own_faults_ = *std::move(faults);
    } else {
      refuse("X-Fault: " + faults.error());
    }
  } else if (is_grpc() && name == "content-type") {
    grpc_content_ = value.starts_with("application/grpc");
  } else if (is_grpc() && name == "grpc-timeout") {
    if (const auto timeout = parse_grpc_timeout(value)) {
      deadline_ = now + *timeout;
    } else {
      refuse("grpc-timeout: not valid");
    }
  }
  // Which pseudo field comes first is the client's choice: an echo has them all.
  if (!is_grpc() && (echo_ || name.starts_with(':')))
    request_.head.append(name).append(": ").append(value).append("\r\n");
}

void Http2Stream::take_head_end() {
  if (echo_) request_.head += "\r\n";
}

void Http2Stream::take_body(std::string_view bytes) {
  request_.body_bytes += bytes.size();
  if (is_grpc()) {
    take_message_bytes(bytes);
  } else if (echo_) {
    request_.body.append(
        bytes.substr(0, http::ReceivedRequest::kBodyKept -
                            std::min(request_.body.size(), http::ReceivedRequest::kBodyKept)));
  }
}

void Http2Stream::take_message_bytes(std::string_view bytes) noexcept {
  while (!bytes.empty()) {
    if (prefix_bytes_ < kPrefix) {
      if (prefix_bytes_ > 0) length_ = length_ << 8 | static_cast<unsigned char>(bytes.front());
      ++prefix_bytes_;
      bytes.remove_prefix(1);
      if (prefix_bytes_ < kPrefix) continue;
      message_left_ = length_;
    }
    const std::size_t n = std::min<std::size_t>(bytes.size(), message_left_);
    bytes.remove_prefix(n);
    message_left_ -= static_cast<std::uint32_t>(n);
    if (message_left_ > 0) return;
    ++messages_;
    prefix_bytes_ = length_ = 0;
  }
}

void Http2Stream::take_end() {
  whole_ = true;
  if (is_grpc() && prefix_bytes_ > 0) refuse("the request ends within a message");
}

// As it goes out: of gRPC, in a field.
void Http2Stream::refuse(std::string_view why) {
  if (refusal_.empty()) refusal_ = is_grpc() ? percent_encoded(why) : std::string(why) + "\n";
}

void Http2Stream::answer_with(std::string text, std::uint64_t filler, bool trailers) noexcept {
  text_ = std::move(text);
  filler_left_ = filler;
  has_trailers = trailers;
  last_ = true;
}

void Http2Stream::reply(bool last) noexcept {
  replies_due_ = replies_owed();
  last_ = last;
}

ssize_t Http2Stream::read(std::span<std::uint8_t> into, bool& done) noexcept {
  std::size_t n = copy(into, std::string_view(text_).substr(text_at_));
  text_at_ += n;
  while (n < into.size() && filler_left_ > 0) {
    const std::size_t piece =
        copy(into.subspan(n), filler().substr(0, std::min(filler_left_, filler().size())));
    filler_left_ -= piece;
    n += piece;
  }
  while (n < into.size() && replied_ < replies_due_) {
    const std::size_t piece =
        copy(into.subspan(n), std::string_view(replies_->frame).substr(frame_at_));
    n += piece;
    frame_at_ += piece;
    if (frame_at_ < replies_->frame.size()) break;
    frame_at_ = 0;
    ++replied_;
  }
  const bool nothing_left =
      text_at_ == text_.size() && filler_left_ == 0 && replied_ == replies_due_;
  done = last_ && nothing_left;
  deferred = n == 0 && !done;
  return deferred ? NGHTTP2_ERR_DEFERRED : static_cast<ssize_t>(n);
}

}  // namespace onbeat::target
