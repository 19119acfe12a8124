// For tests of the hot path: how often the calling thread has allocated.
#pragma once

#include <cstdint>

namespace onbeat::kernel {

/// Calls of operator new on this thread so far. Counted in the kernel's test binary only.
[[nodiscard]] std::uint64_t allocations_of_this_thread() noexcept;

}  // namespace onbeat::kernel
