// The event loop as everything above it sees it: real (EpollLoop) or simulated (SimLoop). One a
// thread.
#pragma once

#include "net/address.hpp"
#include "net/timers.hpp"
#include "net/transport.hpp"
#include <onbeat/kernel/clock.hpp>

#include <expected>
#include <functional>
#include <memory>
#include <span>
#include <vector>

namespace onbeat::net {

/// Called once a turn, when what was ready has been dealt with, and at the instant it asked for:
/// the place where due arrivals are released.
class TurnHook {
 public:
  /// `now` is the loop's latest reading. Returns the next instant to be called at, events or not;
  /// kNever for none.
  virtual Instant on_turn(Instant now) noexcept = 0;
  /// Called before the loop waits for events: how long the turn took, from its wake-up to its last
  /// clock reading.
  virtual void turn_took(Duration duration) noexcept = 0;
  /// The loop woke later than the instant it was to wake at.
  virtual void woke_late(Duration by) noexcept = 0;

 protected:
  ~TurnHook() = default;
};

class AcceptHandler {
 public:
  virtual void accepted(std::unique_ptr<Transport> connection) = 0;

 protected:
  ~AcceptHandler() = default;
};

/// Closes when destroyed.
class Listener {
 public:
  virtual ~Listener() = default;
  [[nodiscard]] virtual Address address() const = 0;
};

struct ConnectOptions {
  /// Bind to this address first; family none: the kernel chooses.
  Address source;
};

class Loop {
 public:
  virtual ~Loop() = default;

  /// Reads the clock. Loop thread only (other threads read Monotonic).
  [[nodiscard]] virtual Instant now() noexcept = 0;
  /// The latest reading: no older than the beginning of this turn.
  [[nodiscard]] virtual Instant latest() const noexcept = 0;

  /// Begins to connect. On success a transport that becomes writable when the outcome is known
  /// (connect_result()); else the errno of what failed at once.
  virtual std::expected<std::unique_ptr<Transport>, int> connect(const Address& to,
                                                                 const ConnectOptions& options) = 0;
  /// Listens, backlog as large as the system allows; port 0 is chosen by the system. `handler` is
  /// borrowed.
  virtual std::expected<std::unique_ptr<Listener>, int> listen(const Address& at,
                                                               AcceptHandler& handler) = 0;

  /// Runs `work` on the loop's thread, soon. Any thread.
  virtual void post(std::function<void()> work) = 0;

  [[nodiscard]] virtual Timers& timers() noexcept = 0;
  /// A buffer for one read: valid until control returns to the loop. 64 KiB.
  [[nodiscard]] virtual std::span<char> scratch() noexcept = 0;
  /// One hook, borrowed; null for none.
  virtual void set_hook(TurnHook* hook) noexcept = 0;

  /// Calls `waiter` once, when this turn has released what is due, or is over: where what several
  /// have gathered is written at once. It must live until it is called or taken back.
  void call_later(Waiter& waiter) { later_.push_back(&waiter); }
  void forget_later(const Waiter& waiter) noexcept;

  /// Runs until stop(). stop(): any thread.
  virtual void run() = 0;
  virtual void stop() = 0;

 protected:
  [[nodiscard]] bool has_later() const noexcept { return !later_.empty(); }
  void run_later() noexcept;

 private:
  std::vector<Waiter*> later_;
};

}  // namespace onbeat::net
