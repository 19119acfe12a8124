#include "options/grammar.hpp"

#include "options/nearest.hpp"
#include "options/scan.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <set>

namespace onbeat::options {
namespace {

struct Unit {
  std::string_view name;
  double size;
};

constexpr std::array kTimeUnits{Unit{"d", 86400e9},   Unit{"h", 3600e9},    Unit{"m", 60e9},
                                Unit{"s", 1e9},       Unit{"ms", 1e6},      Unit{"us", 1e3},
                                Unit{"\u00b5s", 1e3}, Unit{"\u03bcs", 1e3}, Unit{"ns", 1}};

constexpr std::array kSizeUnits{Unit{"", 1},      Unit{"b", 1},         Unit{"k", 1e3},
                                Unit{"kb", 1e3},  Unit{"kib", 1024},    Unit{"m", 1e6},
                                Unit{"mb", 1e6},  Unit{"mib", 1048576}, Unit{"g", 1e9},
                                Unit{"gb", 1e9},  Unit{"gib", 0x1p30},  Unit{"t", 1e12},
                                Unit{"tb", 1e12}, Unit{"tib", 0x1p40}};

constexpr std::string_view kTimeUnitHint = "units are ns, us, ms, s, m, h, d: 10s, 5ms, 1m30s";

const Unit* find_unit(std::span<const Unit> units, std::string_view name) {
  const auto found = std::ranges::find(units, name, &Unit::name);
  return found == units.end() ? nullptr : &*found;
}

std::string lower(std::string_view text) {
  std::string result(text);
  for (char& c : result) {
    if (c >= 'A' && c <= 'Z') c = static_cast<char>(c + ('a' - 'A'));
  }
  return result;
}

/// A double that counts something: whole, and small enough to be exact.
Parsing<std::uint64_t> whole(double value, std::string_view what) {
  constexpr double kExact = 0x1p53;
  if (value > kExact) return Scanner::fail_at(0, fmt::format("{} of more than 2^53", what));
  if (value != std::floor(value)) return Scanner::fail_at(0, fmt::format("{} must be whole", what));
  return static_cast<std::uint64_t>(value);
}

template <typename T, typename Scan>
Parsing<T> parse_whole_text(std::string_view text, std::string_view what, Scan scan_value) {
  Scanner scan(text);
  scan.skip_spaces();
  Parsing<T> value = scan_value(scan);
  if (!value) return value;
  if (const auto end = scan.expect_end(what); !end) return std::unexpected(end.error());
  return value;
}

}  // namespace

Parsing<Duration> scan_duration(Scanner& scan) {
  const std::size_t start = scan.at();
  Duration total{};
  double last_unit = kTimeUnits.front().size * 2;
  do {
    const std::size_t part = scan.at();
    const auto number = scan.number("a duration");
    if (!number) return std::unexpected(number.error());
    const std::size_t number_end = scan.at();
    scan.skip_spaces();
    const std::size_t unit_at = scan.at();
    const std::string_view name = scan.word();
    const Unit* unit = find_unit(kTimeUnits, name);
    if (unit == nullptr && *number == 0 && part == start &&
        (name.empty() || unit_at > number_end)) {
      scan.back_to(number_end);
      return Duration{};
    }
    if (name.empty()) {
      return Scanner::fail_at(
          number_end, "a duration needs a unit",
          fmt::format("{0}s or {0}ms", scan.text().substr(part, number_end - part)));
    }
    if (unit == nullptr) {
      return Scanner::fail_at(unit_at, fmt::format("unknown unit {}", quote(name)),
                              std::string(kTimeUnitHint));
    }
    if (unit->size >= last_unit) {
      return Scanner::fail_at(unit_at, "the parts of a duration go from large to small",
                              "for example 1h30m or 1m30s");
    }
    last_unit = unit->size;
    // Each part is rounded for itself: a sum in floating point would lose the nanoseconds of a long
    // one.
    const double part_ns = *number * unit->size;
    const bool fits = part_ns <= static_cast<double>(kLongestDuration.count());
    if (fits) total += Duration(std::llround(part_ns));
    if (!fits || total > kLongestDuration) {
      return Scanner::fail_at(start, "a duration of more than ten years");
    }
  } while (scan.peek() >= '0' && scan.peek() <= '9');
  return total;
}

Parsing<double> scan_scaled(Scanner& scan, std::string_view what) {
  const auto number = scan.number(what);
  if (!number) return number;
  const std::size_t suffix_at = scan.at();
  const std::string_view suffix = scan.word();
  if (suffix.empty()) return *number;
  if (suffix == "k" || suffix == "K") return *number * 1e3;
  if (suffix == "M") return *number * 1e6;
  if (suffix == "G") return *number * 1e9;
  return Scanner::fail_at(suffix_at, fmt::format("unknown suffix {}", quote(suffix)),
                          "k is a thousand, M a million, G a billion");
}

Parsing<double> scan_rate(Scanner& scan) {
  const std::size_t start = scan.at();
  auto rate = scan_scaled(scan, "a rate");
  if (!rate) {
    const std::string_view rest = scan.text().substr(rate.error().column - 1);
    if (rest.starts_with("rps") || rest.starts_with("qps")) {
      rate.error().hint = "rates are per second already; 300/m is per minute";
    }
    return rate;
  }
  if (scan.take("/")) {
    const std::size_t unit_at = scan.at();
    const std::string_view unit = scan.word();
    if (unit == "m") {
      *rate /= 60;
    } else if (unit == "h") {
      *rate /= 3600;
    } else if (unit != "s") {
      return Scanner::fail_at(unit_at, fmt::format("unknown unit {}", quote(unit)),
                              "a rate is per s, m or h: 300/m");
    }
  }
  if (*rate > kHighestRate) {
    return Scanner::fail_at(start, "a rate of more than one arrival a nanosecond",
                            "without --rate the run goes as fast as its workers can");
  }
  return *rate;
}

Parsing<Duration> parse_duration(std::string_view text) {
  return parse_whole_text<Duration>(text, "a duration", scan_duration);
}

Parsing<double> parse_rate(std::string_view text) {
  return parse_whole_text<double>(text, "a rate", scan_rate);
}

Parsing<double> parse_number(std::string_view text) {
  return parse_whole_text<double>(text, "a number", [](Scanner& scan) -> Parsing<double> {
    const bool negative = scan.take("-");
    const auto number = scan.number("a number");
    return number && negative ? Parsing<double>(-*number) : number;
  });
}

Parsing<double> parse_share(std::string_view text) {
  const auto number = parse_number(text);
  if (number && (*number < 0 || *number > 1)) {
    return std::unexpected(GrammarError{"a share lies between 0 and 1", 1, "0.1 is every tenth"});
  }
  return number;
}

Parsing<Duration> parse_seconds(std::string_view text) {
  const auto number = parse_number(text);
  if (!number) return parse_duration(text);
  return parse_duration(std::string(text) + "s");
}

Parsing<std::uint64_t> parse_count(std::string_view text) {
  const auto value = parse_whole_text<double>(
      text, "a number", [](Scanner& scan) { return scan_scaled(scan, "a number"); });
  if (!value) return std::unexpected(value.error());
  return whole(*value, "a number");
}

Parsing<std::uint64_t> parse_size(std::string_view text) {
  const auto value = parse_whole_text<double>(text, "a size", [](Scanner& scan) -> Parsing<double> {
    const auto number = scan.number("a size");
    if (!number) return number;
    scan.skip_spaces();
    const std::size_t unit_at = scan.at();
    const std::string_view name = scan.word();
    const Unit* unit = find_unit(kSizeUnits, lower(name));
    if (unit == nullptr) {
      return Scanner::fail_at(unit_at, fmt::format("unknown unit {}", quote(name)),
                              "1k and 1kB are 1000 bytes, 1KiB is 1024; also M, G, T");
    }
    return *number * unit->size;
  });
  if (!value) return std::unexpected(value.error());
  return whole(*value, "a size in bytes");
}

Parsing<double> parse_percent(std::string_view text) {
  return parse_whole_text<double>(text, "a percentage", [](Scanner& scan) -> Parsing<double> {
    const std::size_t start = scan.at();
    const auto number = scan.number("a percentage");
    if (!number) return number;
    scan.skip_spaces();
    if (!scan.take("%")) {
      return scan.fail("a percentage needs its sign", fmt::format("{}%", *number));
    }
    if (*number > 100) return Scanner::fail_at(start, "a percentage of more than 100");
    return *number;
  });
}

Parsing<std::vector<double>> parse_percentiles(std::string_view text) {
  Scanner scan(text);
  std::set<double> percentiles;
  do {
    scan.skip_spaces();
    scan.take("p");
    const std::size_t start = scan.at();
    const auto number = scan.number("a percentile");
    if (!number) return std::unexpected(number.error());
    if (*number <= 0 || *number >= 100) {
      return Scanner::fail_at(start, "a percentile lies between 0 and 100",
                              "the smallest and the largest value are always in the report");
    }
    percentiles.insert(*number);
    scan.skip_spaces();
  } while (scan.take(","));
  if (const auto end = scan.expect_end("a percentile"); !end) return std::unexpected(end.error());
  return std::vector(percentiles.begin(), percentiles.end());
}

Parsing<std::vector<unsigned>> parse_cpu_list(std::string_view text) {
  constexpr unsigned kMostCores = 65536;
  Scanner scan(text);
  std::set<unsigned> cores;
  const auto core = [&]() -> Parsing<unsigned> {
    const std::size_t start = scan.at();
    const auto number = scan.number("a core");
    if (!number) return std::unexpected(number.error());
    if (*number >= kMostCores || *number != std::floor(*number)) {
      return Scanner::fail_at(start, "not the number of a core", "for example 0-3,6");
    }
    return static_cast<unsigned>(*number);
  };
  do {
    scan.skip_spaces();
    const std::size_t start = scan.at();
    const auto first = core();
    if (!first) return std::unexpected(first.error());
    auto last = first;
    if (scan.take("-")) last = core();
    if (!last) return std::unexpected(last.error());
    if (*last < *first) return Scanner::fail_at(start, "a range goes from small to large");
    for (unsigned number = *first; number <= *last; ++number) cores.insert(number);
    scan.skip_spaces();
  } while (scan.take(","));
  if (const auto end = scan.expect_end("a core"); !end) return std::unexpected(end.error());
  return std::vector(cores.begin(), cores.end());
}

Parsing<std::pair<std::string, std::string>> parse_tag(std::string_view text) {
  const auto equals = text.find('=');
  if (equals == std::string_view::npos) {
    return Scanner::fail_at(text.size(), "a tag is written key=value", "for example build=1234");
  }
  const std::string_view key = text.substr(0, equals);
  if (key.empty()) return Scanner::fail_at(0, "the key before '=' is missing");
  for (std::size_t i = 0; i < key.size(); ++i) {
    const char c = key[i];
    const bool letter = (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9');
    if (!letter && c != '.' && c != '_' && c != '-') {
      return Scanner::fail_at(i, "a tag's key is letters, digits, '.', '_' and '-'");
    }
  }
  return std::pair{std::string(key), std::string(text.substr(equals + 1))};
}

std::string without_secrets(std::string_view path) {
  const auto scheme = path.find("://");
  if (scheme == std::string_view::npos) return std::string(path);
  const std::size_t start = scheme + 3, query = std::min(path.find('?', start), path.size());
  // A password with a '/' in it is not a valid URL, and is left out all the same.
  const auto at = path.substr(0, query).rfind('@');
  const std::size_t host = at == std::string_view::npos || at < start ? start : at + 1;
  return std::string(path.substr(0, start))
      .append(path.substr(host, query - host))
      .append(query == path.size() ? "" : "?...");
}

Parsing<Output> parse_out(std::string_view text, std::span<const std::string_view> formats) {
  const std::string known = fmt::format("{}", fmt::join(formats, ", "));
  const auto equals = text.find('=');
  const std::string_view format = text.substr(0, equals);
  if (std::ranges::find(formats, format) == formats.end()) {
    const auto near = nearest(format, formats);
    return Scanner::fail_at(0, fmt::format("unknown format {}", quote(format)),
                            near ? fmt::format("did you mean {}? Formats are {}", *near, known)
                                 : fmt::format("formats are {}", known));
  }
  if (equals == std::string_view::npos || equals + 1 == text.size()) {
    return Scanner::fail_at(text.size(), "the file is missing",
                            fmt::format("{0}=report.{0}", format));
  }
  const std::string_view path = text.substr(equals + 1);
  if (path == "-") {
    return Scanner::fail_at(equals + 1, "a file is needed, not \"-\"",
                            "--json writes the JSON report to the standard output");
  }
  Output output{std::string(format), std::string(path)};
  if (const auto share = path.rfind(",1/"); format == "samples" && share != path.npos) {
    const auto one_of = parse_count(path.substr(share + 3));
    if (!one_of || *one_of == 0) {
      return Scanner::fail_at(equals + 1 + share + 3, "not a share of the samples",
                              "samples=FILE,1/100");
    }
    output.one_of = *one_of;
    output.path.resize(share);
  }
  if (output.path.empty()) {
    return Scanner::fail_at(equals + 1, "the file is missing", "samples=FILE,1/100");
  }
  return output;
}

}  // namespace onbeat::options
