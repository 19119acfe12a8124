#include "http/http2_memory.hpp"

#include <algorithm>
#include <bit>
#include <cstdint>
#include <cstdlib>
#include <cstring>
#include <utility>

namespace onbeat::http {
namespace {

Http2Memory& pool(void* user) noexcept { return *static_cast<Http2Memory*>(user); }

// The size class of a room that is a power of two.
std::size_t index_of(std::size_t room, std::size_t smallest) noexcept {
  return static_cast<std::size_t>(std::countr_zero(room) - std::countr_zero(smallest));
}

}  // namespace

Http2Memory::Http2Memory() noexcept
    : functions_{.mem_user_data = this,
                 .malloc = [](std::size_t bytes, void* user) { return pool(user).take(bytes); },
                 .free = [](void* block, void* user) { pool(user).give_back(block); },
                 .calloc = [](std::size_t count, std::size_t bytes, void* user) -> void* {
                   if (bytes != 0 && count > SIZE_MAX / bytes) return nullptr;
                   void* const block = pool(user).take(count * bytes);
                   return block == nullptr ? nullptr : std::memset(block, 0, count * bytes);
                 },
                 .realloc = [](void* block, std::size_t bytes,
                               void* user) { return pool(user).resize(block, bytes); }} {}

Http2Memory::~Http2Memory() {
  for (Header* block : kept_)
    while (block != nullptr) std::free(std::exchange(block, block->next));
}

void* Http2Memory::take(std::size_t bytes) noexcept {
  if (bytes > SIZE_MAX / 4) return nullptr;
  const std::size_t room = std::bit_ceil(std::max(bytes, kSmallest));
  const std::size_t index = index_of(room, kSmallest);
  Header* block = nullptr;
  if (index < kSizes && kept_[index] != nullptr) {
    block = std::exchange(kept_[index], kept_[index]->next);
  } else {
    const std::size_t exact = index < kSizes ? room : bytes;
    block = static_cast<Header*>(std::malloc(sizeof(Header) + exact));
    if (block == nullptr) return nullptr;
    block->room = exact;
  }
  return block + 1;
}

void Http2Memory::give_back(void* memory) noexcept {
  if (memory == nullptr) return;
  Header* const block = static_cast<Header*>(memory) - 1;
  const std::size_t index =
      std::has_single_bit(block->room) ? index_of(block->room, kSmallest) : kSizes;
  if (index >= kSizes) return std::free(block);
  block->next = std::exchange(kept_[index], block);
}

void* Http2Memory::resize(void* memory, std::size_t bytes) noexcept {
  if (memory == nullptr) return take(bytes);
  const std::size_t room = (static_cast<Header*>(memory) - 1)->room;
  if (bytes <= room) return memory;
  void* const wider = take(bytes);
  if (wider == nullptr) return nullptr;
  std::memcpy(wider, memory, room);
  give_back(memory);
  return wider;
}

}  // namespace onbeat::http
