// The one table of options. Flags, help, and the resolved options of a report are read from it;
// BENCH keys, configuration files, ONBEAT_* variables and completion are further readers of the
// same rows.
//
// An option stands here only when it works: what later versions bring is in later_options().
#pragma once

#include "options/grammar.hpp"
#include "options/threshold.hpp"

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace onbeat::options {

/// Commands as bits, so that an option can belong to several.
enum CommandSet : std::uint32_t {
  kNoCommand = 0,
  kHttp = 1U << 0,
  kTarget = 1U << 1,
  kDoctor = 1U << 2,
  kProfiles = 1U << 3,
  kBench = 1U << 4,
  kCall = 1U << 5,
  kBenchCompare = 1U << 6,
  kReport = 1U << 7,
  kGrpcTarget = 1U << 8,
  kTargets = kTarget | kGrpcTarget,
  kCheck = 1U << 10,
  kFormat = 1U << 11,
  kExplain = 1U << 12,
  kCompletion = 1U << 13,
  kManual = 1U << 14,
  kCompare = 1U << 15,
  kCurve = 1U << 16,
  kLoading = kHttp | kBench,  // what drives load
  kEvery = UINT32_MAX,
};

enum class Group : std::uint8_t {
  load,
  schedule,
  document,
  http,
  connection,
  tls,
  expecting,
  judging,
  output,
  trying,
  source,
  target,
  checks,
  general
};

/// What a value is; decides which grammar checks it.
enum class Kind : std::uint8_t {
  flag,                // no value, or =true, =false
  text,                // anything
  path,                // anything but nothing
  word,                // a token: letters, digits, '_' and '-'
  choice,              // one of `choices`
  count,               // parse_count, within [lowest, highest]
  duration,            // parse_duration
  size,                // parse_size
  rate,                // parse_rate
  number,              // parse_number
  share,               // parse_share
  seconds,             // parse_seconds
  load_points,         // parse_load_points
  rate_profile,        // parse_rate_profile
  rate_list,           // parse_rate_list
  percentiles,         // parse_percentiles
  percent,             // parse_percent
  cpu_list,            // parse_cpu_list
  tag,                 // parse_tag
  out,                 // parse_out with `choices` as formats
  header,              // Name: value, or @file; checked where it is read
  threshold,           // parse_threshold
  bench_threshold,     // parse_bench_threshold
  abort_rule,          // parse_abort
  limit,               // parse_limit
  on_late,             // catch_up, skip or burst:N
  endpoint,            // parse_endpoint
  curl,                // parse_curl; checked where it is read
  form,                // parse_form_part
  data_file,           // parse_data_file
  user,                // parse_user
  field_value,         // parse_field_value
  connect_to,          // parse_connect_to
  resolve,             // parse_resolve
  ip,                  // parse_ip
  listen,              // parse_listen
  tls_versions,        // parse_tls_versions
  alpn,                // parse_alpn
  status_list,         // parse_status_list
  header_expectation,  // parse_header_expectation
};

struct Option {
  std::string_view name;        // long, without dashes
  char letter = 0;              // short, or 0
  std::string_view value = {};  // how help names its value; empty for flags
  Kind kind = Kind::text;
  std::string_view standard;  // what holds when nothing sets it, in words or as a value
  std::string_view help;      // one sentence, without a full stop
  Group group = Group::general;
  std::uint32_t commands = kNoCommand;
  std::vector<std::string_view> choices = {};
  std::vector<std::string_view> later_choices = {};  // planned, not in this version
  bool repeatable = false;
  bool many = false;    // further values may follow the first, up to the next flag
  bool secret = false;  // its value may hold secrets: never quoted, logged or reported
  std::uint64_t lowest = 0, highest = UINT64_MAX;  // of a count
  /// Another name for it, as a flag and as a key: what BENCH sections call it.
  std::string_view alias = {};
  /// Stands in BENCH sections alone: no flag, no variable.
  bool section_only = false;
  /// Options of one family replace each other across sources: a flag --requests does away with a
  /// duration from a file. Empty: stands alone.
  std::string_view family = {};

  /// "max_wait": the key in BENCH, configuration files and the report's options.
  [[nodiscard]] std::string key() const;
  /// The key of its alias; empty without one.
  [[nodiscard]] std::string alias_key() const;
  /// "ONBEAT_MAX_WAIT".
  [[nodiscard]] std::string environment() const;
};

struct Command {
  CommandSet id = kNoCommand;
  std::string_view name;                   // "target http": words separated by one space
  std::string_view synopsis;               // after "onbeat NAME "
  std::string_view summary;                // one sentence
  std::vector<std::string_view> examples;  // whole command lines, each "command   # what it does"
  std::string_view positional = {};        // what one positional is, "a URL"; empty: takes none
  std::size_t most = 0;                    // positionals
  std::string_view fills = "url";          // the option that positionals are values of
};

/// A flag of another tool, and ours for it.
struct ForeignFlag {
  std::string_view flag;   // with its dashes
  std::string_view tools;  // whose it is
  std::string_view ours;   // what to write instead
  bool takes_value = true;
};

/// A flag of a later version, and what does the like today (may be empty).
struct LaterOption {
  std::string_view name;
  std::string_view instead = {};
};

std::span<const Option> options();
std::span<const Command> commands();
std::span<const ForeignFlag> foreign_flags();
/// What is planned but not in this version.
std::span<const std::string_view> later_commands();
std::span<const LaterOption> later_options();

/// The row of a long name (or its alias) or a letter that belongs to one of `commands`.
const Option* find_option(std::string_view name, std::uint32_t commands = kEvery);
/// The row of a key or its alias.
const Option* find_key(std::string_view key, std::uint32_t commands);
const Option* find_letter(char letter, std::uint32_t commands = kEvery);
const Command* find_command(std::string_view name);
std::string_view title(Group group);

/// Checks one value against its row. Headers are only looked at, not read.
std::optional<GrammarError> check_value(const Option& option, std::string_view text,
                                        const Vocabulary& vocabulary = {});

}  // namespace onbeat::options
