// Memory for the nghttp2 sessions of one loop: what they free is kept by size and given out again,
// so that a stream costs no call of the allocator once warm. What is kept is never more than what
// was in use at once. Must outlive its sessions; one thread.
#pragma once

#include <nghttp2/nghttp2.h>

#include <array>
#include <cstddef>

namespace onbeat::http {

class Http2Memory {
 public:
  Http2Memory() noexcept;
  ~Http2Memory();
  Http2Memory(const Http2Memory&) = delete;
  Http2Memory& operator=(const Http2Memory&) = delete;

  /// For nghttp2_session_client_new3() and its like, which copy it.
  [[nodiscard]] nghttp2_mem* functions() noexcept { return &functions_; }

 private:
  // Stands before every block; as large as the alignment that malloc() gives.
  struct alignas(std::max_align_t) Header {
    Header* next = nullptr;
    std::size_t room = 0;  // of the block, without the header
  };
  static constexpr std::size_t kSmallest = 32, kSizes = 8;  // 32, 64, ... 4096: larger is not kept

  void* take(std::size_t bytes) noexcept;
  void give_back(void* block) noexcept;
  void* resize(void* block, std::size_t bytes) noexcept;

  nghttp2_mem functions_;
  std::array<Header*, kSizes> kept_{};
};

}  // namespace onbeat::http
