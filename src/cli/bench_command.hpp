// `onbeat bench FILE...` (also `onbeat grpc`): documents as load.
#pragma once

#include "options/arguments.hpp"
#include "options/threshold.hpp"

namespace onbeat::cli {

/// Metrics and error classes of a gRPC run, for thresholds.
[[nodiscard]] options::Vocabulary bench_vocabulary();
/// The exit code. `arguments` have no problems of their own.
int bench_command(const options::Command& command, const options::Arguments& arguments);

}  // namespace onbeat::cli
