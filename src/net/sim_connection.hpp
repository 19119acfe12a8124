// One simulated connection: two pipes, and the state that the kernel would keep for both sockets.
// Private to the simulation.
#pragma once

#include "net/sim.hpp"

#include <deque>
#include <string>

namespace onbeat::net {

class SimTransport;

class SimConnection final : public SimEvent, public std::enable_shared_from_this<SimConnection> {
 public:
  static constexpr int kClient = 0, kServer = 1;

  SimConnection(SimWorld& world, SimPlan plan, std::uint64_t seed, Address client);

  /// Makes the client's transport and sends the SYN.
  std::unique_ptr<Transport> begin(SimLoop& loop);
  /// Makes the server's transport.
  std::unique_ptr<Transport> accept(SimLoop& loop, std::uint64_t listener);

  // What a socket's system calls do; `side` is the caller's.
  IoResult read(int side, std::span<char> into);
  IoResult write(int side, std::span<const std::string_view> pieces);
  void shutdown(int side);
  void close(int side);
  void reset(int side);
  /// SO_ERROR: reads and clears.
  int take_error(int side) noexcept { return std::exchange(ends_[side].error, 0); }

  // What poll() says of a socket.
  [[nodiscard]] bool can_read(int side) const noexcept;
  [[nodiscard]] bool can_write(int side) const noexcept;
  /// EPOLLRDHUP, EPOLLHUP or EPOLLERR.
  [[nodiscard]] bool ending(int side) const noexcept;

  void happen(int what) override;

 private:
  enum What : int {
    arrive_at_client,
    arrive_at_server,
    space_client,
    space_server,
    syn,
    answer,
    cut_now
  };
  enum class Kind : std::uint8_t { established, data, fin, rst };
  struct Segment {
    Kind kind;
    std::string bytes;
  };
  struct Pipe {
    Pipe(const SimDirection& direction, std::uint64_t seed) : plan(direction), random(seed) {}
    SimDirection plan;
    kernel::Random random;
    std::deque<Segment> under_way;
    Instant latest_arrival = Instant::min();
    Instant line_free = Instant::min();
    std::size_t unread = 0;  // written and not yet read at the other end
    std::uint64_t arrived = 0;
    bool fin_sent = false;
    bool wants_space = false;
  };
  struct End {
    SimLoop* loop = nullptr;
    SimTransport* transport = nullptr;
    std::string received;
    std::size_t taken = 0;  // of `received`
    int error = 0;
    bool connected = false;
    bool fin = false;     // received
    bool closed = false;  // by its process
    bool dead = false;    // reset, or given up: answers nothing any more
  };

  /// The pipe that `side` writes into.
  [[nodiscard]] Pipe& pipe(int side) noexcept { return side == kClient ? up_ : down_; }
  [[nodiscard]] const Pipe& pipe(int side) const noexcept { return side == kClient ? up_ : down_; }
  void send(int side, Kind kind, std::string bytes = {});
  void send_data(int side, std::string bytes);
  void syn_arrives();
  void answer_arrives();
  void arrive(int at);
  void data_arrives(int at, std::string bytes);
  void established();
  void kill(int side);
  void cut();
  void mark(int side);
  void record(std::string_view kind, int side, std::string_view bytes = {});

  SimWorld& world_;
  SimPlan plan_;
  Address client_;
  Pipe up_, down_;
  std::array<End, 2> ends_;
  std::uint64_t listener_ = 0;
};

class SimTransport final : public Transport, private SimTarget {
 public:
  SimTransport(SimLoop& loop, std::shared_ptr<SimConnection> connection, int side, Address peer)
      : loop_(loop), connection_(std::move(connection)), side_(side), peer_(peer) {}
  ~SimTransport() override { close(); }
  SimTransport(const SimTransport&) = delete;
  SimTransport& operator=(const SimTransport&) = delete;

  IoResult read_some(std::span<char> into) noexcept override;
  IoResult write_some(std::span<const std::string_view> pieces) noexcept override;
  [[nodiscard]] bool readable() const noexcept override { return readable_; }
  void wait_readable(Waiter& waiter) noexcept override { reader_ = &waiter; }
  void wait_writable(Waiter& waiter) noexcept override { writer_ = &waiter; }
  void forget_waiters() noexcept override { reader_ = writer_ = nullptr; }
  [[nodiscard]] int connect_result() noexcept override;
  void shutdown_write() noexcept override;
  void reset() noexcept override;
  void close() noexcept override;
  [[nodiscard]] Address peer() const override { return peer_; }

  void mark() { loop_.mark(*this); }

 private:
  void on_events() override;
  void let_go() noexcept;

  SimLoop& loop_;
  std::shared_ptr<SimConnection> connection_;
  int side_;
  Address peer_;
  bool readable_ = false, writable_ = false, ending_ = false;
  Waiter* reader_ = nullptr;
  Waiter* writer_ = nullptr;
};

class SimListener final : public Listener, private SimTarget {
 public:
  SimListener(SimLoop& loop, Address at, AcceptHandler& handler);
  ~SimListener() override;
  SimListener(const SimListener&) = delete;
  SimListener& operator=(const SimListener&) = delete;

  [[nodiscard]] Address address() const override { return at_; }
  [[nodiscard]] std::uint64_t id() const noexcept { return id_; }
  void add(std::shared_ptr<SimConnection> connection);
  void one_closed();

 private:
  void on_events() override;
  [[nodiscard]] bool can_accept() const noexcept {
    return !backlog_.empty() && open_ < loop_.world_.accept_limit(at_);
  }

  SimLoop& loop_;
  Address at_;
  AcceptHandler& handler_;
  std::uint64_t id_;
  std::deque<std::shared_ptr<SimConnection>> backlog_;
  std::size_t open_ = 0;
};

}  // namespace onbeat::net
