// Writing to files and pipes, so that no failure of one output loses another.
#pragma once

#include <expected>
#include <string>
#include <string_view>

namespace onbeat::report {

/// Writes all of it, however the descriptor splits it. The error is a sentence with the system's
/// reason. SIGPIPE must be ignored by the process, so that a broken pipe is an error and not its
/// end.
std::expected<void, std::string> write_all(int descriptor, std::string_view text);

/// Whether write_file() could begin: the folder is there and may be written to. Asked before a run,
/// so that a wrong path costs none. The error is a sentence with the system's reason.
std::expected<void, std::string> check_writable(const std::string& path);

/// Writes a file whole or not at all: under a temporary name in the same folder, renamed when it is
/// complete (through symbolic links). What is not a regular file (a device, a pipe) is written to
/// directly. "-" is standard output.
std::expected<void, std::string> write_file(const std::string& path, std::string_view text);

}  // namespace onbeat::report
