#include "run/figures.hpp"

#include "options/format.hpp"
#include "run/series.hpp"
#include "run/workload.hpp"

#include <fmt/format.h>

#include <algorithm>

namespace onbeat::run {

void name_figures(Report& report, const kernel::Names& names,
                  const std::vector<std::string>& histograms) {
  const kernel::Interval& total = report.total;
  report.codes = named_counts(total.codes, names.codes);
  report.errors = named_counts(total.errors, names.errors);
  report.endpoints.clear();
  for (std::size_t id = 0; id < total.endpoints.size(); ++id) {
    const kernel::EndpointInterval& from = total.endpoints[id];
    report.endpoints.push_back({.name = names.endpoints.name(static_cast<std::uint16_t>(id)),
                                .part = from.part,
                                .counts = from.counts,
                                .response = from.response,
                                .service = from.service,
                                .failed = from.failed,
                                .message_gap = from.message_gap,
                                .codes = named_counts(from.codes, names.codes),
                                .errors = named_counts(from.errors, names.errors)});
  }
  for (std::size_t i = 0; i < std::min(histograms.size(), total.extra.size()); ++i)
    report.breakdown[histograms[i]] = total.extra[i];
}

Connections connections_of(const std::vector<std::string>& counters, const kernel::Interval& total,
                           const kernel::Interval& before) {
  const auto at = [](const kernel::Interval& interval, std::size_t i) {
    return i < interval.counters.size() ? interval.counters[i] : 0;
  };
  const auto whole_run = [&](std::size_t i) { return at(total, i) + at(before, i); };
  Connections connections;
  for (std::size_t i = 0; i < counters.size(); ++i) {
    const std::string_view name = counters[i];
    if (!name.starts_with(kAddressCounterPrefix)) continue;
    connections.by_address[std::string(name.substr(kAddressCounterPrefix.size()))] += whole_run(i);
  }
  if (counters.size() < kConnectionCounters.size()) return connections;
  connections.opened = whole_run(0);
  connections.open_peak = whole_run(1);
  connections.reused = at(total, 2);
  connections.reopened = at(total, 3);
  connections.failed = whole_run(4);
  connections.closed_by_peer = at(total, 5);
  connections.reset = at(total, 6);
  return connections;
}

std::string connections_text(const Connections& connections) {
  using options::format_count;
  std::string text = format_count(connections.open_peak);
  if (connections.asked == 0) return text;
  if (connections.open_peak > connections.asked)
    return fmt::format("{} ({} for each host)", text, format_count(connections.asked));
  return fmt::format("{} of {}", text, format_count(connections.asked));
}

NamedCounts sources_of(const std::vector<std::string>& counters, const kernel::Interval& total) {
  NamedCounts sources;
  for (std::size_t i = 0; i < std::min(counters.size(), total.counters.size()); ++i) {
    const std::string_view name = counters[i];
    if (name.starts_with(kSourceCounterPrefix))
      sources[std::string(name.substr(kSourceCounterPrefix.size()))] += total.counters[i];
  }
  return sources;
}

double busiest_loop(const std::vector<kernel::LoopUsage>& loops) {
  double busiest = 0;
  for (const kernel::LoopUsage& loop : loops)
    if (loop.wall > Duration{})
      busiest = std::max(
          busiest, static_cast<double>(loop.cpu.count()) / static_cast<double>(loop.wall.count()));
  return busiest;
}

}  // namespace onbeat::run
