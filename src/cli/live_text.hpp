// What the live view says of a run, as text: no I/O, no clock, no terminal.
#pragma once

#include "run/run.hpp"
#include <onbeat/kernel/histogram.hpp>
#include <onbeat/kernel/interval.hpp>

#include <string>
#include <string_view>
#include <vector>

namespace onbeat::cli {

using kernel::Duration;

[[nodiscard]] std::string_view to_string(run::Observer::Stage stage) noexcept;

class LiveText {
 public:
  using Progress = run::Observer::Progress;

  void progress(const Progress& progress);
  void interval(const kernel::Interval& interval);

  /// The last interval on one line, its failures included: "3s  1,000/s of 1,000/s  p50 5.2 ms
  /// ...". Empty when there is none, or when it is too short to say anything.
  [[nodiscard]] std::string line() const;

  /// The whole view: at most `height` lines of at most `width` characters, without line ends; as a
  /// table where it fits, else as words that flow. Colours, when asked for, come on top of the
  /// width. Empty when there is no room at all.
  [[nodiscard]] std::vector<std::string> panel(unsigned width, unsigned height, bool color) const;

 private:
  enum class Paint : std::uint8_t { none, bold, good, caution, bad };
  struct Piece {
    std::string text;
    Paint paint = Paint::none;
  };
  using Line = std::vector<Piece>;
  /// The figures of a stretch of time.
  struct Stretch {
    Duration start{}, end{};
    std::uint64_t planned = 0, started = 0, failed = 0;
    kernel::Histogram latency, lag;

    void add(const kernel::Interval& interval);
  };

  [[nodiscard]] Duration window(const Stretch& stretch) const;
  [[nodiscard]] Piece rate(const Stretch& stretch) const;
  [[nodiscard]] Line heading(unsigned width) const;
  [[nodiscard]] std::vector<Line> table(unsigned width) const;
  [[nodiscard]] Line row(std::string_view name, const Stretch& stretch) const;
  [[nodiscard]] std::vector<Line> flow(unsigned width) const;
  [[nodiscard]] std::vector<Piece> words() const;
  [[nodiscard]] std::vector<Piece> state() const;
  static Piece failures(std::uint64_t failed);
  static std::string paint(const Line& line, unsigned width, bool color);

  Progress progress_;
  Duration issue_ = kernel::kNoTime;  // the issue window, once it is known
  bool open_ = false;
  bool any_ = false;  // an interval has come
  Stretch now_, so_far_;
  std::uint64_t in_flight_ = 0;
  double cpu_cores_ = 0;
};

}  // namespace onbeat::cli
