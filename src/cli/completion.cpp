#include "cli/completion.hpp"

#include "options/limits.hpp"
#include "options/profiles.hpp"
#include "options/table.hpp"
#include "run/audit.hpp"

#include <fmt/format.h>

#include <span>

namespace onbeat::cli {
namespace {

using options::Command;
using options::Kind;
using options::Option;

class Completer {
 public:
  explicit Completer(const std::vector<std::string_view>& words)
      : before_(words.begin(), words.empty() ? words.end() : words.end() - 1),
        word_(words.empty() ? std::string_view() : words.back()) {}

  Completion run() {
    const Command* command = find_command();
    if (command == nullptr) {
      commands();
    } else if (const Option* asking = value_wanted(*command)) {
      values(*asking, "", word_);
    } else if (literal_) {
      positionals(*command);
    } else if (const std::size_t equals = word_.find('=');
               word_.starts_with("--") && equals != std::string_view::npos) {
      const Option* option = options::find_option(word_.substr(2, equals - 2), command->id);
      if (option != nullptr) values(*option, word_.substr(0, equals + 1), word_.substr(equals + 1));
    } else if (word_.starts_with('-')) {
      flags(*command);
    } else {
      positionals(*command);
    }
    return std::move(result_);
  }

 private:
  void add(std::string text, std::string_view description = {}) {
    if (text.starts_with(word_))
      result_.candidates.push_back({std::move(text), std::string(description)});
  }

  /// The command that the words before name, whose own words are taken off.
  const Command* find_command() {
    for (const std::size_t count : {2U, 1U}) {
      if (before_.size() < count) continue;
      const std::string name =
          count == 2 ? fmt::format("{} {}", before_[0], before_[1]) : std::string(before_[0]);
      if (const Command* command = options::find_command(name)) {
        before_ = before_.subspan(count);
        return command;
      }
    }
    return nullptr;
  }

  /// Names of commands; of one of several words ("target http") the next word.
  void commands() {
    std::string said;
    for (const std::string_view word : before_) said += fmt::format("{} ", word);
    for (const Command& command : options::commands()) {
      if (!command.name.starts_with(said)) continue;
      const std::string_view rest = command.name.substr(said.size());
      add(std::string(rest.substr(0, rest.find(' '))), command.summary);
    }
    if (!said.empty()) return;
    add("--help", "print the commands");
    add("--version", "print the version");
  }

  /// The option whose value the last word is. Says also whether "--" has been.
  const Option* value_wanted(const Command& command) {
    const Option* wanted = nullptr;
    for (const std::string_view word : before_) {
      if (wanted != nullptr) {
        wanted = nullptr;
        continue;
      }
      if (literal_ || !word.starts_with('-') || word.contains('=')) continue;
      literal_ = word == "--";
      const Option* option = word.starts_with("--")
                                 ? options::find_option(word.substr(2), command.id)
                             : word.size() == 2 ? options::find_letter(word[1], command.id)
                                                : nullptr;
      if (option != nullptr && option->kind != Kind::flag) wanted = option;
    }
    return wanted;
  }

  void flags(const Command& command) {
    for (const Option& option : options::options()) {
      if ((option.commands & command.id) == 0 || option.section_only) continue;
      add(fmt::format("--{}", option.name), option.help);
      if (word_ == "-" && option.letter != 0) add(fmt::format("-{}", option.letter), option.help);
    }
  }

  /// `ahead` is the part of the word before the value.
  void values(const Option& option, std::string_view ahead, std::string_view value) {
    const auto offer = [&](std::string_view text, std::string_view description = {}) {
      add(fmt::format("{}{}", ahead, text), description);
    };
    if (option.kind == Kind::out) {
      for (const std::string_view format : option.choices) offer(fmt::format("{}=", format));
      const std::size_t equals = value.find('=');
      if (equals != std::string_view::npos)
        result_.files_after = fmt::format("{}{}", ahead, value.substr(0, equals + 1));
      return;
    }
    for (const std::string_view choice : option.choices) offer(choice);
    if (option.kind == Kind::limit) {
      for (const options::Limit& limit : options::limits())
        offer(fmt::format("{}=", limit.name), limit.help);
    }
    if (option.name == "profile") {
      for (const options::Profile& profile : options::built_in_profiles())
        offer(profile.name, profile.description);
    }
    if (option.kind == Kind::flag) {
      offer("true");
      offer("false");
    }
    if (option.value.contains("FILE")) result_.files_after = std::string(ahead);
  }

