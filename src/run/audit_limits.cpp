#include "options/grammar.hpp"
#include "options/limits.hpp"
#include "run/audit.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <cmath>
#include <optional>
#include <variant>

namespace onbeat::run {
namespace {

struct Limit {
  enum class Kind { duration, share, number };
  std::string_view name;
  Kind kind;
  std::variant<Duration AuditLimits::*, double AuditLimits::*> member;
};

constexpr Limit duration(std::string_view name, Duration AuditLimits::* member) {
  return {name, Limit::Kind::duration, member};
}
constexpr Limit share(std::string_view name, double AuditLimits::* member) {
  return {name, Limit::Kind::share, member};
}
constexpr Limit number(std::string_view name, double AuditLimits::* member) {
  return {name, Limit::Kind::number, member};
}

constexpr Limit kLimits[] = {
    share("lag_share.note", &AuditLimits::lag_note_share),
    duration("lag_p99.degraded", &AuditLimits::lag_degraded),
    share("lag_share.degraded", &AuditLimits::lag_degraded_share),
    duration("lag_p99.invalid", &AuditLimits::lag_invalid),
    share("lag_share.invalid", &AuditLimits::lag_invalid_share),
    share("missed_late.degraded", &AuditLimits::missed_late_degraded),
    share("missed_late.invalid", &AuditLimits::missed_late_invalid),
    share("held_back.degraded", &AuditLimits::held_back_share),
    duration("wait_p99.degraded", &AuditLimits::wait_degraded),
    share("wait_share.degraded", &AuditLimits::wait_degraded_share),
    share("busiest_loop.degraded", &AuditLimits::busiest_loop),
    duration("loop_turn_p99.degraded", &AuditLimits::loop_turn),
    share("loop_turn_share.degraded", &AuditLimits::loop_turn_share),
    share("stalls.degraded", &AuditLimits::stalls),
    number("samples.degraded", &AuditLimits::tail_samples),
    share("connections.degraded", &AuditLimits::connections),
    share("littles_law.degraded", &AuditLimits::littles_law),
    number("littles_law_errors.degraded", &AuditLimits::littles_law_errors),
    number("littles_law_samples.note", &AuditLimits::littles_law_samples),
    share("other_load.note", &AuditLimits::other_load),
    share("steal.note", &AuditLimits::steal_note),
    share("steal.degraded", &AuditLimits::steal_degraded),
    share("first_tenth_share.note", &AuditLimits::first_tenth_share),
    duration("first_tenth.note", &AuditLimits::first_tenth_floor),
};

std::string_view example(Limit::Kind kind) {
  switch (kind) {
    case Limit::Kind::duration:
      return "a duration with its unit, such as 2ms";
    case Limit::Kind::share:
      return "a share, such as 5% or 0.05";
    case Limit::Kind::number:
      return "a number, such as 10";
  }
  return "";
}

std::optional<double> parse_number(std::string_view text) {
  double value = 0;
  const char* const last = text.data() + text.size();
  const auto [end, error] = std::from_chars(text.data(), last, value, std::chars_format::fixed);
  if (error != std::errc{} || end != last || !std::isfinite(value) || value < 0) return {};
  return value;
}

std::optional<double> parse_share(std::string_view text) {
  if (!text.ends_with('%')) return parse_number(text);
  const auto percent = options::parse_percent(text);
  if (!percent) return std::nullopt;
  return *percent / 100;
}

// In ns for a duration.
std::optional<double> parse(Limit::Kind kind, std::string_view text) {
  switch (kind) {
    case Limit::Kind::duration: {
      const auto duration = options::parse_duration(text);
      if (!duration) return std::nullopt;
      return static_cast<double>(duration->count());
    }
    case Limit::Kind::share:
      return parse_share(text);
    case Limit::Kind::number:
      return parse_number(text);
  }
  return std::nullopt;
}

}  // namespace

std::expected<void, std::string> AuditLimits::set(std::string_view name, std::string_view value) {
  const auto* limit = std::ranges::find(kLimits, name, &Limit::name);
  if (limit == std::end(kLimits)) {
    return std::unexpected(
        fmt::format("no limit is called '{}'; there are: {}", name, fmt::join(names(), ", ")));
  }
  const std::optional<double> parsed = parse(limit->kind, value);
  if (!parsed) {
    return std::unexpected(
        fmt::format("limit {}: '{}' is not {}", name, value, example(limit->kind)));
  }
  if (const auto* member = std::get_if<Duration AuditLimits::*>(&limit->member)) {
    this->** member = Duration{std::llround(*parsed)};
  } else {
    this->*std::get<double AuditLimits::*>(limit->member) = *parsed;
  }
  return {};
}

std::expected<void, std::string> AuditLimits::set(std::string_view assignment) {
  const std::size_t equals = assignment.find('=');
  if (equals == std::string_view::npos) {
    return std::unexpected(
        fmt::format("limit '{}' is not NAME=VALUE, such as lag_p99.degraded=2ms", assignment));
  }
  return set(assignment.substr(0, equals), assignment.substr(equals + 1));
}

AuditLimits AuditLimits::from(const options::Limits& options) {
  AuditLimits limits;
  for (const Limit& limit : kLimits) {
    const auto known = std::ranges::find(options::limits(), limit.name, &options::Limit::name);
    if (known == options::limits().end()) continue;
    const double value = options.of(limit.name);
    if (const auto* member = std::get_if<Duration AuditLimits::*>(&limit.member)) {
      limits.** member = Duration{std::llround(value)};
    } else {
      const bool percent = known->unit == options::LimitUnit::percent;
      limits.*std::get<double AuditLimits::*>(limit.member) = percent ? value / 100 : value;
    }
  }
  return limits;
}

std::vector<std::string_view> AuditLimits::names() {
  std::vector<std::string_view> names;
  for (const Limit& limit : kLimits) names.push_back(limit.name);
  return names;
}

}  // namespace onbeat::run
