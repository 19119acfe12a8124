#include "options/key_table.hpp"

#include "options/table.hpp"

#include <fmt/format.h>

#include <string_view>

namespace onbeat::options {
namespace {

std::string escaped(std::string_view text) {
  std::string out;
  for (const char c : text) {
    if (c == '|') out += '\\';
    out += c;
  }
  return out;
}

/// What is said of flags alone has no key.
bool is_key(const Option& option) {
  const bool elsewhere = option.group == Group::general || option.group == Group::trying ||
                         option.name == "config" || option.name == "profile-file" ||
                         option.name == "file";
  return (option.commands & kBench) != 0 && !elsewhere;
}

std::string row(const Option& option) {
  std::string key = fmt::format("`{}`", option.key());
  if (option.name == "thresholds") key = "`thresholds.METRIC`";
  if (!option.alias.empty()) key += fmt::format(", `{}`", option.alias_key());
  std::string flag = option.section_only ? "" : fmt::format("`--{}`", option.name);
  if (option.letter != 0) flag += fmt::format(", `-{}`", option.letter);
  const std::string value = option.value.empty() ? "" : fmt::format("`{}`", option.value);
  return fmt::format("| {} | {} | {} | {} | {} |\n", key, flag, escaped(value),
                     escaped(option.standard), escaped(option.help));
}

}  // namespace

std::string bench_key_table() {
  std::string text = "| key | flag | value | default | |\n| --- | --- | --- | --- | --- |\n";
  for (const Option& option : options())
    if (is_key(option)) text += row(option);
  return text;
}

}  // namespace onbeat::options
