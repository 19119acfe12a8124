// The real loop: edge-triggered epoll, one thread, a few hundred lines.
//
// A turn: wait (until an event, a timer or the hook's instant), read the clock, call the hook if
// its instant has come, deal with the events, fire timers, run what was posted, call the hook.
// System calls on the way of a small exchange: one send, one receive, a share of one epoll_pwait2.
#pragma once

#include "net/loop.hpp"

#include <sys/epoll.h>

#include <array>
#include <atomic>
#include <mutex>
#include <vector>

namespace onbeat::net {

/// Something that epoll reports on.
class EventTarget {
 public:
  virtual void on_events(std::uint32_t events) noexcept = 0;

 protected:
  ~EventTarget() = default;
};

struct EpollLoopOptions {
  /// Poll without sleeping: exact release, one core fully used.
  bool spin = false;
};

class EpollLoop final : public Loop {
 public:
  /// Throws std::system_error when the system refuses a descriptor.
  explicit EpollLoop(EpollLoopOptions options = {});
  ~EpollLoop() override;

  [[nodiscard]] Instant now() noexcept override { return latest_ = kernel::Monotonic::now(); }
  [[nodiscard]] Instant latest() const noexcept override { return latest_; }
  std::expected<std::unique_ptr<Transport>, int> connect(const Address& to,
                                                         const ConnectOptions& options) override;
  std::expected<std::unique_ptr<Listener>, int> listen(const Address& at,
                                                       AcceptHandler& handler) override;
  void post(std::function<void()> work) override;
  [[nodiscard]] Timers& timers() noexcept override { return timers_; }
  [[nodiscard]] std::span<char> scratch() noexcept override { return scratch_; }
  void set_hook(TurnHook* hook) noexcept override;
  void run() override;
  void stop() override;

  /// Errno, 0 when the descriptor is now watched.
  int watch(int fd, std::uint32_t events, EventTarget& target) noexcept;
  /// Forgets what this turn still holds for a target that is about to go.
  void forget(EventTarget& target) noexcept;
  /// Within on_events(): false once its target has been forgotten.
  [[nodiscard]] bool target_lives() const noexcept { return events_[event_].data.ptr != nullptr; }

 private:
  static constexpr std::size_t kEvents = 256;

  void turn() noexcept;
  void wait(Instant until) noexcept;
  void call_hook() noexcept;
  void run_posted();

  EpollLoopOptions options_;
  int epoll_ = -1;
  int wake_ = -1;  // eventfd: something was posted
  Instant latest_;
  Timers timers_;
  TurnHook* hook_ = nullptr;
  Instant hook_at_ = kNever;
  std::array<epoll_event, kEvents> events_;
  std::size_t event_ = 0, event_count_ = 0;
  bool stopping_ = false;
  std::atomic<bool> posted_flag_{false};
  std::mutex posted_mutex_;
  std::vector<std::function<void()>> posted_;
  std::vector<char> scratch_;
};

}  // namespace onbeat::net
