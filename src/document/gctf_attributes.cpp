#include "document/gctf_attributes.hpp"

#include "document/gctf_entries.hpp"
#include "document/json5.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <utility>

namespace onbeat::document {
namespace {

constexpr std::array<std::string_view, 11> kAttributes{
    "skip",        "timeout", "retry", "retry_delay", "no_retry", "repeat",
    "compression", "name",    "tag",   "owner",       "summary"};
constexpr std::array<std::string_view, 5> kMatchOptions{"with_asserts", "partial",
                                                        "unordered_arrays", "tolerance", "redact"};

class AttributeReader {
 public:
  AttributeReader(const RawAttribute& raw, Diagnostics& out) : raw_(raw), out_(out) {}

  void read(Attributes& into, Attributes& inherited) {
    std::string name(raw_.name);
    if (name.find('-') != std::string::npos) {
      std::ranges::replace(name, '-', '_');
      if (std::ranges::find(kAttributes, name) != kAttributes.end()) {
        out_.warning("kebab_case", place(), fmt::format("{} is deprecated", raw_.name),
                     fmt::format("#[{}]", name));
      }
    }
    if (name == "skip") return set(flag(), into.skip, "true or false");
    if (name == "repeat") {
      auto count = whole();
      if (count && *count == 0) count.reset();
      return set(count, into.repeat, "a whole number from 1");
    }
    inheritable(name, into);
    inheritable_copy(into, inherited);
  }

 private:
  /// All but what applies to one section alone.
  static void inheritable_copy(const Attributes& from, Attributes& inherited) {
    inherited = from;
    inherited.skip = false;
    inherited.repeat = 1;
  }

  void inheritable(std::string_view name, Attributes& into) {
    if (name == "timeout") {
      auto timeout = seconds();
      if (timeout && timeout->count() <= 0) timeout.reset();
      set(timeout, into.timeout, "a time over 0, in seconds or with a unit");
    } else if (name == "retry") {
      set(whole(), into.retry, "a whole number");
    } else if (name == "retry_delay") {
      set(seconds(), into.retry_delay, "a time in seconds or with a unit");
    } else if (name == "no_retry") {
      set(flag(), into.no_retry, "true or false");
    } else if (name == "compression") {
      set(raw_.value ? parse_compression(*raw_.value) : std::nullopt, into.compression,
          "none or gzip");
    } else if (name == "name") {
      set(text(), into.name, "a text");
    } else if (name == "owner") {
      set(text(), into.owner, "a text");
    } else if (name == "summary") {
      set(text(), into.summary, "a text");
    } else if (name == "tag") {
      if (const auto tag = text()) {
        if (std::ranges::find(into.tags, *tag) == into.tags.end()) into.tags.push_back(*tag);
      } else {
        fail("a text");
      }
    } else {
      unknown_key(out_, place(), "unknown_attribute", "attribute", raw_.name, kAttributes);
    }
  }

  [[nodiscard]] Position place() const { return raw_.line.position(raw_.name); }
  void fail(std::string_view expected) {
    out_.error("bad_attribute", place(), fmt::format("{}: {} is expected", raw_.name, expected));
  }
  template <typename T, typename U>
  void set(const std::optional<T>& value, U& into, std::string_view expected) {
    if (value) {
      into = *value;
    } else {
      fail(expected);
    }
  }
  [[nodiscard]] std::optional<bool> flag() const {
    return raw_.value ? parse_switch(*raw_.value) : std::optional(true);
  }
  [[nodiscard]] std::optional<std::uint64_t> whole() const {
    return raw_.value ? parse_whole(*raw_.value) : std::nullopt;
  }
  [[nodiscard]] std::optional<Duration> seconds() const {
    return raw_.value ? parse_seconds(*raw_.value) : std::nullopt;
  }
  [[nodiscard]] std::optional<std::string> text() const {
    return raw_.value && !raw_.value->empty() ? raw_.value : std::nullopt;
  }

  const RawAttribute& raw_;
  Diagnostics& out_;
};

/// The end of the word at the beginning of `text`: a blank, but none within brackets or quotes.
std::size_t word_end(std::string_view text) {
  int depth = 0;
  char quote = 0;
  for (std::size_t i = 0; i < text.size(); ++i) {
    const char c = text[i];
    if (quote != 0) {
      if (c == '\\') {
        ++i;
      } else if (c == quote) {
        quote = 0;
      }
    } else if (c == '"' || c == '\'') {
      quote = c;
    } else if (c == '[') {
      ++depth;
    } else if (c == ']') {
      --depth;
    } else if ((c == ' ' || c == '\t') && depth <= 0) {
      return i;
    }
  }
  return text.size();
}

std::optional<std::vector<std::string>> name_list(std::string_view text) {
  const Json5Body body = parse_json5(text);
  if (!body.faults.empty() || body.values.size() != 1) return std::nullopt;
  const JsonView list = body.values[0].root();
  if (!list.is(JsonKind::array)) return std::nullopt;
  std::vector<std::string> names;
  for (JsonView item = list.first(); item; item = list.after(item)) {
    if (!item.is(JsonKind::text)) return std::nullopt;
    names.emplace_back(item.text());
  }
  return names;
}

void match_option(std::string_view word, Position at, MatchOptions& match, Diagnostics& out) {
  const std::size_t equals = std::min(word.find('='), word.size());
  const std::string_view key = word.substr(0, equals);
  const bool has_value = equals < word.size();
  const std::string_view value = has_value ? word.substr(equals + 1) : std::string_view{};
  const auto fail = [&](std::string_view expected) {
    out.error("bad_inline_option", at, fmt::format("{}: {} is expected", key, expected));
  };
  const auto flag = [&](bool& into) {
    if (!has_value) {
      into = true;
    } else if (value == "true" || value == "1" || value == "false" || value == "0") {
      into = value == "true" || value == "1";
    } else {
      fail("true, false, 1 or 0");
    }
  };
  if (key == "with_asserts") {
    flag(match.with_asserts);
  } else if (key == "partial") {
    flag(match.partial);
  } else if (key == "unordered_arrays") {
    flag(match.unordered_arrays);
  } else if (key == "tolerance") {
    match.tolerance = parse_decimal(value);
    if (!match.tolerance) fail("a number, tolerance=0.01,");
  } else if (key == "redact") {
    if (auto names = name_list(value)) {
      match.redact = std::move(*names);
    } else {
      fail("a list of keys, redact=[\"token\"],");
    }
  } else {
    unknown_key(out, at, "unknown_inline_option", "option", key, kMatchOptions);
  }
}

}  // namespace

Attributes read_attributes(const RawSection& section, Attributes& inherited, Diagnostics& out) {
  Attributes attributes = inherited;
  for (const RawAttribute& raw : section.attributes) {
    AttributeReader(raw, out).read(attributes, inherited);
  }
  return attributes;
}

MatchOptions read_match_options(const RawSection& section, Diagnostics& out) {
  MatchOptions match;
  std::string_view rest = section.options;
  const bool allowed = section.kind == SectionKind::response || section.kind == SectionKind::error;
  if (!allowed && !rest.empty()) {
    out.error("inline_options", section.header.position(rest),
              fmt::format("{} takes no options", section.name),
              fmt::format("--- {} ---", section.name));
    return match;
  }
  while (!rest.empty()) {
    const std::size_t end = word_end(rest);
    match_option(rest.substr(0, end), section.header.position(rest), match, out);
    rest = trimmed(rest.substr(end));
  }
  return match;
}

}  // namespace onbeat::document
