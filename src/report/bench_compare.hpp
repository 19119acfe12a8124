// Two reports of a bench side by side, by fixed tolerances: one number against another, without
// statistics. `onbeat compare` judges several runs of each.
#pragma once

#include <expected>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace onbeat::report {

/// What is compared.
struct BenchFigures {
  double throughput_rps = 0;
  double error_rate = 0;  // percent
  std::optional<double> mean_ns;
  std::map<double, double> percentiles_ns;
  std::map<std::string, double> endpoint_p99_ns;
};

/// From a report of either schema, bench_report_schema_v1 or onbeat.report/1. The error: what is
/// wrong with it.
[[nodiscard]] std::expected<BenchFigures, std::string> read_bench_figures(std::string_view json);

struct BenchTolerances {
  double latency_percent = 10;    // by how much a latency may grow
  double error_points = 1;        // by how many points of percent the error rate may
  double throughput_percent = 5;  // by how much the throughput may fall
};

struct BenchChange {
  enum class Verdict { pass, improved, regressed };
  std::string metric;  // "throughput_rps", "latency_p99", "endpoint shop.Catalog/GetPrice p99"
  double baseline = 0, current = 0;
  /// In percent; of the error rate in points. Infinite over a baseline of 0.
  double change = 0;
  Verdict verdict = Verdict::pass;
};

/// Metrics that both have.
[[nodiscard]] std::vector<BenchChange> compare_bench(const BenchFigures& baseline,
                                                     const BenchFigures& current,
                                                     const BenchTolerances& tolerances);
[[nodiscard]] bool regressed(const std::vector<BenchChange>& changes);

[[nodiscard]] std::string to_text(const std::vector<BenchChange>& changes);
[[nodiscard]] std::string to_json(const std::vector<BenchChange>& changes);

}  // namespace onbeat::report
