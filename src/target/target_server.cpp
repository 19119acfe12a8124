#include "target/target_server.hpp"

#include "net/epoll_loop.hpp"

#include <csignal>
#include <system_error>
#include <thread>
#include <utility>

namespace onbeat::target {

struct TargetServer::Worker {
  Worker(const HttpTargetOptions& options, FaultPlan& plan) : target(loop, options, &plan) {}
  ~Worker() { stop(); }
  void stop() {
    if (!thread.joinable()) return;
    loop.stop();
    thread.join();
  }
  net::EpollLoop loop;
  HttpTarget target;
  std::thread thread;
};

TargetServer::TargetServer(const HttpTargetOptions& options) : plan_(options.faults) {}

TargetServer::~TargetServer() { stop(); }

std::expected<std::unique_ptr<TargetServer>, std::string> TargetServer::start(
    const HttpTargetOptions& options, const net::Address& at, unsigned threads) {
  std::unique_ptr<TargetServer> server(new TargetServer(options));
  server->address_ = at;
  for (unsigned i = 0; i < threads; ++i) {
    auto& worker = *server->workers_.emplace_back(std::make_unique<Worker>(options, server->plan_));
    // The first one finds the port, the others join it.
    const auto address = worker.target.listen(server->address_);
    if (!address)
      return std::unexpected("cannot listen at " + server->address_.to_string() + ": " +
                             std::generic_category().message(address.error()));
    server->address_ = *address;
  }
  for (auto& worker : server->workers_)
    worker->thread = std::thread([&loop = worker->loop] { loop.run(); });
  return server;
}

TargetCounts TargetServer::counts() const noexcept {
  TargetCounts counts = final_counts_;
  for (const auto& worker : workers_) counts += worker->target.counts();
  return counts;
}

void TargetServer::stop() {
  for (auto& worker : workers_) worker->stop();
  const TargetCounts counts = this->counts();
  workers_.clear();
  final_counts_ = counts;
  final_counts_.open = 0;
}

int run_target(const HttpTargetOptions& options, const net::Address& at, unsigned threads,
               std::FILE* out, std::FILE* err) {
  // Blocked here, the signals are blocked in every thread that starts later, and wait for
  // sigwait().
  sigset_t ends;
  sigemptyset(&ends);
  sigaddset(&ends, SIGINT);
  sigaddset(&ends, SIGTERM);
  pthread_sigmask(SIG_BLOCK, &ends, nullptr);
  const auto server = TargetServer::start(options, at, threads);
  if (!server) {
    std::fprintf(err, "onbeat target: %s\n", server.error().c_str());
    return 2;
  }
  std::fprintf(out, "%s target listens at %s, %u thread%s\n", options.grpc ? "grpc" : "http",
               (*server)->address().to_string().c_str(), threads, threads == 1 ? "" : "s");
  std::fflush(out);
  int signal = 0;
  sigwait(&ends, &signal);
  return 0;
}

}  // namespace onbeat::target
