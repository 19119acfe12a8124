#include "run/version.hpp"

#include "onbeat_version.hpp"

namespace onbeat::run {

std::string_view version() noexcept { return ONBEAT_VERSION; }
std::string_view commit() noexcept { return ONBEAT_COMMIT; }
std::string_view compiler() noexcept { return ONBEAT_COMPILER; }

}  // namespace onbeat::run
