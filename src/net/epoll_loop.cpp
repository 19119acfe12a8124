#include "net/epoll_loop.hpp"

#include <fcntl.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <sys/eventfd.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <sys/uio.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <ctime>
#include <system_error>
#include <utility>

namespace onbeat::net {
namespace {

constexpr std::size_t kScratchBytes = 64 * 1024;

void set_no_delay(int fd, int family) noexcept {
  if (family != AF_INET && family != AF_INET6) return;
  const int one = 1;
  setsockopt(fd, IPPROTO_TCP, TCP_NODELAY, &one, sizeof one);
}

// The C library's send() and recv() are points of thread cancellation, which costs two atomic
// operations a call; nobody cancels threads here.
ssize_t send_now(int fd, std::string_view bytes) noexcept {
  return syscall(SYS_sendto, fd, bytes.data(), bytes.size(), MSG_NOSIGNAL | MSG_DONTWAIT, nullptr,
                 0);
}
ssize_t receive_now(int fd, std::span<char> into) noexcept {
  return syscall(SYS_recvfrom, fd, into.data(), into.size(), MSG_DONTWAIT, nullptr, nullptr);
}

class SocketTransport final : public Transport, private EventTarget {
 public:
  SocketTransport(EpollLoop& loop, int fd, Address peer) noexcept
      : loop_(loop), fd_(fd), peer_(peer) {}
  ~SocketTransport() override { close(); }
  SocketTransport(const SocketTransport&) = delete;
  SocketTransport& operator=(const SocketTransport&) = delete;

  [[nodiscard]] int watch() noexcept {
    return loop_.watch(fd_, EPOLLIN | EPOLLOUT | EPOLLRDHUP | EPOLLET, *this);
  }

  IoResult read_some(std::span<char> into) noexcept override {
    if (!readable_) return {0, IoResult::kWouldBlock};
    ssize_t n = 0;
    do n = receive_now(fd_, into);
    while (n < 0 && errno == EINTR);
    if (n < 0) {
      if (errno != EAGAIN) return {0, errno};
      readable_ = false;
      return {0, IoResult::kWouldBlock};
    }
    // A short read has emptied the socket (epoll(7)): the next bytes bring a new edge. But an end
    // or error that epoll has told of already comes with no further edge: it is still to be read.
    if (static_cast<std::size_t>(n) < into.size() && n > 0 && !ending_) readable_ = false;
    return {static_cast<std::size_t>(n), 0};
  }

  IoResult write_some(std::span<const std::string_view> pieces) noexcept override {
    if (!writable_) return {0, IoResult::kWouldBlock};
    ssize_t n = 0;
    std::size_t wanted = 0;
    if (pieces.size() == 1) {
      wanted = pieces[0].size();
      do n = send_now(fd_, pieces[0]);
      while (n < 0 && errno == EINTR);
    } else {
      std::array<iovec, 16> vectors{};
      const std::size_t count = std::min(pieces.size(), vectors.size());
      for (std::size_t i = 0; i < count; ++i) {
        vectors[i] = {const_cast<char*>(pieces[i].data()), pieces[i].size()};
        wanted += pieces[i].size();
      }
      msghdr message{};
      message.msg_iov = vectors.data();
      message.msg_iovlen = count;
      do n = ::sendmsg(fd_, &message, MSG_NOSIGNAL | MSG_DONTWAIT);
      while (n < 0 && errno == EINTR);
    }
    if (n < 0) {
      if (errno != EAGAIN) return {0, errno};
      writable_ = false;
      return {0, IoResult::kWouldBlock};
    }
    if (static_cast<std::size_t>(n) < wanted) writable_ = false;
    return {static_cast<std::size_t>(n), 0};
  }

  [[nodiscard]] bool readable() const noexcept override { return readable_; }
  void wait_readable(Waiter& waiter) noexcept override { reader_ = &waiter; }
  void wait_writable(Waiter& waiter) noexcept override { writer_ = &waiter; }
  void forget_waiters() noexcept override { reader_ = writer_ = nullptr; }

  [[nodiscard]] int connect_result() noexcept override {
    int error = 0;
    socklen_t size = sizeof error;
    return getsockopt(fd_, SOL_SOCKET, SO_ERROR, &error, &size) == 0 ? error : errno;
  }

  void shutdown_write() noexcept override { ::shutdown(fd_, SHUT_WR); }

  void reset() noexcept override {
    const linger at_once{1, 0};
    if (fd_ >= 0) setsockopt(fd_, SOL_SOCKET, SO_LINGER, &at_once, sizeof at_once);
    close();
  }

  void close() noexcept override {
    if (fd_ < 0) return;
    forget_waiters();
    loop_.forget(*this);
    ::close(std::exchange(fd_, -1));
    readable_ = writable_ = false;
  }

  [[nodiscard]] Address peer() const override { return peer_; }

