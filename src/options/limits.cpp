#include "options/limits.hpp"

#include "options/nearest.hpp"
#include "options/scan.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cassert>
#include <vector>

namespace onbeat::options {
namespace {

constexpr double kMicrosecond = 1e3;
constexpr double kMillisecond = 1e6;

constexpr std::array kLimits{
    Limit{"lag_share.note", LimitUnit::percent, 10, "lag's p99, of the response's p99"},
    Limit{"lag_p99.degraded", LimitUnit::time, kMillisecond,
          "99th percentile of the lag, open runs"},
    Limit{"lag_share.degraded", LimitUnit::percent, 10, "and its share of the response's p99"},
    Limit{"lag_p99.invalid", LimitUnit::time, 10 * kMillisecond, "likewise"},
    Limit{"lag_share.invalid", LimitUnit::percent, 50, "likewise"},
    Limit{"missed_late.degraded", LimitUnit::percent, 0.1,
          "arrivals missed because they were late"},
    Limit{"missed_late.invalid", LimitUnit::percent, 1, "likewise"},
    Limit{"held_back.degraded", LimitUnit::percent, 0.1,
          "arrivals missed or saturated for want of a worker"},
    Limit{"wait_p99.degraded", LimitUnit::time, kMillisecond,
          "99th percentile of the wait for a worker"},
    Limit{"wait_share.degraded", LimitUnit::percent, 10, "and its share of the response's p99"},
    Limit{"busiest_loop.degraded", LimitUnit::percent, 80, "CPU of the busiest loop, of a core"},
    Limit{"loop_turn_p99.degraded", LimitUnit::time, 100 * kMicrosecond,
          "99th percentile of a turn of the loop"},
    Limit{"loop_turn_share.degraded", LimitUnit::percent, 10, "and its share of the service's p50"},
    Limit{"stalls.degraded", LimitUnit::percent, 1, "stalls in all, of the run"},
    Limit{"samples.degraded", LimitUnit::number, 10,
          "samples beyond a percentile for it to be shown"},
    Limit{"connections.degraded", LimitUnit::percent, 100, "connections open, of those asked for"},
    Limit{"littles_law.degraded", LimitUnit::percent, 5, "mean in flight against rate times time"},
    Limit{"littles_law_errors.degraded", LimitUnit::number, 4,
          "and standard errors of the sampled mean"},
    Limit{"littles_law_samples.note", LimitUnit::number, 1000, "with fewer samples: not judged"},
    Limit{"other_load.note", LimitUnit::percent, 10, "CPU of others on this process's cores"},
    Limit{"steal.note", LimitUnit::percent, 1, "CPU time stolen by the hypervisor"},
    Limit{"steal.degraded", LimitUnit::percent, 5, "likewise"},
    Limit{"first_tenth_share.note", LimitUnit::percent, 50,
          "median of the first tenth of the run against that of the rest"},
    Limit{"first_tenth.note", LimitUnit::time, 100 * kMicrosecond, "and the difference itself"}};

Parsing<double> limit_value(const Limit& limit, std::string_view text) {
  switch (limit.unit) {
    case LimitUnit::time: {
      const auto time = parse_duration(text);
      if (!time) return std::unexpected(time.error());
      return static_cast<double>(time->count());
    }
    case LimitUnit::percent:
      return parse_percent(text);
    case LimitUnit::number: {
      const auto count = parse_count(text);
      if (!count) return std::unexpected(count.error());
      return static_cast<double>(*count);
    }
  }
  return 0.0;
}

}  // namespace

std::span<const Limit> limits() { return kLimits; }

Parsing<std::pair<std::string, double>> parse_limit(std::string_view text) {
  const auto equals = std::min(text.find('='), text.size());
  const std::string_view name = text.substr(0, equals);
  const auto limit = std::ranges::find(kLimits, name, &Limit::name);
  if (limit == kLimits.end()) {
    std::vector<std::string_view> names;
    for (const Limit& known : kLimits) names.push_back(known.name);
    const auto near = nearest(name, names);
    return Scanner::fail_at(0, fmt::format("unknown limit {}", quote(name)),
                            near ? fmt::format("did you mean {}?", *near)
                                 : fmt::format("limits are {}", fmt::join(names, ", ")));
  }
  if (equals == text.size()) {
    return Scanner::fail_at(equals, "\"=\" and a value are missing");
  }
  auto value = limit_value(*limit, text.substr(equals + 1));
  if (!value) {
    value.error().column += equals + 1;
    return std::unexpected(value.error());
  }
  return std::pair{std::string(name), *value};
}

double Limits::of(std::string_view name) const {
  if (const auto set = set_.find(name); set != set_.end()) return set->second;
  const auto limit = std::ranges::find(kLimits, name, &Limit::name);
  assert(limit != kLimits.end());
  return limit->standard;
}

}  // namespace onbeat::options
