// The style sheet of all HTML pages.
#pragma once

#include <string>

namespace onbeat::report {

[[nodiscard]] std::string page_style();

}  // namespace onbeat::report
