#include "cli/manual.hpp"

#include "options/help.hpp"
#include "options/table.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <utility>
#include <vector>

namespace onbeat::cli {
namespace {

using options::Command;
using options::Group;
using options::Option;

/// Text as troff shows it unchanged: no escapes, no requests at the start of a line, minus signs
/// that can be copied.
std::string plain(std::string_view text) {
  std::string out;
  for (const char c : text) {
    switch (c) {
      case '\\':
        out += "\\e";
        break;
      case '-':
        out += "\\-";
        break;
      case '\'':
        out += "\\(aq";
        break;
      case '`':
        out += "\\(ga";
        break;
      case '^':
        out += "\\(ha";
        break;
      case '~':
        out += "\\(ti";
        break;
      case '.':
        out += out.empty() ? "\\&." : ".";
        break;
      default:
        out += c;
    }
  }
  return out;
}

/// An argument of a macro: quotes in it are doubled by the rules of troff.
std::string argument(std::string_view text) {
  std::string out;
  for (const char c : plain(text)) out += c == '"' ? "\\(dq" : std::string(1, c);
  return "\"" + out + "\"";
}

std::string option_entry(const Option& option) {
  std::string tag =
      option.letter == 0 ? std::string() : fmt::format("\\fB\\-{}\\fR, ", option.letter);
  tag += fmt::format("\\fB{}\\fR", plain(fmt::format("--{}", option.name)));
  if (!option.value.empty()) tag += fmt::format(" \\fI{}\\fR", plain(option.value));
  return fmt::format(".TP\n{}\n{}.\n", tag, plain(options::description(option)));
}

std::string examples(const Command& command) {
  std::string text;
  for (const std::string_view example : command.examples) {
    const std::size_t split = example.find("   # ");
    text += fmt::format(".PP\n{}:\n.PP\n.in +4n\n.nf\n{}\n.fi\n.in\n",
                        plain(example.substr(split + 5)), plain(example.substr(0, split)));
  }
  return text;
}

std::string command_section(const Command& command) {
  std::string text =
      fmt::format(".SS onbeat {}\n{}.\n.PP\n\\fBonbeat {}\\fR {}\n", plain(command.name),
                  plain(command.summary), plain(command.name), plain(command.synopsis));
  text += examples(command);
  std::vector<Group> groups;
  for (const Option& option : options::options()) {
    if ((option.commands & command.id) != 0 && option.group != Group::general &&
        std::ranges::find(groups, option.group) == groups.end())
      groups.push_back(option.group);
  }
  for (const Group group : groups) {
    text += fmt::format(".PP\n{}:\n", plain(title(group)));
    for (const Option& option : options::options()) {
      if ((option.commands & command.id) != 0 && option.group == group && !option.section_only)
        text += option_entry(option);
    }
  }
  return text;
}

// The table of docs/exit_codes.md, which a test compares.
constexpr std::array kExitCodes{
    std::pair{0, "passed: the run is over and every threshold held"},
    std::pair{1, "a threshold failed"},
    std::pair{2,
              "wrong usage: nothing was sent. Also: the run itself passed, but its report or an "
              "output could not be written"},
    std::pair{3,
              "the measurement is not to be trusted: the verdict is invalid (with --strict: or "
              "degraded)"},
    std::pair{4, "the target cannot be reached, or nothing succeeded"},
    std::pair{5,
              "kept for scenarios that fail to compile, to load, or that crash; no command of "
              "this version uses it"},
    std::pair{6, "--abort-on ended the run"},
    std::pair{130, "SIGINT or SIGTERM ended the run"},
};

constexpr std::string_view kEnvironment = R"(.SH ENVIRONMENT
Every option can be set by a variable: \fBONBEAT_\fR and its name in capitals, with _ for \-:
\fBONBEAT_RATE\fR, \fBONBEAT_MAX_WAIT\fR.
A flag counts before a variable, a variable before a configuration file, that before a profile.
.TP
\fBNO_COLOR\fR
No colours, when it is set to anything.
)";

}  // namespace

std::string manual_page(std::string_view version) {
  std::string text = fmt::format(
      ".TH ONBEAT 1 \"\" {} \"User Commands\"\n.SH NAME\nonbeat \\- a load generator whose numbers "
      "can be trusted\n"
      ".SH SYNOPSIS\n\\fBonbeat\\fR \\fICOMMAND\\fR [\\fIoptions\\fR]\n"
      ".SH DESCRIPTION\nOnbeat drives load at a controlled rate and tells the truth about "
      "what happened: latency from when each\n"
      "request was due, books that add up, and a verdict on the measurement itself.\n.SH "
      "COMMANDS\n",
      argument(fmt::format("onbeat {}", version)));
  for (const Command& command : options::commands()) text += command_section(command);
  text += ".SH OPTIONS OF EVERY COMMAND\n";
  for (const Option& option : options::options())
    if (option.group == Group::general) text += option_entry(option);
  text += kEnvironment;
  text += ".SH EXIT STATUS\n";
  for (const auto& [code, meaning] : kExitCodes)
    text += fmt::format(".TP\n\\fB{}\\fR\n{}.\n", code, plain(meaning));
  return text + ".PP\nWhere several apply, the first of 2, 5, 130, 6, 4, 3, 1 counts.\n";
}

}  // namespace onbeat::cli
