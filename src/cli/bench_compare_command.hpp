// `onbeat bench-compare BASE CURRENT`.
#pragma once

#include "options/settings.hpp"

namespace onbeat::cli {

/// 0: no regression, 1: one, 2: a file that is no report.
int bench_compare_command(const options::Settings& settings);

}  // namespace onbeat::cli
