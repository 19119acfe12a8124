// From the names of --limit to what the checks read.
#include "options/limits.hpp"
#include "run/audit.hpp"

#include <cmath>
#include <string_view>
#include <variant>

namespace onbeat::run {
namespace {

struct Row {
  std::string_view name;
  std::variant<Duration AuditLimits::*, double AuditLimits::*> member;
};

constexpr Row kRows[] = {
    {"lag_share.note", &AuditLimits::lag_note_share},
    {"lag_p99.degraded", &AuditLimits::lag_degraded},
    {"lag_share.degraded", &AuditLimits::lag_degraded_share},
    {"lag_p99.invalid", &AuditLimits::lag_invalid},
    {"lag_share.invalid", &AuditLimits::lag_invalid_share},
    {"missed_late.degraded", &AuditLimits::missed_late_degraded},
    {"missed_late.invalid", &AuditLimits::missed_late_invalid},
    {"held_back.degraded", &AuditLimits::held_back_share},
    {"wait_p99.degraded", &AuditLimits::wait_degraded},
    {"wait_share.degraded", &AuditLimits::wait_degraded_share},
    {"busiest_loop.degraded", &AuditLimits::busiest_loop},
    {"loop_turn_p99.degraded", &AuditLimits::loop_turn},
    {"loop_turn_share.degraded", &AuditLimits::loop_turn_share},
    {"stalls.degraded", &AuditLimits::stalls},
    {"samples.degraded", &AuditLimits::tail_samples},
    {"connections.degraded", &AuditLimits::connections},
    {"littles_law.degraded", &AuditLimits::littles_law},
    {"littles_law_errors.degraded", &AuditLimits::littles_law_errors},
    {"littles_law_samples.note", &AuditLimits::littles_law_samples},
    {"other_load.note", &AuditLimits::other_load},
    {"steal.note", &AuditLimits::steal_note},
    {"steal.degraded", &AuditLimits::steal_degraded},
    {"first_tenth_share.note", &AuditLimits::first_tenth_share},
    {"first_tenth.note", &AuditLimits::first_tenth_floor},
};

}  // namespace

AuditLimits AuditLimits::from(const options::Limits& options) {
  AuditLimits limits;
  for (const options::Limit& limit : options::limits()) {
    for (const Row& row : kRows) {
      if (row.name != limit.name) continue;
      const double value = options.of(limit.name);
      if (const auto* member = std::get_if<Duration AuditLimits::*>(&row.member)) {
        limits.** member = Duration{std::llround(value)};
      } else {
        const bool percent = limit.unit == options::LimitUnit::percent;
        limits.*std::get<double AuditLimits::*>(row.member) = percent ? value / 100 : value;
      }
    }
  }
  return limits;
}

}  // namespace onbeat::run
