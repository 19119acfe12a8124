#include "options/bench_section.hpp"

#include "options/bench_threshold.hpp"
#include "options/nearest.hpp"
#include "options/scan.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cctype>
#include <set>

namespace onbeat::options {
namespace {

constexpr std::string_view kThresholds = "thresholds.";

/// What a section must not set: where options come from, what is loaded, what only tries.
bool belongs(const Option& option) {
  return option.group != Group::general && option.group != Group::trying &&
         option.name != "config" && option.name != "profile-file" && option.name != "file";
}

bool is_boolean(const Option& option) {
  return option.kind == Kind::flag ||
         std::ranges::equal(option.choices,
                            std::initializer_list<std::string_view>{"true", "false"});
}

class SectionReader {
 public:
  BenchSection read(std::span<const SectionEntry> entries) && {
    std::set<std::string_view> seen;
    for (const SectionEntry& entry : entries) {
      if (!seen.insert(entry.key).second) {
        problem(entry, fmt::format("{} is there twice", quote(entry.key)),
                "only one of them can count");
      } else if (entry.key.starts_with(kThresholds)) {
        threshold(entry);
      } else {
        option(entry);
      }
    }
    return std::move(section_);
  }

 private:
  void problem(const SectionEntry& entry, std::string message, std::string hint = {},
               std::string text = {}, std::size_t column = 0) {
    section_.problems.push_back(
        {entry.where, std::move(message), std::move(hint), std::move(text), column});
  }

  void set(const Option& row, std::string text, const SectionEntry& entry) {
    if (const auto wrong = check_value(row, text)) {
      const bool shown = !row.secret && !text.empty();
      return problem(entry, fmt::format("{}: {}", entry.key, wrong->message), wrong->hint,
                     shown ? text : std::string(), wrong->column);
    }
    section_.layer.settings.push_back(
        {&row, std::move(text), fmt::format("{}: {}", entry.where, entry.key)});
  }

  void threshold(const SectionEntry& entry) {
    const std::string text =
        fmt::format("{} {}", entry.key.substr(kThresholds.size()), entry.value);
    set(*find_option("thresholds", kBench), text, entry);
    // 100 us as nanoseconds is more than most people write; 25 is milliseconds.
    constexpr double kLeastBelievable = 100'000;
    const auto threshold = parse_bench_threshold(text);
    const bool bare = entry.value.find_first_of("nums") == std::string::npos;
    if (threshold && bare && threshold->measure == Measure::percentile &&
        threshold->shown_unit == "ns" && threshold->value > 0 &&
        threshold->value < kLeastBelievable) {
      section_.warnings.push_back(
          {entry.where,
           fmt::format("{} is in nanoseconds", entry.key),
           fmt::format("if milliseconds are meant: thresholds.latency_ms.{}", threshold->metric),
           {},
           0});
    }
  }

  void option(const SectionEntry& entry) {
    const Option* row = find_key(entry.key, kBench);
    if (row == nullptr) return unknown(entry);
    if (row->name == "thresholds")
      return problem(entry, "thresholds stand in keys of their own",
                     "thresholds.latency_ms.p(99): <25");
    if (!belongs(*row)) return problem(entry, fmt::format("{} does not belong here", entry.key));
    std::string value = entry.value;
    if (is_boolean(*row) && (value == "1" || value == "0")) value = value == "1" ? "true" : "false";
    set(*row, std::move(value), entry);
  }

  void unknown(const SectionEntry& entry) {
    const std::string& key = entry.key;
    std::string hint;
    const bool percentile = key.size() > 1 && key[0] == 'p' &&
                            std::all_of(key.begin() + 1, key.end(), [](unsigned char c) {
                              return std::isdigit(c) != 0 || c == '.' || c == '(' || c == ')';
                            });
    if (percentile) {
      std::string number;
      for (const char c : key.substr(1))
        if (c != '(' && c != ')') number += c;
      hint = fmt::format("thresholds.latency_ms.p({}): <{}", number,
                         entry.value.find_first_of("<>") == std::string::npos ? entry.value : "25");
    } else {
      std::vector<std::string> keys;
      for (const Option& row : options()) {
        if ((row.commands & kBench) == 0 || !belongs(row)) continue;
        keys.push_back(row.key());
        if (!row.alias.empty()) keys.push_back(row.alias_key());
      }
      keys.emplace_back("thresholds.latency_ms.p(99)");
      const std::vector<std::string_view> names(keys.begin(), keys.end());
      if (const auto near = nearest(key, names)) hint = fmt::format("did you mean {}?", *near);
    }
    problem(entry, fmt::format("unknown key {}", quote(key)), std::move(hint));
  }

  BenchSection section_;
};

}  // namespace

BenchSection read_bench_section(std::span<const SectionEntry> entries) {
  return SectionReader().read(entries);
}

}  // namespace onbeat::options
