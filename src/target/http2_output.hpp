// What an HTTP/2 connection of the target sends: all of a loop's turn in one write, and the faults
// that strike bytes instead of frames.
#pragma once

#include "net/transport.hpp"
#include <onbeat/kernel/clock.hpp>

#include <cstdint>
#include <limits>
#include <string>
#include <string_view>

namespace onbeat::target {

using kernel::Duration;
using kernel::Instant;

class Http2Output {
 public:
  enum class State : std::uint8_t {
    sent,     // nothing is left
    blocked,  // until the transport takes more
    paused,   // until resumes_at()
    failed,   // the connection is of no more use
  };

  /// Bytes behind those that have been added before.
  void add(std::string_view bytes) { bytes_.append(bytes); }
  /// Whether what waits is much enough to be written.
  [[nodiscard]] bool is_full() const noexcept { return bytes_.size() - written_ >= kFull; }
  [[nodiscard]] bool empty() const noexcept { return written_ == bytes_.size(); }
  /// Bytes added since the start.
  [[nodiscard]] std::uint64_t total() const noexcept { return gone_ + bytes_.size(); }

  /// Nothing behind the first `total` bytes goes out.
  void cut_at(std::uint64_t total) noexcept { cut_ = total; }
  [[nodiscard]] bool is_cut() const noexcept { return total() >= cut_; }
  /// From now on `bytes` at a time, with pauses between, until end_slow() and what waits then.
  void slow(std::uint64_t bytes, Duration gap) noexcept {
    piece_ = bytes;
    gap_ = gap;
    slow_until_ = std::numeric_limits<std::uint64_t>::max();
  }
  void end_slow() noexcept { slow_until_ = total(); }

  State write(net::Transport& transport, Instant now) noexcept;
  /// After paused.
  [[nodiscard]] Instant resumes_at() const noexcept { return resumes_at_; }

  /// Room to fill, shared by connections that have nothing to send between their turns.
  void borrow(std::string& room) noexcept {
    if (bytes_.empty()) bytes_.swap(room);
  }
  void give_back(std::string& room) noexcept;

 private:
  static constexpr std::size_t kFull = std::size_t{64} << 10;

  std::string bytes_;  // written_ of them have gone out
  std::size_t written_ = 0;
  std::uint64_t gone_ = 0;  // bytes that went before those
  std::uint64_t cut_ = std::numeric_limits<std::uint64_t>::max();
  std::uint64_t piece_ = 0;  // 0: as fast as it goes
  std::uint64_t slow_until_ = 0;
  Duration gap_{0};
  Instant resumes_at_ = Instant::min();
};

}  // namespace onbeat::target
