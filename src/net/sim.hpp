// A simulated network: the same Loop, Transport and Listener as the real ones, with virtual time,
// in one thread, decided wholly by a seed. A test runs the real clients and servers over it, a
// thousand seconds in a fraction of one.
//
// A SimWorld is the clock, the queue of what is to happen, and the network; SimLoops take their
// turns in it. What the network does to a connection is a SimPlan: drawn from the world's SimFaults
// by seed, then changed at will by a directed test. Semantics are those of TCP sockets on Linux
// under EpollLoop; transport_conformance_test.cpp holds both to them.
//
// While a loop takes its turn its own clock may run ahead of the world's (reading costs, spend()):
// what it sends leaves at its own time, and the other loops are not held up by it, as if each had
// a core.
#pragma once

#include "net/loop.hpp"
#include <onbeat/kernel/random.hpp>

#include <array>
#include <cstdint>
#include <functional>
#include <iosfwd>
#include <limits>
#include <memory>
#include <queue>
#include <string_view>
#include <utility>
#include <vector>

namespace onbeat::net {

class SimLoop;
class SimListener;
class SimConnection;

/// From `from` to `to` nothing arrives; what would have, arrives at `to`.
struct SimStall {
  Instant from, to;
};

enum class SimSplit : std::uint8_t {
  whole,   // what was written at once arrives at once
  random,  // in pieces of random size
  bytes,   // byte by byte
};

/// One direction of a connection.
struct SimDirection {
  static constexpr std::uint64_t kNoCut = std::numeric_limits<std::uint64_t>::max();

