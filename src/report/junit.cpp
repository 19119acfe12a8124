#include "report/junit.hpp"

#include "options/format.hpp"
#include "report/escape.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <string_view>
#include <vector>

namespace onbeat::report {
namespace {

using run::Report;
using run::Status;

struct Case {
  enum class End { passed, failed, error, skipped };
  std::string name;
  End end = End::passed;
  std::string type, message;  // why it is no success; of a success: what there is to say
};

std::string seconds(const Report& report) {
  return fmt::format("{:.3f}", std::chrono::duration<double>(report.issue + report.drain).count());
}

bool asked(const Report& report, std::string_view flag) {
  const auto option = std::ranges::find(report.options, flag, &run::OptionValue::key);
  return option != report.options.end() && option->value == "true";
}

/// What ended the run badly, or nothing: everything but thresholds and the verdict.
std::string_view bad_end(run::ExitCode code) {
  switch (code) {
    case run::ExitCode::usage:
      return "wrong usage or configuration";
    case run::ExitCode::unreachable:
      return "the target could not be reached, or nothing succeeded";
    case run::ExitCode::scenario:
      return "the scenario failed";
    case run::ExitCode::aborted:
      return "ended by --abort-on";
    case run::ExitCode::interrupted:
      return "interrupted";
    default:
      return {};
  }
}

std::vector<Case> run_cases(const Report& report) {
  Case run{.name = report.load_text.empty() ? "run" : report.load_text};
  if (report.error) {
    run.end = Case::End::error;
    run.type = report.error->klass;
    run.message = report.error->message + "\n" + report.error->hint;
  } else if (const auto why = bad_end(report.exit_code); !why.empty()) {
    run.end = Case::End::failed;
    run.type = report.end_reason;
    run.message = why;
  }
  return {run};
}

std::vector<Case> threshold_cases(const Report& report) {
  std::vector<Case> cases;
  for (const run::ThresholdResult& threshold : report.thresholds) {
    cases.push_back(
        {.name = threshold.expr,
         .end = threshold.passed ? Case::End::passed : Case::End::failed,
         .type = "threshold",
         .message = threshold.passed ? "actual: " + threshold.actual_text : threshold.reason});
  }
  return cases;
}

/// What the reason of a check says; the check's own figures when it has none.
std::string why(const run::Check& check, const Report& report) {
  std::string text = fmt::format("actual: {}, limit: {}", check.actual, check.limit);
  const auto reason = std::ranges::find(report.verdict.reasons, check.name, &run::Reason::code);
  if (reason == report.verdict.reasons.end()) return text;
  return fmt::format("{}\n{}\n{}", reason->message, reason->remedy, text);
}

// Beside a threshold that failed or a run that ended badly, the verdict gives no exit code of its
// own; but what it says is a failure all the same.
std::vector<Case> verdict_cases(const Report& report) {
  using State = run::Check::State;
  const bool strict = asked(report, "strict"), lenient = asked(report, "allow_invalid");
  std::vector<Case> cases;
  for (const run::Check& check : report.verdict.checks) {
    Case each{.name = check.name, .type = std::string(to_string(check.state))};
    if (check.state == State::not_applicable) {
      each.end = Case::End::skipped;
      each.message = "does not apply to this run";
    } else if (check.state != State::ok) {
      each.message = why(check, report);
      if ((check.state == State::invalid && !lenient) ||
          (check.state == State::degraded && strict)) {
        each.end = Case::End::failed;
      }
    }
    cases.push_back(std::move(each));
  }
  return cases;
}

std::string first_line(const std::string& text) { return text.substr(0, text.find('\n')); }

std::string case_text(std::string_view suite, const Case& each, const std::string& time) {
  std::string text = fmt::format("    <testcase classname=\"onbeat.{}\" name=\"{}\" time=\"{}\"",
                                 suite, for_xml(each.name), time);
  const auto element = [&](std::string_view name) {
    return fmt::format(">\n      <{0} type=\"{1}\" message=\"{2}\">{3}</{0}>\n    </testcase>\n",
                       name, for_xml(each.type), for_xml(first_line(each.message)),
                       for_xml(each.message));
  };
  switch (each.end) {
    case Case::End::failed:
      return text + element("failure");
    case Case::End::error:
      return text + element("error");
    case Case::End::skipped:
      return text + fmt::format(">\n      <skipped message=\"{}\"/>\n    </testcase>\n",
                                for_xml(each.message));
    case Case::End::passed:
      break;
  }
  if (each.message.empty()) return text + "/>\n";
  return text + fmt::format(">\n      <system-out>{}</system-out>\n    </testcase>\n",
                            for_xml(each.message));
}

class Properties {
 public:
  void add(std::string_view name, std::string_view value) {
    if (value.empty()) return;
    text_ +=
        fmt::format("      <property name=\"{}\" value=\"{}\"/>\n", for_xml(name), for_xml(value));
  }
  void add(std::string_view name, std::optional<double> value) {
    if (value) add(name, options::number_text(*value));
  }
  [[nodiscard]] std::string element() const {
    return "    <properties>\n" + text_ + "    </properties>\n";
  }

