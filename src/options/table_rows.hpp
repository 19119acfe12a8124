// The parts of the table that stand in files of their own. Private to the table.
#pragma once

#include "options/table.hpp"

#include <span>
#include <vector>

namespace onbeat::options {

/// Request, connections, TLS, expectations.
std::vector<Option> http_rows();
/// Where options come from besides the command line.
std::vector<Option> source_rows();

}  // namespace onbeat::options
