#include "report/chart.hpp"

#include "report/escape.hpp"
#include "report/page.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>

namespace onbeat::report {
namespace {

// Lines are drawn in a square of this size that is stretched to the plot; text is not.
constexpr double kSquare = 1000;
// Labels of the x axis that are nearer to each other, in parts of it, are too many for a phone.
constexpr double kApartOnAPhone = 0.16;

std::string_view name_of(Hue hue) {
  static constexpr std::array<std::string_view, 8> kNames{"grey", "blue",   "green", "orange",
                                                          "red",  "purple", "teal",  "pink"};
  return kNames[static_cast<std::size_t>(hue)];
}

std::string percent(double part) {
  std::string text = fmt::format("{:.2f}", 100 * part);
  text.erase(text.find_last_not_of('0') + 1);
  if (text.ends_with('.')) text.pop_back();
  return text + "%";
}

std::string grid(const Chart& chart) {
  std::string out;
  for (const double tick : chart.y.ticks()) {
    const std::string y = percent(1 - chart.y.at(tick));
    out += fmt::format(
        "<line class=\"grid\" x1=\"0\" x2=\"100%\" y1=\"{0}\" y2=\"{0}\"/>"
        "<text x=\"-8\" y=\"{0}\" dy=\"4\" text-anchor=\"end\">{1}</text>\n",
        y, for_html(chart.y_text(tick)));
  }
  std::optional<double> kept;
  for (const double tick : chart.x.ticks()) {
    const double at = chart.x.at(tick);
    const bool crowds = kept && at - *kept < kApartOnAPhone;
    if (!crowds) kept = at;
    out +=
        fmt::format("<text x=\"{}\" y=\"100%\" dy=\"18\" text-anchor=\"middle\"{}>{}</text>\n",
                    percent(at), crowds ? " class=\"crowds\"" : "", for_html(chart.x_text(tick)));
  }
  return out;
}

std::string bands(const Chart& chart) {
  std::string out;
  for (const ChartBand& band : chart.bands) {
    const double from = chart.x.at(band.from), to = chart.x.at(band.to);
    if (to <= from) continue;
    out += fmt::format(
        "<rect class=\"band\" x=\"{}\" width=\"{}\" height=\"100%\"><title>{}</title></rect>\n",
        percent(from), percent(to - from), for_html(band.why));
  }
  for (const ChartMark& mark : chart.marks) {
    out += fmt::format(
        "<line class=\"mark\" x1=\"{0}\" x2=\"{0}\" y1=\"0\" "
        "y2=\"100%\"><title>{1}</title></line>\n",
        percent(chart.x.at(mark.at)), for_html(mark.what));
  }
  return out;
}

bool is_bound(const ChartLine& line, std::size_t i) {
  return i < line.at_least.size() && line.at_least[i];
}

// The parts of a line that are drawn alike, each one path.
struct Strokes {
  std::string values, bounds, dots;  // dots: values with gaps on both sides
};

Strokes strokes_of(const Chart& chart, const ChartLine& line) {
  Strokes strokes;
  const std::size_t count = std::min(line.values.size(), chart.places.size());
  const auto has = [&](std::size_t i) { return i < count && line.values[i].has_value(); };
  const auto point = [&](std::size_t i) {
    return fmt::format("{:.1f} {:.1f}", kSquare * chart.x.at(chart.places[i]),
                       kSquare * (1 - chart.y.at(*line.values[i])));
  };
  for (std::size_t i = 0; i < count; ++i) {
    if (!has(i)) continue;
    if (i != 0 && has(i - 1)) {
      // The way to a lower bound is drawn as one.
      const bool bound = is_bound(line, i);
      const bool goes_on = i > 1 && has(i - 2) && is_bound(line, i - 1) == bound;
      (bound ? strokes.bounds : strokes.values) +=
          (goes_on ? "" : "M" + point(i - 1)) + "L" + point(i);
    } else if (!has(i + 1)) {
      strokes.dots += "M" + point(i) + "h0";
    }
  }
  return strokes;
}

std::string paths(const Chart& chart, const ChartLine& line) {
  constexpr double kWide = 4;  // what lies below others shines through
  constexpr double kDot = 5;
  const Strokes strokes = strokes_of(chart, line);
  const auto path = [&](const std::string& points, std::string_view kind, double width) {
    if (points.empty()) return std::string();
    return fmt::format("<path class=\"{}{}{}\" stroke-width=\"{}\" d=\"{}\"/>\n", name_of(line.hue),
                       line.width > kWide ? " wide" : "", kind, width, points);
  };
  return path(strokes.values, "", line.width) + path(strokes.bounds, " bound", line.width) +
         path(strokes.dots, "", line.width + kDot);
}

std::string figure_text(const Chart& chart, const ChartLine& line, std::size_t i) {
  if (i >= line.values.size() || !line.values[i]) return {};
  return (is_bound(line, i) ? ">= " : "") + chart.y_text(*line.values[i]);
}

std::string place_text(const Chart& chart, std::size_t i) {
  return i < chart.place_texts.size() ? chart.place_texts[i] : chart.x_text(chart.places[i]);
}

// One column for each place, as wide as what is nearest to it, whose figures show under the
// pointer.
std::string readouts(const Chart& chart) {
  std::string out;
  for (std::size_t i = 0; i < chart.places.size(); ++i) {
    const double here = chart.x.at(chart.places[i]);
    const double from = i == 0 ? 0 : (chart.x.at(chart.places[i - 1]) + here) / 2;
    const double to =
        i + 1 == chart.places.size() ? 1 : (here + chart.x.at(chart.places[i + 1])) / 2;
    std::string text = place_text(chart, i) + ":";
    const bool named = chart.lines.size() > 1;
    for (const ChartLine& line : chart.lines) {
      const std::string figure = figure_text(chart, line, i);
      if (!figure.empty())
        text += fmt::format("  {}{}{}", named ? line.name : "", named ? " " : "", figure);
    }
    out += fmt::format(
        "<g class=\"point\"><rect x=\"{}\" width=\"{}\" height=\"100%\"/>"
        "<text y=\"-8\">{}</text></g>\n",
        percent(from), percent(std::max(to - from, 0.0)), for_html(text));
  }
  return out;
}

std::string legend(const Chart& chart) {
  if (chart.lines.size() < 2) return {};
  std::string out = "<p class=\"legend\">";
  for (const ChartLine& line : chart.lines)
    out += fmt::format("<span class=\"{}\">{}</span>", name_of(line.hue), for_html(line.name));
  return out + "</p>\n";
}

Table table_of(const Chart& chart) {
  Table table;
  table.head.push_back(chart.x_name);
  for (const ChartLine& line : chart.lines) table.head.push_back(line.name);
  for (std::size_t i = 0; i < chart.places.size(); ++i) {
    Row row{place_text(chart, i)};
    for (const ChartLine& line : chart.lines) row.push_back(figure_text(chart, line, i));
    table.rows.push_back(std::move(row));
  }
  return table;
}

std::string notes(const Chart& chart) {
  std::string out;
  if (!chart.note.empty()) out += fmt::format("<p class=\"note\">{}</p>\n", for_html(chart.note));
  if (!chart.names_marks) return out;
  for (const ChartMark& mark : chart.marks) {
    out += fmt::format("<p class=\"note\">{}: {}</p>\n", for_html(chart.x_text(mark.at)),
                       for_html(mark.what));
  }
  return out;
}

}  // namespace

std::optional<double> highest(const std::vector<ChartLine>& lines) {
  std::optional<double> top;
  for (const ChartLine& line : lines) {
    for (const auto& value : line.values)
      if (value) top = std::max(top.value_or(*value), *value);
  }
  return top;
}

std::optional<double> lowest(const std::vector<ChartLine>& lines) {
  std::optional<double> bottom;
  for (const ChartLine& line : lines) {
    for (const auto& value : line.values)
      if (value && *value > 0) bottom = std::min(bottom.value_or(*value), *value);
  }
  return bottom;
}

std::string to_html(const Chart& chart) {
  if (!highest(chart.lines)) return {};
  std::string out = fmt::format("<figure class=\"chart\"><figcaption><b>{}</b>{}</figcaption>\n",
                                for_html(chart.title), for_html(chart.unit));
  out += legend(chart);
  out += fmt::format("<svg class=\"plot\" role=\"img\" aria-label=\"{}\">\n",
                     for_html(chart.title + ", " + chart.unit));
  out += grid(chart) + bands(chart);
  out += fmt::format(
      "<svg width=\"100%\" height=\"100%\" viewBox=\"0 0 {0} {0}\" preserveAspectRatio=\"none\" "
      "overflow=\"visible\">\n",
      kSquare);
  for (const ChartLine& line : chart.lines) out += paths(chart, line);
  out += "</svg>\n" + readouts(chart) + "</svg>\n" + notes(chart);
  return out + details("as a table", to_html(table_of(chart))) + "</figure>\n";
}

}  // namespace onbeat::report
