#include "document/compare.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <utility>
#include <vector>

namespace onbeat::document {
namespace {

constexpr std::string_view kAnything = "*";

/// Where the walk is, from the inside out; lives on the stack, so that a path costs nothing until
/// it is shown.
struct Trail {
  const Trail* outer = nullptr;
  std::string_view key;     // of a member
  std::int64_t index = -1;  // of an item
};

std::string path_of(const Trail* step) {
  std::string path;
  for (; step != nullptr && step->outer != nullptr; step = step->outer) {
    if (step->index >= 0) {
      path.insert(0, fmt::format("[{}]", step->index));
      continue;
    }
    const bool plain = !step->key.empty() && !(step->key[0] >= '0' && step->key[0] <= '9') &&
                       std::ranges::all_of(step->key, [](char c) {
                         return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') ||
                                (c >= '0' && c <= '9') || c == '_';
                       });
    if (plain) {
      path.insert(0, fmt::format(".{}", step->key));
    } else {
      std::string quoted;
      append_json_text(step->key, quoted);
      path.insert(0, fmt::format("[{}]", quoted));
    }
  }
  return path.starts_with('.') ? path : "." + path;
}

/// A value for a message, shortened.
std::string shown(const JsonView& value) {
  constexpr std::size_t kLongest = 120;
  if (!value) return "nothing";
  std::string text;
  append_json(value, text);
  if (text.size() <= kLongest) return text;
  std::size_t end = kLongest;
  while (end > 0 && (static_cast<unsigned char>(text[end]) & 0xc0) == 0x80) --end;
  return text.substr(0, end) + "...";
}

bool is_default(const JsonView& value) {
  switch (value.kind()) {
    case JsonKind::null:
      return true;
    case JsonKind::boolean:
      return !value.boolean();
    case JsonKind::text:
      return value.text().empty();
    case JsonKind::array:
    case JsonKind::object:
      return value.size() == 0;
    default:
      return value.real() == 0;
  }
}

/// snake_case and camelCase spell one key.
bool same_spelling(std::string_view a, std::string_view b) {
  std::size_t i = 0;
  std::size_t j = 0;
  const auto lower = [](char c) { return c >= 'A' && c <= 'Z' ? static_cast<char>(c + 32) : c; };
  while (true) {
    while (i < a.size() && a[i] == '_') ++i;
    while (j < b.size() && b[j] == '_') ++j;
    if (i == a.size() || j == b.size()) return i == a.size() && j == b.size();
    if (lower(a[i++]) != lower(b[j++])) return false;
  }
}

class Comparison {
 public:
  Comparison(const MatchOptions& options, bool any_spelling) noexcept
      : options_(options), any_spelling_(any_spelling) {}

  bool equal(const JsonView& expected, const JsonView& actual, const Trail& at) {
    if (expected.is(JsonKind::text) && expected.text() == kAnything) return true;
    if (expected.is_number() && actual.is_number()) {
      return numbers_match(expected, actual) || differ(expected, actual, at);
    }
    if (expected.kind() != actual.kind()) return differ(expected, actual, at);
    switch (expected.kind()) {
      case JsonKind::null:
        return true;
      case JsonKind::boolean:
        return expected.boolean() == actual.boolean() || differ(expected, actual, at);
      case JsonKind::text:
        return expected.text() == actual.text() || differ(expected, actual, at);
      case JsonKind::object:
        return objects(expected, actual, at);
      case JsonKind::array:
        return options_.unordered_arrays ? unordered(expected, actual, at)
                                         : arrays(expected, actual, at);
      default:
        return false;
    }
  }

  /// Differences are not described within, for they are only tries.
  void set_silent(bool silent) noexcept { silent_ = silent; }
  [[nodiscard]] Difference& difference() noexcept { return difference_; }

 private:
  bool numbers_match(const JsonView& expected, const JsonView& actual) const {
    if (options_.tolerance) {
      const bool whole = expected.is(JsonKind::integer) && actual.is(JsonKind::integer);
      const long double gap = whole
                                  ? static_cast<long double>(expected.integer()) - actual.integer()
                                  : static_cast<long double>(expected.real()) - actual.real();
      return std::fabs(gap) <= *options_.tolerance;
    }
    if (!expected.is(JsonKind::real) && !actual.is(JsonKind::real)) {
      return compare_numbers(expected, actual) == 0;
    }
    constexpr double kRelative = 1e-9;
    const double a = expected.real();
    const double b = actual.real();
    if (a == b || (std::isnan(a) && std::isnan(b))) return true;
    return std::fabs(a - b) <= kRelative * std::max(std::fabs(a), std::fabs(b)) &&
           std::isfinite(a) && std::isfinite(b);
  }

