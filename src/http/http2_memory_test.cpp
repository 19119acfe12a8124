#include "http/http2_memory.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <cstdint>
#include <cstring>

namespace onbeat::http {
namespace {

TEST(Http2Memory, GivesOutAgainWhatWasFreed) {
  Http2Memory memory;
  const nghttp2_mem& functions = *memory.functions();
  for (const std::size_t bytes : {1U, 32U, 33U, 200U, 4096U}) {
    void* const first = functions.malloc(bytes, functions.mem_user_data);
    ASSERT_NE(first, nullptr);
    EXPECT_EQ(reinterpret_cast<std::uintptr_t>(first) % alignof(std::max_align_t), 0U);
    std::memset(first, 0xab, bytes);
    void* const second = functions.malloc(bytes, functions.mem_user_data);
    EXPECT_NE(second, first);
    functions.free(first, functions.mem_user_data);
    auto* const zeroed =
        static_cast<unsigned char*>(functions.calloc(1, bytes, functions.mem_user_data));
    EXPECT_EQ(zeroed, first);
    EXPECT_TRUE(std::all_of(zeroed, zeroed + bytes, [](unsigned char c) { return c == 0; }));
    functions.free(zeroed, functions.mem_user_data);
    functions.free(second, functions.mem_user_data);
  }
  functions.free(nullptr, functions.mem_user_data);
}

TEST(Http2Memory, ResizingKeepsTheBytes) {
  Http2Memory memory;
  const nghttp2_mem& functions = *memory.functions();
  char* block = static_cast<char*>(functions.realloc(nullptr, 10, functions.mem_user_data));
  std::memcpy(block, "0123456789", 10);
  for (const std::size_t bytes : {32U, 33U, 5'000U, 100'000U, 100U}) {
    block = static_cast<char*>(functions.realloc(block, bytes, functions.mem_user_data));
    ASSERT_NE(block, nullptr);
    EXPECT_EQ(std::memcmp(block, "0123456789", 10), 0) << bytes;
  }
  functions.free(block, functions.mem_user_data);
}

TEST(Http2Memory, RefusesWhatCannotBe) {
  Http2Memory memory;
  const nghttp2_mem& functions = *memory.functions();
  EXPECT_EQ(functions.malloc(SIZE_MAX, functions.mem_user_data), nullptr);
  EXPECT_EQ(functions.calloc(SIZE_MAX / 2, 4, functions.mem_user_data), nullptr);
}

}  // namespace
}  // namespace onbeat::http
