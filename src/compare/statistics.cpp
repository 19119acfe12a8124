#include "compare/statistics.hpp"

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <numeric>

namespace onbeat::compare {
namespace {

/// Twice the midranks, so that ties stay whole numbers: ranks of values in their own order.
std::vector<std::size_t> doubled_ranks(Values values) {
  std::vector<std::size_t> order(values.size());
  std::iota(order.begin(), order.end(), std::size_t{0});
  std::ranges::sort(order, {}, [&](std::size_t i) { return values[i]; });
  std::vector<std::size_t> ranks(values.size());
  for (std::size_t begin = 0; begin < order.size();) {
    std::size_t end = begin + 1;
    while (end < order.size() && values[order[end]] == values[order[begin]]) ++end;
    for (std::size_t i = begin; i < end; ++i) ranks[order[i]] = begin + 1 + end;
    begin = end;
  }
  return ranks;
}

/// Both tails of a distribution given as counts of each sum, the observed sum within both.
Tails tails_of(std::span<const double> ways, std::size_t observed) {
  const double all = std::accumulate(ways.begin(), ways.end(), 0.0);
  const auto at = ways.begin() + static_cast<std::ptrdiff_t>(observed);
  return {.larger = std::accumulate(at, ways.end(), 0.0) / all,
          .smaller = std::accumulate(ways.begin(), at + 1, 0.0) / all};
}

double upper_tail(double z) { return 0.5 * std::erfc(z / std::sqrt(2.0)); }

Tails normal_tails(double sum, double mean, double variance) {
  if (!(variance > 0)) return {};
  const double deviation = std::sqrt(variance);
  return {.larger = upper_tail((sum - mean - 0.5) / deviation),
          .smaller = upper_tail((mean - sum - 0.5) / deviation)};
}

/// In how many ways `chosen` of the ranks add up to each sum.
std::vector<double> subset_sums(std::span<const std::size_t> ranks, std::size_t chosen) {
  const std::size_t highest = std::accumulate(ranks.begin(), ranks.end(), std::size_t{0});
  std::vector<std::vector<double>> ways(chosen + 1, std::vector<double>(highest + 1));
  ways[0][0] = 1;
  for (const std::size_t rank : ranks)
    for (std::size_t k = chosen; k > 0; --k)
      for (std::size_t sum = rank; sum <= highest; ++sum) ways[k][sum] += ways[k - 1][sum - rank];
  return ways[chosen];
}

/// Sum of t^3 - t over the groups of equal ranks.
double tie_term(std::vector<std::size_t> ranks) {
  std::ranges::sort(ranks);
  double sum = 0;
  for (std::size_t begin = 0; begin < ranks.size();) {
    std::size_t end = begin + 1;
    while (end < ranks.size() && ranks[end] == ranks[begin]) ++end;
    const auto ties = static_cast<double>(end - begin);
    sum += ties * ties * ties - ties;
    begin = end;
  }
  return sum;
}

std::vector<std::size_t> untied_ranks(std::size_t count) {
  std::vector<std::size_t> ranks(count);
  for (std::size_t i = 0; i < count; ++i) ranks[i] = 2 * (i + 1);
  return ranks;
}

/// How many of the sorted values to leave out on each side, and the confidence of what is left.
/// `below(k)`: the probability that the statistic is less than k of its `whole` steps.
template <typename Below>
Shift interval(std::vector<double> sorted, double confidence, Below below) {
  std::ranges::sort(sorted);
  Shift shift{.estimate = median(sorted)};
  std::size_t left_out = 0;
  while (left_out + 1 <= (sorted.size() - 1) / 2 && 1 - 2 * below(left_out + 2) >= confidence)
    ++left_out;
  shift.confidence = 1 - 2 * below(left_out + 1);
  if (shift.confidence < confidence) return {.estimate = shift.estimate};
  shift.low = sorted[left_out];
  shift.high = sorted[sorted.size() - 1 - left_out];
  return shift;
}

/// P(statistic < steps) from counts of doubled rank sums, the lowest of which is `lowest`.
struct Below {
  std::vector<double> ways;  // empty: normal
  std::size_t lowest = 0;
  double mean = 0, variance = 0;

  double operator()(std::size_t steps) const {
    if (ways.empty())
      return upper_tail((mean - static_cast<double>(steps) + 0.5) / std::sqrt(variance));
    const double all = std::accumulate(ways.begin(), ways.end(), 0.0);
    const std::size_t end = std::min(lowest + 2 * steps, ways.size());
    return std::accumulate(ways.begin(), ways.begin() + static_cast<std::ptrdiff_t>(end), 0.0) /
           all;
  }
};

}  // namespace

Tails mann_whitney(Values first, Values second) {
  if (first.empty() || second.empty()) return {};
  std::vector<double> together(first.begin(), first.end());
  together.insert(together.end(), second.begin(), second.end());
  const std::vector<std::size_t> ranks = doubled_ranks(together);
  const std::size_t sum = std::accumulate(ranks.begin() + static_cast<std::ptrdiff_t>(first.size()),
                                          ranks.end(), std::size_t{0});
  if (std::max(first.size(), second.size()) <= kMostExact)
    return tails_of(subset_sums(ranks, second.size()), sum);
  const auto a = static_cast<double>(first.size()), b = static_cast<double>(second.size());
  const double n = a + b;
  return normal_tails(static_cast<double>(sum) / 2, b * (n + 1) / 2,
                      a * b / 12 * (n + 1 - tie_term(ranks) / (n * (n - 1))));
}

Shift shift_between(Values first, Values second, double confidence) {
  std::vector<double> differences;
  differences.reserve(first.size() * second.size());
  for (const double a : first)
    for (const double b : second) differences.push_back(b - a);
  const auto a = static_cast<double>(first.size()), b = static_cast<double>(second.size());
  Below below{.mean = a * b / 2, .variance = a * b * (a + b + 1) / 12};
  if (std::max(first.size(), second.size()) <= kMostExact) {
    below.ways = subset_sums(untied_ranks(first.size() + second.size()), second.size());
    below.lowest = second.size() * (second.size() + 1);
  }
  return interval(std::move(differences), confidence, below);
}

std::vector<double> holm(std::span<const double> p) {
  std::vector<std::size_t> order(p.size());
  std::iota(order.begin(), order.end(), std::size_t{0});
  std::ranges::sort(order, {}, [&](std::size_t i) { return p[i]; });
  std::vector<double> adjusted(p.size());
  double least = 0;
  for (std::size_t i = 0; i < order.size(); ++i) {
    least = std::max(least, std::min(p[order[i]] * static_cast<double>(p.size() - i), 1.0));
    adjusted[order[i]] = least;
  }
  return adjusted;
}

double median(Values values) {
  std::vector<double> sorted(values.begin(), values.end());
  std::ranges::sort(sorted);
  const std::size_t half = sorted.size() / 2;
  return sorted.size() % 2 == 1 ? sorted[half] : (sorted[half - 1] + sorted[half]) / 2;
}

double smallest_p(std::size_t first, std::size_t second) {
  double ways = 1;  // of choosing `second` of all
  for (std::size_t i = 1; i <= second; ++i)
    ways *= static_cast<double>(first + i) / static_cast<double>(i);
  return 1 / ways;
}

}  // namespace onbeat::compare