  bool fail(std::string (*describe)(const JsonView&, const JsonView&), const JsonView& expected,
            const JsonView& actual, const Trail& at) {
    if (!silent_) difference_ = {path_of(&at), describe(expected, actual)};
    return false;
  }
  bool differ(const JsonView& expected, const JsonView& actual, const Trail& at) {
    return fail(
        [](const JsonView& e, const JsonView& a) {
          return fmt::format("expected {}, got {}", shown(e), shown(a));
        },
        expected, actual, at);
  }

  [[nodiscard]] bool redacted(std::string_view key) const {
    return !options_.redact.empty() &&
           std::ranges::find(options_.redact, key) != options_.redact.end();
  }
  [[nodiscard]] bool same_key(std::string_view a, std::string_view b) const {
    return a == b || (any_spelling_ && same_spelling(a, b));
  }
  /// Looks first where the last one was found: members mostly come in one order.
  [[nodiscard]] JsonView find_member(const JsonView& object, std::string_view key,
                                     JsonView& next) const {
    if (next && same_key(next.key(), key)) {
      const JsonView found = next;
      next = object.after(next);
      return redacted(key) ? JsonView() : found;
    }
    for (JsonView member = object.first(); member; member = object.after(member)) {
      if (!same_key(member.key(), key)) continue;
      next = object.after(member);
      return redacted(member.key()) ? JsonView() : member;
    }
    return {};
  }

  bool objects(const JsonView& expected, const JsonView& actual, const Trail& at) {
    JsonView next = actual.first();
    std::uint32_t found = 0;
    for (JsonView wanted = expected.first(); wanted; wanted = expected.after(wanted)) {
      const Trail here{&at, wanted.key()};
      const JsonView member = find_member(actual, wanted.key(), next);
      if (!member) {
        if (is_default(wanted)) continue;
        return differ(wanted, member, here);
      }
      ++found;
      if (!equal(wanted, member, here)) return false;
    }
    if (options_.partial || found == actual.size()) return true;
    return no_surplus(expected, actual, at);
  }

  bool no_surplus(const JsonView& expected, const JsonView& actual, const Trail& at) {
    JsonView next = expected.first();
    for (JsonView member = actual.first(); member; member = actual.after(member)) {
      if (redacted(member.key())) continue;
      JsonView wanted;
      if (next && same_key(next.key(), member.key())) {
        wanted = next;
      } else {
        for (JsonView other = expected.first(); other && !wanted; other = expected.after(other)) {
          if (same_key(other.key(), member.key())) wanted = other;
        }
      }
      if (wanted) {
        next = expected.after(wanted);
        continue;
      }
      return fail(
          [](const JsonView&, const JsonView& surplus) {
            return fmt::format("not expected: {}", shown(surplus));
          },
          {}, member, {&at, member.key()});
    }
    return true;
  }

  bool wrong_size(const JsonView& expected, const JsonView& actual, const Trail& at) {
    return fail(
        [](const JsonView& e, const JsonView& a) {
          return fmt::format("expected {} items, got {}", e.size(), a.size());
        },
        expected, actual, at);
  }

  bool arrays(const JsonView& expected, const JsonView& actual, const Trail& at) {
    const bool fits =
        options_.partial ? expected.size() <= actual.size() : expected.size() == actual.size();
    if (!fits) return wrong_size(expected, actual, at);
    JsonView item = actual.first();
    std::int64_t index = 0;
    for (JsonView wanted = expected.first(); wanted; wanted = expected.after(wanted)) {
      if (!equal(wanted, item, {&at, {}, index++})) return false;
      item = actual.after(item);
    }
    return true;
  }

  bool unordered(const JsonView& expected, const JsonView& actual, const Trail& at) {
    const bool fits =
        options_.partial ? expected.size() <= actual.size() : expected.size() == actual.size();
    if (!fits) return wrong_size(expected, actual, at);
    std::vector<bool> used(actual.size());
    std::int64_t index = 0;
    for (JsonView wanted = expected.first(); wanted; wanted = expected.after(wanted)) {
      const Trail here{&at, {}, index++};
      if (take_partner(wanted, actual, used, true, here)) continue;
      if (take_partner(wanted, actual, used, false, here)) continue;
      return fail([](const JsonView& e,
                     const JsonView&) { return fmt::format("no item matches {}", shown(e)); },
                  wanted, {}, here);
    }
    return true;
  }