 private:
  std::string text_;
};

std::string properties(const Report& report) {
  Properties all;
  all.add("id", report.id);
  all.add("name", report.name);
  all.add("workload", report.workload);
  all.add("target", report.target);
  all.add("version", report.version);
  all.add("seed", std::to_string(report.seed));
  all.add("verdict", to_string(report.verdict.status));
  all.add("exit_code", std::to_string(static_cast<int>(report.exit_code)));
  for (const auto& [key, value] : report.tags) all.add("tag." + key, value);
  const kernel::Counts& counts = report.total.counts;
  if (report.open) all.add("rate.planned", run::per_second(counts.planned, report.issue));
  all.add("rate.achieved", run::per_second(counts.started, report.issue));
  all.add("rate.ok", run::per_second(counts.ok, report.issue));
  for (const auto& [name, count] : {std::pair{"planned", counts.planned},
                                    {"started", counts.started},
                                    {"missed", counts.missed()},
                                    {"saturated", counts.saturated},
                                    {"ok", counts.ok},
                                    {"failed", counts.failed},
                                    {"timed_out", counts.timed_out}}) {
    all.add(fmt::format("count.{}", name), std::to_string(count));
  }
  const kernel::Histogram& main = run::headline(report);
  for (const double p : report.percentiles) {
    const auto value = run::shown_percentile(main, p, report.tail_samples);
    if (!value) continue;
    all.add(fmt::format("{}.p{}_ns", run::headline_name(report), options::number_text(p)),
            (main.percentile_is_lower_bound(p) ? ">= " : "") + std::to_string(value->count()));
  }
  return all.element();
}

std::size_t count_of(const std::vector<Case>& cases, Case::End end) {
  return static_cast<std::size_t>(std::ranges::count(cases, end, &Case::end));
}

std::string totals(const std::vector<Case>& cases) {
  return fmt::format("tests=\"{}\" failures=\"{}\" errors=\"{}\" skipped=\"{}\"", cases.size(),
                     count_of(cases, Case::End::failed), count_of(cases, Case::End::error),
                     count_of(cases, Case::End::skipped));
}

}  // namespace

std::string to_junit(const Report& report) {
  const std::string time = seconds(report);
  // Without zone and fraction, as the schemas of JUnit have it; it is UTC.
  const std::string timestamp = for_xml(report.started_at.substr(0, 19));
  std::string suites;
  std::vector<Case> all;
  const auto add = [&](std::string_view name, const std::vector<Case>& cases, bool first) {
    if (cases.empty()) return;
    suites += fmt::format("  <testsuite name=\"onbeat.{}\" {} time=\"{}\" timestamp=\"{}\">\n",
                          name, totals(cases), time, timestamp);
    if (first) suites += properties(report);
    for (const Case& each : cases) suites += case_text(name, each, time);
    suites += "  </testsuite>\n";
    all.insert(all.end(), cases.begin(), cases.end());
  };
  add("run", run_cases(report), true);
  add("thresholds", threshold_cases(report), false);
  add("verdict", verdict_cases(report), false);
  return fmt::format(
      "<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n<testsuites name=\"{}\" {} time=\"{}\">\n{}"
      "</testsuites>\n",
      for_xml(report.name.empty() ? "onbeat" : report.name), totals(all), time, suites);
}

}  // namespace onbeat::report
