// Everything that a run was asked to write: what is written while it lasts (the stream, the HDR
// log, samples, the metrics endpoint) and what is written from its report. None hinders another.
// One thread: the one that executes the run.
#pragma once

#include "options/load_options.hpp"
#include "report/interval_output.hpp"
#include "report/metrics_endpoint.hpp"
#include "report/sample_file.hpp"
#include "run/run.hpp"

#include <memory>
#include <string>
#include <vector>

namespace onbeat::report {

/// What was asked for, as the options have it.
struct Asked {
  std::vector<options::Output> outs;
  std::string stream;                             // --stream; empty: none
  std::optional<options::ListenAddress> metrics;  // --metrics
  std::string influx_token;                       // see http_post()
};

class RunOutputs final : public run::Observer {
 public:
  explicit RunOutputs(Asked asked);
  ~RunOutputs() override;

  /// Before the run, so that a wrong path costs none: whether what is written at its end could be.
  /// What is wrong with which option.
  [[nodiscard]] std::vector<options::Problem> check() const;
  [[nodiscard]] bool wants_samples() const;
  /// Opens what is written while the run lasts.
  [[nodiscard]] std::vector<options::Problem> open();
  /// Where the metrics are; empty without --metrics.
  [[nodiscard]] std::string metrics_url() const;

  /// `names` must outlive the run; `shape` is that of its recorders.
  void begin(const run::Report& known, const kernel::Names& names, kernel::RecorderShape shape);
  void on_progress(const Progress&) override {}
  void on_interval(const kernel::Interval& interval, const Progress& progress) override;
  void on_samples(const std::vector<run::LoggedSample>& samples, kernel::Instant t0) override;
  /// Writes the rest; a sentence for each output that is not whole.
  [[nodiscard]] std::vector<std::string> finish(const run::Report& report);

 private:
  template <typename Output>
  void open_file(const std::string& path, std::string_view option,
                 std::vector<options::Problem>& problems);

  Asked asked_;
  std::vector<std::unique_ptr<IntervalOutput>> as_it_goes_;
  MetricsEndpoint* metrics_ = nullptr;
  SampleFile samples_;
  const kernel::Names* names_ = nullptr;  // null: the run has not begun
  kernel::RecorderShape shape_;
};

}  // namespace onbeat::report
