#include "options/threshold.hpp"

#include "options/nearest.hpp"
#include "options/scan.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <utility>
#include <vector>

namespace onbeat::options {
namespace {

constexpr std::string_view kExample = "for example p(99) < 25ms, error_rate < 1% or rate > 4950/s";

struct NamedMeasure {
  std::string_view name;
  Measure measure;
};
constexpr std::array kMeasures{
    NamedMeasure{"min", Measure::min},         NamedMeasure{"mean", Measure::mean},
    NamedMeasure{"max", Measure::max},         NamedMeasure{"rate", Measure::rate},
    NamedMeasure{"ok_rate", Measure::ok_rate}, NamedMeasure{"error_rate", Measure::error_rate},
    NamedMeasure{"count", Measure::count},     NamedMeasure{"code", Measure::code},
    NamedMeasure{"error", Measure::error}};

constexpr std::array<std::pair<std::string_view, Latency>, 4> kLatencies{
    {{"response", Latency::response},
     {"service", Latency::service},
     {"wait", Latency::wait},
     {"lag", Latency::lag}}};

constexpr std::array<std::pair<std::string_view, Compare>, 6> kCompares{
    {{"<=", Compare::less_equal},
     {">=", Compare::greater_equal},
     {"==", Compare::equal},
     {"!=", Compare::not_equal},
     {"<", Compare::less},
     {">", Compare::greater}}};

class ThresholdParser {
 public:
  ThresholdParser(std::string_view text, const Vocabulary& vocabulary)
      : scan_(text), vocabulary_(vocabulary) {}

  Parsing<Threshold> parse() {
    scan_.skip_spaces();
    const std::size_t start = scan_.at();
    if (auto done = scope_and_metric(); !done) return std::unexpected(done.error());
    threshold_.metric = scan_.text().substr(start, scan_.at() - start);
    if (auto done = comparison(); !done) return std::unexpected(done.error());
    if (auto done = value(); !done) return std::unexpected(done.error());
    threshold_.text = scan_.text().substr(start, scan_.at() - start);
    scan_.skip_spaces();
    return threshold_;
  }

  Scanner& scan() { return scan_; }

 private:
  /// Scopes and a latency, each followed by a dot, then the metric.
  Parsing<bool> scope_and_metric() {
    while (true) {
      const std::size_t start = scan_.at();
      if (scan_.peek() == '"') return user_metric();
      const std::string_view word = scan_.name();
      if (word.empty()) {
        return scan_.fail(scan_.at_end() ? "a metric is missing" : "a metric starts with a letter",
                          std::string(kExample));
      }
      // "p99.9" has a dot of its own; p, p99 and p(99) never are scopes.
      if (is_percentile(word)) return percentile(start);
      if (word == "endpoint") {
        if (auto done = endpoint(start); !done) return done;
        continue;
      }
      if (scan_.peek() != '.') return metric(word, start);
      if (auto done = scope(word, start); !done) return done;
    }
  }

  static bool is_percentile(std::string_view word) {
    return word[0] == 'p' && word.find_first_not_of("0123456789", 1) == std::string_view::npos;
  }

  Parsing<bool> user_metric() {
    const std::size_t start = scan_.at();
    auto title = scan_.quoted();
    if (!title) return std::unexpected(title.error());
    if (!vocabulary_.user_metrics) {
      return Scanner::fail_at(start, "this workload has no metrics with titles",
                              std::string(kExample));
    }
    threshold_.measure = Measure::named;
    threshold_.name = std::move(*title);
    return no_latency(start);
  }

  Parsing<bool> endpoint(std::size_t start) {
    if (!threshold_.endpoint.empty() || !threshold_.operation.empty()) {
      return Scanner::fail_at(start, "a second scope");
    }
    if (!scan_.take("(")) return scan_.fail("\"(\" is missing", "endpoint(\"login\").p(99) < 25ms");
    auto name = scan_.quoted();
    if (!name) return std::unexpected(name.error());
    if (name->empty()) return Scanner::fail_at(start, "the name of the endpoint is empty");
    if (!scan_.take(")")) return scan_.fail("\")\" is missing");
    if (!scan_.take(".")) return scan_.fail("\".\" and a metric are missing after the endpoint");
    threshold_.endpoint = std::move(*name);
    return true;
  }

  Parsing<bool> scope(std::string_view word, std::size_t start) {
    scan_.skip(1);
    const auto latency =
        std::ranges::find(kLatencies, word, &decltype(kLatencies)::value_type::first);
    if (latency != kLatencies.end()) {
      if (threshold_.latency != Latency::headline) {
        return Scanner::fail_at(start, "a second kind of time");
      }
      threshold_.latency = latency->second;
      return true;
    }
    if (std::ranges::find(vocabulary_.operations, word) != vocabulary_.operations.end()) {
      if (!threshold_.endpoint.empty() || !threshold_.operation.empty()) {
        return Scanner::fail_at(start, "a second scope");
      }
      threshold_.operation = word;
      return true;
    }
    std::vector<std::string_view> known{"response", "service", "wait", "lag"};
    known.insert(known.end(), vocabulary_.operations.begin(), vocabulary_.operations.end());
    return unknown("scope", word, start, known);
  }

