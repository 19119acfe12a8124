#include "options/arguments.hpp"

#include "options/nearest.hpp"
#include "options/scan.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <utility>

namespace onbeat::options {
namespace {

bool contains(std::span<const std::string_view> names, std::string_view name) {
  return std::ranges::find(names, name) != names.end();
}

std::string commands_of(std::string_view name) {
  std::vector<std::string> names;
  for (const Command& command : commands()) {
    if (find_option(name, command.id) != nullptr)
      names.push_back(fmt::format("`{}`", command.name));
  }
  return fmt::format("{}", fmt::join(names, ", "));
}

class Walk {
 public:
  Walk(const Command& command, std::span<const std::string_view> args, const Vocabulary& vocabulary)
      : command_(command), args_(args), vocabulary_(vocabulary) {}

  Arguments run() && {
    while (next_ < args_.size()) {
      const std::string_view arg = args_[next_++];
      if (arg == "--") {
        for (; next_ < args_.size(); ++next_) positional(args_[next_]);
      } else if (arg.starts_with("--")) {
        long_option(arg);
      } else if (arg.starts_with('-') && arg.size() > 1) {
        short_option(arg);
      } else {
        positional(arg);
      }
    }
    check_positionals();
    number_repeated();
    return std::move(result_);
  }

 private:
  void positional(std::string_view arg) { result_.positionals.emplace_back(arg); }

  void problem(std::string where, std::string message, std::string hint = {}) {
    result_.problems.push_back({std::move(where), std::move(message), std::move(hint), {}, 0});
  }

  void long_option(std::string_view arg) {
    const auto equals = arg.find('=');
    const std::string_view name =
        arg.substr(2, equals == std::string_view::npos ? equals : equals - 2);
    const bool attached = equals != std::string_view::npos;
    const Option* option = find_option(name, command_.id);
    if (option != nullptr && !option->section_only) {
      take_value(*option, fmt::format("--{}", name), attached ? &arg : nullptr, equals + 1);
    } else {
      unknown(arg.substr(0, equals), attached);
    }
  }

  void short_option(std::string_view arg) {
    const auto equals = arg.find('=');
    const std::string_view flag = arg.substr(0, equals);
    const bool attached = equals != std::string_view::npos;
    const bool foreign = std::ranges::any_of(
        foreign_flags(), [&](const ForeignFlag& known) { return known.flag == flag; });
    // -duration, as some tools write it, is not -d with the value "uration". Of what only another
    // command has, another tool's meaning is likelier.
    const Option* named = flag.size() > 3 ? find_option(flag.substr(1), command_.id) : nullptr;
    if (named == nullptr && flag.size() > 3 && !foreign) named = find_option(flag.substr(1));
    if (named != nullptr && named->name == flag.substr(1)) {
      problem(std::string(flag), "unknown flag", fmt::format("two dashes: -{}", flag));
      if (!attached && named->kind != Kind::flag) skip_value();
      return;
    }
    const Option* option = find_letter(arg[1], command_.id);
    if (option == nullptr || (foreign && flag.size() > 2)) return unknown(flag, attached);
    letters(arg, *option);
  }

  /// -kL as curl and getopt read it: flags, the last of which may take a value: -kLd10s.
  void letters(std::string_view arg, const Option& first) {
    const Option* option = &first;
    for (std::size_t at = 1; option != nullptr; option = find_letter(arg[at], command_.id)) {
      const std::string shown{'-', arg[at++]};
      if (option->kind != Kind::flag) {
        if (at == arg.size()) return take_value(*option, shown, nullptr, 0);
        return take_value(*option, shown, &arg, arg[at] == '=' ? at + 1 : at);
      }
      if (at < arg.size() && arg[at] == '=') {
        return problem(std::string(arg), fmt::format("{} takes no value", shown));
      }
      take_value(*option, shown, nullptr, 0);
      if (at == arg.size()) return;
      if (find_letter(arg[at], command_.id) == nullptr) {
        return problem(std::string(arg), fmt::format("unknown flag -{}", arg[at]));
      }
    }
  }

