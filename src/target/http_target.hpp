// The built-in HTTP/1.1 server: answers at once, or as its options, the request's path (answer.hpp)
// and faults (fault.hpp) say. Test bench, and the far end of calibration.
//
// One HttpTarget a loop; everything in it belongs to the loop's thread, but counts(). Several
// targets that listen at one address and share a FaultPlan are one server: see target_server.hpp.
#pragma once

#include "net/loop.hpp"
#include "target/answer.hpp"
#include "target/fault_plan.hpp"

#include <atomic>
#include <cstdint>
#include <expected>
#include <list>
#include <memory>
#include <vector>

namespace onbeat::target {

class HttpConnection;

struct HttpTargetOptions {
  /// Before every answer, unless the path says otherwise.
  Duration delay{0};
  /// The body's size, unless the path says otherwise.
  std::uint64_t bytes = 0;
  std::vector<Fault> faults{};
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

class HttpTarget final : private net::AcceptHandler {
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
  void remove(HttpConnection& connection) noexcept;

  net::Loop& loop_;
  AnswerDefaults defaults_;
  std::unique_ptr<FaultPlan> own_plan_;
  FaultPlan& plan_;
  Count connections_, refused_, ended_, requests_, answers_;
  std::unique_ptr<net::Listener> listener_;
  std::list<HttpConnection> open_;
};

}  // namespace onbeat::target
