#include "report/chart.hpp"

#include "options/format.hpp"
#include "report/escape.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

namespace onbeat::report {
namespace {

constexpr double kWidth = 760, kHeight = 200;
constexpr double kLeft = 70, kRight = 10, kTop = 26, kBottom = 24;

// The next of 1, 2, 5 times a power of ten.
double rounded_up(double value) {
  if (value <= 0) return 1;
  const double power = std::pow(10, std::floor(std::log10(value)));
  for (const double step : {1.0, 2.0, 5.0}) {
    if (value <= step * power * (1 + 1e-9)) return step * power;
  }
  return 10 * power;
}

struct Scale {
  double from, to, top;

  [[nodiscard]] double x(double seconds) const {
    return kLeft + (seconds - from) / (to - from) * (kWidth - kLeft - kRight);
  }
  [[nodiscard]] double y(double value) const {
    return kHeight - kBottom - value / top * (kHeight - kTop - kBottom);
  }
};

double highest(const Chart& chart) {
  double top = 0;
  for (const ChartLine& line : chart.lines) {
    for (const auto& value : line.values) top = std::max(top, value.value_or(0));
  }
  return rounded_up(top);
}

std::string label(double x, double y, const char* anchor, const std::string& text) {
  return fmt::format("<text x=\"{:.1f}\" y=\"{:.1f}\" text-anchor=\"{}\">{}</text>", x, y, anchor,
                     for_html(text));
}

std::string axes(const Chart& chart, const Scale& scale) {
  std::string out = label(kLeft, 16, "start", fmt::format("{} ({})", chart.title, chart.unit));
  for (const double part : {0.0, 0.5, 1.0}) {
    const double value = part * scale.top;
    out += fmt::format("<line x1=\"{}\" x2=\"{}\" y1=\"{:.1f}\" y2=\"{:.1f}\" class=\"grid\"/>",
                       kLeft, kWidth - kRight, scale.y(value), scale.y(value));
    out += label(kLeft - 6, scale.y(value) + 4, "end", options::number_text(value));
  }
  out += label(scale.x(scale.from), kHeight - 6, "start", options::number_text(scale.from) + " s");
  out += label(scale.x(scale.to), kHeight - 6, "end", options::number_text(scale.to) + " s");
  return out;
}

std::string path(const ChartLine& line, const Chart& chart, const Scale& scale) {
  std::string points;
  bool pen_down = false;
  for (std::size_t i = 0; i < std::min(line.values.size(), chart.seconds.size()); ++i) {
    if (line.values[i]) {
      points += fmt::format("{}{:.1f} {:.1f}", pen_down ? "L" : "M", scale.x(chart.seconds[i]),
                            scale.y(*line.values[i]));
    }
    pen_down = line.values[i].has_value();
  }
  return fmt::format("<path d=\"{}\" fill=\"none\" stroke=\"{}\" stroke-width=\"1.5\"/>", points,
                     for_html(line.color));
}

std::string legend(const Chart& chart) {
  std::string out;
  double x = kWidth - kRight;
  for (auto line = chart.lines.rbegin(); line != chart.lines.rend(); ++line) {
    out +=
        fmt::format("<text x=\"{:.1f}\" y=\"16\" text-anchor=\"end\" style=\"fill:{}\">{}</text>",
                    x, for_html(line->color), for_html(line->name));
    x -= 12 + 8 * static_cast<double>(width_of(line->name));
  }
  return out;
}

}  // namespace

std::string to_svg(const Chart& chart) {
  if (chart.seconds.size() < 2 || chart.seconds.back() <= chart.seconds.front()) return {};
  const Scale scale{chart.seconds.front(), chart.seconds.back(), highest(chart)};
  std::string out = fmt::format("<svg viewBox=\"0 0 {} {}\" role=\"img\">", kWidth, kHeight);
  out += axes(chart, scale) + legend(chart);
  for (const ChartLine& line : chart.lines) out += path(line, chart, scale);
  return out + "</svg>\n";
}

}  // namespace onbeat::report
