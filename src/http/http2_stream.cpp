#include "http/http2_connection.hpp"
#include "http/http2_session.hpp"

namespace onbeat::http {

void Http2Stream::take(std::string_view bytes, bool last) noexcept {
  if (buffer_at_ >= kSendBuffer) {
    buffer_.erase(0, buffer_at_);
    buffer_at_ = 0;
  }
  buffer_.append(bytes);
  last_ = last;
  session_->more_to_send(*this);
  connection_->proceed_soon();
}

void Http2Stream::cancel(std::uint32_t code) noexcept {
  if (state_ == State::ended) return;
  Http2Connection& connection = *connection_;
  connection.drop(*this, code);
  connection.end(*this, net::NetError::cancelled);
  if (connection.reading_) {
    connection.proceed_soon();
  } else {
    connection.proceed();
  }
}

void Http2StreamList::push_back(Http2Stream& stream) noexcept { insert_after(last_, stream); }

void Http2StreamList::insert(Http2Stream& stream) noexcept {
  Http2Stream* before = nullptr;
  for (Http2Stream* each = first_; each != nullptr && each->number_ < stream.number_;
       each = each->next_)
    before = each;
  insert_after(before, stream);
}

void Http2StreamList::insert_after(Http2Stream* before, Http2Stream& stream) noexcept {
  stream.previous_ = before;
  stream.next_ = before == nullptr ? first_ : before->next_;
  (stream.next_ == nullptr ? last_ : stream.next_->previous_) = &stream;
  (before == nullptr ? first_ : before->next_) = &stream;
}

void Http2StreamList::remove(Http2Stream& stream) noexcept {
  (stream.previous_ == nullptr ? first_ : stream.previous_->next_) = stream.next_;
  (stream.next_ == nullptr ? last_ : stream.next_->previous_) = stream.previous_;
  stream.previous_ = stream.next_ = nullptr;
}

}  // namespace onbeat::http
