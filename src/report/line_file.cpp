#include "report/line_file.hpp"

#include "report/output.hpp"

#include <fcntl.h>
#include <fmt/format.h>
#include <unistd.h>

#include <cerrno>
#include <system_error>

namespace onbeat::report {

LineFile::~LineFile() {
  if (descriptor_ > STDERR_FILENO) ::close(descriptor_);
}

std::expected<void, std::string> LineFile::open(std::string_view what, const std::string& path) {
  what_ = what;
  path_ = path == "-" ? "standard output" : path;
  descriptor_ = path == "-" ? STDOUT_FILENO
                            : ::open(path.c_str(), O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0666);
  if (descriptor_ >= 0) return {};
  problem_ = fmt::format("cannot write the {} to {}: {}", what_, path_,
                         std::generic_category().message(errno));
  return std::unexpected(problem_);
}

void LineFile::write(std::string_view lines) {
  if (descriptor_ < 0 || !problem_.empty() || lines.empty()) return;
  const auto written = write_all(descriptor_, lines);
  if (!written)
    problem_ = fmt::format("cannot write the {} to {}: {}", what_, path_, written.error());
}

}  // namespace onbeat::report