  void positionals(const Command& command) {
    switch (command.id) {
      case options::kExplain:
        for (const std::string_view code : run::check_codes()) add(std::string(code));
        break;
      case options::kCompletion:
        for (const char* shell : {"bash", "zsh", "fish"}) add(shell);
        break;
      case options::kHttp:
      case options::kCurve:
        add("http://");
        add("https://");
        break;
      default:
        if (command.positional.contains("file") || command.positional.contains("FILE"))
          result_.files_after = "";
    }
  }

  std::span<const std::string_view> before_;
  std::string_view word_;
  bool literal_ = false;
  Completion result_;
};

// bash cuts words at = and : as well; the program gets whole words, and the shell what follows the
// last cut.
constexpr std::string_view kBash = R"(# bash completion of onbeat
_onbeat() {
  local line=${COMP_LINE:0:COMP_POINT} words=() word i cut text description
  for ((i = 0; i <= COMP_CWORD; i++)); do
    word=${COMP_WORDS[i]}
    ((i == COMP_CWORD)) && [[ $line != *"$word" ]] && word=${line##*[[:space:]=:]}
    if ((i == 0)) || [[ $line == [[:space:]]* ]]; then
      line=${line#"${line%%[![:space:]]*}"}
      words+=("$word")
    else
      words[-1]+=$word
    fi
    line=${line#"$word"}
  done
  word=${words[-1]}
  cut=${word%"${word##*[=:]}"}
  COMPREPLY=()
  while IFS=$'\t' read -r text description; do
    if [[ $text == \** ]]; then
      text=${text#\*}
      compopt -o filenames
      while IFS= read -r description; do
        text=${word%"${word##*[=]}"}$description
        COMPREPLY+=("${text#"$cut"}")
      done < <(compgen -f -- "${word#"$text"}")
    else
      [[ $text == *[=/] ]] && compopt -o nospace
      COMPREPLY+=("${text#"$cut"}")
    fi
  done < <("${COMP_WORDS[0]}" completion words -- "${words[@]:1}" 2>/dev/null)
}
complete -F _onbeat onbeat
)";

constexpr std::string_view kZsh = R"(#compdef onbeat
# zsh completion of onbeat
_onbeat() {
  local line text
  local -a texts shown open open_shown
  for line in "${(@f)$("${(Q)words[1]}" completion words -- "${(@Q)words[2,CURRENT-1]}" "${(Q)PREFIX}" 2>/dev/null)}"; do
    text=${line%%$'\t'*}
    if [[ $line == \** ]]; then
      compset -P "${(b)text#\*}"
      _files
    elif [[ $text == *[=/] ]]; then
      open+=("$text")
      open_shown+=("${line/$'\t'/  -- }")
    elif [[ -n $text ]]; then
      texts+=("$text")
      shown+=("${line/$'\t'/  -- }")
    fi
  done
  (($#open)) && compadd -l -S '' -d open_shown -a -- open
  (($#texts)) && compadd -l -d shown -a -- texts
}
if [[ $funcstack[1] == _onbeat ]]; then
  _onbeat "$@"
else
  compdef _onbeat onbeat
fi
)";

constexpr std::string_view kFish = R"(# fish completion of onbeat
function __onbeat_words
    set -l before (commandline -opc)
    set -l word (commandline -ct)
    for line in ($before[1] completion words -- $before[2..-1] "$word" 2>/dev/null)
        if string match -q -- '\**' "$line"
            set -l ahead (string sub -s 2 -- "$line")
            set -l rest (string sub -s (math 1 + (string length -- "$ahead")) -- "$word")
            for path in (__fish_complete_path "$rest")
                printf '%s%s\n' "$ahead" "$path"
            end
        else
            printf '%s\n' "$line"
        end
    end
end
complete -c onbeat -f -a '(__onbeat_words)'
)";

}  // namespace

Completion complete(const std::vector<std::string_view>& words) { return Completer(words).run(); }

std::string words_text(const Completion& completion) {
  std::string text;
  std::string_view last;
  for (const Candidate& candidate : completion.candidates) {
    if (candidate.text == last) continue;  // two commands that begin with one word
    last = candidate.text;
    text += candidate.text;
    if (!candidate.description.empty()) text += "\t" + candidate.description;
    text += '\n';
  }
  if (completion.files_after) text += "*" + *completion.files_after + "\n";
  return text;
}

std::optional<std::string_view> completion_script(std::string_view shell) {
  if (shell == "bash") return kBash;
  if (shell == "zsh") return kZsh;
  if (shell == "fish") return kFish;
  return std::nullopt;
}

}  // namespace onbeat::cli
