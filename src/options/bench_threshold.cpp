#include "options/bench_threshold.hpp"

#include "options/nearest.hpp"
#include "options/scan.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <vector>

namespace onbeat::options {
namespace {

enum class Unit : std::uint8_t { plain, percent, per_second, ns, ms };

struct Metric {
  std::string_view name;
  Measure measure;
  Unit unit;
  std::string_view named = {};  // of Measure::named
};

constexpr std::array kMetrics{
    Metric{"count", Measure::count, Unit::plain},
    Metric{"ok", Measure::named, Unit::plain, "ok"},
    Metric{"errors", Measure::named, Unit::plain, "errors"},
    Metric{"passed", Measure::named, Unit::plain, "passed"},
    Metric{"failed", Measure::named, Unit::plain, "not_passed"},
    Metric{"error_rate", Measure::error_rate, Unit::percent},
    Metric{"error_rate_pct", Measure::error_rate, Unit::percent},
    Metric{"pass_rate", Measure::named, Unit::percent, "passed"},
    Metric{"pass_rate_pct", Measure::named, Unit::percent, "passed"},
    Metric{"fail_rate", Measure::named, Unit::percent, "not_passed"},
    Metric{"fail_rate_pct", Measure::named, Unit::percent, "not_passed"},
    Metric{"rps", Measure::rate, Unit::per_second},
    Metric{"rps_observed", Measure::rate, Unit::per_second},
    Metric{"throughput", Measure::rate, Unit::per_second},
    Metric{"average_ns", Measure::mean, Unit::ns},
    Metric{"avg_ns", Measure::mean, Unit::ns},
    Metric{"average_ms", Measure::mean, Unit::ms},
    Metric{"avg_ms", Measure::mean, Unit::ms},
    Metric{"fastest_ns", Measure::min, Unit::ns},
    Metric{"min_ns", Measure::min, Unit::ns},
    Metric{"fastest_ms", Measure::min, Unit::ms},
    Metric{"min_ms", Measure::min, Unit::ms},
    Metric{"slowest_ns", Measure::max, Unit::ns},
    Metric{"max_ns", Measure::max, Unit::ns},
    Metric{"slowest_ms", Measure::max, Unit::ms},
    Metric{"max_ms", Measure::max, Unit::ms},
    Metric{"total_ns", Measure::total, Unit::ns},
};

constexpr std::array<std::pair<std::string_view, Compare>, 4> kCompares{
    {{"<=", Compare::less_equal},
     {">=", Compare::greater_equal},
     {"<", Compare::less},
     {">", Compare::greater}}};

class Parser {
 public:
  explicit Parser(std::string_view text) : scan_(text) {}

  Parsing<Threshold> parse() {
    scan_.skip_spaces();
    const std::size_t start = scan_.at();
    if (auto done = metric(); !done) return std::unexpected(done.error());
    threshold_.metric = scan_.text().substr(start, scan_.at() - start);
    if (auto done = comparison(); !done) return std::unexpected(done.error());
    if (auto done = value(); !done) return std::unexpected(done.error());
    threshold_.text = scan_.text().substr(start, scan_.at() - start);
    if (const auto end = scan_.expect_end("a threshold"); !end) return std::unexpected(end.error());
    return threshold_;
  }

 private:
  Parsing<bool> metric() {
    const std::size_t start = scan_.at();
    unit_ = scan_.take("latency_ms.") ? Unit::ms : Unit::ns;
    if (unit_ == Unit::ns) scan_.take("latency_ns.");
    const bool prefixed = scan_.at() != start;
    if (scan_.peek() == 'p' && (scan_.peek(1) == '(' || is_digit(scan_.peek(1))))
      return percentile();
    const std::string_view word = prefixed ? std::string_view{} : scan_.name();
    const auto known = std::ranges::find(kMetrics, word, &Metric::name);
    if (known == kMetrics.end()) return unknown(start);
    unit_ = known->unit;
    threshold_.measure = known->measure;
    threshold_.name = known->named;
    // Failures have their part in these, whatever the percentiles are of.
    if (threshold_.is_latency()) threshold_.latency = Latency::all;
    return true;
  }

  static bool is_digit(char c) { return c >= '0' && c <= '9'; }

