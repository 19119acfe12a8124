// The parts of the table that stand in files of their own. Private to the table.
#pragma once

#include "options/table.hpp"

#include <span>
#include <vector>

namespace onbeat::options {

inline constexpr std::uint64_t kMostThreads = 1024;

/// The keys that shape a rate over time, and the way a run goes.
std::vector<Option> schedule_rows();
/// What `bench` and `call` have for themselves, or with another default.
std::vector<Option> bench_rows();
/// Request, connections, TLS, expectations.
std::vector<Option> http_rows();
/// Comparing runs.
std::vector<Option> compare_rows();
/// What `curve` has for itself, and which rows of `http` it has as well.
std::vector<Option> curve_rows();
[[nodiscard]] bool is_of_curves(const Option& option);
/// Where options come from besides the command line.
std::vector<Option> source_rows();
/// The built-in servers.
std::vector<Option> target_rows();

}  // namespace onbeat::options
