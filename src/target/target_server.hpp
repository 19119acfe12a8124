// The target as a server of its own: N threads, each with its own loop and its own listening
// socket at one address (SO_REUSEPORT shares connections out), and one fault plan.
#pragma once

#include "target/http_target.hpp"

#include <cstdio>
#include <expected>
#include <memory>
#include <string>
#include <vector>

namespace onbeat::target {

class TargetServer {
 public:
  /// Listening and running when it returns; port 0 is chosen by the system. Or why not, in one
  /// sentence.
  static std::expected<std::unique_ptr<TargetServer>, std::string> start(
      const HttpTargetOptions& options, const net::Address& at, unsigned threads = 1);
  /// Stops.
  ~TargetServer();
  TargetServer(const TargetServer&) = delete;
  TargetServer& operator=(const TargetServer&) = delete;

  [[nodiscard]] const net::Address& address() const noexcept { return address_; }
  /// Any thread.
  [[nodiscard]] TargetCounts counts() const noexcept;
  /// Closes all connections. Once stopped it stays so; counts remain.
  void stop();

 private:
  struct Worker;
  explicit TargetServer(const HttpTargetOptions& options);

  FaultPlan plan_;
  net::Address address_;
  std::vector<std::unique_ptr<Worker>> workers_;
  TargetCounts final_counts_;
};

/// `onbeat target http` or `grpc`: serves until SIGINT or SIGTERM. One line with the address goes
/// to `out` once it listens; when it cannot, one line to `err`. Returns the exit code: 0, or 2.
/// Call it before the process has other threads: it takes the two signals.
int run_target(const HttpTargetOptions& options, const net::Address& at, unsigned threads,
               std::FILE* out, std::FILE* err);

}  // namespace onbeat::target