  /// `exactly`: not by a wildcard, a tolerance or a part.
  bool take_partner(const JsonView& wanted, const JsonView& actual, std::vector<bool>& used,
                    bool exactly, const Trail& here) {
    static const MatchOptions kExact;
    std::uint32_t index = 0;
    for (JsonView item = actual.first(); item; item = actual.after(item), ++index) {
      if (used[index]) continue;
      bool found = false;
      if (exactly) {
        const bool wildcard = wanted.is(JsonKind::text) && wanted.text() == kAnything;
        Comparison exact(kExact, any_spelling_);
        exact.set_silent(true);
        found = wildcard ? item.is(JsonKind::text) && item.text() == kAnything
                         : exact.equal(wanted, item, here);
      } else {
        const bool before = std::exchange(silent_, true);
        found = equal(wanted, item, here);
        silent_ = before;
      }
      if (found) {
        used[index] = true;
        return true;
      }
    }
    return false;
  }

  const MatchOptions& options_;
  bool any_spelling_;
  bool silent_ = false;
  Difference difference_;
};

constexpr std::array<std::string_view, 17> kCodes{
    "OK",        "CANCELLED",      "UNKNOWN",           "INVALID_ARGUMENT",   "DEADLINE_EXCEEDED",
    "NOT_FOUND", "ALREADY_EXISTS", "PERMISSION_DENIED", "RESOURCE_EXHAUSTED", "FAILED_PRECONDITION",
    "ABORTED",   "OUT_OF_RANGE",   "UNIMPLEMENTED",     "INTERNAL",           "UNAVAILABLE",
    "DATA_LOSS", "UNAUTHENTICATED"};

bool codes_match(const JsonView& expected, const JsonView& actual) {
  if (!expected.is(JsonKind::text)) return compare_numbers(expected, actual) == 0;
  if (expected.text() == kAnything) return true;
  const std::int64_t code = actual.integer();
  return code >= 0 && code < static_cast<std::int64_t>(kCodes.size()) &&
         same_spelling(expected.text(), kCodes[static_cast<std::size_t>(code)]);
}

class ErrorComparison {
 public:
  ErrorComparison(const JsonView& expected, const JsonView& actual, const MatchOptions& options)
      : expected_(expected), actual_(actual), partial_(options.partial) {
    details_.partial = partial_;
    details_.unordered_arrays = partial_;
  }

  std::optional<Difference> run() {
    if (expected_.is(JsonKind::text)) return message(expected_);
    if (!expected_.is(JsonKind::object)) {
      return Difference{".", "an expected error is an object or a text"};
    }
    const JsonView code = expected_.find("code");
    if (code && !codes_match(code, actual_.find("code"))) {
      return differ(".code", code, actual_.find("code"));
    }
    if (!code && !partial_) return Difference{".code", "the code must be expected"};
    if (const auto difference = expected_message()) return difference;
    return details();
  }

 private:
  static Difference differ(std::string path, const JsonView& expected, const JsonView& actual) {
    return {std::move(path), fmt::format("expected {}, got {}", shown(expected), shown(actual))};
  }
  std::optional<Difference> message(const JsonView& wanted) const {
    const std::string_view text = actual_.find("message").text();
    if (wanted.text() == text || wanted.text() == kAnything) return std::nullopt;
    return differ(".message", wanted, actual_.find("message"));
  }
  std::optional<Difference> expected_message() const {
    const JsonView wanted = expected_.find("message");
    if (wanted) return message(wanted);
    if (partial_ || actual_.find("message").text().empty()) return std::nullopt;
    return differ(".message", {}, actual_.find("message"));
  }
  std::optional<Difference> details() const {
    const JsonView wanted = expected_.find("details");
    const JsonView sent = actual_.find("details");
    if (!wanted) {
      if (partial_ || sent.size() == 0) return std::nullopt;
      return differ(".details", {}, sent);
    }
    if (!sent) {
      if (wanted.size() == 0) return std::nullopt;
      return differ(".details", wanted, sent);
    }
    Comparison comparison(details_, true);
    const Trail root;
    if (comparison.equal(wanted, sent, {&root, "details"})) return std::nullopt;
    return std::move(comparison.difference());
  }

  const JsonView& expected_;
  const JsonView& actual_;
  bool partial_;
  MatchOptions details_;
};

}  // namespace

std::string to_string(const Difference& difference) {
  return fmt::format("at {}: {}", difference.path, difference.message);
}

std::optional<Difference> find_difference(const JsonView& expected, const JsonView& actual,
                                          const MatchOptions& options) {
  const Trail root;
  Comparison comparison(options, false);
  if (comparison.equal(expected, actual, root)) return std::nullopt;
  return std::move(comparison.difference());
}

std::optional<Difference> find_error_difference(const JsonView& expected, const JsonView& actual,
                                                const MatchOptions& options) {
  return ErrorComparison(expected, actual, options).run();
}

}  // namespace onbeat::document
