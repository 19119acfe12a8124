// Values back into text: exact forms that the grammars read again, and short ones for people.
#pragma once

#include <onbeat/kernel/clock.hpp>

#include <cstdint>
#include <string>

namespace onbeat::options {

/// Exact, as the grammar writes it: "1m30s", "1.5ms", "0s". parse_duration gives the same value.
std::string duration_text(kernel::Duration duration);
/// Exact, per second, without a unit: "5000", "0.5". parse_rate gives the same value.
std::string rate_text(double per_second);
/// The shortest text of a number that reads back as the same: "99.9", "25".
std::string number_text(double value);

/// For people, three significant digits: "1.25 ms", "12 us", "0 ns", "30 s"; from a minute on to
/// the second, "1m30s".
std::string format_duration(kernel::Duration duration);
/// "5,000/s", "1,234.6/s", "0.0167/s"; "n/a" when it is not a finite number.
std::string format_rate(double per_second);
/// "18 MiB", "1.5 KiB", "512 B".
std::string format_size(std::uint64_t bytes);
/// "150,000".
std::string format_count(std::uint64_t count);
/// Thousands separated, `decimals` digits after the point: "5,000.0"; "n/a" when not finite.
std::string format_number(double value, int decimals);
/// Three significant digits, "0.08%", "12.5%", "100%"; "n/a" when not finite.
std::string format_percent(double percent);

}  // namespace onbeat::options
