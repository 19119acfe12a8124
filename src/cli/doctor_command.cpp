#include "cli/doctor_command.hpp"

#include "cli/console.hpp"
#include "options/format.hpp"
#include "options/grammar.hpp"
#include "report/json_parts.hpp"
#include "report/output.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <cstdio>
#include <exception>
#include <string_view>

namespace onbeat::cli {
namespace {

using options::format_count;
using options::format_duration;
using report::Json;
using run::DoctorReport;
using run::ExitCode;

std::string percentile_text(const kernel::Histogram& lag, double p) {
  return lag.empty() ? "n/a" : format_duration(lag.percentile(p));
}

std::string cost_text(double ns) { return options::format_number(ns, 1) + " ns"; }

std::string host_text(const run::Host& host) {
  std::string text;
  const auto row = [&text](std::string_view name, const std::string& value) {
    text += fmt::format("{:<14}{}\n", name, value);
  };
  row("cores", fmt::format("{} of {}, {}", options::number_text(host.cores), host.online_cores,
                           host.quota > 0 ? "quota " + options::number_text(host.quota)
                                          : std::string("no quota")));
  row("cpu", host.cpu.empty() ? "unknown" : host.cpu);
  row("kernel", host.kernel);
  row("memory", options::format_size(host.memory_bytes));
  row("open files", format_count(host.descriptors));
  row("local ports", format_count(host.local_ports));
  row("clock source", host.clock_source.empty() ? "unknown" : host.clock_source);
  return text;
}

std::string cost_table(const DoctorReport& report) {
  std::string text;
  const auto row = [&text](std::string_view name, double ns, std::string_view remark) {
    text += fmt::format("{:<14}{:<12}{}\n", name, cost_text(ns), remark);
  };
  row("clock", report.clock_ns, "one reading");
  row("closed unit", report.closed_ns_per_unit, "the kernel's part of it, with one reading");
  row("open unit", report.open_ns_per_unit, "the same at a due time, with two readings");
  row("record", report.record_ns, "one value into one histogram");
  return text;
}

std::string rate_table(const DoctorReport& report) {
  std::string text = fmt::format("{:<24}{:<24}{}\n", "", "lag of Onbeat", "lag of a bare loop");
  text += fmt::format("{:<14}{:<10}{:<12}{:<12}{:<12}{}\n", "rate", "achieved", "p50", "p99", "p50",
                      "p99");
  for (const DoctorReport::AtRate& at : report.rates) {
    text += fmt::format("{:<14}{:<10}{:<12}{:<12}{:<12}{}\n", format_count(at.rate) + "/s",
                        options::format_number(at.adherence(), 3), percentile_text(at.lag, 50),
                        percentile_text(at.lag, 99), percentile_text(at.floor_lag, 50),
                        percentile_text(at.floor_lag, 99));
  }
  return text;
}

/// The rates that are kept, up to the first that is not, and the lag that they come with.
std::string conclusion(const DoctorReport& report) {
  const auto lost = std::ranges::find_if_not(report.rates, &DoctorReport::AtRate::kept);
  if (lost == report.rates.begin()) {
    return "This host keeps no rate: something else takes its cores. Stop it and try again.\n";
  }
  kernel::Duration lag{};
  for (auto at = report.rates.begin(); at != lost; ++at)
    lag = std::max(lag, at->lag.percentile(99));
  return fmt::format(
      "This host keeps rates up to {}/s on one core; latencies below {} are noise.\n",
      format_count((lost - 1)->rate), format_duration(lag));
}

Json limits_json(const run::Host& host) {
  return {{"cores", host.cores},
          {"online_cores", host.online_cores},
          {"quota", host.quota > 0 ? Json(host.quota) : Json(nullptr)},
          {"clock_source", host.clock_source},
          {"descriptors", host.descriptors},
          {"local_ports", host.local_ports},
          {"memory_bytes", host.memory_bytes}};
}

Json percentile_json(const kernel::Histogram& lag, double p) {
  return lag.empty() ? Json(nullptr) : Json(lag.percentile(p).count());
}

bool write_files(const DoctorReport& report, const options::Settings& settings) {
  constexpr std::array<std::string_view, 1> kFormats{"json"};
  bool written = true;
  for (const std::string& text : settings.all("out")) {
    const auto out = options::parse_out(text, kFormats);  // a bad one was refused before
    if (!out) continue;
    const auto result = report::write_file(out->path, doctor_json(report));
    if (result) continue;
    print(stderr, "error: " + result.error() + "\n");
    written = false;
  }
  return written;
}

}  // namespace

std::string doctor_text(const DoctorReport& report) {
  return host_text(report.host) + "\n" + cost_table(report) + "\n" + rate_table(report) + "\n" +
         conclusion(report);
}

std::string doctor_json(const DoctorReport& report) {
  Json json = {{"clock_ns", report.clock_ns},
               {"closed_ns_per_unit", report.closed_ns_per_unit},
               {"open_ns_per_unit", report.open_ns_per_unit},
               {"record_ns", report.record_ns}};
  // In this order, all of them objects even without a rate.
  for (const auto* key :
       {"adherence", "lag_p50_ns", "lag_p99_ns", "floor_lag_p50_ns", "floor_lag_p99_ns"})
    json[key] = Json::object();
  for (const DoctorReport::AtRate& at : report.rates) {
    const std::string rate = std::to_string(at.rate);
    json["adherence"][rate] = at.adherence();
    json["lag_p50_ns"][rate] = percentile_json(at.lag, 50);
    json["lag_p99_ns"][rate] = percentile_json(at.lag, 99);
    json["floor_lag_p50_ns"][rate] = percentile_json(at.floor_lag, 50);
    json["floor_lag_p99_ns"][rate] = percentile_json(at.floor_lag, 99);
  }
  json["limits"] = limits_json(report.host);
  return report::dump(json, 2) + "\n";
}

int doctor_command(const options::Settings& settings) {
  const run::DoctorPlan plan = run::doctor_plan(settings.flag("quick"));
  print(stderr, fmt::format("measuring this host, about {} ...\n",
                            format_duration(run::expected_length(plan))));
  DoctorReport report;
  try {
    report = run::examine(plan, take_signals());
  } catch (const std::exception& problem) {
    print(stderr, fmt::format("error: {}\n", problem.what()));
    return static_cast<int>(ExitCode::usage);
  }
  if (report.interrupted) return static_cast<int>(ExitCode::interrupted);
  const bool printed =
      print(stdout, settings.flag("json") ? doctor_json(report) : doctor_text(report));
  const bool written = write_files(report, settings);
  return static_cast<int>(printed && written ? ExitCode::passed : ExitCode::usage);
}

}  // namespace onbeat::cli
