// Every grammar on every input: no crash, columns within the text, and what is accepted reads back
// as the same.
#include "options/arguments.hpp"
#include "options/format.hpp"
#include "options/grammar.hpp"
#include "options/load_options.hpp"
#include "options/on_late.hpp"
#include "options/rate_grammar.hpp"
#include "options/rate_list.hpp"
#include "options/threshold.hpp"

#include <array>
#include <cmath>
#include <cstdint>
#include <cstdlib>
#include <string_view>
#include <vector>

namespace {

using namespace onbeat::options;

void require(bool condition) {
  if (!condition) std::abort();
}

template <typename T>
bool accepted(std::string_view text, const Parsing<T>& parsed) {
  if (parsed) return true;
  require(!parsed.error().message.empty());
  require(parsed.error().column >= 1 && parsed.error().column <= text.size() + 1);
  return false;
}

void values(std::string_view text) {
  if (const auto duration = parse_duration(text); accepted(text, duration)) {
    require(duration->count() >= 0 && *duration <= kLongestDuration);
    require(parse_duration(duration_text(*duration)) == *duration);
    require(!format_duration(*duration).empty());
  }
  if (const auto rate = parse_rate(text); accepted(text, rate)) {
    require(*rate >= 0 && *rate <= kHighestRate);
    require(parse_rate(rate_text(*rate)) == *rate);
  }
  if (const auto spec = parse_rate_profile(text); accepted(text, spec)) {
    const auto again = parse_rate_profile(spec->text);
    require(again && again->text == spec->text && again->length == spec->length);
    require(again->peak == spec->peak && std::isfinite(spec->peak) && spec->peak >= 0);
    require(spec->profile.rate_at(spec->length) >= 0);
  }
  if (const auto percent = parse_percent(text); accepted(text, percent)) {
    require(*percent >= 0 && *percent <= 100);
  }
  accepted(text, parse_count(text));
  accepted(text, parse_size(text));
  accepted(text, parse_percentiles(text));
  accepted(text, parse_cpu_list(text));
  accepted(text, parse_tag(text));
  accepted(text, parse_limit(text));
  accepted(text, parse_on_late(text));
  constexpr std::array<std::string_view, 2> kFormats{"json", "csv"};
  accepted(text, parse_out(text, kFormats));
}

void headers(std::string_view text) {
  const HeaderSources sources{
      .environment = [](const std::string& name) { return std::optional<std::string>(name); },
      .read_file =
          [](const std::string& path) { return std::expected<std::string, std::string>(path); }};
  const auto parsed = parse_header(text, sources);
  if (!accepted(text, parsed)) return;
  for (const Header& header : *parsed) {
    require(!header.name.empty() && header.name.find(':') == std::string::npos);
    require(header.value.find_first_of(std::string_view("\r\n\0", 3)) == std::string::npos);
  }
}

void rate_lists(std::string_view text) {
  const auto list = parse_rate_list(text);
  if (!accepted(text, list)) return;
  for (const std::size_t steps : {std::size_t{2}, std::size_t{9}, kMostCurveRates}) {
    const std::vector<double> rates = spread(*list, steps);
    require(rates.size() >= 2 && rates.front() > 0 && rates.back() == list->rates.back());
  }
}

void thresholds(std::string_view text) {
  constexpr std::array<std::string_view, 1> kOperations{"get"};
  const Vocabulary vocabulary{
      .metrics = kOperations, .operations = kOperations, .errors = {}, .user_metrics = true};
  if (const auto threshold = parse_threshold(text, vocabulary); accepted(text, threshold)) {
    const auto again = parse_threshold(threshold->text, vocabulary);
    require(again && again->text == threshold->text && again->value == threshold->value);
    require(std::isfinite(threshold->value) && threshold->shown_size > 0);
    require(!threshold->holds(std::nan("")));
  }
  if (const auto rule = parse_abort(text, vocabulary); accepted(text, rule)) {
    require(rule->window >= std::chrono::seconds(1));
  }
}

/// The text, split at newlines, as a command line.
void command_line(std::string_view text) {
  std::vector<std::string_view> args;
  for (std::size_t at = 0; at <= text.size() && args.size() < 64;) {
    const std::size_t end = std::min(text.find('\n', at), text.size());
    args.push_back(text.substr(at, end - at));
    at = end + 1;
  }
  const Invocation invocation = find_invocation(args);
  for (const Problem& problem : invocation.problems) require(!render(problem).empty());
  for (const Command& command : commands()) {
    const Arguments parsed = parse_arguments(command, args);
    for (const Problem& problem : parsed.problems) require(!render(problem).empty());
    if (command.id != kHttp) continue;
    const auto settings = resolve(command.id, std::span(&parsed.layer, 1));
    for (const Problem& problem : build_load_options(command, settings).errors) {
      require(!problem.message.empty());
    }
  }
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const std::string_view text(reinterpret_cast<const char*>(data), size);
  values(text);
  headers(text);
  rate_lists(text);
  thresholds(text);
  command_line(text);
  return 0;
}
