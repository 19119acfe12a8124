// A page of HTML for people: one file that needs no network and runs no script, light and dark,
// from a phone's width to a wide screen. Text from outside is escaped here.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace onbeat::report {

/// Cells of a table, as plain text.
using Row = std::vector<std::string>;

struct Table {
  Row head;  // may be empty
  std::vector<Row> rows;
  std::vector<unsigned> text_columns = {};  // from 2 on (to 5): aligned to the left as the first is
};

/// Scrolls sideways in itself where the page is narrower.
[[nodiscard]] std::string to_html(const Table& table);
/// What can be folded away. `title` is plain text, `body` HTML; nothing when `body` is empty.
[[nodiscard]] std::string details(std::string_view title, std::string_view body, bool open = false);
/// A section with a heading; nothing when `body` is empty.
[[nodiscard]] std::string section(std::string_view title, std::string_view body);

enum class Tone : std::uint8_t { neutral, good, warning, bad };
/// The class that gives a tone its colour.
[[nodiscard]] std::string_view to_string(Tone tone);

/// A question with its answer: what stands at the top of a page.
struct Card {
  std::string question, answer;
  Tone tone = Tone::neutral;
  std::vector<std::string> remarks = {};
};
[[nodiscard]] std::string cards(const std::vector<Card>& cards);

/// The whole document. `title` and `subtitle` are plain text.
[[nodiscard]] std::string page(std::string_view title, std::string_view subtitle,
                               std::string_view body);

}  // namespace onbeat::report
