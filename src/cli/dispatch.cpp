#include "cli/dispatch.hpp"

#include "cli/about_commands.hpp"
#include "cli/bench_command.hpp"
#include "cli/bench_compare_command.hpp"
#include "cli/call_command.hpp"
#include "cli/check_command.hpp"
#include "cli/compare_command.hpp"
#include "cli/console.hpp"
#include "cli/doctor_command.hpp"
#include "cli/fmt_command.hpp"
#include "cli/http_command.hpp"
#include "cli/report_command.hpp"
#include "cli/target_command.hpp"
#include "options/arguments.hpp"
#include "options/gather.hpp"
#include "options/help.hpp"

#include <algorithm>
#include <cstdio>
#include <exception>
#include <optional>
#include <span>
#include <string>

namespace onbeat::cli {
namespace {

constexpr int kUsage = static_cast<int>(run::ExitCode::usage);

int profiles_command(const options::Settings& settings) {
  const auto text = options::profiles_report(settings, options::system_surroundings());
  if (text) return print(stdout, *text) ? 0 : kUsage;
  show(text.error());
  return kUsage;
}

options::Vocabulary vocabulary_of(const options::Command& command) {
  if (command.id == options::kHttp || command.id == options::kCurve) return http_vocabulary();
  return command.id == options::kBench ? bench_vocabulary() : options::Vocabulary();
}

/// The commands about the program itself; nothing when it is another.
std::optional<int> about_command(const options::Command& command,
                                 const options::Arguments& arguments) {
  if (command.id != options::kExplain && command.id != options::kCompletion &&
      command.id != options::kManual)
    return std::nullopt;
  show(arguments.problems);
  if (!arguments.problems.empty()) return kUsage;
  if (command.id == options::kExplain) return explain_command(arguments.positionals);
  if (command.id == options::kCompletion) return completion_command(arguments.positionals);
  return manual_command();
}

int run_command(const options::Command& command, const options::Arguments& arguments) {
  // Its settings stand in the files that its arguments name.
  if (command.id == options::kBench) {
    show(arguments.problems);
    return arguments.problems.empty() ? bench_command(command, arguments) : kUsage;
  }
  auto gathered = options::gather_settings(command, arguments, options::system_surroundings(),
                                           vocabulary_of(command));
  std::vector<options::Problem> errors = arguments.problems;
  errors.insert(errors.end(), gathered.errors.begin(), gathered.errors.end());
  show(errors);
  if (!errors.empty()) return kUsage;
  // Not every command has --quiet.
  const bool quiet =
      options::find_option("quiet", command.id) != nullptr && gathered.settings.flag("quiet");
  if (!quiet) show(gathered.warnings, "warning");
  switch (command.id) {
    case options::kHttp:
    case options::kCurve:
      return http_command(command, gathered.settings);
    case options::kTarget:
    case options::kGrpcTarget:
      return target_command(command.id, gathered.settings);
    case options::kDoctor:
      return doctor_command(gathered.settings);
    case options::kCheck:
      return check_command(arguments.positionals, gathered.settings);
    case options::kFormat:
      return fmt_command(arguments.positionals, gathered.settings);
    case options::kReport:
      return report_command(gathered.settings, arguments.positionals);
    case options::kCall:
      return call_command(gathered.settings);
    case options::kBenchCompare:
      return bench_compare_command(gathered.settings);
    case options::kCompare:
      return compare_command(gathered.settings, arguments.positionals);
    case options::kProfiles:
      return profiles_command(gathered.settings);
    default:
      return kUsage;
  }
}

}  // namespace

int dispatch(const std::vector<std::string_view>& args) {
  guard_standard_streams();
  const options::Invocation invocation = options::find_invocation(args);
  const bool json = std::ranges::find(args, "--json") != args.end();
  if (invocation.version) return print_version(json);
  if (invocation.help) return print(stdout, options::overview_text(terminal_width(stdout))) ? 0 : 1;
  if (invocation.command == nullptr) {
    show(invocation.problems);
    return kUsage;
  }
  const options::Command& command = *invocation.command;
  const auto arguments = options::parse_arguments(
      command, std::span(args).subspan(invocation.words), vocabulary_of(command));
  if (arguments.help)
    return print(stdout, options::help_text(command, terminal_width(stdout))) ? 0 : 1;
  if (arguments.version) return print_version(json);
  if (const auto code = about_command(command, arguments)) return *code;
  take_signals();
  return run_command(command, arguments);
}

}  // namespace onbeat::cli
