#include "report/ndjson.hpp"

#include "report/hdr_encoding.hpp"
#include "report/json_parts.hpp"

#include <fmt/format.h>

#include <vector>

namespace onbeat::report {
namespace {

using kernel::Histogram;
using kernel::Interval;
using IdNames = std::vector<std::string>;

std::string name_of(const IdNames& names, std::size_t id) {
  return id < names.size() ? names[id] : fmt::format("#{}", id);
}

Json counts_by_name(const std::vector<std::uint64_t>& counts, const IdNames& names) {
  Json out = Json::object();
  for (std::size_t id = 0; id < counts.size(); ++id) {
    if (counts[id] != 0) out[name_of(names, id)] = counts[id];
  }
  return out;
}

// Null when empty: most intervals have no failures, and a closed run has no lag.
Json histogram_json(const Histogram& histogram) {
  if (histogram.empty()) return nullptr;
  return {{"count", histogram.count()},
          {"censored", histogram.censored()},
          {"smallest_censored", smallest_censored_json(histogram)},
          {"min", histogram.min().count()},
          {"mean", number_json(run::mean_of(histogram))},
          {"max", histogram.max().count()},
          {"sum", sum_json(histogram)},
          {"hdr", encode_hdr(histogram)}};
}

Json stream_counts(const kernel::Counts& counts) {
  Json json = counts_json(counts);
  json["bytes_sent"] = counts.bytes_sent;
  json["bytes_received"] = counts.bytes_received;
  return json;
}

Json endpoints_json(const Interval& interval, const IdNames& endpoints, const IdNames& codes,
                    const IdNames& errors) {
  Json out = Json::array();
  for (std::size_t id = 0; id < interval.endpoints.size(); ++id) {
    const kernel::EndpointInterval& endpoint = interval.endpoints[id];
    out.push_back({{"name", name_of(endpoints, id)},
                   {"counts", stream_counts(endpoint.counts)},
                   {"response", histogram_json(endpoint.response)},
                   {"service", histogram_json(endpoint.service)},
                   {"failed", histogram_json(endpoint.failed)},
                   {"codes", counts_by_name(endpoint.codes, codes)},
                   {"errors", counts_by_name(endpoint.errors, errors)}});
  }
  return out;
}

Json latency_json(const Interval& interval) {
  return {{"response", histogram_json(interval.response)},
          {"service", histogram_json(interval.service)},
          {"wait", histogram_json(interval.wait)},
          {"lag", histogram_json(interval.lag)},
          {"failed", histogram_json(interval.failed)}};
}

}  // namespace

std::string stream_header(const run::Report& report) {
  Json json = report_json(report);
  Json header;
  header["type"] = "header";
  header["schema"] = "onbeat.stream/1";
  for (const char* part : {"tool", "host", "run", "options", "load"}) header[part] = json[part];
  header["thresholds"] = Json::array();
  for (const run::ThresholdResult& threshold : report.thresholds)
    header["thresholds"].push_back(threshold.expr);
  for (const char* later : {"ended_at", "end_reason", "exit_code", "error"})
    header["run"].erase(later);
  return dump(header, -1);
}

std::string stream_interval(const Interval& interval, const kernel::Names& names,
                            const kernel::RecorderShape& shape) {
  const IdNames codes = names.codes.names(), errors = names.errors.names();
  Json extra = Json::object(), counters = Json::object();
  for (std::size_t i = 0; i < interval.extra.size(); ++i) {
    extra[name_of(shape.histograms, i)] = histogram_json(interval.extra[i]);
  }
  for (std::size_t i = 0; i < interval.counters.size(); ++i) {
    counters[name_of(shape.counters, i)] = interval.counters[i];
  }
  Json json;
  json["type"] = "interval";
  json["index"] = interval.index;
  json["start_ns"] = interval.start.count();
  json["end_ns"] = interval.end.count();
  json["counts"] = stream_counts(interval.counts);
  json["codes"] = counts_by_name(interval.codes, codes);
  json["errors"] = counts_by_name(interval.errors, errors);
  json["latency"] = latency_json(interval);
  json["lag_max_ns"] = interval.lag_max.count();
  json["in_flight"] = interval.in_flight;
  json["in_flight_max"] = interval.in_flight_max;
  json["endpoints"] = endpoints_json(interval, names.endpoints.names(), codes, errors);
  json["extra"] = std::move(extra);
  json["counters"] = std::move(counters);
  json["loops"] = loops_json(interval.loops);
  json["events"] = interval.events;
  return dump(json, -1);
}

std::string stream_report(const run::Report& report) {
  Json json;
  json["type"] = "report";
  json["report"] = report_json(report);
  return dump(json, -1);
}

}  // namespace onbeat::report
