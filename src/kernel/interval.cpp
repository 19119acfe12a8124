#include <onbeat/kernel/interval.hpp>

#include <algorithm>

namespace onbeat::kernel {

namespace {

void add_each(std::vector<std::uint64_t>& into, const std::vector<std::uint64_t>& from) {
  if (into.size() < from.size()) into.resize(from.size());
  for (std::size_t i = 0; i < from.size(); ++i) into[i] += from[i];
}

}  // namespace

Counts& Counts::operator+=(const Counts& other) noexcept {
  planned += other.planned;
  started += other.started;
  missed_late += other.missed_late;
  missed_waited += other.missed_waited;
  missed_at_end += other.missed_at_end;
  saturated += other.saturated;
  ok += other.ok;
  failed += other.failed;
  timed_out += other.timed_out;
  cancelled += other.cancelled;
  in_flight_at_end += other.in_flight_at_end;
  passed += other.passed;
  not_passed += other.not_passed;
  untimed += other.untimed;
  bytes_sent += other.bytes_sent;
  bytes_received += other.bytes_received;
  return *this;
}

void EndpointInterval::merge(const EndpointInterval& other) {
  part = part || other.part;
  counts += other.counts;
  response.merge(other.response);
  service.merge(other.service);
  failed.merge(other.failed);
  message_gap.merge(other.message_gap);
  add_each(codes, other.codes);
  add_each(errors, other.errors);
}

LoopUsage& LoopUsage::operator+=(const LoopUsage& other) noexcept {
  wall += other.wall;
  cpu += other.cpu;
  stalled += other.stalled;
  stalls += other.stalls;
  turns += other.turns;
  return *this;
}

void Interval::widen(Duration other_start, Duration other_end) noexcept {
  if (other_start == other_end) return;
  if (start == end) {
    start = other_start;
    end = other_end;
    return;
  }
  start = std::min(start, other_start);
  end = std::max(end, other_end);
}

/// What both kinds of merge have in common.
void Interval::add_shared(const Interval& other) {
  widen(other.start, other.end);
  counts += other.counts;
  response.merge(other.response);
  service.merge(other.service);
  wait.merge(other.wait);
  lag.merge(other.lag);
  failed.merge(other.failed);
  if (endpoints.size() < other.endpoints.size()) endpoints.resize(other.endpoints.size());
  for (std::size_t i = 0; i < other.endpoints.size(); ++i) endpoints[i].merge(other.endpoints[i]);
  add_each(codes, other.codes);
  add_each(errors, other.errors);
  if (extra.size() < other.extra.size()) extra.resize(other.extra.size());
  for (std::size_t i = 0; i < other.extra.size(); ++i) extra[i].merge(other.extra[i]);
  add_each(counters, other.counters);
  lag_max = std::max(lag_max, other.lag_max);
  events.insert(events.end(), other.events.begin(), other.events.end());
}

void Interval::merge_parallel(const Interval& other) {
  add_shared(other);
  loops.insert(loops.end(), other.loops.begin(), other.loops.end());
  in_flight += other.in_flight;
  in_flight_max += other.in_flight_max;
}

void Interval::merge_next(const Interval& other) {
  add_shared(other);
  if (loops.size() < other.loops.size()) loops.resize(other.loops.size());
  for (std::size_t i = 0; i < other.loops.size(); ++i) loops[i] += other.loops[i];
  in_flight = other.in_flight;
  in_flight_max = std::max(in_flight_max, other.in_flight_max);
}

}  // namespace onbeat::kernel
