#include "grpc/framing.hpp"

namespace onbeat::grpc {

void append_message(std::string& out, std::string_view message, bool compressed) {
  const std::size_t at = out.size();
  out.append(kPrefix, '\0');
  out.append(message);
  put_prefix(out, at, compressed);
}

void put_prefix(std::string& out, std::size_t at, bool compressed) noexcept {
  const auto size = static_cast<std::uint32_t>(out.size() - at - kPrefix);
  out[at] = compressed ? 1 : 0;
  for (int i = 0; i < 4; ++i) out[at + 1 + i] = static_cast<char>(size >> (24 - 8 * i));
}

void MessageDecoder::reset() noexcept {
  buffer_.clear();
  message_ = {};
  at_ = seen_ = 0;
  whole_ = handed_out_ = 0;
}

MessageDecoder::Fault MessageDecoder::read_prefix(std::size_t at) noexcept {
  const auto flag = static_cast<unsigned char>(buffer_[at]);
  if (flag > 1) return Fault::bad_flag;
  flag_ = flag == 1;
  announced_ = 0;
  for (std::size_t i = 1; i < kPrefix; ++i)
    announced_ = announced_ << 8 | static_cast<unsigned char>(buffer_[at + i]);
  return announced_ > max_message_ ? Fault::too_long : Fault::none;
}

MessageDecoder::Fault MessageDecoder::feed(std::string_view bytes) {
  // What has been handed out makes room: all of it at once, or when it is the larger part.
  if (at_ == buffer_.size() || at_ > buffer_.size() / 2) {
    buffer_.erase(0, at_);
    seen_ -= at_;
    at_ = 0;
  }
  buffer_.append(bytes);
  while (buffer_.size() - seen_ >= kPrefix) {
    const Fault fault = read_prefix(seen_);
    if (fault != Fault::none) return fault;
    if (buffer_.size() - seen_ - kPrefix < announced_) break;
    seen_ += kPrefix + announced_;
    ++whole_;
  }
  return Fault::none;
}

bool MessageDecoder::next() noexcept {
  if (handed_out_ == whole_) return false;
  ++handed_out_;
  static_cast<void>(read_prefix(at_));
  compressed_ = flag_;
  message_ = std::string_view(buffer_).substr(at_ + kPrefix, announced_);
  at_ += kPrefix + announced_;
  return true;
}

}  // namespace onbeat::grpc
