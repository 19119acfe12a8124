#include "document/file_window.hpp"

#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>

namespace onbeat::document {

std::expected<FileState, ReadFault> file_state(int descriptor) {
  struct stat status{};
  if (::fstat(descriptor, &status) != 0) return std::unexpected(ReadFault::unreadable);
  return FileState{static_cast<std::uint64_t>(status.st_size), status.st_mtim};
}

FileWindow::FileWindow(int descriptor, const FileState& state, std::size_t capacity)
    : descriptor_(descriptor), state_(state), buffer_(capacity) {}

void FileWindow::move_to(std::uint64_t position) noexcept {
  if (position >= offset_ && position <= offset_ + end_) {
    begin_ = static_cast<std::size_t>(position - offset_);
    return;
  }
  offset_ = position;
  begin_ = end_ = 0;
}

std::expected<void, ReadFault> FileWindow::extend(std::size_t at_most) {
  if (begin_ > 0) {
    std::memmove(buffer_.data(), buffer_.data() + begin_, end_ - begin_);
    offset_ += begin_;
    end_ -= begin_;
    begin_ = 0;
  }
  if (end_ == buffer_.size()) buffer_.resize(2 * buffer_.size());
  const std::uint64_t left = state_.size - (offset_ + end_);
  const std::size_t wanted = std::min({buffer_.size() - end_, at_most, std::size_t{left}});
  ssize_t size = 0;
  do {
    size = ::pread(descriptor_, buffer_.data() + end_, wanted, static_cast<off_t>(offset_ + end_));
  } while (size < 0 && errno == EINTR);
  if (size < 0) return std::unexpected(ReadFault::unreadable);
  const auto now = file_state(descriptor_);
  if (!now) return std::unexpected(now.error());
  if (size == 0 || *now != state_) return std::unexpected(ReadFault::changed);
  end_ += static_cast<std::size_t>(size);
  return {};
}

}  // namespace onbeat::document
