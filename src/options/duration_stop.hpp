// What becomes of the units in flight when the issue window's time is over.
#pragma once

#include <cstdint>

namespace onbeat::options {

/// wait: they may end, and count. close: they are cut off. ignore: they may end. With the last two,
/// each is counted as cancelled and leaves no time.
enum class DurationStop : std::uint8_t { wait, close, ignore };

}  // namespace onbeat::options
