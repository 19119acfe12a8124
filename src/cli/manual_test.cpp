#include "cli/manual.hpp"

#include "options/table.hpp"

#include <gtest/gtest.h>

#include <fstream>
#include <regex>
#include <sstream>

namespace onbeat::cli {
namespace {

std::string escaped(std::string text) { return std::regex_replace(text, std::regex("-"), "\\-"); }

TEST(Manual, HasEveryCommandAndOption) {
  const std::string page = manual_page("1.2.3");
  EXPECT_TRUE(page.starts_with(".TH ONBEAT 1 \"\" \"onbeat 1.2.3\""));
  for (const options::Command& command : options::commands())
    EXPECT_TRUE(page.contains("\n.SS onbeat " + escaped(std::string(command.name)) + "\n"))
        << command.name;
  for (const options::Option& option : options::options())
    EXPECT_TRUE(option.section_only ||
                page.contains("\\fB" + escaped("--" + std::string(option.name)) + "\\fR"))
        << option.name;
}

TEST(Manual, ExitCodesAreThoseOfTheDocuments) {
  std::ifstream file(ONBEAT_SOURCE_DIR "/docs/exit_codes.md");
  std::stringstream text;
  text << file.rdbuf();
  const std::string document = text.str();
  const std::string page = manual_page("1");
  static const std::regex kRow(R"(\| (\d+) \| (.*) \|)");
  int rows = 0;
  for (std::sregex_iterator row(document.begin(), document.end(), kRow), end; row != end; ++row) {
    ++rows;
    const std::string meaning = std::regex_replace((*row)[2].str(), std::regex("`"), "");
    const std::string entry = "\n.TP\n\\fB" + (*row)[1].str() + "\\fR\n" + escaped(meaning) + ".\n";
    EXPECT_TRUE(page.contains(entry)) << entry;
  }
  EXPECT_EQ(rows, 8);
}

}  // namespace
}  // namespace onbeat::cli
