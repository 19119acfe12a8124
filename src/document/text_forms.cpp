#include "document/text_forms.hpp"

#include <arpa/inet.h>

#include <algorithm>
#include <array>
#include <charconv>
#include <chrono>

namespace onbeat::document {
namespace {

bool is_digit(char c) { return c >= '0' && c <= '9'; }
bool is_letter(char c) { return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z'); }
bool is_hex(char c) { return is_digit(c) || (c >= 'a' && c <= 'f') || (c >= 'A' && c <= 'F'); }

/// Takes `digits` digits off the text.
std::optional<int> take_number(std::string_view& text, std::size_t digits) noexcept {
  int value = 0;
  if (text.size() < digits || !std::ranges::all_of(text.substr(0, digits), is_digit)) {
    return std::nullopt;
  }
  std::from_chars(text.data(), text.data() + digits, value);
  text.remove_prefix(digits);
  return value;
}

bool take(std::string_view& text, char c) noexcept {
  if (!text.starts_with(c)) return false;
  text.remove_prefix(1);
  return true;
}

bool is_domain(std::string_view text) noexcept {
  if (text.empty() || text.size() > 253) return false;
  std::size_t label = 0;
  for (std::size_t i = 0; i <= text.size(); ++i) {
    if (i < text.size() && text[i] != '.') {
      if (!is_letter(text[i]) && !is_digit(text[i]) && text[i] != '-') return false;
      ++label;
      continue;
    }
    if (label == 0 || label > 63 || text[i - 1] == '-' || text[i - label] == '-') return false;
    label = 0;
  }
  return true;
}

using Days = std::chrono::sys_days;

std::optional<Days> take_date(std::string_view& text) noexcept {
  const auto year = take_number(text, 4);
  if (!year || !take(text, '-')) return std::nullopt;
  const auto month = take_number(text, 2);
  if (!month || !take(text, '-')) return std::nullopt;
  const auto day = take_number(text, 2);
  if (!day || *year < 1678 || *year > 2261) return std::nullopt;
  const std::chrono::year_month_day date{std::chrono::year(*year),
                                         std::chrono::month(static_cast<unsigned>(*month)),
                                         std::chrono::day(static_cast<unsigned>(*day))};
  if (!date.ok()) return std::nullopt;
  return Days(date);
}

/// Of the day, in ns.
std::optional<std::int64_t> take_clock(std::string_view& text) noexcept {
  const auto hour = take_number(text, 2);
  if (!hour || *hour > 23 || !take(text, ':')) return std::nullopt;
  const auto minute = take_number(text, 2);
  if (!minute || *minute > 59 || !take(text, ':')) return std::nullopt;
  const auto second = take_number(text, 2);
  if (!second || *second > 60) return std::nullopt;  // 60: a leap second
  std::int64_t fraction = 0;
  if (take(text, '.')) {
    std::int64_t unit = 100'000'000;
    if (text.empty() || !is_digit(text[0])) return std::nullopt;
    for (; !text.empty() && is_digit(text[0]); text.remove_prefix(1), unit /= 10) {
      fraction += (text[0] - '0') * unit;
    }
  }
  return ((*hour * 60LL + *minute) * 60 + *second) * 1'000'000'000 + fraction;
}

std::optional<std::int64_t> take_offset(std::string_view& text) noexcept {
  if (take(text, 'Z') || take(text, 'z')) return 0;
  const bool west = text.starts_with('-');
  if (!west && !text.starts_with('+')) return std::nullopt;
  text.remove_prefix(1);
  const auto hours = take_number(text, 2);
  if (!hours || *hours > 23 || !take(text, ':')) return std::nullopt;
  const auto minutes = take_number(text, 2);
  if (!minutes || *minutes > 59) return std::nullopt;
  return (west ? -1 : 1) * (*hours * 60LL + *minutes) * 60'000'000'000;
}

}  // namespace

bool is_uuid(std::string_view text) noexcept {
  if (text.size() != 36) return false;
  for (std::size_t i = 0; i < text.size(); ++i) {
    const bool dash = i == 8 || i == 13 || i == 18 || i == 23;
    if (dash ? text[i] != '-' : !is_hex(text[i])) return false;
  }
  return true;
}

int uuid_version(std::string_view text) noexcept {
  return is_uuid(text) && is_digit(text[14]) ? text[14] - '0' : 0;
}

bool is_email(std::string_view text) noexcept {
  const std::size_t at = text.rfind('@');
  if (at == std::string_view::npos || at == 0 || at > 64) return false;
  const std::string_view local = text.substr(0, at);
  const bool fits = std::ranges::all_of(local, [](char c) {
    return is_letter(c) || is_digit(c) ||
           std::string_view(".!#$%&'*+/=?^_`{|}~-").find(c) != std::string_view::npos;
  });
  return fits && !local.starts_with('.') && !local.ends_with('.') &&
         local.find("..") == std::string_view::npos && is_domain(text.substr(at + 1));
}

int ip_version(std::string_view text) noexcept {
  std::array<char, INET6_ADDRSTRLEN + 1> copy{};
  std::array<unsigned char, 16> bytes{};
  if (text.empty() || text.size() >= copy.size() || text.find('\0') != std::string_view::npos)
    return 0;
  std::ranges::copy(text, copy.begin());
  if (::inet_pton(AF_INET, copy.data(), bytes.data()) == 1) return 4;
  return ::inet_pton(AF_INET6, copy.data(), bytes.data()) == 1 ? 6 : 0;
}

bool is_base64(std::string_view text) noexcept {
  if (text.size() % 4 != 0) return false;
  for (int padding = 0; padding < 2 && text.ends_with('='); ++padding) text.remove_suffix(1);
  return std::ranges::all_of(
      text, [](char c) { return is_letter(c) || is_digit(c) || c == '+' || c == '/'; });
}

std::size_t code_points(std::string_view text) noexcept {
  return static_cast<std::size_t>(std::ranges::count_if(
      text, [](char c) { return (static_cast<unsigned char>(c) & 0xc0) != 0x80; }));
}

std::optional<UrlParts> url_parts(std::string_view text) noexcept {
  UrlParts parts;
  const std::size_t colon = text.find("://");
  if (colon == std::string_view::npos || colon == 0 || !is_letter(text[0])) return std::nullopt;
  parts.scheme = text.substr(0, colon);
  const bool scheme_fits = std::ranges::all_of(parts.scheme, [](char c) {
    return is_letter(c) || is_digit(c) || c == '+' || c == '-' || c == '.';
  });
  const bool plain = std::ranges::none_of(text, [](char c) {
    return static_cast<unsigned char>(c) <= 0x20 || c == 0x7f || c == '"' || c == '<' || c == '>';
  });
  if (!scheme_fits || !plain) return std::nullopt;
  text.remove_prefix(colon + 3);
  if (const std::size_t hash = text.find('#'); hash != std::string_view::npos) {
    parts.fragment = text.substr(hash + 1);
    text = text.substr(0, hash);
  }
  if (const std::size_t mark = text.find('?'); mark != std::string_view::npos) {
    parts.query = text.substr(mark + 1);
    text = text.substr(0, mark);
  }
  const std::size_t slash = std::min(text.find('/'), text.size());
  parts.path = text.substr(slash);
  std::string_view authority = text.substr(0, slash);
  if (const std::size_t at = authority.rfind('@'); at != std::string_view::npos) {
    authority.remove_prefix(at + 1);
  }
  const std::size_t bracket = authority.rfind(']');
  const std::size_t port = authority.rfind(':');
  if (port != std::string_view::npos && (bracket == std::string_view::npos || port > bracket)) {
    parts.port = authority.substr(port + 1);
    authority = authority.substr(0, port);
    if (!std::ranges::all_of(parts.port, is_digit)) return std::nullopt;
  }
  parts.host = authority;
  if (parts.host.empty() && parts.scheme != "file") return std::nullopt;
  return parts;
}

std::optional<std::int64_t> parse_timestamp(std::string_view text, bool date_too) noexcept {
  const auto date = take_date(text);
  if (!date) return std::nullopt;
  const std::int64_t days = date->time_since_epoch().count() * 86'400'000'000'000LL;
  if (text.empty()) return date_too ? std::optional(days) : std::nullopt;
  if (!take(text, 'T') && !take(text, 't') && !take(text, ' ')) return std::nullopt;
  const auto clock = take_clock(text);
  if (!clock) return std::nullopt;
  const auto offset = take_offset(text);
  if (!offset || !text.empty()) return std::nullopt;
  return days + *clock - *offset;
}

}  // namespace onbeat::document