  Duration latency{50'000};
  /// Up to this much on top, drawn for every write; the order is kept.
  Duration jitter{0};
  /// 0: no limit.
  std::uint64_t bytes_per_second = 0;
  /// Bytes that can be under way or wait to be read; at least 1. More would block.
  std::size_t buffer = 256 * 1024;
  SimSplit split = SimSplit::whole;
  /// Between the pieces of one write.
  Duration split_gap{1'000};
  std::vector<SimStall> stalls;
  /// The connection is cut when so many bytes have arrived.
  std::uint64_t cut_after = kNoCut;
};

/// What the network does to one connection.
struct SimPlan {
  /// Counts the connects of the world, from 0.
  std::uint64_t number = 0;
  Address to;
  /// An errno that connect() returns at once (EMFILE, EADDRNOTAVAIL); 0: none.
  int fails_at_once = 0;
  /// An errno that the connect comes to (ECONNREFUSED, EHOSTUNREACH); 0: none.
  int connect_error = 0;
  /// On top of one round trip.
  Duration connect_delay{0};
  SimDirection to_server, to_client;
  /// The connection is cut: what is under way is lost, both sides are reset.
  Instant cut_at = kNever;

  /// As when a firewall drops every SYN: ETIMEDOUT after 127 s, which is what Linux does with its
  /// six retries (tcp(7)).
  void never_answer();
};

/// What the plans of a world are drawn from. Probabilities are per connection, except where a
/// direction is named. The default is a network without faults.
struct SimFaults {
  /// Per direction, uniform.
  Duration latency_min{50'000}, latency_max{50'000};
  Duration jitter{0};
  double refused = 0, unanswered = 0;
  double slow_connect = 0;
  Duration connect_delay{0};  // at most
  /// Half of them at an instant within `cut_within` of the connect, half at an offset within
  /// `cut_bytes` of the bytes to the client.
  double cut = 0;
  Duration cut_within{1'000'000'000};
  std::uint64_t cut_bytes = 1'000;
  /// Per direction: one stall of at most `stall_for`, beginning within `stall_within`.
  double stall = 0;
  Duration stall_for{100'000'000};
  Duration stall_within{1'000'000'000};
  /// Per direction.
  double split = 0, one_byte = 0;
  /// Per direction: a buffer of at most `small_buffer_bytes`.
  double small_buffer = 0;
  std::size_t small_buffer_bytes = 64;
};

/// Something that the world's queue calls.
class SimEvent {
 public:
  virtual ~SimEvent() = default;
  virtual void happen(int what) = 0;
};

class SimWorld {
 public:
  explicit SimWorld(std::uint64_t seed, Instant start = Instant{});
  ~SimWorld();
  SimWorld(const SimWorld&) = delete;
  SimWorld& operator=(const SimWorld&) = delete;

  [[nodiscard]] Instant now() const noexcept { return now_; }
  /// The time of the loop that is taking its turn, else now().
  [[nodiscard]] Instant time() const noexcept;

  void set_faults(const SimFaults& faults) { faults_ = faults; }
  /// Called with the plan of every connect, which it may change.
  void set_planner(std::function<void(SimPlan&)> planner) { planner_ = std::move(planner); }
  /// At most `limit` connections accepted at `at` and not yet closed there; more stay in the
  /// backlog: connected, and never answered.
  void set_accept_limit(const Address& at, std::size_t limit);
  /// Calls `work`, outside all loops, at `when` (at once when that has passed).
  void at(Instant when, std::function<void()> work);
  /// The loop takes no turn in [from, to), as a process between SIGSTOP and SIGCONT; what arrives
  /// waits for it.
  void freeze(SimLoop& loop, Instant from, Instant to);

  /// Lets everything happen up to and including `until`, which is the time then.
  void run_until(Instant until);
  /// Until nothing is left to happen (true) or what is left is later than `limit` (false).
  bool run_until_idle(Instant limit);

  /// A hash of all that has happened: equal runs, equal hashes. Of one build: do not keep it.
  [[nodiscard]] std::uint64_t trace() const noexcept { return trace_; }
  /// One line an event from now on; borrowed, null for none.
  void set_trace_text(std::ostream* out) noexcept { trace_text_ = out; }
  [[nodiscard]] std::uint64_t connects() const noexcept { return connects_; }

 private:
  friend class SimLoop;
  friend class SimListener;
  friend class SimConnection;
  struct Entry {
    Instant at;
    std::uint64_t sequence;
    std::shared_ptr<SimEvent> event;
    int what;
    bool operator>(const Entry& other) const noexcept {
      return std::pair(at, sequence) > std::pair(other.at, other.sequence);
    }
  };

  void schedule(Instant when, std::shared_ptr<SimEvent> event, int what);
  [[nodiscard]] SimPlan plan(const Address& to);
  [[nodiscard]] std::size_t accept_limit(const Address& at) const noexcept;
  [[nodiscard]] SimListener* find_listener(const Address& at, std::uint64_t connection) const;
  [[nodiscard]] SimListener* find_listener(std::uint64_t id) const noexcept;
  [[nodiscard]] std::uint16_t next_port() noexcept;
  /// False when nothing is left to happen up to `limit`.
  bool step(Instant limit);
  void advance(Instant to);
  void record(std::string_view kind, std::uint64_t who, std::uint64_t bytes = 0,
              std::uint64_t content = 0);

  std::uint64_t seed_;
  Instant now_;
  SimFaults faults_;
  std::function<void(SimPlan&)> planner_;
  std::priority_queue<Entry, std::vector<Entry>, std::greater<>> queue_;
  std::uint64_t sequence_ = 0;
  std::uint64_t steps_at_once_ = 0;
  std::vector<SimLoop*> loops_;
  SimLoop* current_ = nullptr;
  std::vector<SimListener*> listeners_;
  std::vector<std::pair<Address, std::size_t>> accept_limits_;
  std::uint64_t connects_ = 0;
  std::uint64_t listens_ = 0;
  std::uint16_t port_ = 0;
  std::uint64_t trace_ = 0;
  std::ostream* trace_text_ = nullptr;
};

/// What a SimLoop reports events to: the counterpart of a watched descriptor.
class SimTarget {
 public:
  virtual void on_events() = 0;

 protected:
  ~SimTarget() = default;

 private:
  friend class SimLoop;
  bool marked_ = false;
};

/// A loop of a world, which must outlive it. It takes its turns whenever the world moves, by its
/// own run() or another's, until it is stopped. All calls, post() and stop() too, from the one
/// thread that the world lives in.
class SimLoop final : public Loop {
 public:
  /// `reading_cost`: how long one now() takes.
  explicit SimLoop(SimWorld& world, Duration reading_cost = Duration{0});
  ~SimLoop() override;
  SimLoop(const SimLoop&) = delete;
  SimLoop& operator=(const SimLoop&) = delete;

  [[nodiscard]] Instant now() noexcept override;
  [[nodiscard]] Instant latest() const noexcept override { return latest_; }
  std::expected<std::unique_ptr<Transport>, int> connect(const Address& to,
                                                         const ConnectOptions& options) override;
  std::expected<std::unique_ptr<Listener>, int> listen(const Address& at,
                                                       AcceptHandler& handler) override;
  void post(std::function<void()> work) override;
  [[nodiscard]] Timers& timers() noexcept override { return timers_; }
  [[nodiscard]] std::span<char> scratch() noexcept override { return scratch_; }
  void set_hook(TurnHook* hook) noexcept override;
  /// Moves the world until stop(); returns at once when the loop was stopped while another moved
  /// it. Throws std::logic_error when nothing is left that could ever stop it.
  void run() override;
  void stop() override;

  /// The code of this turn computes for so long.
  void spend(Duration duration) noexcept;
  [[nodiscard]] SimWorld& world() noexcept { return world_; }

 private:
  friend class SimWorld;
  friend class SimConnection;
  friend class SimListener;
  friend class SimTransport;
  class Posted;
  static constexpr std::size_t kEvents = 256;  // a turn, as EpollLoop

  /// Events wait for `target`: it is called in the next turn.
  void mark(SimTarget& target);
  void forget(SimTarget& target) noexcept;
  [[nodiscard]] bool target_lives() const noexcept { return events_[event_] != nullptr; }
  /// When the next turn begins; kNever when nothing calls for one.
  [[nodiscard]] Instant next_turn() const noexcept;
  void turn();
  void gather();
  void call_hook() noexcept { hook_at_ = hook_->on_turn(latest_); }
  void run_posted();

  SimWorld& world_;
  Duration reading_cost_;
  std::size_t number_;
  Instant local_;
  Instant latest_;
  Timers timers_;
  TurnHook* hook_ = nullptr;
  Instant hook_at_ = kNever;
  std::vector<SimTarget*> marked_;
  std::vector<SimTarget*> events_;
  std::size_t event_ = 0;
  std::vector<std::function<void()>> posted_;
  std::vector<SimStall> freezes_;
  bool active_ = true;
  bool stopped_ = false;
  std::vector<char> scratch_;
};

}  // namespace onbeat::net
