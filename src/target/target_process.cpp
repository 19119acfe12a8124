#include "target/target_process.hpp"

#include "target/target_server.hpp"

#include <sched.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <csignal>
#include <cstring>
#include <system_error>
#include <vector>

namespace onbeat::target {
namespace {

std::vector<unsigned> allowed_cpus() {
  cpu_set_t set;
  std::vector<unsigned> cpus;
  if (sched_getaffinity(0, sizeof set, &set) != 0) return cpus;
  for (unsigned cpu = 0; cpu < CPU_SETSIZE; ++cpu)
    if (CPU_ISSET(cpu, &set)) cpus.push_back(cpu);
  return cpus;
}

bool keep_to(std::span<const unsigned> cpus) {
  cpu_set_t set;
  CPU_ZERO(&set);
  for (const unsigned cpu : cpus) CPU_SET(cpu, &set);
  return sched_setaffinity(0, sizeof set, &set) == 0;
}

/// What the child says once: its port, or why it has none.
struct Greeting {
  std::uint16_t port = 0;
  std::array<char, 200> why{};
};

[[noreturn]] void serve(const HttpTargetOptions& options, std::optional<unsigned> cpu, int link) {
  // They are meant for the generator, which ends this process.
  std::signal(SIGINT, SIG_IGN);
  std::signal(SIGTERM, SIG_IGN);
  if (cpu) keep_to({&*cpu, 1});
  const auto server = TargetServer::start(options, net::Address::ipv4_loopback(0));
  Greeting greeting;
  if (server) {
    greeting.port = (*server)->address().port();
  } else {
    server.error().copy(greeting.why.data(), greeting.why.size() - 1);
  }
  char unused = 0;
  if (::send(link, &greeting, sizeof greeting, MSG_NOSIGNAL) == sizeof greeting)
    while (::recv(link, &unused, 1, 0) == -1 && errno == EINTR) {
    }
  _exit(0);
}

}  // namespace

std::expected<std::unique_ptr<TargetProcess>, std::string> TargetProcess::start(
    const HttpTargetOptions& options, std::span<const unsigned> generator) {
  std::unique_ptr<TargetProcess> process(new TargetProcess);
  process->grpc_ = options.grpc.has_value();
  std::vector<unsigned> cpus = allowed_cpus();
  std::erase_if(cpus,
                [&](unsigned cpu) { return std::ranges::find(generator, cpu) != generator.end(); });
  if (!cpus.empty() && (cpus.size() > 1 || !generator.empty())) process->cpu_ = cpus.back();

  std::array<int, 2> links{};
  if (socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, links.data()) != 0)
    return std::unexpected("cannot talk to a process: " + std::generic_category().message(errno));
  process->link_ = links[0];
  process->pid_ = ::fork();
  if (process->pid_ == 0) {
    ::close(links[0]);
    serve(options, process->cpu_, links[1]);
  }
  ::close(links[1]);
  if (process->pid_ < 0)
    return std::unexpected("cannot start a process: " + std::generic_category().message(errno));
  Greeting greeting;
  if (::recv(links[0], &greeting, sizeof greeting, MSG_WAITALL) != sizeof greeting)
    return std::unexpected("the target's process has ended");
  if (greeting.port == 0) return std::unexpected(std::string(greeting.why.data()));
  process->address_ = net::Address::ipv4_loopback(greeting.port);
  if (process->cpu_ && generator.empty()) {
    cpus.pop_back();
    keep_to(cpus);
  }
  return process;
}

TargetProcess::~TargetProcess() {
  if (link_ >= 0) ::close(link_);
  while (pid_ > 0 && ::waitpid(pid_, nullptr, 0) == -1 && errno == EINTR) {
  }
}

std::string TargetProcess::text() const {
  return std::string("built-in ") + (grpc_ ? "grpc" : "http") + " target at " +
         address_.to_string() + (cpu_ ? " on CPU " + std::to_string(*cpu_) : "") + " (calibration)";
}

}  // namespace onbeat::target
