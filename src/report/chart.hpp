// Line charts as inline SVG, without a script.
#pragma once

#include <optional>
#include <string>
#include <vector>

namespace onbeat::report {

struct ChartLine {
  std::string name;                           // in the legend
  std::string color;                          // CSS
  std::vector<std::optional<double>> values;  // a gap where there is none
};

struct Chart {
  std::string title, unit;
  std::vector<double> seconds;  // of each value
  std::vector<ChartLine> lines;
};

/// An <svg> element; the y axis starts at 0. Empty text when there are fewer than two instants.
[[nodiscard]] std::string to_svg(const Chart& chart);

}  // namespace onbeat::report