 private:
  void on_events(std::uint32_t events) noexcept override {
    constexpr std::uint32_t ending = EPOLLRDHUP | EPOLLHUP | EPOLLERR;
    if ((events & ending) != 0) ending_ = true;
    if ((events & (EPOLLOUT | EPOLLHUP | EPOLLERR)) != 0) {
      writable_ = true;
      if (writer_ != nullptr) {
        EpollLoop& loop = loop_;  // the waiter may destroy this transport
        std::exchange(writer_, nullptr)->ready();
        if (!loop.target_lives()) return;
      }
    }
    if ((events & (EPOLLIN | ending)) != 0) {
      readable_ = true;
      if (reader_ != nullptr) std::exchange(reader_, nullptr)->ready();
    }
  }

  EpollLoop& loop_;
  int fd_;
  bool readable_ = false, writable_ = false, ending_ = false;
  Waiter* reader_ = nullptr;
  Waiter* writer_ = nullptr;
  Address peer_;
};

class SocketListener final : public Listener, private EventTarget {
 public:
  SocketListener(EpollLoop& loop, int fd, AcceptHandler& handler) noexcept
      : loop_(loop), fd_(fd), handler_(handler) {}
  ~SocketListener() override {
    loop_.forget(*this);
    ::close(fd_);
    ::close(spare_);
  }
  SocketListener(const SocketListener&) = delete;
  SocketListener& operator=(const SocketListener&) = delete;

  [[nodiscard]] int watch() noexcept { return loop_.watch(fd_, EPOLLIN, *this); }

  [[nodiscard]] Address address() const override {
    sockaddr_storage storage{};
    socklen_t size = sizeof storage;
    getsockname(fd_, reinterpret_cast<sockaddr*>(&storage), &size);
    return {reinterpret_cast<const sockaddr*>(&storage), size};
  }

 private:
  // Level-triggered, and at most 64 a turn: a storm of connections does not starve those that are
  // open.
  void on_events(std::uint32_t) noexcept override {
    EpollLoop& loop = loop_;  // the handler may destroy this listener
    for (int i = 0; i < 64 && loop.target_lives(); ++i) {
      sockaddr_storage storage{};
      socklen_t size = sizeof storage;
      const int fd =
          accept4(fd_, reinterpret_cast<sockaddr*>(&storage), &size, SOCK_NONBLOCK | SOCK_CLOEXEC);
      if (fd < 0) {
        if (errno == EMFILE || errno == ENFILE) turn_away();
        return;
      }
      set_no_delay(fd, storage.ss_family);
      auto transport = std::make_unique<SocketTransport>(
          loop, fd, Address(reinterpret_cast<const sockaddr*>(&storage), size));
      if (transport->watch() == 0) handler_.accepted(std::move(transport));
    }
  }

  // No descriptor left: the connection would wait at the socket, and the loop would turn for it
  // without end. The spare descriptor lets it be accepted and closed.
  void turn_away() noexcept {
    ::close(std::exchange(spare_, -1));
    const int fd = accept4(fd_, nullptr, nullptr, SOCK_CLOEXEC);
    if (fd >= 0) ::close(fd);
    spare_ = open_spare();
  }
  static int open_spare() noexcept { return ::open("/dev/null", O_RDONLY | O_CLOEXEC); }

