// Regular expressions (RE2's syntax, in time linear in the text), with its header kept apart.
#pragma once

#include <expected>
#include <memory>
#include <string>
#include <string_view>

namespace re2 {
class RE2;
}

namespace onbeat::document {

/// Immutable; any thread may search with it.
class Regex {
 public:
  /// Flags: i (any case), m (^ and $ at line breaks), s (. matches line breaks), x (blanks and #
  /// comments do not count), U (lazy), u (nothing: texts are UTF-8 anyway). Or what is wrong.
  [[nodiscard]] static std::expected<Regex, std::string> compile(std::string_view pattern,
                                                                 std::string_view flags = {});
  /// Anywhere in the text.
  [[nodiscard]] bool found_in(std::string_view text) const;

 private:
  std::shared_ptr<const re2::RE2> compiled_;
};

}  // namespace onbeat::document
