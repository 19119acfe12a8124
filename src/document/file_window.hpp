// A piece of a regular file in memory that moves along it, by pread: memory stays flat whatever the
// file's size, and a file that shrinks is an error rather than a signal, as it would be with a
// memory map. One owner; several windows may read one descriptor at once.
#pragma once

#include <cstdint>
#include <ctime>
#include <expected>
#include <string>
#include <string_view>
#include <vector>

namespace onbeat::document {

/// What a file was when it was opened; when it is not that any more, its rows are not to be
/// trusted.
struct FileState {
  std::uint64_t size = 0;
  std::timespec modified{};
  bool operator==(const FileState& other) const noexcept {
    return size == other.size && modified.tv_sec == other.modified.tv_sec &&
           modified.tv_nsec == other.modified.tv_nsec;
  }
};

enum class ReadFault : std::uint8_t { changed, unreadable };

class FileWindow {
 public:
  /// Holds `capacity` bytes, at least 1. Borrows the descriptor.
  FileWindow(int descriptor, const FileState& state, std::size_t capacity);

  /// The bytes from position() on that are in memory.
  [[nodiscard]] std::string_view text() const noexcept {
    return {buffer_.data() + begin_, end_ - begin_};
  }
  [[nodiscard]] std::uint64_t position() const noexcept { return offset_ + begin_; }
  /// text() reaches to the end of the file.
  [[nodiscard]] bool last() const noexcept { return offset_ + end_ == state_.size; }

  /// At most text().size().
  void skip(std::size_t bytes) noexcept { begin_ += bytes; }
  /// Anywhere in the file; without reading when it is in memory.
  void move_to(std::uint64_t position) noexcept;
  /// Reads on, by `at_most` bytes; text() stays, but elsewhere in memory. Grows the buffer when
  /// text() fills it. Must not be last().
  std::expected<void, ReadFault> extend(std::size_t at_most = SIZE_MAX);

 private:
  int descriptor_;
  FileState state_;
  std::vector<char> buffer_;
  std::size_t begin_ = 0;  // of text() in the buffer
  std::size_t end_ = 0;
  std::uint64_t offset_ = 0;  // of the buffer in the file
};

/// What the file behind a descriptor is now.
[[nodiscard]] std::expected<FileState, ReadFault> file_state(int descriptor);

}  // namespace onbeat::document
