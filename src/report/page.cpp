#include "report/page.hpp"

#include "report/escape.hpp"
#include "report/page_style.hpp"

#include <fmt/format.h>

namespace onbeat::report {
namespace {

std::string table_row(const Row& cells, const char* tag) {
  std::string out = "<tr>";
  for (const std::string& cell : cells) out += fmt::format("<{0}>{1}</{0}>", tag, for_html(cell));
  return out + "</tr>\n";
}

constexpr std::string_view kThemes = R"(<fieldset class="theme"><legend>Colours</legend>
<label><input type="radio" name="theme" id="auto" checked>auto</label>
<label><input type="radio" name="theme" id="light">light</label>
<label><input type="radio" name="theme" id="dark">dark</label>
</fieldset>
)";

}  // namespace

std::string to_html(const Table& table) {
  std::string columns;
  for (const unsigned column : table.text_columns) columns += fmt::format(" t{}", column);
  std::string out =
      fmt::format("<div class=\"scroll\" tabindex=\"0\"><table class=\"t1{}\">\n", columns);
  if (!table.head.empty()) out += "<thead>" + table_row(table.head, "th") + "</thead>\n";
  out += "<tbody>\n";
  for (const Row& row : table.rows) out += table_row(row, "td");
  return out + "</tbody></table></div>\n";
}

std::string details(std::string_view title, std::string_view body, bool open) {
  if (body.empty()) return {};
  return fmt::format("<details{}><summary>{}</summary>\n{}</details>\n", open ? " open" : "",
                     for_html(title), body);
}

std::string section(std::string_view title, std::string_view body) {
  if (body.empty()) return {};
  return fmt::format("<section>\n<h2>{}</h2>\n{}</section>\n", for_html(title), body);
}

std::string_view to_string(Tone tone) {
  switch (tone) {
    case Tone::good:
      return "good";
    case Tone::warning:
      return "warning";
    case Tone::bad:
      return "bad";
    case Tone::neutral:
      return "neutral";
  }
  return "neutral";
}

std::string cards(const std::vector<Card>& cards) {
  std::string out = "<div class=\"cards\">\n";
  for (const Card& card : cards) {
    out += fmt::format("<div class=\"card {}\"><h2>{}</h2><p class=\"answer\">{}</p>\n",
                       to_string(card.tone), for_html(card.question), for_html(card.answer));
    for (const std::string& remark : card.remarks)
      out += fmt::format("<p>{}</p>\n", for_html(remark));
    out += "</div>\n";
  }
  return out + "</div>\n";
}

std::string page(std::string_view title, std::string_view subtitle, std::string_view body) {
  // The policy makes sure of what escaping is for: nothing is loaded, nothing runs.
  return fmt::format(
      "<!DOCTYPE html>\n<html lang=\"en\">\n<head>\n<meta charset=\"utf-8\">\n"
      "<meta http-equiv=\"Content-Security-Policy\" content=\"default-src 'none'; style-src "
      "'unsafe-inline'\">\n"
      "<meta name=\"viewport\" content=\"width=device-width, initial-scale=1\">\n"
      "<title>{0} - Onbeat</title>\n<style>\n{1}</style>\n</head>\n<body>\n"
      "<header><div><h1>{0}</h1>\n<p>{2}</p></div>\n{3}</header>\n<main>\n{4}</main>\n</body>\n</"
      "html>\n",
      for_html(title), page_style(), for_html(subtitle), kThemes, body);
}

}  // namespace onbeat::report
