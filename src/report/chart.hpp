// Line charts as inline SVG without a script: they take the width that there is, their text keeps
// its size, and what stands under the pointer is written above the lines. Each has its figures as a
// table below.
#pragma once

#include "report/axis.hpp"

#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace onbeat::report {

enum class Hue : std::uint8_t { grey, blue, green, orange, red, purple, teal, pink };

struct ChartLine {
  std::string name;  // in the legend
  Hue hue = Hue::blue;
  std::vector<std::optional<double>> values;  // a gap where there is none
  std::vector<bool> at_least = {};            // which are lower bounds; empty: none
  double width = 2;                           // in pixels
};

/// A part of the x axis that is set apart.
struct ChartBand {
  double from = 0, to = 0;
  std::string why;
};

/// Something that happened at a place of the x axis.
struct ChartMark {
  double at = 0;
  std::string what;
};

struct Chart {
  std::string title, unit;
  std::string note = {};  // a sentence below
  std::string x_name;     // heads the first column of the table
  Axis x, y;
  std::function<std::string(double)> x_text, y_text;  // ticks and figures
  std::vector<double> places;                         // of each value on the x axis, rising
  std::vector<std::string> place_texts = {};          // what each is called; empty: by x_text
  std::vector<ChartLine> lines;
  std::vector<ChartBand> bands = {};
  std::vector<ChartMark> marks = {};
  bool names_marks = false;  // below the chart; always under the pointer
};

/// The highest value of all lines; the lowest above 0. Nothing when there is none.
[[nodiscard]] std::optional<double> highest(const std::vector<ChartLine>& lines);
[[nodiscard]] std::optional<double> lowest(const std::vector<ChartLine>& lines);

/// A <figure>: the chart and its table. Empty text when no line has a value.
[[nodiscard]] std::string to_html(const Chart& chart);

}  // namespace onbeat::report
