// A comparison as text for a terminal, JSON (schema onbeat.compare/1), Markdown for a CI summary,
// and a page of HTML.
#pragma once

#include "compare/comparison.hpp"

#include <array>
#include <string>
#include <string_view>

namespace onbeat::compare {

/// What --out FORMAT=FILE knows.
inline constexpr std::array<std::string_view, 4> kFormats{"text", "json", "html", "markdown"};

struct TextStyle {
  bool color = false;
  std::size_t width = 80;  // at least 80
};

[[nodiscard]] std::string to_text(const Comparison& comparison, const TextStyle& style = {});
[[nodiscard]] std::string to_json(const Comparison& comparison);
[[nodiscard]] std::string to_html(const Comparison& comparison);
[[nodiscard]] std::string to_markdown(const Comparison& comparison);
/// One of kFormats. Throws std::invalid_argument for another.
[[nodiscard]] std::string render(const Comparison& comparison, std::string_view format);

}  // namespace onbeat::compare
