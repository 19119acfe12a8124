// The least that a client can do, as a yardstick: one connection, one request at a time, in a
// blocking receive. ping_pong HOST PORT PER_SECOND SECONDS prints the median time from send to
// answer in ns.
#include <arpa/inet.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <sys/socket.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <string_view>
#include <thread>
#include <vector>

int main(int argc, char** argv) {
  if (argc != 5) return 2;
  sockaddr_in to{};
  to.sin_family = AF_INET;
  to.sin_port = htons(static_cast<std::uint16_t>(std::atoi(argv[2])));
  if (inet_pton(AF_INET, argv[1], &to.sin_addr) != 1) return 2;
  const int fd = ::socket(AF_INET, SOCK_STREAM, 0), one = 1;
  if (::connect(fd, reinterpret_cast<const sockaddr*>(&to), sizeof to) != 0) return 1;
  setsockopt(fd, IPPROTO_TCP, TCP_NODELAY, &one, sizeof one);

  using Clock = std::chrono::steady_clock;
  const auto gap = std::chrono::nanoseconds(std::chrono::seconds(1)) / std::atoi(argv[3]);
  const int count = std::atoi(argv[3]) * std::atoi(argv[4]);
  constexpr std::string_view request = "GET / HTTP/1.1\r\nHost: 127.0.0.1\r\n\r\n";
  std::array<char, 4096> buffer;
  std::vector<long long> times;
  Clock::time_point due = Clock::now();
  for (int i = 0; i < count; ++i) {
    std::this_thread::sleep_until(due += gap);
    const Clock::time_point began = Clock::now();
    if (::send(fd, request.data(), request.size(), MSG_NOSIGNAL) < 0) return 1;
    if (::recv(fd, buffer.data(), buffer.size(), 0) <= 0) return 1;
    times.push_back(std::chrono::nanoseconds(Clock::now() - began).count());
  }
  ::close(fd);
  std::ranges::sort(times);
  std::printf("%lld\n", times[times.size() / 2]);
}
