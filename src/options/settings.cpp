#include "options/settings.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cassert>
#include <set>

namespace onbeat::options {

std::string_view to_string(Source source) {
  constexpr std::array<std::string_view, 6> kNames{"cli",  "env",     "bench_section",
                                                   "file", "profile", "default"};
  return kNames[static_cast<std::size_t>(source)];
}

std::string render(const Problem& problem, std::string_view severity) {
  std::string text = fmt::format("{}: {}{}{}\n", severity, problem.where,
                                 problem.where.empty() ? "" : ": ", problem.message);
  if (!problem.text.empty()) {
    constexpr std::size_t kLongest = 160;
    std::string line = problem.text.substr(0, kLongest);
    for (char& c : line) {
      if (static_cast<unsigned char>(c) < 0x20 || c == 0x7f) c = ' ';
    }
    text += fmt::format("  {}\n", line);
    if (problem.column > 0 && problem.column <= kLongest + 1) {
      // A caret stands under a character, not under a byte of it.
      const auto begin = line.begin();
      const auto end =
          begin + static_cast<std::ptrdiff_t>(std::min(problem.column - 1, line.size()));
      const auto characters = std::count_if(
          begin, end, [](char c) { return (static_cast<unsigned char>(c) & 0xc0) != 0x80; });
      text += fmt::format("  {}^\n", std::string(static_cast<std::size_t>(characters), ' '));
    }
  }
  if (!problem.hint.empty()) text += fmt::format("  hint: {}\n", problem.hint);
  return text;
}

const Settings::Value* Settings::find(std::string_view name) const {
  const Option* option = find_option(name, command_);
  // What a command does not have is not set; what none has is a misspelt name.
  assert(option != nullptr || find_option(name) != nullptr);
  const auto found = values_.find(option);
  return found == values_.end() ? nullptr : &found->second;
}

std::string Settings::text(std::string_view name) const {
  const Value* value = find(name);
  return value == nullptr ? std::string() : value->texts.back();
}

std::vector<std::string> Settings::all(std::string_view name) const {
  const Value* value = find(name);
  return value == nullptr ? std::vector<std::string>() : value->texts;
}

Source Settings::source(std::string_view name) const {
  const Value* value = find(name);
  return value == nullptr ? Source::standard : value->source;
}

Settings resolve(CommandSet command, std::span<const Layer> layers) {
  std::multimap<Source, const Layer*> by_precedence;
  for (const Layer& layer : layers) by_precedence.emplace(layer.source, &layer);

  Settings settings(command);
  std::map<std::string_view, Source> families;
  for (const auto& [source, layer] : by_precedence) {
    for (const Setting& setting : layer->settings) {
      const auto [family, first] = families.try_emplace(
          setting.option->family.empty() ? setting.option->name : setting.option->family, source);
      if (!first && family->second != source) continue;
      auto& value = settings.values_[setting.option];
      if (!setting.option->repeatable) {
        value.texts.clear();
        value.origins.clear();
      }
      value.texts.push_back(setting.text);
      value.origins.push_back(setting.origin);
      value.source = source;
    }
  }
  return settings;
}

}  // namespace onbeat::options
