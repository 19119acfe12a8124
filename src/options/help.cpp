#include "options/help.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <vector>

namespace onbeat::options {
namespace {

constexpr std::size_t kDescriptionAt = 32;

std::size_t usable(unsigned width) {
  constexpr unsigned kUnknown = 100, kNarrowest = 60, kWidest = 120;
  return width == 0 ? kUnknown : std::clamp(width, kNarrowest, kWidest);
}

/// `text` in lines of at most `width`, all but the first indented; broken at spaces, not within
/// quotes.
std::string wrapped(std::string_view text, std::size_t indent, std::size_t column,
                    std::size_t width) {
  std::string result;
  for (std::size_t at = 0; at < text.size();) {
    std::size_t end = std::min(text.find(' ', at), text.size());
    const std::size_t length = end - at;
    const bool first = column == indent;
    if (!first && column + 1 + length > width) {
      result += '\n' + std::string(indent, ' ');
      column = indent;
    } else if (!first) {
      result += ' ';
      ++column;
    }
    result += text.substr(at, length);
    column += length;
    at = end + 1;
  }
  return result + '\n';
}

/// A name on the left and its description in a column of its own.
std::string entry(std::string_view left, std::string_view description, std::size_t width) {
  std::string text(left);
  if (text.size() + 2 > kDescriptionAt) {
    text += '\n';
    text += std::string(kDescriptionAt, ' ');
  } else {
    text.resize(kDescriptionAt, ' ');
  }
  return text + wrapped(description, kDescriptionAt, kDescriptionAt, width);
}

std::string flag_text(const Option& option) {
  std::string text =
      option.letter == 0 ? std::string("      ") : fmt::format("  -{}, ", option.letter);
  text += fmt::format("--{}", option.name);
  if (!option.value.empty()) text += fmt::format(" {}", option.value);
  return text;
}

std::string examples_text(const Command& command) {
  std::size_t widest = 0;
  constexpr std::size_t kBesides = 64;
  for (const std::string_view example : command.examples) {
    const std::size_t size = example.find("   # ");
    if (size <= kBesides) widest = std::max(widest, size);
  }
  std::string text = "Examples\n";
  for (const std::string_view example : command.examples) {
    const std::size_t split = example.find("   # ");
    const std::string_view line = example.substr(0, split);
    const std::string_view what = example.substr(split + 5);
    text += line.size() <= widest ? fmt::format("  {:{}}  # {}\n", line, widest, what)
                                  : fmt::format("  # {}\n  {}\n", what, line);
  }
  return text;
}

}  // namespace

std::string description(const Option& option) {
  const bool told = option.standard != "none" && option.standard != "off";
  return told ? fmt::format("{} (default: {})", option.help, option.standard)
              : std::string(option.help);
}

std::string entry_text(std::string_view name, std::string_view what, unsigned width) {
  return entry(name, what, usable(width));
}

std::string paragraph_text(std::string_view text, unsigned width) {
  return wrapped(text, 0, 0, usable(width));
}

std::string help_text(const Command& command, unsigned width) {
  const std::size_t columns = usable(width);
  std::string text = wrapped(command.summary, 0, 0, columns);
  text += fmt::format("\nUsage: onbeat {} {}\n\n", command.name, command.synopsis);
  text += examples_text(command);
  std::vector<Group> groups;
  for (const Option& option : options()) {
    if ((option.commands & command.id) != 0 &&
        std::ranges::find(groups, option.group) == groups.end()) {
      groups.push_back(option.group);
    }
  }
  for (const Group group : groups) {
    text += fmt::format("\n{}\n", title(group));
    for (const Option& option : options()) {
      if ((option.commands & command.id) == 0 || option.group != group || option.section_only)
        continue;
      text += entry(flag_text(option), description(option), columns);
    }
  }
  return text;
}

std::string overview_text(unsigned width) {
  const std::size_t columns = usable(width);
  std::string text =
      "Onbeat drives load at a controlled rate and tells the truth about what happened.\n\n"
      "Usage: onbeat COMMAND ...\n\nCommands\n";
  for (const Command& command : commands()) {
    text += entry(fmt::format("  {}", command.name), command.summary, columns);
  }
  text += "\nonbeat COMMAND --help shows examples and every option; onbeat --version the version\n";
  return text;
}

}  // namespace onbeat::options
