// The built-in server: HTTP/1.1 and HTTP/2 (by prior knowledge: who begins with its preface), or
// gRPC over HTTP/2. It answers at once, or as its options, the request's path (answer.hpp) and
// faults (fault.hpp) say. Test bench, and the far end of calibration.
//
// A gRPC target answers any method: one reply for each message that it receives, as it comes, and
// at least one; the delay is that of the first. Deadlines are kept; messages are not looked into,
// so that they may be compressed in any way.
//
// One HttpTarget a loop, whose hook it takes; everything in it belongs to the loop's thread, but
// counts(). Several
// targets that listen at one address and share a FaultPlan are one server: see target_server.hpp.
#pragma once

#include "http/http2_memory.hpp"
#include "net/loop.hpp"
#include "target/answer.hpp"
#include "target/fault_plan.hpp"
#include "target/http2_stream.hpp"
#include "target/service_line.hpp"

#include <atomic>
#include <cstdint>
#include <expected>
#include <list>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace onbeat::target {

class HttpConnection;
class Http2Connection;

struct HttpTargetOptions {
  /// Before every answer, unless the path says otherwise.
  Duration delay{0};
  /// The body's size, unless the path says otherwise.
  std::uint64_t bytes = 0;
  /// 200 to 599, unless the path says otherwise.
  int status = 200;
  std::vector<Fault> faults{};
  /// Serves gRPC with these instead of HTTP; `bytes` and `status` do not apply.
  std::optional<GrpcAnswers> grpc{};
  /// Requests stand in this line before their delay begins; shared by all loops. Null: none.
  std::shared_ptr<ServiceLine> line{};
};

/// Since the start. connections = refused + open + those that have ended.
struct TargetCounts {
  std::uint64_t connections = 0;
  std::uint64_t refused = 0;
  std::uint64_t open = 0;
  std::uint64_t requests = 0;  // whole and valid
  std::uint64_t answers = 0;   // gone out whole, as far as the faults let them

  TargetCounts& operator+=(const TargetCounts& other) noexcept;
};

class HttpTarget final : private net::AcceptHandler, private net::TurnHook {
 public:
  /// `plan` is borrowed; without one the target makes its own from options.faults.
  HttpTarget(net::Loop& loop, const HttpTargetOptions& options, FaultPlan* plan = nullptr);
  ~HttpTarget();
  HttpTarget(const HttpTarget&) = delete;
  HttpTarget& operator=(const HttpTarget&) = delete;

  /// Begins to accept. The address with its real port, or the errno.
  std::expected<net::Address, int> listen(const net::Address& at);
  /// Any thread.
  [[nodiscard]] TargetCounts counts() const noexcept;

 private:
  friend class HttpConnection;
  friend class Http2Connection;
  friend struct Http2Callbacks;

  // Written by the loop's thread alone: no locked instruction.
  class Count {
   public:
    void add(std::uint64_t n) noexcept {
      value_.store(value_.load(std::memory_order_relaxed) + n, std::memory_order_relaxed);
    }
    [[nodiscard]] std::uint64_t get() const noexcept {
      return value_.load(std::memory_order_relaxed);
    }

   private:
    std::atomic<std::uint64_t> value_{0};
  };

  void accepted(std::unique_ptr<net::Transport> transport) override;
  Instant on_turn(Instant now) noexcept override;
  void turn_took(Duration) noexcept override {}
  void woke_late(Duration) noexcept override {}
  /// Goes on in HTTP/2 with a connection of which `received` has been read.
  void upgrade(HttpConnection& connection, std::string_view received) noexcept;
  void serve_http2(std::unique_ptr<net::Transport> transport, std::string_view received) noexcept;
  void remove(HttpConnection& connection) noexcept;
  void remove(Http2Connection& connection) noexcept;
  /// When a request that came at `now` has been served; its delay begins then.
  Instant served(Instant now) noexcept { return line_ ? line_->serve(now) : now; }

  net::Loop& loop_;
  AnswerDefaults defaults_;
  std::shared_ptr<ServiceLine> line_;
  std::unique_ptr<FaultPlan> own_plan_;
  FaultPlan& plan_;
  Count connections_, refused_, ended_, requests_, answers_;
  std::optional<GrpcAnswers> grpc_;
  http::Http2Memory memory_;              // before the connections that use it
  std::string room_;                      // to make frames in
  std::vector<Http2Connection*> marked_;  // for the end of this turn
  std::unique_ptr<net::Listener> listener_;
  std::list<HttpConnection> open_;
  std::list<Http2Connection> http2_;
};

}  // namespace onbeat::target
