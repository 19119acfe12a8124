// "catch_up", "skip", "burst:N": what becomes of arrivals that the generator is late for.
#pragma once

#include "options/grammar.hpp"
#include <onbeat/kernel/driver.hpp>

namespace onbeat::options {

struct LatePolicy {
  kernel::OnLate on_late = kernel::OnLate::catch_up;
  std::uint32_t burst = 1;  // of burst:N, at least 1
};

Parsing<LatePolicy> parse_on_late(std::string_view text);

}  // namespace onbeat::options