  EpollLoop& loop_;
  int fd_;
  int spare_ = open_spare();
  AcceptHandler& handler_;
};

timespec to_timespec(Duration duration) noexcept {
  constexpr std::int64_t second = 1'000'000'000;
  return {duration.count() / second, duration.count() % second};
}

}  // namespace

EpollLoop::EpollLoop(EpollLoopOptions options)
    : options_(options),
      latest_(kernel::Monotonic::now()),
      timers_(latest_),
      scratch_(kScratchBytes) {
  epoll_ = epoll_create1(EPOLL_CLOEXEC);
  wake_ = eventfd(0, EFD_NONBLOCK | EFD_CLOEXEC);
  epoll_event event{};
  event.events = EPOLLIN | EPOLLET;
  event.data.ptr =
      nullptr;  // stands for wake_: nothing to call, posted work is looked at every turn
  if (epoll_ < 0 || wake_ < 0 || epoll_ctl(epoll_, EPOLL_CTL_ADD, wake_, &event) != 0) {
    const int error = errno;
    if (epoll_ >= 0) ::close(epoll_);
    if (wake_ >= 0) ::close(wake_);
    throw std::system_error(error, std::generic_category(), "cannot make an event loop");
  }
}

EpollLoop::~EpollLoop() {
  ::close(epoll_);
  ::close(wake_);
}

int EpollLoop::watch(int fd, std::uint32_t events, EventTarget& target) noexcept {
  epoll_event event{};
  event.events = events;
  event.data.ptr = &target;
  return epoll_ctl(epoll_, EPOLL_CTL_ADD, fd, &event) == 0 ? 0 : errno;
}

void EpollLoop::forget(EventTarget& target) noexcept {
  for (std::size_t i = event_; i < event_count_; ++i)
    if (events_[i].data.ptr == &target) events_[i].data.ptr = nullptr;
}

std::expected<std::unique_ptr<Transport>, int> EpollLoop::connect(const Address& to,
                                                                  const ConnectOptions& options) {
  const int fd = ::socket(to.family(), SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0);
  if (fd < 0) return std::unexpected(errno);
  auto transport = std::make_unique<SocketTransport>(*this, fd, to);
  set_no_delay(fd, to.family());
  if (options.source.family() != AF_UNSPEC) {
    // The port is chosen at connect time, so that one local port can serve several peers.
    const int one = 1;
    setsockopt(fd, IPPROTO_IP, IP_BIND_ADDRESS_NO_PORT, &one, sizeof one);
    if (::bind(fd, options.source.data(), options.source.size()) != 0)
      return std::unexpected(errno);
  }
  if (::connect(fd, to.data(), to.size()) != 0 && errno != EINPROGRESS && errno != EINTR)
    return std::unexpected(errno);
  if (const int error = transport->watch(); error != 0) return std::unexpected(error);
  return transport;
}

std::expected<std::unique_ptr<Listener>, int> EpollLoop::listen(const Address& at,
                                                                AcceptHandler& handler) {
  const int fd = ::socket(at.family(), SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0);
  if (fd < 0) return std::unexpected(errno);
  auto listener = std::make_unique<SocketListener>(*this, fd, handler);
  const int one = 1;
  setsockopt(fd, SOL_SOCKET, SO_REUSEADDR, &one, sizeof one);
  if (at.family() != AF_UNIX) setsockopt(fd, SOL_SOCKET, SO_REUSEPORT, &one, sizeof one);
  if (::bind(fd, at.data(), at.size()) != 0 || ::listen(fd, SOMAXCONN) != 0)
    return std::unexpected(errno);
  if (const int error = listener->watch(); error != 0) return std::unexpected(error);
  return listener;
}

void EpollLoop::post(std::function<void()> work) {
  {
    const std::lock_guard lock(posted_mutex_);
    posted_.push_back(std::move(work));
    posted_flag_.store(true, std::memory_order_release);
  }
  eventfd_write(wake_, 1);
}

void EpollLoop::set_hook(TurnHook* hook) noexcept {
  hook_ = hook;
  hook_at_ = hook == nullptr ? kNever : Instant::min();
}

void EpollLoop::stop() {
  post([this] { stopping_ = true; });
}

void EpollLoop::run() {
  // The default slack of 50 us would be added to every sleep.
  prctl(PR_SET_TIMERSLACK, 1);
  stopping_ = false;
  latest_ = kernel::Monotonic::now();
  if (hook_ != nullptr) call_hook();
  while (!stopping_) turn();
}

void EpollLoop::turn() noexcept {
  const Instant until = posted_flag_.load(std::memory_order_acquire) || has_later()
                            ? Instant::min()
                            : std::min(hook_at_, timers_.next());
  wait(until);
  const Instant woken = now();
  // What is due goes out before what has arrived is dealt with: its lateness would be ours.
  if (hook_ != nullptr && woken >= hook_at_) {
    if (event_count_ == 0 && until == hook_at_) hook_->woke_late(woken - hook_at_);
    call_hook();
    run_later();
    if (event_count_ == 0 && woken < timers_.next() &&
        !posted_flag_.load(std::memory_order_acquire)) {
      hook_->turn_took(latest_ - woken);
      return;
    }
  }
  for (event_ = 0; event_ < event_count_; ++event_) {
    const epoll_event& event = events_[event_];
    if (event.data.ptr != nullptr)
      static_cast<EventTarget*>(event.data.ptr)->on_events(event.events);
  }
  event_ = event_count_ = 0;
  if (latest_ >= timers_.next()) timers_.expire(latest_);
  if (posted_flag_.load(std::memory_order_acquire)) run_posted();
  if (hook_ != nullptr) call_hook();
  run_later();
  if (hook_ != nullptr) hook_->turn_took(latest_ - woken);
}

void EpollLoop::call_hook() noexcept { hook_at_ = hook_->on_turn(latest_); }

void EpollLoop::wait(Instant until) noexcept {
  int n = 0;
  if (options_.spin) {
    do {
      n = epoll_wait(epoll_, events_.data(), kEvents, 0);
    } while (n == 0 && now() < until && !posted_flag_.load(std::memory_order_relaxed));
  } else if (until == kNever) {
    n = epoll_wait(epoll_, events_.data(), kEvents, -1);
  } else {
    // Relative to the latest reading, which is at most a few microseconds old.
    const timespec timeout = to_timespec(until <= latest_ ? Duration{0} : until - latest_);
    n = static_cast<int>(
        syscall(SYS_epoll_pwait2, epoll_, events_.data(), kEvents, &timeout, nullptr, 0));
  }
  event_count_ = n > 0 ? static_cast<std::size_t>(n) : 0;
}

void EpollLoop::run_posted() {
  std::vector<std::function<void()>> work;
  {
    const std::lock_guard lock(posted_mutex_);
    work.swap(posted_);
    posted_flag_.store(false, std::memory_order_release);
  }
  eventfd_t ignored = 0;
  eventfd_read(wake_, &ignored);
  for (auto& each : work) each();
}

}  // namespace onbeat::net
