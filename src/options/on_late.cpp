#include "options/on_late.hpp"

#include "options/scan.hpp"

#include <fmt/format.h>

namespace onbeat::options {

Parsing<LatePolicy> parse_on_late(std::string_view text) {
  constexpr std::string_view kBurst = "burst:";
  constexpr std::uint64_t kDeepest = 1'000'000;
  if (text == "catch_up") return LatePolicy{kernel::OnLate::catch_up, 1};
  if (text == "skip") return LatePolicy{kernel::OnLate::skip, 1};
  if (text.starts_with(kBurst)) {
    const auto depth = parse_count(text.substr(kBurst.size()));
    if (!depth) {
      GrammarError error = depth.error();
      error.column += kBurst.size();
      return std::unexpected(std::move(error));
    }
    if (*depth < 1 || *depth > kDeepest) {
      return Scanner::fail_at(kBurst.size(), "a burst is 1 to 1,000,000 arrivals");
    }
    return LatePolicy{kernel::OnLate::burst, static_cast<std::uint32_t>(*depth)};
  }
  return Scanner::fail_at(0, "not one of catch_up, skip, burst:N",
                          text == "catch-up" ? "did you mean catch_up?"
                          : text == "burst"  ? "for example burst:10"
                                             : "");
}

}  // namespace onbeat::options