  std::unexpected<GrammarError> unknown(std::size_t start) {
    const std::string_view rest = scan_.text().substr(start);
    const std::string_view word = rest.substr(0, rest.find_first_of("<>= "));
    std::vector<std::string_view> names{"p(99)", "latency_ms.p(99)", "latency_ns.p(99)"};
    for (const Metric& metric : kMetrics) names.push_back(metric.name);
    const auto near = nearest(word, names);
    return Scanner::fail_at(start, fmt::format("unknown metric {}", quote(word)),
                            near ? fmt::format("did you mean {}?", *near)
                                 : fmt::format("known are {}", fmt::join(names, ", ")));
  }

  Parsing<bool> percentile() {
    scan_.skip(1);
    const bool parenthesis = scan_.take("(");
    if (parenthesis) scan_.skip_spaces();
    const std::size_t at = scan_.at();
    const auto number = scan_.number("a percentile");
    if (!number) return std::unexpected(number.error());
    if (*number <= 0 || *number >= 100)
      return Scanner::fail_at(at, "a percentile lies between 0 and 100",
                              *number == 0     ? "the smallest value is min_ms"
                              : *number == 100 ? "the largest value is max_ms"
                                               : "for example p(99.9)");
    if (parenthesis) {
      scan_.skip_spaces();
      if (!scan_.take(")")) return scan_.fail("\")\" is missing");
    }
    threshold_.measure = Measure::percentile;
    threshold_.percentile = *number;
    return true;
  }

  Parsing<bool> comparison() {
    scan_.skip_spaces();
    for (const auto& [text, compare] : kCompares) {
      if (!scan_.take(text)) continue;
      threshold_.compare = compare;
      return true;
    }
    return scan_.fail("invalid threshold value: one of < <= > >= is missing",
                      fmt::format("thresholds.{}: <25", threshold_.metric));
  }

  Parsing<bool> value() {
    scan_.skip_spaces();
    const std::size_t at = scan_.at();
    const auto number = scan_.number("the limit");
    if (!number) {
      GrammarError error = number.error();
      error.message = "invalid threshold value: " + error.message;
      return std::unexpected(std::move(error));
    }
    scan_.skip_spaces();
    const std::size_t unit_at = scan_.at();
    std::string unit(scan_.word());
    if (unit.empty() && scan_.take("/s")) unit = "/s";
    switch (unit_) {
      case Unit::plain:
        if (!unit.empty()) return no_unit(unit_at, unit, "it is a number");
        threshold_.value = *number;
        return true;
      case Unit::percent:
        if (!unit.empty() && unit != "%") return no_unit(unit_at, unit, "%, or none");
        if (*number > 100) return Scanner::fail_at(at, "a percentage of more than 100");
        threshold_.unit = ThresholdUnit::percent;
        threshold_.shown_unit = "%";
        threshold_.value = *number;
        return true;
      case Unit::per_second:
        if (!unit.empty() && unit != "/s") return no_unit(unit_at, unit, "/s, or none");
        threshold_.unit = ThresholdUnit::per_second;
        threshold_.shown_unit = "/s";
        threshold_.value = *number;
        return true;
      case Unit::ns:
      case Unit::ms:
        return time(*number, unit_at, unit);
    }
    return true;
  }

  Parsing<bool> time(double number, std::size_t unit_at, std::string unit) {
    if (unit.empty()) unit = unit_ == Unit::ms ? "ms" : "ns";
    const auto size = parse_duration("1" + unit);
    if (!size) return no_unit(unit_at, unit, "ns, us, ms, s or m, or none");
    threshold_.unit = ThresholdUnit::nanoseconds;
    threshold_.value = number * static_cast<double>(size->count());
    // Shown in the metric's own unit, as its name says.
    threshold_.shown_unit = unit_ == Unit::ms ? "ms" : "ns";
    threshold_.shown_size = unit_ == Unit::ms ? 1e6 : 1;
    return true;
  }

  std::unexpected<GrammarError> no_unit(std::size_t at, const std::string& unit,
                                        std::string_view right) const {
    return Scanner::fail_at(at, fmt::format("{} is no unit of {}", quote(unit), threshold_.metric),
                            std::string(right));
  }

  Scanner scan_;
  Unit unit_ = Unit::plain;
  Threshold threshold_;
};

}  // namespace

Parsing<Threshold> parse_bench_threshold(std::string_view text) { return Parser(text).parse(); }

}  // namespace onbeat::options
