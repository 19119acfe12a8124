// One stream of an HTTP/2 connection of the target: the request as it comes, and what is answered.
// No I/O: Http2Connection moves the bytes. Streams are used again, so that a call allocates nothing
// once warm.
#pragma once

#include "http/request_parser.hpp"
#include "net/timers.hpp"
#include "target/answer.hpp"
#include "target/fault_plan.hpp"

#include <nghttp2/nghttp2.h>

#include <cstdint>
#include <limits>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace onbeat::target {

class Http2Connection;

/// What the gRPC target answers with.
struct GrpcAnswers {
  /// Each reply: a message with its prefix.
  std::string frame = std::string(5, '\0');
  std::uint32_t status = 0;
  std::string message{};  // with the status, percent-encoded
};

/// A message as it goes over the wire: not compressed, its length in four bytes, its bytes.
[[nodiscard]] std::string grpc_frame(std::string_view message);
/// A message of that size, not 1, which protobuf reads as values of field 15.
[[nodiscard]] std::string filler_message(std::uint64_t bytes);
/// The value of a grpc-message field (gRPC over HTTP/2, "Status-Message").
[[nodiscard]] std::string percent_encoded(std::string_view text);
/// The value of a grpc-timeout field; nothing when it is not valid.
[[nodiscard]] std::optional<Duration> parse_grpc_timeout(std::string_view value) noexcept;

class Http2Stream final : public net::Timer {
 public:
  /// A new request. `replies`: of the gRPC target; null for HTTP.
  void begin(Http2Connection& connection, std::int32_t id, const GrpcAnswers* replies) noexcept;
  void end() noexcept { connection_ = nullptr; }

  void take_field(std::string_view name, std::string_view value, Instant now);
  /// All fields have come.
  void take_head_end();
  void take_body(std::string_view bytes);
  void take_end();

  [[nodiscard]] std::int32_t id() const noexcept { return id_; }
  [[nodiscard]] bool is_grpc() const noexcept { return replies_ != nullptr; }
  [[nodiscard]] const http::ReceivedRequest& request() const noexcept { return request_; }
  [[nodiscard]] std::span<const Fault> own_faults() const noexcept { return own_faults_; }
  /// Why the request is not served; empty when it is.
  [[nodiscard]] const std::string& refusal() const noexcept { return refusal_; }
  [[nodiscard]] bool is_whole() const noexcept { return whole_; }
  /// Whether there is something to answer to: the whole request; of gRPC, a message.
  [[nodiscard]] bool wants_answer() const noexcept {
    return whole_ || messages_ > 0 || !refusal_.empty();
  }
  [[nodiscard]] Instant deadline() const noexcept { return deadline_; }
  /// Whether a content type of gRPC was said.
  [[nodiscard]] bool has_grpc_content() const noexcept { return grpc_content_; }

  /// The body of an answer: a text, or filler.
  void answer_with(std::string text, std::uint64_t filler, bool trailers) noexcept;
  /// Replies to all messages that have come. `last`: nothing follows but the trailers.
  void reply(bool last) noexcept;
  /// Gives bytes of the body, as nghttp2_data_source_read_callback does. `done`: it was the last.
  ssize_t read(std::span<std::uint8_t> into, bool& done) noexcept;

  // The connection's book-keeping of it.
  Effects effects;
  bool counted = false;    // as a request; `due` is known
  bool answering = false;  // the head of the answer has been submitted
  bool finishing = false;  // its end too
  bool deferred = false;   // the body waits for more to reply to
  bool touched = false;    // is looked at at the end of this turn
  std::uint32_t grpc_status = 0;
  std::string_view grpc_message;
  bool has_trailers = false;
  Instant due;
  Instant window_opens = Instant::min();  // window-stall
  std::size_t unconsumed = 0;             // of the stream's window

 private:
  void on_timer(Instant now) noexcept override;
  void take_message_bytes(std::string_view bytes) noexcept;
  void refuse(std::string_view why);
  [[nodiscard]] std::uint64_t replies_owed() const noexcept {
    return messages_ == 0 && whole_ ? 1 : messages_;
  }

  Http2Connection* connection_ = nullptr;
  const GrpcAnswers* replies_ = nullptr;
  std::int32_t id_ = 0;
  http::ReceivedRequest request_;
  std::vector<Fault> own_faults_;
  std::string refusal_;
  bool echo_ = false, whole_ = false, grpc_content_ = false;
  Instant deadline_ = kernel::kNever;

  // Of gRPC: where in a message the request is.
  std::uint32_t prefix_bytes_ = 0, length_ = 0, message_left_ = 0;
  std::uint64_t messages_ = 0;

  // The body.
  std::string text_;
  std::size_t text_at_ = 0;
  std::uint64_t filler_left_ = 0;
  std::uint64_t replies_due_ = 0, replied_ = 0;
  std::size_t frame_at_ = 0;
  bool last_ = false;  // nothing comes behind what is there
};

}  // namespace onbeat::target
