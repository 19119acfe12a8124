// What every command that drives load does alike, whatever the protocol: the plan in words, the run
// with its observers, the report and where it is written.
#pragma once

#include "options/load_options.hpp"
#include "report/run_outputs.hpp"
#include "run/plan.hpp"
#include "run/run.hpp"

#include <optional>
#include <span>
#include <string>
#include <vector>

namespace onbeat::cli {

class LoadSession {
 public:
  /// `kind`: the workload's name in reports.
  LoadSession(options::LoadOptions options, run::Host host, std::string kind);

  [[nodiscard]] const options::LoadOptions& options() const noexcept { return options_; }
  [[nodiscard]] const run::Host& host() const noexcept { return host_; }
  [[nodiscard]] const run::RunPlan& plan() const noexcept { return preflight_.plan; }

  /// Resolves what depends on the host, and adds what it does not allow.
  void plan(const run::PlanNeeds& needs, std::vector<options::Problem>& errors,
            std::vector<options::Problem>& warnings);
  /// A threshold on an endpoint that the run does not have would only be found out at its end.
  void check_endpoints(std::span<const std::string> names,
                       std::vector<options::Problem>& errors) const;
  /// Opens what is written while the run lasts; sees that the rest can be written.
  void open_outputs(std::vector<options::Problem>& errors);

  /// The target is the built-in one.
  void calibrates() noexcept { calibration_ = true; }
  /// There is to be no warm-up phase.
  void skip_warmup() noexcept { preflight_.plan.warmup = {}; }
  /// The load in words, without sending anything.
  [[nodiscard]] std::string plan_text() const;
  /// The options with what set them, and the host.
  [[nodiscard]] std::string options_text() const;

  /// The run, or its levels one after another, judged.
  [[nodiscard]] run::Report run(const run::WorkloadSpec& spec);
  /// A report of a run that could not begin, with exit code 4.
  [[nodiscard]] run::Report failed(const std::string& target, run::ErrorInfo error);
  /// The report on stdout, the files that were asked for; none hinders another. The exit code.
  int finish(const run::Report& report);

 private:
  void fill_report(run::Report& report, const std::string& target) const;
  [[nodiscard]] std::string resolved(std::string_view key) const;
  [[nodiscard]] std::string value_of(const options::Resolved& option) const;

  options::LoadOptions options_;
  run::Host host_;
  std::string kind_, id_;
  bool calibration_ = false;
  run::Preflight preflight_;
  std::optional<report::RunOutputs> outputs_;
};

}  // namespace onbeat::cli
