// What this host is and allows.
#pragma once

#include <onbeat/kernel/clock.hpp>

#include <cstdint>
#include <string>
#include <vector>

namespace onbeat::run {

struct Host {
  double cores = 1;  // the smaller of affinity and cgroup quota
  unsigned online_cores = 1;
  std::vector<int> affinity;  // the CPUs this process may use
  double quota = 0;           // in cores; 0: none
  std::string cpu;            // model name
  std::string kernel;         // "Linux 6.1.0"
  std::uint64_t memory_bytes = 0;
  std::string clock_source;       // "tsc"
  std::uint64_t descriptors = 0;  // the limit after it was raised as far as allowed
  std::uint32_t local_ports =
      0;  // size of the ephemeral range: connections a peer address can have
};

/// Reads /proc and /sys; raises the soft limit of descriptors to the hard one.
[[nodiscard]] Host read_host();

/// CPU time since boot of the given CPUs together (/proc/stat), in seconds.
struct CpuTimes {
  double busy = 0;  // without idle, iowait and steal
  double steal = 0;
  double total = 0;
};
[[nodiscard]] CpuTimes read_cpu_times(const std::vector<int>& cpus);

/// CPU time (user + system) and peak memory of this process.
struct ProcessUsage {
  kernel::Duration cpu{};
  std::uint64_t peak_rss_bytes = 0;
};
[[nodiscard]] ProcessUsage process_usage();

/// The value of a cgroup's cpu.max ("100000 100000", "max 100000") in cores; 0 when there is none
/// or it is not understood.
[[nodiscard]] double parse_cpu_max(const std::string& text);

}  // namespace onbeat::run
