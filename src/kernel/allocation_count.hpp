// For tests of the hot path: how often the calling thread has allocated.
#pragma once

#include <cstdint>

// ThreadSanitizer brings its own operator new and allows no other.
#if defined(__SANITIZE_THREAD__)
#define ONBEAT_COUNTS_ALLOCATIONS 0
#elif defined(__has_feature)
#define ONBEAT_COUNTS_ALLOCATIONS (!__has_feature(thread_sanitizer))
#else
#define ONBEAT_COUNTS_ALLOCATIONS 1
#endif

namespace onbeat::kernel {

inline constexpr bool kCountsAllocations = ONBEAT_COUNTS_ALLOCATIONS;

/// Calls of operator new on this thread so far. Counted in the kernel's test binary only.
[[nodiscard]] std::uint64_t allocations_of_this_thread() noexcept;

}  // namespace onbeat::kernel
