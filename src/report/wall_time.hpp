// The wall times of a report (RFC 3339, UTC) as numbers, for formats that want them so.
#pragma once

#include <onbeat/kernel/clock.hpp>

#include <optional>
#include <string>

namespace onbeat::report {

/// Since 1970-01-01T00:00:00Z; nothing for another text. "2024-01-02T03:04:05.678Z"
[[nodiscard]] std::optional<kernel::Duration> unix_time(const std::string& rfc3339);

}  // namespace onbeat::report