  /// `attached`: the argument in which the value begins at `at`; null: the value is the next
  /// argument.
  void take_value(const Option& option, std::string flag, const std::string_view* attached,
                  std::size_t at) {
    std::string_view value = "true";
    if (attached != nullptr) {
      value = attached->substr(at);
    } else if (option.kind != Kind::flag) {
      if (next_ == args_.size() || args_[next_].starts_with("--")) {
        return problem(std::move(flag), "its value is missing",
                       fmt::format("--{} {}", option.name, option.value));
      }
      value = args_[next_++];
    }
    store(option, flag, value);
    while (option.many && next_ < args_.size() && !args_[next_].starts_with('-'))
      store(option, flag, args_[next_++]);
  }

  void store(const Option& option, std::string flag, std::string_view value) {
    if (const auto wrong = check_value(option, value, vocabulary_)) {
      const bool shown = !option.secret && !value.empty();
      if (option.repeatable) {
        about_.emplace_back(result_.problems.size(), result_.layer.settings.size());
      }
      result_.problems.push_back({flag, wrong->message, wrong->hint,
                                  shown ? std::string(value) : std::string(), wrong->column});
    }
    const auto earlier = std::ranges::find(result_.layer.settings, &option, &Setting::option);
    if (earlier != result_.layer.settings.end() && !option.repeatable) {
      if (option.kind != Kind::flag || earlier->text != value) {
        problem(std::move(flag), "given twice", "only one of them can count");
      }
      return;
    }
    if (option.name == "help") result_.help = value == "true";
    if (option.name == "version") result_.version = value == "true";
    result_.layer.settings.push_back({&option, std::string(value), std::move(flag)});
  }

  /// "-H" becomes "-H #2" where there are several.
  void number_repeated() {
    std::map<const Option*, std::size_t> counts, numbers;
    for (const Setting& setting : result_.layer.settings) ++counts[setting.option];
    for (Setting& setting : result_.layer.settings) {
      if (counts[setting.option] < 2) continue;
      setting.origin += fmt::format(" #{}", ++numbers[setting.option]);
    }
    for (const auto& [problem, setting] : about_) {
      if (counts[result_.layer.settings[setting].option] < 2) continue;
      result_.problems[problem].where = result_.layer.settings[setting].origin;
    }
  }

  void unknown(std::string_view flag, bool attached) {
    guessing_ = true;
    const std::string_view name = flag.substr(flag.starts_with("--") ? 2 : 1);
    const bool is_long = flag.starts_with("--");
    // What other load generators call so is likelier to be meant than another command's letter.
    if (!is_long && (command_.id & kLoading) != 0 && foreign(flag, attached)) return;
    const Option* elsewhere = is_long ? find_option(name) : find_letter(name[0]);
    if (elsewhere != nullptr && elsewhere->section_only) {
      problem(std::string(flag), fmt::format("{} stands in BENCH sections alone", elsewhere->key()),
              elsewhere->name == "thresholds" ? "--threshold 'p(99) < 25ms'" : "");
      if (!attached) skip_value();
      return;
    }
    if (elsewhere != nullptr && (is_long || name.size() == 1)) {
      problem(std::string(flag), fmt::format("does not apply to `{}`", command_.name),
              fmt::format("it belongs to {}", commands_of(elsewhere->name)));
      if (elsewhere->kind != Kind::flag && !attached) skip_value();
      return;
    }
    const auto later = std::ranges::find(later_options(), name, &LaterOption::name);
    if (is_long && later != later_options().end()) {
      problem(std::string(flag), "not in this version",
              later->instead.empty() ? std::string() : fmt::format("there is {}", later->instead));
      if (!attached) skip_value();
      return;
    }
    if (foreign(flag, attached)) return;
    std::vector<std::string_view> known;
    for (const Option& option : options()) {
      if ((option.commands & command_.id) != 0 && !option.section_only)
        known.push_back(option.name);
    }
    const auto near = nearest(name, known);
    problem(std::string(flag), "unknown flag",
            near ? fmt::format("did you mean --{}?", *near)
                 : fmt::format("onbeat {} --help lists them all", command_.name));
  }

