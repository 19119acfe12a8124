#include "allocation_count.hpp"

#include <gtest/gtest.h>

#include <array>
#include <cstdlib>
#include <memory>
#include <new>

namespace {
thread_local std::uint64_t allocations = 0;
}  // namespace

#if ONBEAT_COUNTS_ALLOCATIONS
namespace {
void* counted(std::size_t size, std::size_t alignment) {
  ++allocations;
  void* const memory = alignment <= alignof(std::max_align_t)
                           ? std::malloc(size == 0 ? 1 : size)
                           : std::aligned_alloc(alignment, (size + alignment - 1) & -alignment);
  if (memory == nullptr) throw std::bad_alloc();
  return memory;
}
}  // namespace

void* operator new(std::size_t size) { return counted(size, 1); }
void* operator new(std::size_t size, std::align_val_t alignment) {
  return counted(size, static_cast<std::size_t>(alignment));
}
void operator delete(void* memory) noexcept { std::free(memory); }
void operator delete(void* memory, std::size_t) noexcept { std::free(memory); }
void operator delete(void* memory, std::align_val_t) noexcept { std::free(memory); }
void operator delete(void* memory, std::size_t, std::align_val_t) noexcept { std::free(memory); }
#endif

namespace onbeat::kernel {

std::uint64_t allocations_of_this_thread() noexcept { return allocations; }

namespace {

TEST(AllocationCount, SeesEachAllocation) {
  if (!kCountsAllocations) GTEST_SKIP() << "not with ThreadSanitizer";
  const std::uint64_t before = allocations_of_this_thread();
  auto memory = std::make_unique<std::array<char, 100>>();
  EXPECT_EQ(memory->size(), 100U);
  EXPECT_EQ(allocations_of_this_thread(), before + 1);
}

}  // namespace
}  // namespace onbeat::kernel
