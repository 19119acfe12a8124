// The target as a process of its own, on a core of its own where there is one to spare: the far end
// of --calibrate, whose CPU time is not taken for the generator's.
//
//   auto target = TargetProcess::start({.grpc = GrpcAnswers{}}, cpu_list);
//   ... (*target)->address() ...      it ends with the object, or with this process
#pragma once

#include "target/http_target.hpp"

#include <expected>
#include <memory>
#include <optional>
#include <span>
#include <string>

namespace onbeat::target {

class TargetProcess {
 public:
  /// Listens on the loopback when it returns; or why not, in one sentence. `generator`: the CPUs
  /// that the load will run on, none of which the target then takes if it can help it. Empty: the
  /// target takes the last CPU that this process may use, and this thread and those that it starts
  /// keep to the others. Call it before the process has other threads.
  static std::expected<std::unique_ptr<TargetProcess>, std::string> start(
      const HttpTargetOptions& options, std::span<const unsigned> generator = {});
  ~TargetProcess();
  TargetProcess(const TargetProcess&) = delete;
  TargetProcess& operator=(const TargetProcess&) = delete;

  [[nodiscard]] const net::Address& address() const noexcept { return address_; }
  /// Which CPU it has for itself; none when it shares those of the generator.
  [[nodiscard]] std::optional<unsigned> cpu() const noexcept { return cpu_; }
  /// For people: "built-in grpc target at 127.0.0.1:40001 on CPU 3 (calibration)".
  [[nodiscard]] std::string text() const;

 private:
  TargetProcess() = default;

  bool grpc_ = false;
  net::Address address_;
  std::optional<unsigned> cpu_;
  int pid_ = -1;
  int link_ = -1;  // a socket: the child ends when it closes
};

}  // namespace onbeat::target
