// The keys of BENCH sections as a table of a document (docs/grpc.md), from the table of options.
#pragma once

#include <string>

namespace onbeat::options {

/// Markdown: key, flag, value, default, what it does; in the order of the table.
[[nodiscard]] std::string bench_key_table();

}  // namespace onbeat::options