  Parsing<bool> percentile(std::size_t start) {
    scan_.back_to(start + 1);
    const bool parenthesis = scan_.take("(");
    if (parenthesis) scan_.skip_spaces();
    const std::size_t number_at = scan_.at();
    const auto number = scan_.number("a percentile");
    if (!number) return std::unexpected(number.error());
    if (*number <= 0 || *number >= 100) {
      return Scanner::fail_at(number_at, "a percentile lies between 0 and 100",
                              *number == 0     ? "the smallest value is min"
                              : *number == 100 ? "the largest value is max"
                                               : "for example p(99.9)");
    }
    if (parenthesis) {
      scan_.skip_spaces();
      if (!scan_.take(")")) return scan_.fail("\")\" is missing");
    }
    threshold_.measure = Measure::percentile;
    threshold_.percentile = *number;
    return true;
  }

  Parsing<bool> metric(std::string_view word, std::size_t start) {
    const auto known = std::ranges::find(kMeasures, word, &NamedMeasure::name);
    if (known != kMeasures.end()) {
      threshold_.measure = known->measure;
      if (known->measure == Measure::code || known->measure == Measure::error) {
        if (auto done = argument(word); !done) return done;
      }
      return threshold_.is_latency() ? true : no_latency(start);
    }
    if (std::ranges::find(vocabulary_.metrics, word) != vocabulary_.metrics.end()) {
      threshold_.measure = Measure::named;
      threshold_.name = word;
      return no_latency(start);
    }
    std::vector<std::string_view> names{"p(99)"};
    for (const NamedMeasure& measure : kMeasures) names.push_back(measure.name);
    names.insert(names.end(), vocabulary_.metrics.begin(), vocabulary_.metrics.end());
    return unknown("metric", word, start, names);
  }

  /// The text in parentheses of code(...) and error(...).
  Parsing<bool> argument(std::string_view word) {
    const std::string usage = word == "code" ? "code(503) < 10" : "error(timeout) < 1%";
    if (!scan_.take("(")) return scan_.fail("\"(\" is missing", usage);
    scan_.skip_spaces();
    const std::size_t start = scan_.at();
    while (scan_.peek() != ')' && scan_.peek() != ' ' && !scan_.at_end()) scan_.skip(1);
    threshold_.name = scan_.text().substr(start, scan_.at() - start);
    scan_.skip_spaces();
    if (!scan_.take(")")) return scan_.fail("\")\" is missing", usage);
    if (threshold_.name.empty()) {
      return Scanner::fail_at(start, fmt::format("{}() needs a name", word), usage);
    }
    const auto& classes = vocabulary_.errors;
    if (word == "error" && !classes.empty() &&
        std::ranges::find(classes, threshold_.name) == classes.end()) {
      return unknown("class of error", threshold_.name, start, classes);
    }
    return true;
  }

  Parsing<bool> no_latency(std::size_t start) const {
    if (threshold_.latency == Latency::headline) return true;
    return Scanner::fail_at(start,
                            "response, service, wait and lag have p(N), min, mean and max only");
  }

  static std::unexpected<GrammarError> unknown(std::string_view what, std::string_view word,
                                               std::size_t at,
                                               std::span<const std::string_view> known) {
    const auto near = nearest(word, known);
    return Scanner::fail_at(at, fmt::format("unknown {} {}", what, quote(word)),
                            near ? fmt::format("did you mean {}?", *near)
                                 : fmt::format("known are {}", fmt::join(known, ", ")));
  }

  Parsing<bool> comparison() {
    scan_.skip_spaces();
    for (const auto& [text, compare] : kCompares) {
      if (!scan_.take(text)) continue;
      threshold_.compare = compare;
      return true;
    }
    return scan_.fail("one of < <= > >= == != is missing", std::string(kExample));
  }

  Parsing<bool> value() {
    scan_.skip_spaces();
    switch (threshold_.measure) {
      case Measure::percentile:
      case Measure::min:
      case Measure::mean:
      case Measure::max:
      case Measure::total:
        return time_value();
      case Measure::rate:
        return number_value(Units{.per_second = true, .plain_is_rate = true});
      case Measure::ok_rate:
      case Measure::error_rate:
        return number_value(Units{.per_second = true, .percent = true});
      case Measure::count:
        return number_value(Units{.plain = true});
      case Measure::code:
      case Measure::error:
      case Measure::named:
        return number_value(Units{.percent = true, .plain = true});
    }
    return true;
  }

