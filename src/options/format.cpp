#include "options/format.hpp"

#include <fmt/format.h>

#include <array>
#include <cmath>
#include <string_view>

namespace onbeat::options {
namespace {

constexpr std::int64_t kMinute = 60'000'000'000;
constexpr std::int64_t kHour = 60 * kMinute;

struct Unit {
  std::string_view name;
  std::int64_t size;
};
constexpr std::array kShortUnits{Unit{"s", 1'000'000'000}, Unit{"ms", 1'000'000}, Unit{"us", 1'000},
                                 Unit{"ns", 1}};

std::string without_trailing_zeros(std::string digits) {
  if (digits.find('.') == std::string::npos) return digits;
  digits.erase(digits.find_last_not_of('0') + 1);
  if (digits.ends_with('.')) digits.pop_back();
  return digits;
}

/// At most three significant digits, at least all before the point.
std::string three_digits(double value) {
  const double size = std::fabs(value);
  int decimals = 0;
  if (size > 0 && size < 99.95) {
    const double magnitude = std::floor(std::log10(size));
    decimals = static_cast<int>(std::fmin(2 - magnitude, 12));
    // 9.996 has one digit before the point, but is shown as 10.0.
    if (std::pow(10.0, magnitude + 1) - size < std::pow(10.0, magnitude - 2) / 2) --decimals;
  }
  return without_trailing_zeros(fmt::format("{:.{}f}", value, decimals));
}

}  // namespace

std::string duration_text(kernel::Duration duration) {
  std::int64_t left = duration.count();
  if (left == 0) return "0s";
  std::string text;
  if (left >= kHour) text += fmt::format("{}h", left / kHour);
  left %= kHour;
  if (left >= kMinute) text += fmt::format("{}m", left / kMinute);
  left %= kMinute;
  if (left == 0) return text;
  for (const Unit& unit : kShortUnits) {
    if (left < unit.size) continue;
    const std::string fraction =
        fmt::format("{:0{}}", left % unit.size, fmt::formatted_size("{}", unit.size) - 1);
    const std::string number =
        unit.size == 1 ? fmt::format("{}", left) : fmt::format("{}.{}", left / unit.size, fraction);
    return text + without_trailing_zeros(number) + std::string(unit.name);
  }
  return text;
}

std::string number_text(double value) { return fmt::format("{}", value); }
std::string rate_text(double per_second) { return number_text(per_second); }

std::string format_duration(kernel::Duration duration) {
  const std::int64_t ns = duration.count();
  if (ns < 0) return "-" + format_duration(-duration);
  constexpr std::int64_t kSecond = 1'000'000'000;
  if (ns >= kMinute - kSecond / 20) {
    return duration_text(kernel::Duration((ns + kSecond / 2) / kSecond * kSecond));
  }
  for (const Unit& unit : kShortUnits) {
    // 999.7 us would be shown as "1000 us".
    const auto size = static_cast<double>(unit.size);
    if (unit.size == 1 || static_cast<double>(ns) >= 0.9995 * size) {
      return fmt::format("{} {}", three_digits(static_cast<double>(ns) / size), unit.name);
    }
  }
  return {};
}

std::string format_number(double value, int decimals) {
  if (!std::isfinite(value)) return "n/a";
  std::string text = fmt::format("{:.{}f}", std::fabs(value), decimals);
  const std::size_t digits = std::min(text.find('.'), text.size());
  for (std::size_t at = digits; at > 3;) {
    at -= 3;
    text.insert(at, ",");
  }
  const bool zero = text.find_first_not_of("0.,") == std::string::npos;
  return value < 0 && !zero ? "-" + text : text;
}

std::string format_rate(double per_second) {
  if (!std::isfinite(per_second)) return "n/a";
  if (std::fabs(per_second) < 99.95) return three_digits(per_second) + "/s";
  return without_trailing_zeros(format_number(per_second, 1)) + "/s";
}

std::string format_size(std::uint64_t bytes) {
  constexpr std::array<std::string_view, 6> kUnits{"KiB", "MiB", "GiB", "TiB", "PiB", "EiB"};
  if (bytes < 1024) return fmt::format("{} B", bytes);
  double value = static_cast<double>(bytes) / 1024;
  std::size_t unit = 0;
  while (value >= 1023.5 && unit + 1 < kUnits.size()) {
    value /= 1024;
    ++unit;
  }
  return fmt::format("{} {}", three_digits(value), kUnits[unit]);
}

std::string format_count(std::uint64_t count) {
  std::string text = fmt::format("{}", count);
  for (std::size_t at = text.size(); at > 3;) {
    at -= 3;
    text.insert(at, ",");
  }
  return text;
}

std::string format_percent(double percent) {
  if (!std::isfinite(percent)) return "n/a";
  return three_digits(percent) + "%";
}

}  // namespace onbeat::options
