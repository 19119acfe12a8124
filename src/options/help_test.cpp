#include "options/help.hpp"

#include <gtest/gtest.h>

#include <sstream>
#include <string>

namespace onbeat::options {
namespace {

TEST(Help, GoldenOfASmallCommand) {
  EXPECT_EQ(help_text(*find_command("doctor"), 80),
            "Measure what this host allows and how exactly it can measure\n"
            "\n"
            "Usage: onbeat doctor [options]\n"
            "\n"
            "Examples\n"
            "  onbeat doctor                       # within 45 s\n"
            "  onbeat doctor --out json=host.json  # for a script\n"
            "\n"
            "Output\n"
            "      --out json=FILE           Write the results to a file\n"
            "      --json                    Print the report as JSON instead of text\n"
            "      --color auto|always|never\n"
            "                                Colours on the terminal (default: auto)\n"
            "\n"
            "Checks\n"
            "      --quick                   Shorter measurements, less exact\n"
            "\n"
            "General\n"
            "  -h, --help                    Print this help\n"
            "      --version                 Print the version\n");
}

TEST(Help, ListsEveryOptionOfItsCommandAndNoOther) {
  for (const Command& command : commands()) {
    const std::string text = help_text(command, 100);
    for (const Option& option : options()) {
      const bool ours = find_option(option.name, command.id) != nullptr && !option.section_only;
      const std::string flag = "--" + std::string(option.name);
      const bool listed = text.find("      " + flag + " ") != std::string::npos ||
                          text.find("      " + flag + "\n") != std::string::npos ||
                          text.find(", " + flag + " ") != std::string::npos;
      EXPECT_EQ(listed, ours) << command.name << " " << flag;
    }
  }
}

TEST(Help, LinesKeepToTheWidth) {
  for (const unsigned width : {0U, 1U, 60U, 72U, 100U, 120U, 500U}) {
    const std::size_t limit = width == 0 ? 100 : std::min(std::max(width, 60U), 120U);
    for (const Command& command : commands()) {
      std::istringstream lines(help_text(command, width));
      for (std::string line; std::getline(lines, line);) {
        const bool command_line = line.find("onbeat ") != std::string::npos;
        if (!command_line) EXPECT_LE(line.size(), limit) << width << ": " << line;
        EXPECT_FALSE(line.ends_with(' ')) << line;
      }
    }
  }
}

TEST(Help, TheExamplesOfEveryCommandAreWellFormed) {
  for (const Command& command : commands()) {
    for (const std::string_view example : command.examples) {
      EXPECT_TRUE(example.starts_with("onbeat " + std::string(command.name))) << example;
      EXPECT_NE(example.find("   # "), std::string_view::npos) << example;
    }
  }
}

TEST(Help, TheOverviewNamesEveryCommand) {
  for (const Command& command : commands()) {
    EXPECT_NE(overview_text(100).find("  " + std::string(command.name) + " "), std::string::npos);
  }
}

}  // namespace
}  // namespace onbeat::options