  Parsing<bool> time_value() {
    const std::size_t start = scan_.at();
    const auto time = scan_duration(scan_);
    if (!time) {
      GrammarError error = time.error();
      if (error.message == "a duration needs a unit") error.message = "a time needs a unit";
      return std::unexpected(std::move(error));
    }
    const std::string_view text = scan_.text().substr(start, scan_.at() - start);
    threshold_.unit = ThresholdUnit::nanoseconds;
    threshold_.value = static_cast<double>(time->count());
    // The last unit written: of 1m30s the seconds. A bare 0 is shown in ms.
    const std::size_t last = text.find_last_of("0123456789._");
    threshold_.shown_unit = last + 1 < text.size() ? text.substr(last + 1) : "ms";
    const auto unit = parse_duration("1" + threshold_.shown_unit);
    threshold_.shown_size = unit ? static_cast<double>(unit->count()) : 1;
    return true;
  }

  struct Units {
    bool per_second = false;
    bool percent = false;
    bool plain = false;
    bool plain_is_rate = false;
  };

  Parsing<bool> number_value(Units units) {
    const std::size_t start = scan_.at();
    auto number = scan_.number("the limit");
    if (!number) return std::unexpected(number.error());
    const std::string digits(scan_.text().substr(start, scan_.at() - start));
    scan_.skip_spaces();
    const std::size_t unit_at = scan_.at();
    if (scan_.take("%")) return percent_value(*number, units, unit_at);
    scan_.back_to(start);
    number = scan_rate_or_count(units);
    if (!number) return std::unexpected(number.error());
    const bool per = scan_.text().substr(start, scan_.at() - start).contains('/');
    threshold_.value = *number;
    if (per || units.plain_is_rate) {
      threshold_.unit = ThresholdUnit::per_second;
      threshold_.shown_unit = "/s";
      return true;
    }
    if (units.plain) return true;
    return Scanner::fail_at(unit_at, fmt::format("{} needs a unit", threshold_.metric),
                            fmt::format("{0}% of all, or {0}/s", digits));
  }

  Parsing<double> scan_rate_or_count(Units units) {
    if (units.per_second) return scan_rate(scan_);
    return scan_scaled(scan_, "the limit");
  }

  Parsing<bool> percent_value(double number, Units units, std::size_t unit_at) {
    if (!units.percent) {
      return Scanner::fail_at(unit_at, fmt::format("{} is not a percentage", threshold_.metric),
                              threshold_.measure == Measure::rate ? "for example rate > 4950/s"
                                                                  : "for example count > 1000");
    }
    if (number > 100) return Scanner::fail_at(unit_at, "a percentage of more than 100");
    threshold_.value = number;
    threshold_.unit = ThresholdUnit::percent;
    threshold_.shown_unit = "%";
    return true;
  }

  Scanner scan_;
  const Vocabulary& vocabulary_;
  Threshold threshold_;
};

}  // namespace

bool Threshold::holds(double actual) const {
  if (std::isnan(actual)) return false;
  switch (compare) {
    case Compare::less:
      return actual < value;
    case Compare::less_equal:
      return actual <= value;
    case Compare::greater:
      return actual > value;
    case Compare::greater_equal:
      return actual >= value;
    case Compare::equal:
      return actual == value;
    case Compare::not_equal:
      return actual != value;
  }
  return false;
}

std::string_view to_string(Compare compare) {
  const auto found =
      std::ranges::find(kCompares, compare, &decltype(kCompares)::value_type::second);
  return found->first;
}

Parsing<Threshold> parse_threshold(std::string_view text, const Vocabulary& vocabulary) {
  ThresholdParser parser(text, vocabulary);
  auto threshold = parser.parse();
  if (!threshold) return threshold;
  if (parser.scan().rest().starts_with("over")) {
    return parser.scan().fail("a threshold judges the whole run, not a window",
                              "--abort-on has windows");
  }
  if (const auto end = parser.scan().expect_end("a threshold"); !end) {
    return std::unexpected(end.error());
  }
  return threshold;
}

Parsing<AbortRule> parse_abort(std::string_view text, const Vocabulary& vocabulary) {
  ThresholdParser parser(text, vocabulary);
  auto threshold = parser.parse();
  if (!threshold) return std::unexpected(threshold.error());
  Scanner& scan = parser.scan();
  if (!scan.take("over")) {
    return scan.fail("\"over\" and a window are missing", "for example error_rate > 20% over 5s");
  }
  scan.skip_spaces();
  const std::size_t start = scan.at();
  const auto window = scan_duration(scan);
  if (!window) return std::unexpected(window.error());
  if (*window < std::chrono::seconds(1)) {
    return Scanner::fail_at(start, "a window is at least 1s");
  }
  if (const auto end = scan.expect_end("a window"); !end) return std::unexpected(end.error());
  return AbortRule{std::move(*threshold), *window};
}

}  // namespace onbeat::options
