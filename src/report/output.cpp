#include "report/output.hpp"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <cstdlib>
#include <filesystem>
#include <system_error>

namespace onbeat::report {
namespace {

std::string reason(int error) { return std::generic_category().message(error); }

std::unexpected<std::string> problem(const std::string& path, const std::string& why) {
  return std::unexpected(fmt::format("{}: {}", path, why));
}

// close() is where a full disk or a lost network file system may speak first.
std::expected<void, std::string> write_and_close(int descriptor, std::string_view text) {
  auto written = write_all(descriptor, text);
  if (::close(descriptor) != 0 && written) return std::unexpected(reason(errno));
  return written;
}

std::expected<void, std::string> write_directly(const std::string& path, std::string_view text) {
  const int descriptor = ::open(path.c_str(), O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0666);
  if (descriptor < 0) return problem(path, reason(errno));
  const auto written = write_and_close(descriptor, text);
  if (!written) return problem(path, written.error());
  return {};
}

// The permissions that a new file would have, or those that the old one has.
mode_t permissions_for(const std::string& path) {
  struct stat status{};
  if (::stat(path.c_str(), &status) == 0) return status.st_mode & 07777;
  const mode_t mask = ::umask(0);
  ::umask(mask);
  return 0666 & ~mask;
}

std::expected<void, std::string> write_renamed(const std::string& path, std::string_view text) {
  std::string temporary = path + ".XXXXXX";
  const int descriptor = ::mkostemp(temporary.data(), O_CLOEXEC);
  if (descriptor < 0) return problem(path, reason(errno));
  ::fchmod(descriptor, permissions_for(path));
  auto written = write_and_close(descriptor, text);
  if (written && ::rename(temporary.c_str(), path.c_str()) != 0) {
    written = std::unexpected(reason(errno));
  }
  if (written) return {};
  ::unlink(temporary.c_str());
  return problem(path, written.error());
}

}  // namespace

std::expected<void, std::string> write_all(int descriptor, std::string_view text) {
  while (!text.empty()) {
    const ssize_t written = ::write(descriptor, text.data(), text.size());
    if (written < 0) {
      if (errno == EINTR) continue;
      return std::unexpected(reason(errno));
    }
    text.remove_prefix(static_cast<std::size_t>(written));
  }
  return {};
}

std::expected<void, std::string> check_writable(const std::string& path) {
  if (path == "-") return {};
  struct stat status{};
  const bool exists = ::stat(path.c_str(), &status) == 0;
  if (exists && S_ISDIR(status.st_mode)) return problem(path, reason(EISDIR));
  // A regular file is replaced by a new one beside it; others are written to as they are.
  const std::string folder = std::filesystem::path(path).parent_path().string();
  const std::string asked = exists && !S_ISREG(status.st_mode) ? path
                            : folder.empty()                   ? "."
                                                               : folder;
  if (::access(asked.c_str(), W_OK) != 0) return problem(path, reason(errno));
  return {};
}

std::expected<void, std::string> write_file(const std::string& path, std::string_view text) {
  if (path == "-") {
    const auto written = write_all(STDOUT_FILENO, text);
    if (!written) return problem("standard output", written.error());
    return {};
  }
  struct stat status{};
  if (::stat(path.c_str(), &status) == 0 && !S_ISREG(status.st_mode)) {
    return write_directly(path, text);
  }
  std::error_code ignored;
  const std::filesystem::path real = std::filesystem::weakly_canonical(path, ignored);
  return write_renamed(ignored ? path : real.string(), text);
}

}  // namespace onbeat::report
