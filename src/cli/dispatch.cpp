#include "cli/dispatch.hpp"

#include "cli/console.hpp"
#include "cli/doctor_command.hpp"
#include "cli/http_command.hpp"
#include "cli/target_command.hpp"
#include "options/arguments.hpp"
#include "options/help.hpp"
#include "run/version.hpp"

#include <cstdio>
#include <exception>
#include <span>
#include <string>

namespace onbeat::cli {
namespace {

constexpr int kUsage = static_cast<int>(run::ExitCode::usage);

int print_version() {
  return print(stdout, "onbeat " + std::string(run::version()) + "\n") ? 0 : 1;
}

int run_command(const options::Command& command, const options::Arguments& arguments) {
  const options::Layer layers[] = {arguments.layer};
  const options::Settings settings = options::resolve(command.id, layers);
  switch (command.id) {
    case options::kHttp:
      return http_command(command, settings, arguments.positionals);
    case options::kTarget:
      return target_command(settings);
    case options::kDoctor:
      return doctor_command(settings);
    default:
      return kUsage;
  }
}

}  // namespace

int dispatch(const std::vector<std::string_view>& args) {
  guard_standard_streams();
  const options::Invocation invocation = options::find_invocation(args);
  if (invocation.version) return print_version();
  if (invocation.help) return print(stdout, options::overview_text(terminal_width(stdout))) ? 0 : 1;
  if (invocation.command == nullptr) {
    show(invocation.problems);
    return kUsage;
  }
  const options::Command& command = *invocation.command;
  const auto arguments =
      options::parse_arguments(command, std::span(args).subspan(invocation.words));
  if (arguments.help)
    return print(stdout, options::help_text(command, terminal_width(stdout))) ? 0 : 1;
  if (arguments.version) return print_version();
  if (!arguments.problems.empty()) {
    show(arguments.problems);
    return kUsage;
  }
  take_signals();
  return run_command(command, arguments);
}

}  // namespace onbeat::cli