  /// -z and -z10s alike.
  bool foreign(std::string_view flag, bool attached) {
    const auto all = foreign_flags();
    auto known = std::ranges::find(all, flag, &ForeignFlag::flag);
    if (known == all.end() && !flag.starts_with("--")) {
      known = std::ranges::find(all, flag.substr(0, 2), &ForeignFlag::flag);
      attached = true;
    }
    if (known == all.end()) return false;
    problem(std::string(known->flag), "unknown flag",
            fmt::format("{} of {}; here: {}", known->flag, known->tools, known->ours));
    if (known->takes_value && !attached) skip_value();
    return true;
  }

  /// The argument after a flag that is not ours is most likely its value, not a positional.
  void skip_value() {
    const bool value =
        next_ < args_.size() && !args_[next_].starts_with("-") && !args_[next_].contains("://");
    if (value) ++next_;
  }

  /// With an unknown flag about, nobody knows which arguments are values: then the count means
  /// nothing.
  void check_positionals() {
    if (guessing_ || result_.help || result_.version) return;
    const auto& given = result_.positionals;
    for (std::size_t i = command_.most; i < given.size(); ++i) {
      problem({}, fmt::format("{} is one argument too many", quote(given[i])),
              fmt::format("onbeat {} {}", command_.name, command_.synopsis));
    }
  }

  const Command& command_;
  std::span<const std::string_view> args_;
  std::size_t next_ = 0;
  const Vocabulary& vocabulary_;
  bool guessing_ = false;
  /// Which problem is about the value of which setting.
  std::vector<std::pair<std::size_t, std::size_t>> about_;
  Arguments result_;
};

Problem no_command(std::string_view first, std::string_view second) {
  if (contains(later_commands(), first)) {
    return {fmt::format("onbeat {}", first), "not in this version", {}, {}, 0};
  }
  if (first.starts_with("http://") || first.starts_with("https://")) {
    return {{}, "a command is missing before the URL", "onbeat http URL", {}, 0};
  }
  std::vector<std::string_view> names;
  std::string kinds;
  for (const Command& command : commands()) {
    const std::string_view name = command.name;
    if (name.starts_with(first) && name.substr(first.size()).starts_with(' '))
      kinds += fmt::format("{}onbeat {} {}", kinds.empty() ? "" : ", or ", name, command.synopsis);
    names.push_back(name);
  }
  if (!kinds.empty()) {
    return {fmt::format("onbeat {}", first),
            second.empty() ? std::string("a kind is missing")
                           : fmt::format("unknown kind {}", quote(second)),
            kinds,
            {},
            0};
  }
  const auto near = nearest(first, names);
  return {{},
          fmt::format("unknown command {}", quote(first)),
          near ? fmt::format("did you mean onbeat {}?", *near)
               : std::string("onbeat --help lists them all"),
          {},
          0};
}

}  // namespace

Arguments parse_arguments(const Command& command, std::span<const std::string_view> args,
                          const Vocabulary& vocabulary) {
  return Walk(command, args, vocabulary).run();
}

Invocation find_invocation(std::span<const std::string_view> args) {
  Invocation invocation;
  if (args.empty() || args[0] == "--help" || args[0] == "-h" || args[0] == "help") {
    invocation.help = true;
    if (args.size() < 2 || args[0] != "help") return invocation;
    args = args.subspan(1);
  }
  if (args[0] == "--version") {
    invocation.version = true;
    return invocation;
  }
  if (args[0].starts_with('-')) {
    invocation.problems.push_back({std::string(args[0]),
                                   "a command comes before the flags",
                                   "onbeat http URL ... ; onbeat --help lists them all",
                                   {},
                                   0});
    return invocation;
  }
  const std::string two = args.size() > 1 ? fmt::format("{} {}", args[0], args[1]) : std::string();
  if (const Command* command = find_command(two)) {
    invocation.command = command;
    invocation.words = 2;
  } else if (const Command* single = find_command(args[0])) {
    invocation.command = single;
    invocation.words = 1;
  } else if (args.size() > 1 && (args[1] == "--help" || args[1] == "-h")) {
    invocation.help = true;
  } else {
    invocation.problems.push_back(no_command(args[0], args.size() > 1 ? args[1] : ""));
  }
  return invocation;
}

}  // namespace onbeat::options
