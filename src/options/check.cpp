// check_value: each kind of value by its grammar.
#include "options/bench_threshold.hpp"
#include "options/curl.hpp"
#include "options/endpoint_text.hpp"
#include "options/http_grammar.hpp"
#include "options/limits.hpp"
#include "options/load_schedule.hpp"
#include "options/nearest.hpp"
#include "options/on_late.hpp"
#include "options/rate_grammar.hpp"
#include "options/rate_list.hpp"
#include "options/scan.hpp"
#include "options/table.hpp"
#include "options/threshold.hpp"

#include <fmt/format.h>

#include <algorithm>

namespace onbeat::options {
namespace {

using Refusal = std::optional<GrammarError>;

template <typename T>
Refusal refusal(const Parsing<T>& parsed) {
  return parsed ? std::nullopt : Refusal(parsed.error());
}

Refusal check_count(const Option& option, std::string_view text) {
  const auto count = parse_count(text);
  if (!count) return count.error();
  if (*count < option.lowest) {
    return GrammarError{fmt::format("must be at least {}", option.lowest), 1, {}};
  }
  if (*count > option.highest) {
    return GrammarError{fmt::format("must be at most {}", option.highest), 1, {}};
  }
  return std::nullopt;
}

Refusal check_choice(const Option& option, std::string_view text) {
  if (std::ranges::find(option.choices, text) != option.choices.end()) return std::nullopt;
  if (std::ranges::find(option.later_choices, text) != option.later_choices.end()) {
    return GrammarError{fmt::format("{} is not in this version", text), 1, {}};
  }
  const auto near = nearest(text, option.choices);
  return GrammarError{fmt::format("not one of {}", fmt::join(option.choices, ", ")), 1,
                      near ? fmt::format("did you mean {}?", *near) : std::string()};
}

Refusal check_word(std::string_view text) {
  for (std::size_t i = 0; i < text.size(); ++i) {
    const char c = text[i];
    const bool letter = (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9');
    if (!letter && c != '_' && c != '-') {
      return GrammarError{"only letters, digits, '_' and '-' belong here", i + 1, {}};
    }
  }
  return text.empty() ? Refusal(GrammarError{"the value is empty", 1, {}}) : std::nullopt;
}

Refusal check_out(const Option& option, std::string_view text) {
  const std::string_view format = text.substr(0, text.find('='));
  if (std::ranges::find(option.later_choices, format) != option.later_choices.end()) {
    return GrammarError{fmt::format("the format {} is not in this version", format), 1, {}};
  }
  return refusal(parse_out(text, option.choices));
}

/// The form alone: the environment and files are read when the header is used.
Refusal check_header(std::string_view text) {
  const HeaderSources anything{
      .environment = [](const std::string&) { return std::optional<std::string>(""); },
      .read_file =
          [](const std::string&) { return std::expected<std::string, std::string>("A: b"); }};
  return refusal(parse_header(text, anything));
}

}  // namespace

Refusal check_value(const Option& option, std::string_view text, const Vocabulary& vocabulary) {
  switch (option.kind) {
    case Kind::flag:
      if (text == "true" || text == "false") return std::nullopt;
      return GrammarError{"a flag is true or false, or has no value", 1, {}};
    case Kind::text:
      return std::nullopt;
    case Kind::path:
      return text.empty() ? Refusal(GrammarError{"the value is empty", 1, {}}) : std::nullopt;
    case Kind::word:
      return check_word(text);
    case Kind::choice:
      return check_choice(option, text);
    case Kind::count:
      return check_count(option, text);
    case Kind::duration:
      return refusal(parse_duration(text));
    case Kind::size:
      return refusal(parse_size(text));
    case Kind::rate:
      return refusal(parse_rate(text));
    case Kind::number:
      return refusal(parse_number(text));
    case Kind::share:
      return refusal(parse_share(text));
    case Kind::seconds:
      return refusal(parse_seconds(text));
    case Kind::load_points:
      return refusal(parse_load_points(text));
    case Kind::percent:
      return refusal(parse_percent(text));
    case Kind::rate_profile:
      return refusal(parse_rate_profile(text));
    case Kind::rate_list:
      return refusal(parse_rate_list(text));
    case Kind::percentiles:
      return refusal(parse_percentiles(text));
    case Kind::cpu_list:
      return refusal(parse_cpu_list(text));
    case Kind::tag:
      return refusal(parse_tag(text));
    case Kind::out:
      return check_out(option, text);
    case Kind::header:
      return check_header(text);
    case Kind::threshold:
      return refusal(parse_threshold(text, vocabulary));
    case Kind::bench_threshold:
      return refusal(parse_bench_threshold(text));
    case Kind::abort_rule:
      return refusal(parse_abort(text, vocabulary));
    case Kind::limit:
      return refusal(parse_limit(text));
    case Kind::on_late:
      return refusal(parse_on_late(text));
    case Kind::endpoint:
      return refusal(parse_endpoint(text));
    case Kind::curl:
      return refusal(parse_curl(text));
    case Kind::form:
      return refusal(parse_form_part(text));
    case Kind::data_file:
      return refusal(parse_data_file(text));
    case Kind::user:
      return refusal(parse_user(text));
    case Kind::field_value:
      return refusal(parse_field_value(text));
    case Kind::connect_to:
      return refusal(parse_connect_to(text));
    case Kind::resolve:
      return refusal(parse_resolve(text));
    case Kind::listen:
      return refusal(parse_listen(text));
    case Kind::ip:
      return refusal(parse_ip(text));
    case Kind::tls_versions:
      return refusal(parse_tls_versions(text));
    case Kind::alpn:
      return refusal(parse_alpn(text));
    case Kind::status_list:
      return refusal(parse_status_list(text));
    case Kind::header_expectation:
      return refusal(parse_header_expectation(text));
  }
  return std::nullopt;
}

}  // namespace onbeat::options
