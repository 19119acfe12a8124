#include "grpc/time_text.hpp"

#include <array>
#include <charconv>
#include <chrono>
#include <cstdio>
#include <cstdlib>

namespace onbeat::grpc {
namespace {

constexpr std::int64_t kFirstSecond = -62'135'596'800;  // 0001-01-01T00:00:00Z
constexpr std::int64_t kLastSecond = 253'402'300'799;   // 9999-12-31T23:59:59Z
constexpr std::int64_t kMostSeconds = 315'576'000'000;  // of a duration: 10,000 years
constexpr std::int32_t kBillion = 1'000'000'000;

bool digit(char c) noexcept { return c >= '0' && c <= '9'; }

/// Reads from the front of a text.
struct Scanner {
  std::string_view rest;

  bool take(char c) noexcept {
    if (!rest.starts_with(c)) return false;
    rest.remove_prefix(1);
    return true;
  }
  /// Just `count` digits; -1 otherwise.
  int number(std::size_t count) noexcept {
    if (rest.size() < count) return -1;
    int value = 0;
    for (std::size_t i = 0; i < count; ++i) {
      if (!digit(rest[i])) return -1;
      value = value * 10 + (rest[i] - '0');
    }
    rest.remove_prefix(count);
    return value;
  }
  /// 1 to 9 digits after a point, as nanoseconds; 0 without a point, -1 when wrong.
  std::int32_t fraction() noexcept {
    if (!take('.')) return 0;
    std::int32_t value = 0;
    std::size_t count = 0;
    for (; count < rest.size() && digit(rest[count]); ++count) {
      if (count == 9) return -1;
      value = value * 10 + (rest[count] - '0');
    }
    if (count == 0) return -1;
    rest.remove_prefix(count);
    for (; count < 9; ++count) value *= 10;
    return value;
  }
};

void append_fraction(std::string& text, std::int32_t nanos) {
  if (nanos == 0) return;
  std::array<char, 16> digits{};
  std::snprintf(digits.data(), digits.size(), ".%09d", nanos);
  const std::size_t count = nanos % 1'000'000 == 0 ? 3 : nanos % 1'000 == 0 ? 6 : 9;
  text.append(digits.data(), count + 1);
}

}  // namespace

std::optional<SecondsAndNanos> parse_timestamp(std::string_view text) noexcept {
  namespace chrono = std::chrono;
  Scanner in{text};
  const int year = in.number(4);
  if (year < 1 || !in.take('-')) return {};
  const int month = in.number(2);
  if (month < 0 || !in.take('-')) return {};
  const int day = in.number(2);
  if (day < 0 || !(in.take('T') || in.take('t'))) return {};
  const int hour = in.number(2);
  if (hour < 0 || hour > 23 || !in.take(':')) return {};
  const int minute = in.number(2);
  if (minute < 0 || minute > 59 || !in.take(':')) return {};
  const int second = in.number(2);
  if (second < 0 || second > 59) return {};
  const std::int32_t nanos = in.fraction();
  if (nanos < 0) return {};
  int offset_minutes = 0;
  if (!in.take('Z') && !in.take('z')) {
    const bool west = in.rest.starts_with('-');
    if (!in.take('+') && !in.take('-')) return {};
    const int hours = in.number(2);
    if (hours < 0 || hours > 23 || !in.take(':')) return {};
    const int minutes = in.number(2);
    if (minutes < 0 || minutes > 59) return {};
    offset_minutes = (west ? -1 : 1) * (hours * 60 + minutes);
  }
  const chrono::year_month_day date{chrono::year(year), chrono::month(static_cast<unsigned>(month)),
                                    chrono::day(static_cast<unsigned>(day))};
  if (!in.rest.empty() || !date.ok()) return {};
  const std::int64_t days = chrono::sys_days(date).time_since_epoch().count();
  const std::int64_t seconds =
      days * 86'400 + hour * 3'600 + (minute - offset_minutes) * 60 + second;
  if (seconds < kFirstSecond || seconds > kLastSecond) return {};
  return SecondsAndNanos{seconds, nanos};
}

std::optional<SecondsAndNanos> parse_duration(std::string_view text) noexcept {
  Scanner in{text};
  const bool negative = in.take('-');
  std::int64_t seconds = 0;
  if (in.rest.empty() || !digit(in.rest[0])) return {};
  const char* const begin = in.rest.data();
  const auto [end, error] = std::from_chars(begin, begin + in.rest.size(), seconds);
  if (error != std::errc{} || seconds > kMostSeconds) return {};
  in.rest.remove_prefix(static_cast<std::size_t>(end - begin));
  const std::int32_t nanos = in.fraction();
  if (nanos < 0 || in.rest != "s" || (seconds == kMostSeconds && nanos != 0)) return {};
  return negative ? SecondsAndNanos{-seconds, -nanos} : SecondsAndNanos{seconds, nanos};
}

std::string timestamp_text(SecondsAndNanos time) {
  namespace chrono = std::chrono;
  if (time.seconds < kFirstSecond || time.seconds > kLastSecond || time.nanos < 0 ||
      time.nanos >= kBillion)
    return {};
  const chrono::sys_seconds at{chrono::seconds(time.seconds)};
  const auto day = chrono::floor<chrono::days>(at);
  const chrono::year_month_day date(day);
  const chrono::hh_mm_ss clock(at - day);
  std::array<char, 32> buffer{};
  const int size = std::snprintf(
      buffer.data(), buffer.size(), "%04d-%02u-%02uT%02d:%02d:%02d", static_cast<int>(date.year()),
      static_cast<unsigned>(date.month()), static_cast<unsigned>(date.day()),
      static_cast<int>(clock.hours().count()), static_cast<int>(clock.minutes().count()),
      static_cast<int>(clock.seconds().count()));
  std::string text(buffer.data(), static_cast<std::size_t>(size));
  append_fraction(text, time.nanos);
  return text + "Z";
}

std::string duration_text(SecondsAndNanos duration) {
  const bool negative = duration.seconds < 0 || duration.nanos < 0;
  if (duration.seconds > kMostSeconds || duration.seconds < -kMostSeconds ||
      duration.nanos <= -kBillion || duration.nanos >= kBillion ||
      (duration.seconds > 0 && duration.nanos < 0) || (duration.seconds < 0 && duration.nanos > 0))
    return {};
  std::string text = negative ? "-" : "";
  text += std::to_string(std::abs(duration.seconds));
  append_fraction(text, std::abs(duration.nanos));
  return text + "s";
}

std::string snake_case(std::string_view camel) {
  std::string snake;
  for (const char c : camel) {
    if (c >= 'A' && c <= 'Z') {
      snake += '_';
      snake += static_cast<char>(c - 'A' + 'a');
    } else {
      snake += c;
    }
  }
  return snake;
}

std::string camel_case(std::string_view snake) {
  std::string camel;
  bool upper = false;
  for (const char c : snake) {
    if (c == '_') {
      upper = true;
      continue;
    }
    camel += upper && c >= 'a' && c <= 'z' ? static_cast<char>(c - 'a' + 'A') : c;
    upper = false;
  }
  return camel;
}

}  // namespace onbeat::grpc
