// From what the user asked for to what will be done on this host.
#pragma once

#include "options/load_options.hpp"
#include "run/host.hpp"
#include "run/run.hpp"

#include <expected>
#include <string>
#include <vector>

namespace onbeat::run {

/// What the protocol wants to be the least of a plan.
struct PlanNeeds {
  /// Each worker holds a connection of its own (HTTP/1.1), or units_per_connection together
  /// (pipelining). Otherwise all share the connections, at best with so many units on each.
  bool connection_per_worker = true;
  std::uint32_t units_per_connection = 1;
  /// So many units were asked for: without a concurrency the connections are filled with them.
  bool units_asked = false;
  /// Shared by all, and unless asked for only the least of workers, cores and 8.
  bool few_connections = false;
  std::size_t addresses = 1;  // of the target: local ports count for each
  bool local_ports = true;    // false: Unix sockets
};

struct Preflight {
  RunPlan plan;
  std::vector<options::Problem> errors;  // nothing may be sent
  std::vector<options::Problem> warnings;
  /// Values that the options left to the plan, by key ("concurrency", "threads"), to complete
  /// LoadOptions::resolved.
  std::vector<std::pair<std::string, std::string>> decided;
};

/// Resolves every default that depends on the host, and looks whether the host allows it:
/// descriptors, local ports, cores.
[[nodiscard]] Preflight make_plan(const options::LoadOptions& options, const Host& host,
                                  const PlanNeeds& needs);

/// "open, even, 5,000/s for 30 s": the load in words.
[[nodiscard]] std::string load_text(const options::LoadOptions& options, const RunPlan& plan);

/// Arrivals that the schedule will have; empty for a closed loop without a number of requests, and
/// for a search.
[[nodiscard]] std::optional<std::uint64_t> planned_arrivals(const RunPlan& plan);

}  // namespace onbeat::run
