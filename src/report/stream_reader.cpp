#include "report/stream_reader.hpp"

#include <fmt/format.h>

#include <algorithm>

namespace onbeat::report {
namespace {

void read_by_name(const Place& place, kernel::NameTable& names, std::vector<std::uint64_t>& by_id) {
  place.members([&](const std::string& name, const Place& count) {
    const std::uint16_t id = names.id(name);
    if (by_id.size() <= id) by_id.resize(id + 1u);
    by_id[id] += count.count();
  });
}

/// The position of a name, which is added when it is new.
std::size_t position(std::vector<std::string>& names, const std::string& name) {
  const auto found = std::ranges::find(names, name);
  if (found != names.end()) return static_cast<std::size_t>(found - names.begin());
  names.push_back(name);
  return names.size() - 1;
}

kernel::Counts counts_with_bytes(const Place& place) {
  kernel::Counts counts = read_counts(place);
  counts.bytes_sent = place["bytes_sent"].count();
  counts.bytes_received = place["bytes_received"].count();
  return counts;
}

}  // namespace

void StreamReader::header(const Place& place) {
  const std::string schema = place["schema"].text();
  if (schema != "onbeat.stream/1")
    place["schema"].fail(fmt::format("\"{}\" is not onbeat.stream/1", schema));
  read_known(place, known_);
  thresholds_ = place["thresholds"].texts();
}

void StreamReader::endpoints(const Place& place, kernel::Interval& interval) {
  place.elements([&](const Place& from) {
    const std::uint16_t id = names_.endpoints.id(from["name"].text());
    if (interval.endpoints.size() <= id) interval.endpoints.resize(id + 1u);
    kernel::EndpointInterval endpoint;
    endpoint.counts = counts_with_bytes(from["counts"]);
    endpoint.response = read_histogram(from["response"]);
    endpoint.service = read_histogram(from["service"]);
    endpoint.failed = read_histogram(from["failed"]);
    read_by_name(from["codes"], names_.codes, endpoint.codes);
    read_by_name(from["errors"], names_.errors, endpoint.errors);
    interval.endpoints[id].merge(endpoint);
  });
}

kernel::Interval StreamReader::interval(const Place& place) {
  kernel::Interval interval;
  interval.index = place["index"].count();
  interval.start = place["start_ns"].ns();
  interval.end = place["end_ns"].ns();
  if (interval.end < interval.start) place["end_ns"].fail("is before the start");
  interval.counts = counts_with_bytes(place["counts"]);
  const Place latency = place["latency"];
  interval.response = read_histogram(latency["response"]);
  interval.service = read_histogram(latency["service"]);
  interval.wait = read_histogram(latency["wait"]);
  interval.lag = read_histogram(latency["lag"]);
  interval.failed = read_histogram(latency["failed"]);
  read_by_name(place["codes"], names_.codes, interval.codes);
  read_by_name(place["errors"], names_.errors, interval.errors);
  endpoints(place["endpoints"], interval);
  place["extra"].members([&](const std::string& name, const Place& histogram) {
    const std::size_t at = position(shape_.histograms, name);
    if (interval.extra.size() <= at) interval.extra.resize(at + 1);
    interval.extra[at] = read_histogram(histogram);
  });
  place["counters"].members([&](const std::string& name, const Place& counter) {
    const std::size_t at = position(shape_.counters, name);
    if (interval.counters.size() <= at) interval.counters.resize(at + 1);
    interval.counters[at] = counter.count();
  });
  interval.lag_max = place["lag_max_ns"].ns();
  interval.in_flight = place["in_flight"].count();
  interval.in_flight_max = place["in_flight_max"].count();
  interval.loops = read_loops(place["loops"]);
  interval.events = place["events"].texts();
  return interval;
}

}  // namespace onbeat::report
