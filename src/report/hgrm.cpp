#include "report/hgrm.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <filesystem>

namespace onbeat::report {
namespace {

using kernel::Histogram;

constexpr double kTicksPerHalf = 5;
constexpr double kNsPerMs = 1e6;

/// The next percentile to show after p: the step halves with each halving of what is left to 100.
double next_level(double p) {
  const double halvings = std::floor(std::log2(100 / (100 - p))) + 1;
  return p + 100 / (kTicksPerHalf * std::exp2(halvings));
}

std::string row(const Histogram& histogram, std::uint32_t bucket, double level,
                std::uint64_t seen) {
  const auto edge = std::min(histogram.layout().highest_of(bucket), histogram.max().count());
  const double value = static_cast<double>(edge) / kNsPerMs;
  if (level >= 100) return fmt::format("{:12.3f} {:2.12f} {:10d}\n", value, 1.0, seen);
  return fmt::format("{:12.3f} {:2.12f} {:10d} {:14.2f}\n", value, level / 100, seen,
                     1 / (1 - level / 100));
}

/// One row for each level in turn, at the first bucket that reaches it.
std::string rows(const Histogram& histogram) {
  std::string text;
  double level = 0;
  std::uint64_t seen = 0;
  for (std::size_t i = 0; i < histogram.counts().size() && seen < histogram.count(); ++i) {
    if (histogram.counts()[i] == 0) continue;
    seen += histogram.counts()[i];
    const auto bucket = static_cast<std::uint32_t>(histogram.first_index() + i);
    const double reached = 100 * static_cast<double>(seen) / static_cast<double>(histogram.count());
    const bool last = seen == histogram.count();
    // At the last bucket one more row follows, for 100 % itself.
    while (reached >= level && level < 100) {
      text += row(histogram, bucket, level, seen);
      level = next_level(level);
      if (last) break;
    }
    if (last) text += row(histogram, bucket, 100, seen);
  }
  return text;
}

}  // namespace

std::string to_hgrm(const Histogram& histogram) {
  const auto ms = [](double ns) { return ns / kNsPerMs; };
  return fmt::format(
      "{:>12} {:>14} {:>10} {:>14}\n\n{}#[Mean    = {:12.3f}, StdDeviation   = {:12.3f}]\n#[Max    "
      " "
      "= {:12.3f}, Total count    = {:12d}]\n#[Buckets = {:12d}, SubBuckets     = {:12d}]\n",
      "Value", "Percentile", "TotalCount", "1/(1-Percentile)", rows(histogram),
      ms(run::mean_of(histogram).value_or(0)), ms(histogram.stddev()),
      ms(static_cast<double>(histogram.max().count())), histogram.count(),
      44 - kernel::detail::kHalfMagnitude, 2 << kernel::detail::kHalfMagnitude);
}

std::vector<std::pair<std::string, std::string>> hgrm_files(const run::Report& report,
                                                            const std::string& path) {
  std::vector<std::pair<std::string, std::string>> files{{path, to_hgrm(run::headline(report))}};
  if (!report.open) return files;
  std::filesystem::path service(path);
  const std::string ending = service.extension().string();
  service.replace_extension(".service" + ending);
  files.emplace_back(service.string(), to_hgrm(report.total.service));
  return files;
}

}  // namespace onbeat::report
