#include "run/host.hpp"

#include <sched.h>
#include <sys/resource.h>
#include <sys/sysinfo.h>
#include <sys/utsname.h>
#include <unistd.h>

#include <algorithm>
#include <cstdlib>
#include <fstream>
#include <iterator>
#include <sstream>

namespace onbeat::run {
namespace {

std::string first_line(const std::string& path) {
  std::ifstream file(path);
  std::string line;
  std::getline(file, line);
  return line;
}

std::string cpu_model() {
  std::ifstream file("/proc/cpuinfo");
  for (std::string line; std::getline(file, line);) {
    if (!line.starts_with("model name") && !line.starts_with("Model")) continue;
    const auto colon = line.find(": ");
    if (colon != std::string::npos) return line.substr(colon + 2);
  }
  return {};
}

std::vector<int> affinity() {
  std::vector<int> cpus;
  cpu_set_t set;
  if (sched_getaffinity(0, sizeof set, &set) == 0)
    for (int cpu = 0; cpu < CPU_SETSIZE; ++cpu)
      if (CPU_ISSET(cpu, &set)) cpus.push_back(cpu);
  return cpus;
}

// The tightest quota of this process's cgroup and those above it (cgroup v2).
double cgroup_quota() {
  std::ifstream file("/proc/self/cgroup");
  std::string path;
  for (std::string line; std::getline(file, line);)
    if (line.starts_with("0::")) path = line.substr(3);
  double quota = 0;
  for (;;) {
    const double here = parse_cpu_max(first_line("/sys/fs/cgroup" + path + "/cpu.max"));
    if (here > 0 && (quota == 0 || here < quota)) quota = here;
    const auto slash = path.rfind('/');
    if (slash == std::string::npos || path.empty()) return quota;
    path.resize(slash);
  }
}

std::uint64_t raise_descriptor_limit() {
  rlimit limit{};
  if (getrlimit(RLIMIT_NOFILE, &limit) != 0) return 1024;
  if (limit.rlim_cur < limit.rlim_max) {
    rlimit raised{limit.rlim_max, limit.rlim_max};
    if (setrlimit(RLIMIT_NOFILE, &raised) == 0) limit = raised;
  }
  return limit.rlim_cur;
}

// Not getrusage's: Linux keeps there what the process that started this one took before exec.
std::uint64_t peak_memory() {
  std::ifstream file("/proc/self/status");
  for (std::string line; std::getline(file, line);)
    if (line.starts_with("VmHWM:")) return std::strtoull(line.c_str() + 6, nullptr, 10) * 1024;
  return 0;
}

}  // namespace

double parse_cpu_max(const std::string& text) {
  std::istringstream words(text);
  double quota = 0;
  double period = 0;
  return words >> quota >> period && period > 0 ? quota / period : 0;
}

Host read_host() {
  Host host;
  host.online_cores = static_cast<unsigned>(std::max(sysconf(_SC_NPROCESSORS_ONLN), 1L));
  host.affinity = affinity();
  host.cores =
      host.affinity.empty() ? host.online_cores : static_cast<double>(host.affinity.size());
  host.quota = cgroup_quota();
  if (host.quota > 0) host.cores = std::min(host.cores, host.quota);
  host.cpu = cpu_model();
  utsname name{};
  if (uname(&name) == 0) host.kernel = std::string(name.sysname) + " " + name.release;
  struct sysinfo info{};
  if (sysinfo(&info) == 0) host.memory_bytes = std::uint64_t{info.totalram} * info.mem_unit;
  host.clock_source =
      first_line("/sys/devices/system/clocksource/clocksource0/current_clocksource");
  host.descriptors = raise_descriptor_limit();
  std::istringstream range(first_line("/proc/sys/net/ipv4/ip_local_port_range"));
  std::uint32_t low = 0;
  std::uint32_t high = 0;
  if (range >> low >> high && high >= low) host.local_ports = high - low + 1;
  return host;
}

CpuTimes read_cpu_times(const std::vector<int>& cpus) {
  CpuTimes times;
  const double tick = 1.0 / static_cast<double>(sysconf(_SC_CLK_TCK));
  std::ifstream file("/proc/stat");
  for (std::string line; std::getline(file, line) && line.starts_with("cpu");) {
    if (line[3] == ' ') continue;  // the sum over all
    std::istringstream words(line.substr(3));
    int cpu = 0;
    words >> cpu;
    if (std::ranges::find(cpus, cpu) == cpus.end()) continue;
    // user nice system idle iowait irq softirq steal; guest is part of user
    double column[8]{};
    for (double& each : column) words >> each;
    times.busy += tick * (column[0] + column[1] + column[2] + column[5] + column[6]);
    times.steal += tick * column[7];
    for (const double each : column) times.total += tick * each;
  }
  return times;
}

ProcessUsage process_usage() {
  rusage usage{};
  getrusage(RUSAGE_SELF, &usage);
  const auto duration = [](const timeval& time) {
    return std::chrono::seconds(time.tv_sec) + std::chrono::microseconds(time.tv_usec);
  };
  return {duration(usage.ru_utime) + duration(usage.ru_stime), peak_memory()};
}

}  // namespace onbeat::run
