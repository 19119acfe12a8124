#include "report/json_place.hpp"

#include "report/escape.hpp"
#include "report/hdr_encoding.hpp"

#include <fmt/format.h>

#include <cmath>

namespace onbeat::report {

void Place::fail(std::string_view why) const {
  throw Unreadable(path_.empty() ? std::string(why)
                                 : fmt::format("{}: {}", for_terminal(path_), why));
}

Place Place::operator[](std::string_view key) const {
  if (!json_.is_object()) fail("must be an object");
  const auto found = json_.find(key);
  if (found == json_.end()) below(key, json_).fail("is missing");
  return below(key, *found);
}

std::string Place::text() const {
  if (!json_.is_string()) fail("must be a text");
  return json_.get<std::string>();
}

bool Place::flag() const {
  if (!json_.is_boolean()) fail("must be true or false");
  return json_.get<bool>();
}

std::uint64_t Place::count() const {
  if (!json_.is_number_unsigned()) fail("must be a whole number");
  return json_.get<std::uint64_t>();
}

kernel::Duration Place::ns() const {
  if (!json_.is_number_integer() ||
      (json_.is_number_unsigned() && json_.get<std::uint64_t>() > INT64_MAX)) {
    fail("must be whole nanoseconds");
  }
  return kernel::Duration{json_.get<std::int64_t>()};
}

std::optional<kernel::Duration> Place::maybe_ns() const {
  return is_null() ? std::nullopt : std::optional(ns());
}

std::optional<double> Place::maybe_number() const {
  if (is_null()) return std::nullopt;
  if (!json_.is_number()) fail("must be a number");
  return json_.get<double>();
}

std::vector<std::string> Place::texts() const {
  std::vector<std::string> all;
  elements([&](const Place& each) { all.push_back(each.text()); });
  return all;
}

run::NamedCounts Place::named_counts() const {
  run::NamedCounts counts;
  members([&](const std::string& name, const Place& each) { counts[name] = each.count(); });
  return counts;
}

namespace {

kernel::detail::WideSum read_sum(const Place& place) {
  const Json& json = place.json();
  if (json.is_number_unsigned()) return kernel::detail::WideSum{json.get<std::uint64_t>()};
  if (json.is_number_integer()) return kernel::detail::WideSum{json.get<std::int64_t>()};
  const double sum = place.number();
  if (!(std::abs(sum) < 1e36)) place.fail("is out of range");
  return static_cast<kernel::detail::WideSum>(sum);
}

}  // namespace

kernel::Histogram read_histogram(const Place& place) {
  if (place.is_null() || place["count"].count() == 0) return {};
  auto histogram = decode_hdr(place["hdr"].text());
  if (!histogram) place["hdr"].fail(histogram.error());
  const kernel::ExactFigures exact{
      .min = place["min"].ns(),
      .max = place["max"].ns(),
      .sum = read_sum(place["sum"]),
      .censored = place["censored"].count(),
      .smallest_censored = place["smallest_censored"].maybe_ns().value_or(kernel::Duration::max())};
  if (histogram->layout() != kernel::HistogramLayout()) {
    place["hdr"].fail("its layout is not Onbeat's");
  }
  if (histogram->count() != place["count"].count() || !histogram->restore(exact)) {
    place.fail("the figures are not those of its histogram");
  }
  return std::move(*histogram);
}

std::vector<kernel::LoopUsage> read_loops(const Place& place) {
  std::vector<kernel::LoopUsage> loops;
  place.elements([&](const Place& loop) {
    loops.push_back({.wall = loop["wall_ns"].ns(),
                     .cpu = loop["cpu_ns"].ns(),
                     .stalled = loop["stalled_ns"].ns(),
                     .stalls = loop["stalls"].count(),
                     .turns = loop["turns"].count()});
  });
  return loops;
}

}  // namespace onbeat::report
