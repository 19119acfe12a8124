#include "run/series.hpp"

namespace onbeat::run {
namespace {

void add_latency(SeriesRow& row, const Histogram& histogram) {
  if (histogram.empty()) return;
  for (const auto& [name, p, value] :
       {std::tuple{"p50", 50.0, &row.p50}, {"p90", 90.0, &row.p90}, {"p99", 99.0, &row.p99}}) {
    *value = histogram.percentile(p);
    if (histogram.percentile_is_lower_bound(p)) row.at_least.emplace_back(name);
  }
  row.max = histogram.max();
  if (histogram.max_is_lower_bound()) row.at_least.emplace_back("max");
}

}  // namespace

NamedCounts named_counts(const std::vector<std::uint64_t>& by_id, const kernel::NameTable& names) {
  NamedCounts result;
  for (std::size_t id = 0; id < by_id.size(); ++id)
    if (by_id[id] != 0) result[names.name(static_cast<std::uint16_t>(id))] += by_id[id];
  return result;
}

SeriesRow series_row(const kernel::Interval& interval, bool open, const kernel::NameTable& errors) {
  SeriesRow row;
  row.t = interval.end;
  row.counts = interval.counts;
  row.errors = named_counts(interval.errors, errors);
  add_latency(row, open ? interval.response : interval.service);
  row.lag_max = interval.lag_max;
  row.in_flight = interval.in_flight;
  row.in_flight_max = interval.in_flight_max;
  for (const kernel::LoopUsage& loop : interval.loops)
    if (loop.wall > Duration{})
      row.cpu_cores +=
          static_cast<double>(loop.cpu.count()) / static_cast<double>(loop.wall.count());
  row.events = interval.events;
  return row;
}

}  // namespace onbeat::run
