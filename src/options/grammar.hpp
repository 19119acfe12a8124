// The small languages in which people write values: durations, rates, sizes, counts, headers, tags.
// One parser each, used by flags, environment, configuration files and BENCH sections alike. All
// are pure functions; what they need from outside (environment, files) comes in as a parameter.
// Rate profiles are in rate_grammar.hpp, thresholds in threshold.hpp, the way back in format.hpp.
#pragma once

#include <onbeat/kernel/clock.hpp>

#include <cstdint>
#include <expected>
#include <functional>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace onbeat::options {

using kernel::Duration;

/// Why a text was refused. `column` is that of the offending byte, from 1; one past the end when
/// something is missing there. `hint` says what would be right; may be empty.
struct GrammarError {
  std::string message;
  std::size_t column = 1;
  std::string hint;
  bool operator==(const GrammarError&) const = default;
};

template <typename T>
using Parsing = std::expected<T, GrammarError>;

/// No duration is longer (ten years), no rate higher (one arrival a nanosecond): sums of instants
/// stay within 64 bits.
inline constexpr Duration kLongestDuration = std::chrono::hours(24 * 3650);
inline constexpr double kHighestRate = 1e9;

/// "10s", "5ms", "1m30s", "250us", "1.5h", "0". Units ns, us, ms, s, m, h, d, from large to small.
Parsing<Duration> parse_duration(std::string_view text);

/// Arrivals per second: "5000", "5k", "1.5M", "300/m", "2.5k/s", "10/h".
Parsing<double> parse_rate(std::string_view text);

/// Any finite number: "5", "-2.5", "1_000".
Parsing<double> parse_number(std::string_view text);

/// A number from 0 to 1: "0.1", "1".
Parsing<double> parse_share(std::string_view text);

/// A duration, or a bare number of seconds: "30", "0.5", "500ms".
Parsing<Duration> parse_seconds(std::string_view text);

/// Whole numbers: "1000", "10k", "1.5M", "1_000".
Parsing<std::uint64_t> parse_count(std::string_view text);

/// Bytes: "512", "1k" and "1kB" (1000), "10MiB" (binary), up to T. Letters in any case.
Parsing<std::uint64_t> parse_size(std::string_view text);

/// "20%", "0.1%": percent, from 0 to 100.
Parsing<double> parse_percent(std::string_view text);

/// "50,90,p99.9": percentiles over 0 and under 100, in rising order, without repeats.
Parsing<std::vector<double>> parse_percentiles(std::string_view text);

/// "0-3,6": numbers of cores, in rising order, without repeats.
Parsing<std::vector<unsigned>> parse_cpu_list(std::string_view text);

/// "key=value". Keys are letters, digits, '.', '_' and '-'; the value is anything.
Parsing<std::pair<std::string, std::string>> parse_tag(std::string_view text);

struct Output {
  std::string format, path;  // the path may be a URL (influx)
  std::uint64_t one_of = 1;  // samples: one of so many arrivals
};
/// A path as it may be shown: of a URL neither user nor query.
[[nodiscard]] std::string without_secrets(std::string_view path);
/// "json=report.json" with a format out of `formats`; "samples=FILE,1/100".
Parsing<Output> parse_out(std::string_view text, std::span<const std::string_view> formats);

struct Header {
  std::string name, value;
  bool operator==(const Header&) const = default;
};
/// Where headers that are kept off the command line come from.
struct HeaderSources {
  std::function<std::optional<std::string>(const std::string& name)> environment;
  /// The whole file, or why it cannot be read.
  std::function<std::expected<std::string, std::string>(const std::string& path)> read_file;
};

/// "Name: value", in whose value $NAME and ${NAME} are replaced from the environment and $$ is a
/// dollar sign; or "@file": a "Name: value" a line, taken literally, blank lines skipped. Errors
/// never quote a value, for it may be a secret.
Parsing<std::vector<Header>> parse_header(std::string_view text, const HeaderSources& sources);

}  // namespace onbeat::options
