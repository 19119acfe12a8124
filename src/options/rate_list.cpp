#include "options/rate_list.hpp"

#include "options/scan.hpp"

#include <algorithm>
#include <cmath>

namespace onbeat::options {
namespace {

constexpr std::string_view kUsage = "a range, 1k..20k, or a list, 1k,2k,5k";

/// The next rate, which must be above `before`.
Parsing<double> scan_higher(Scanner& scan, double before) {
  scan.skip_spaces();
  const std::size_t start = scan.at();
  const auto rate = scan_rate(scan);
  if (!rate) return std::unexpected(rate.error());
  if (*rate == 0) return Scanner::fail_at(start, "a rate of 0 sends nothing", std::string(kUsage));
  if (*rate <= before)
    return Scanner::fail_at(start, "the rates must rise, each above the one before",
                            std::string(kUsage));
  scan.skip_spaces();
  return *rate;
}

double rounded(double rate) {
  const double unit = std::pow(10, std::floor(std::log10(rate)) - 2);
  return std::round(rate / unit) * unit;
}

}  // namespace

Parsing<RateList> parse_rate_list(std::string_view text) {
  Scanner scan(text);
  RateList list;
  do {
    const std::size_t start = scan.at();
    const auto rate = scan_higher(scan, list.rates.empty() ? 0 : list.rates.back());
    if (!rate) return std::unexpected(rate.error());
    if (list.rates.size() == kMostCurveRates)
      return Scanner::fail_at(start, "more than 100 rates", "leave some out");
    list.rates.push_back(*rate);
    list.range = list.range || (list.rates.size() == 1 && scan.take(".."));
  } while ((list.range && list.rates.size() == 1) || (!list.range && scan.take(",")));
  if (const auto end = scan.expect_end("a rate"); !end) return std::unexpected(end.error());
  if (list.rates.size() < 2)
    return scan.fail("a curve needs two rates at least", std::string(kUsage));
  return list;
}

std::vector<double> spread(const RateList& list, std::size_t steps) {
  if (!list.range) return list.rates;
  const double low = list.rates.front(), high = list.rates.back();
  std::vector<double> exact, round;
  for (std::size_t i = 0; i < steps; ++i) {
    exact.push_back(low *
                    std::pow(high / low, static_cast<double>(i) / static_cast<double>(steps - 1)));
    round.push_back(rounded(exact.back()));
  }
  exact.back() = round.back() = high;
  round.front() = low;
  const bool rises = std::ranges::adjacent_find(round, std::greater_equal<>()) == round.end();
  return rises ? round : exact;
}

}  // namespace onbeat::options
