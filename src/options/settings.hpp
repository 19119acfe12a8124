// What the options of a run are set to, and by whom. Sources are layers; the one of highest
// precedence that sets an option sets it whole.
#pragma once

#include "options/table.hpp"

#include <cstdint>
#include <map>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace onbeat::options {

/// From the highest precedence to the lowest.
enum class Source : std::uint8_t { cli, env, bench_section, file, profile, standard };
/// "cli", "env", "bench_section", "file", "profile", "default".
std::string_view to_string(Source source);

struct Setting {
  const Option* option = nullptr;
  std::string text;
  /// Where exactly, for messages: "--rate", "ONBEAT_RATE", "load.yaml:3".
  std::string origin;
};

struct Layer {
  Source source = Source::cli;
  std::vector<Setting> settings;
};

/// Something wrong with how the program was called or configured. All of them are collected before
/// any is shown.
struct Problem {
  std::string where;  // "--rate"; may be empty
  std::string message;
  std::string hint;
  std::string text;        // the value with the fault; empty: not shown
  std::size_t column = 0;  // in `text`, from 1
};
/// "error: --rate: ...", the text with a caret under the column, and the hint, each on a line of
/// its own.
std::string render(const Problem& problem, std::string_view severity = "error");

class Settings {
 public:
  struct Value {
    std::vector<std::string> texts;    // one, or several of a repeatable option
    std::vector<std::string> origins;  // of each text
    Source source = Source::standard;
  };

  explicit Settings(CommandSet command = kEvery) : command_(command) {}

  /// Null when nothing sets it: the default holds. The name must be one of the table's for the
  /// command.
  [[nodiscard]] const Value* find(std::string_view name) const;
  [[nodiscard]] bool has(std::string_view name) const { return find(name) != nullptr; }
  /// The text of an option that is set once; empty when nothing sets it.
  [[nodiscard]] std::string text(std::string_view name) const;
  [[nodiscard]] std::vector<std::string> all(std::string_view name) const;
  [[nodiscard]] bool flag(std::string_view name) const { return text(name) == "true"; }
  [[nodiscard]] Source source(std::string_view name) const;

 private:
  friend Settings resolve(CommandSet command, std::span<const Layer> layers);
  CommandSet command_;
  std::map<const Option*, Value> values_;
};

/// The one place where precedence is decided. Layers may come in any order; two of one source count
/// as one, in the order given. A layer that sets one option of a family does away with the whole
/// family of lower ones.
Settings resolve(CommandSet command, std::span<const Layer> layers);

}  // namespace onbeat::options
