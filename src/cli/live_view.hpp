// The run as it goes, on stderr: a panel redrawn in place on a terminal, a line for each interval
// anywhere else, nothing with --quiet.
//
// The cursor is never hidden and rests below the panel, so that a run that is killed leaves the
// terminal as it should be. The size of the terminal is asked for at every drawing.
#pragma once

#include "cli/live_text.hpp"
#include "run/run.hpp"

#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace onbeat::cli {

struct LiveOptions {
  bool color = false;  // on a terminal; elsewhere there is never an escape code
  bool quiet = false;
  /// Where there is no terminal: how often a line is written.
  kernel::Duration every = std::chrono::seconds(1);
};

/// The bytes that replace one panel by the next on a terminal.
class Redraw {
 public:
  /// Erases what was drawn last and draws these lines.
  [[nodiscard]] std::string draw(const std::vector<std::string>& lines);
  /// Erases what was drawn last: the cursor is where the first drawing found it.
  [[nodiscard]] std::string erase();

 private:
  std::size_t drawn_ = 0;  // lines above the cursor that are ours
};

/// One thread. What cannot be written is lost: the view is not worth a run.
class LiveView final : public run::Observer {
 public:
  /// A terminal is one that `descriptor` is and TERM says more of than "dumb".
  explicit LiveView(LiveOptions options, int descriptor = 2);
  ~LiveView() override;
  LiveView(const LiveView&) = delete;
  LiveView& operator=(const LiveView&) = delete;

  void on_progress(const Progress& progress) override;
  void on_interval(const kernel::Interval& interval, const Progress& progress) override;
  /// Takes the panel off the terminal, before anything else is printed. Nothing is drawn after it.
  void finish();

 private:
  enum class Kind : std::uint8_t { none, lines, panel };

  void redraw();
  void tell();
  void write(std::string_view text);

  Kind kind_;
  bool color_;
  int descriptor_;
  kernel::Duration every_;
  kernel::Interval pending_;  // what no line has told yet
  LiveText text_;
  Redraw redraw_;
  std::optional<Stage> stage_;  // the last one that a line told of
  std::string step_;            // likewise
};

}  // namespace onbeat::cli
