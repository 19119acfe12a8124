// The manual page onbeat(1), written from the table of options.
#pragma once

#include <string>
#include <string_view>

namespace onbeat::cli {

/// In the man(7) macros; `version` stands in its footer.
[[nodiscard]] std::string manual_page(std::string_view version);

}  // namespace onbeat::cli
