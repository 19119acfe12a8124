#include "report/over_time.hpp"

#include <algorithm>
#include <utility>

namespace onbeat::report {
namespace {

using kernel::Duration;
using run::SeriesRow;

// The higher one, and whether it is a lower bound.
void take_higher(SeriesRow& into, const SeriesRow& from, const char* name,
                 std::optional<Duration> SeriesRow::* figure) {
  const auto& theirs = from.*figure;
  auto& ours = into.*figure;
  if (!theirs || (ours && *ours > *theirs)) return;
  const bool same = ours == theirs;
  ours = theirs;
  if (!same) std::erase(into.at_least, name);
  if (is_lower_bound(from, name) && !is_lower_bound(into, name)) into.at_least.emplace_back(name);
}

void add(Span& span, const SeriesRow& row) {
  const double before = std::chrono::duration<double>(span.to - span.from).count();
  const double length = std::chrono::duration<double>(row.t - span.to).count();
  SeriesRow& sum = span.row;
  if (before + length > 0)
    sum.cpu_cores = (sum.cpu_cores * before + row.cpu_cores * length) / (before + length);
  span.to = sum.t = row.t;
  ++span.intervals;
  sum.counts += row.counts;
  for (const auto& [name, count] : row.errors) sum.errors[name] += count;
  take_higher(sum, row, "p50", &SeriesRow::p50);
  take_higher(sum, row, "p90", &SeriesRow::p90);
  take_higher(sum, row, "p99", &SeriesRow::p99);
  take_higher(sum, row, "max", &SeriesRow::max);
  sum.lag_max = std::max(sum.lag_max, row.lag_max);
  sum.in_flight = row.in_flight;
  sum.in_flight_max = std::max(sum.in_flight_max, row.in_flight_max);
  sum.events.insert(sum.events.end(), row.events.begin(), row.events.end());
}

}  // namespace

std::vector<Span> spans(const run::Report& report, std::size_t most) {
  std::vector<Span> result;
  if (report.series.empty()) return result;
  const Duration usual = report.series.front().t;
  const Duration width = std::max(usual, report.series.back().t / static_cast<std::int64_t>(most));
  Duration at{};
  for (const SeriesRow& row : report.series) {
    const Duration length = row.t - at;
    const bool full = result.empty() || result.back().to - result.back().from >= width - usual / 2;
    const bool sliver = length < usual / 2 && !result.empty();
    if (full && !sliver) result.push_back({.from = at, .to = at});
    add(result.back(), row);
    at = row.t;
  }
  return result;
}

bool is_lower_bound(const SeriesRow& row, std::string_view figure) {
  return std::ranges::find(row.at_least, figure) != row.at_least.end();
}

}  // namespace onbeat::report
