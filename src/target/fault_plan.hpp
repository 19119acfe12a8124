// Decides which faults strike which request. One plan a server, shared by its loops; any thread.
#pragma once

#include "target/fault.hpp"

#include <atomic>
#include <cstdint>
#include <limits>
#include <optional>
#include <span>
#include <string_view>
#include <vector>

namespace onbeat::target {

/// What is to happen to one request.
struct Effects {
  Duration delay{0};
  Instant not_before = Instant::min();
  int status = 0;  // 0: as the request asks
  bool reset = false;
  bool unanswered = false;
  bool garbage = false;
  bool interim = false;
  bool trailers = false;
  bool say_close = false;
  bool close = false;  // after the answer
  Duration close_wait{0};
  bool cut = false;
  std::optional<std::uint64_t> cut_at;  // bytes; none: the head and half of the body
  std::uint64_t excess = 0;
  std::uint64_t slow_bytes = 0;  // at a time; 0: as fast as it goes
  Duration slow_gap{0};

  // Of HTTP/2.
  std::optional<std::uint32_t> reset_stream;  // the error code
  std::optional<std::uint32_t> goaway;        // the error code
  Duration goaway_wait{0};
  std::optional<std::uint32_t> max_streams;
  Duration window_stall{0};

  // Of gRPC.
  std::optional<std::uint32_t> grpc_status;
  std::string_view grpc_message;  // lives as long as the fault
  bool status_in_trailers = false;
  bool no_grpc_status = false;

  /// Whether the bytes are other ones than without faults.
  [[nodiscard]] bool change_bytes() const noexcept {
    return status != 0 || garbage || interim || trailers || say_close || excess != 0;
  }
  void add(const Fault& fault) noexcept;
};

class FaultPlan {
 public:
  explicit FaultPlan(std::vector<Fault> faults);

  /// False when no fault was asked for at the start: then strike() need not be called for a request
  /// that brings none of its own.
  [[nodiscard]] bool active() const noexcept { return !faults_.empty(); }
  /// Counts one more request, received at `now`, and says what happens to it. `own` are the faults
  /// that it asks for itself.
  Effects strike(Instant now, std::span<const Fault> own) noexcept;

  /// Until when answers are held back; `now` when they are not.
  [[nodiscard]] Instant stalled_until(Instant now) const noexcept {
    return stops_.load(std::memory_order_relaxed) ? until(FaultKind::stall, stall_, now) : now;
  }
  /// Until when nothing is to be handled; `now` when it is.
  [[nodiscard]] Instant frozen_until(Instant now) const noexcept {
    return stops_.load(std::memory_order_relaxed) ? until(FaultKind::freeze, freeze_, now) : now;
  }
  /// What every connection is to be told as it opens, over HTTP/2: GOAWAY with this error code, and
  /// how many streams are allowed at once.
  [[nodiscard]] std::optional<std::uint32_t> goaway_on_connect() const noexcept {
    return goaway_on_connect_;
  }
  [[nodiscard]] std::optional<std::uint32_t> max_streams() const noexcept { return max_streams_; }
  /// One more connection: whether it may stay. Each that may is to be given back with leave().
  [[nodiscard]] bool enter() noexcept;
  void leave() noexcept { open_.fetch_sub(1, std::memory_order_relaxed); }

 private:
  static constexpr std::int64_t kNotYet = std::numeric_limits<std::int64_t>::max();

  [[nodiscard]] bool strikes(const Fault& fault, std::uint64_t number, Instant now) const noexcept;
  void apply(const Fault& fault, Instant now, Effects& effects) noexcept;
  void stop(std::atomic<std::int64_t>& what, Instant until) noexcept;
  [[nodiscard]] Instant queue(Instant now, Duration service) noexcept;
  [[nodiscard]] Instant until(FaultKind kind, const std::atomic<std::int64_t>& struck,
                              Instant now) const noexcept;

  std::vector<Fault> faults_;
  std::uint64_t connection_limit_ = std::numeric_limits<std::uint64_t>::max();
  std::optional<std::uint32_t> goaway_on_connect_, max_streams_;
  std::atomic<std::uint64_t> open_{0};  // connections
  std::atomic<std::uint64_t> requests_{0};
  std::atomic<std::int64_t> first_{kNotYet};  // when the first request came, in ns
  std::atomic<std::int64_t> stall_, freeze_;  // struck by a request: until when, in ns
  std::atomic<std::int64_t>
      server_free_;                 // capacity: when the one server has done its queue, in ns
  std::atomic<bool> stops_{false};  // whether there is any stall or freeze to look for
};

}  // namespace onbeat::target
