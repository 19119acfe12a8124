#include "target/target_process.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sched.h>
#include <sys/socket.h>
#include <unistd.h>

#include <string>
#include <thread>

namespace onbeat::target {
namespace {

// In a thread of its own: the calling thread's affinity changes.
template <class Work>
void apart(Work work) {
  std::thread(work).join();
}

unsigned cpus_of_this_thread() {
  cpu_set_t set;
  return sched_getaffinity(0, sizeof set, &set) == 0 ? static_cast<unsigned>(CPU_COUNT(&set)) : 0;
}

std::string exchange(const net::Address& with) {
  const int fd = ::socket(with.family(), SOCK_STREAM, 0);
  std::string answer(1000, '\0');
  const std::string request = "GET / HTTP/1.1\r\nHost: t\r\nConnection: close\r\n\r\n";
  if (::connect(fd, with.data(), with.size()) != 0 ||
      ::send(fd, request.data(), request.size(), MSG_NOSIGNAL) < 0) {
    ::close(fd);
    return {};
  }
  const ssize_t n = ::recv(fd, answer.data(), answer.size(), 0);
  answer.resize(n > 0 ? static_cast<std::size_t>(n) : 0);
  ::close(fd);
  return answer;
}

TEST(TargetProcess, ServesApartAndEndsWithItsObject) {
  apart([] {
    const unsigned before = cpus_of_this_thread();
    net::Address address;
    {
      const auto process = TargetProcess::start({.bytes = 3});
      ASSERT_TRUE(process.has_value()) << process.error();
      address = (*process)->address();
      EXPECT_THAT(exchange(address), testing::EndsWith("\r\n\r\nxxx"));
      EXPECT_THAT((*process)->text(), testing::StartsWith("built-in http target at 127.0.0.1:"));
      EXPECT_THAT((*process)->text(), testing::EndsWith("(calibration)"));
      EXPECT_EQ((*process)->cpu().has_value(), before > 1);
      if (before > 1) EXPECT_EQ(cpus_of_this_thread(), before - 1);
    }
    EXPECT_EQ(exchange(address), "");
  });
}

TEST(TargetProcess, LeavesTheGeneratorsCpusAlone) {
  apart([] {
    cpu_set_t set;
    ASSERT_EQ(sched_getaffinity(0, sizeof set, &set), 0);
    std::vector<unsigned> all;
    for (unsigned cpu = 0; cpu < CPU_SETSIZE; ++cpu)
      if (CPU_ISSET(cpu, &set)) all.push_back(cpu);
    const auto shared = TargetProcess::start({}, all);
    ASSERT_TRUE(shared.has_value());
    EXPECT_FALSE((*shared)->cpu().has_value());
    if (all.size() < 2) return;
    const unsigned last = all.back();
    const auto other = TargetProcess::start({}, std::span(&last, 1));
    ASSERT_TRUE(other.has_value());
    EXPECT_EQ((*other)->cpu(), all[all.size() - 2]);
    EXPECT_EQ(cpus_of_this_thread(), all.size());
  });
}

}  // namespace
}  // namespace onbeat::target
