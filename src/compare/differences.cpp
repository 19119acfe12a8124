#include "compare/differences.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <map>
#include <set>

namespace onbeat::compare {
namespace {

using run::Report;

/// Options that say nothing of the load.
constexpr std::array<std::string_view, 14> kNoMatter{
    "out",  "json",  "stream", "name",    "tag",          "quiet",       "color",
    "seed", "count", "config", "profile", "profile_file", "percentiles", "metrics"};

/// What a run was like, by what it is called.
using Traits = std::map<std::string, std::string>;

Traits traits_of(const Report& report) {
  Traits traits{{"the load model", report.open ? "open" : "closed"},
                {"the workload", report.workload},
                {"the version of onbeat", report.version},
                {"the host's CPU", report.host.cpu},
                {"the host's cores", fmt::format("{:g}", report.host.cores)},
                {"the host's kernel", report.host.kernel}};
  for (const run::OptionValue& option : report.options)
    if (std::ranges::find(kNoMatter, option.key) == kNoMatter.end())
      traits["option " + option.key] = option.value;
  return traits;
}

std::string value_of(const Traits& traits, const std::string& name) {
  const auto found = traits.find(name);
  return found == traits.end() ? "none" : found->second;
}

std::string shown(std::string text) {
  std::ranges::replace(text, '\n', ' ');
  if (text.size() > 60) text = text.substr(0, 57) + "...";
  return text.empty() ? "none" : text;
}

void add_names(std::set<std::string>& names, const std::vector<Traits>& runs) {
  for (const Traits& run : runs)
    for (const auto& [name, value] : run) names.insert(name);
}

bool alike(const std::vector<Traits>& runs, const std::string& name) {
  return std::ranges::all_of(
      runs, [&](const Traits& run) { return value_of(run, name) == value_of(runs.front(), name); });
}

std::string consequence(const std::string& name) {
  return name == "the load model" ? ": latencies of open and closed runs are not comparable" : "";
}

void add_conditions(const std::vector<Run>& runs, std::vector<std::string>& texts) {
  for (const Run& run : runs) {
    const Report& report = run.report;
    if (report.verdict.status == run::Status::degraded)
      texts.push_back(fmt::format("{}: the measurement is degraded{}", run.source,
                                  reasons_of(report, run::Status::degraded)));
    if (report.end_reason == "interrupted" || report.end_reason == "aborted")
      texts.push_back(fmt::format("{}: the run was {}", run.source, report.end_reason));
  }
}

}  // namespace

std::vector<std::string> what_differs(const std::vector<Run>& base, const std::vector<Run>& next) {
  std::vector<std::string> texts;
  std::vector<Traits> first, second;
  for (const Run& run : base) first.push_back(traits_of(run.report));
  for (const Run& run : next) second.push_back(traits_of(run.report));
  std::set<std::string> names;
  add_names(names, first);
  add_names(names, second);
  for (const std::string& name : names) {
    if (!alike(first, name)) texts.push_back(fmt::format("{} differs among the base runs", name));
    if (!alike(second, name)) texts.push_back(fmt::format("{} differs among the new runs", name));
    const std::string a = value_of(first.front(), name), b = value_of(second.front(), name);
    if (a != b)
      texts.push_back(fmt::format("{} differs: {} in the base, {} in the new runs{}", name,
                                  shown(a), shown(b), consequence(name)));
  }
  add_conditions(base, texts);
  add_conditions(next, texts);
  return texts;
}

std::string reasons_of(const Report& report, run::Status status) {
  std::string text;
  for (const run::Reason& reason : report.verdict.reasons)
    if (reason.status == status) text += (text.empty() ? ": " : " ") + reason.message;
  return text;
}

}  // namespace onbeat::compare
