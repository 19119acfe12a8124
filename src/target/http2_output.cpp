#include "target/http2_output.hpp"

#include <algorithm>
#include <utility>

namespace onbeat::target {

Http2Output::State Http2Output::write(net::Transport& transport, Instant now) noexcept {
  if (total() > cut_) bytes_.resize(bytes_.size() - static_cast<std::size_t>(total() - cut_));
  while (!empty()) {
    std::string_view piece = std::string_view(bytes_).substr(written_);
    const bool slow = piece_ != 0 && gone_ + written_ < slow_until_;
    if (slow) {
      if (now < resumes_at_) return State::paused;
      piece = piece.substr(0, piece_);
    }
    const net::IoResult result = transport.write_some({&piece, 1});
    if (result.would_block()) return State::blocked;
    if (result.error != 0) return State::failed;
    written_ += result.bytes;
    if (slow) resumes_at_ = now + gap_;
  }
  gone_ += bytes_.size();
  bytes_.clear();
  written_ = 0;
  return State::sent;
}

void Http2Output::give_back(std::string& room) noexcept {
  if (bytes_.empty() && bytes_.capacity() > room.capacity()) bytes_.swap(room);
}

}  // namespace onbeat::target
