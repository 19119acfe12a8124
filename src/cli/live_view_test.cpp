#include "cli/live_view.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <pty.h>
#include <sys/ioctl.h>
#include <unistd.h>

#include <cstdlib>
#include <optional>
#include <string>
#include <utility>
#include <vector>

namespace onbeat::cli {
namespace {

using kernel::Interval;
using Stage = run::Observer::Stage;
using std::chrono::microseconds;
using std::chrono::milliseconds;
using std::chrono::seconds;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::Not;
using testing::StartsWith;

/// As much of a terminal as the view needs: text, line ends, cursor up, erase to the end of the
/// screen, colours. Anything else fails.
class Screen {
 public:
  void feed(std::string_view bytes) {
    while (!bytes.empty()) bytes.remove_prefix(take(bytes));
  }
  /// Without the empty rows below.
  [[nodiscard]] std::vector<std::string> rows() const {
    std::vector<std::string> rows = rows_;
    while (!rows.empty() && rows.back().empty()) rows.pop_back();
    return rows;
  }
  [[nodiscard]] std::size_t row() const { return row_; }

 private:
  std::size_t take(std::string_view bytes) {
    switch (bytes[0]) {
      case '\r':
        column_ = 0;
        return 1;
      case '\n':
        ++row_;
        column_ = 0;
        if (row_ == rows_.size()) rows_.emplace_back();
        return 1;
      case '\x1b':
        return escape(bytes);
      default:
        rows_[row_].resize(std::max(rows_[row_].size(), column_ + 1), ' ');
        rows_[row_][column_++] = bytes[0];
        return 1;
    }
  }
  std::size_t escape(std::string_view bytes) {
    const std::size_t end = bytes.find_first_of("AJm");
    if (!bytes.starts_with("\x1b[") || end == std::string_view::npos) {
      ADD_FAILURE() << "unknown sequence";
      return bytes.size();
    }
    if (bytes[end] == 'A') {
      const auto up = static_cast<std::size_t>(std::stoul(std::string(bytes.substr(2, end - 2))));
      EXPECT_LE(up, row_) << "above the screen";
      row_ -= std::min(up, row_);
    } else if (bytes[end] == 'J') {
      rows_.resize(row_ + 1);
      rows_[row_].resize(column_);
    }
    return end + 1;
  }

  std::vector<std::string> rows_{""};
  std::size_t row_ = 0, column_ = 0;
};

Interval second(int k) {
  Interval interval;
  interval.start = seconds(k - 1);
  interval.end = seconds(k);
  interval.counts.planned = interval.counts.started = 1000;
  interval.response.record(microseconds(5200), 1000);
  interval.lag.record(microseconds(60), 1000);
  return interval;
}

run::Observer::Progress progress(Stage stage, Duration elapsed) {
  return {.stage = stage, .elapsed = elapsed, .length = seconds(10), .planned_rate = 1000};
}

TEST(Redraw, EachDrawingTakesThePlaceOfTheLast) {
  Screen screen;
  screen.feed("$ onbeat http\nwarning: one\n");
  Redraw redraw;
  screen.feed(redraw.draw({"connecting"}));
  EXPECT_THAT(screen.rows(), ElementsAre("$ onbeat http", "warning: one", "connecting"));
  screen.feed(redraw.draw({"measuring", "long second line", "third"}));
  EXPECT_THAT(screen.rows(), ElementsAre("$ onbeat http", "warning: one", "measuring",
                                         "long second line", "third"));
  screen.feed(redraw.draw({"draining", "short"}));
  EXPECT_THAT(screen.rows(), ElementsAre("$ onbeat http", "warning: one", "draining", "short"));
  EXPECT_EQ(screen.row(), 4U) << "the cursor rests below";
  screen.feed("^C");  // as the terminal echoes it
  screen.feed(redraw.draw({"draining"}));
  EXPECT_THAT(screen.rows(), ElementsAre("$ onbeat http", "warning: one", "draining"));
  screen.feed(redraw.erase());
  EXPECT_THAT(screen.rows(), ElementsAre("$ onbeat http", "warning: one"));
  EXPECT_EQ(screen.row(), 2U);
  EXPECT_EQ(redraw.erase(), "") << "nothing is left to erase";
}

TEST(Redraw, AnEmptyPanelMovesNothing) {
  Redraw redraw;
  EXPECT_EQ(redraw.draw({}), "");
  EXPECT_EQ(redraw.draw({"a"}), "a\n");
  EXPECT_EQ(redraw.draw({}), "\r\x1b[1A\x1b[J");
  EXPECT_EQ(redraw.draw({}), "");
}

/// A pair of descriptors: what is written to `end` comes out of read().
class Channel {
 public:
  virtual ~Channel() {
    if (end >= 0) ::close(end);
    ::close(other_);
  }
  /// All that was written: a terminal passes it on in its own time, so up to a mark behind it.
  std::string read() {
    constexpr char mark = '\a';
    EXPECT_EQ(::write(end, &mark, 1), 1);
    std::string text;
    for (char byte = 0; ::read(other_, &byte, 1) == 1 && byte != mark;) text += byte;
    return text;
  }
  int end = -1;

 protected:
  void open(int writing, int reading) {
    end = writing;
    other_ = reading;
  }

 private:
  int other_ = -1;
};
class Pipe : public Channel {
 public:
  Pipe() {
    int ends[2];
    EXPECT_EQ(pipe(ends), 0);
    open(ends[1], ends[0]);
  }
};
class Pty : public Channel {
 public:
  Pty() {
    int master = -1;
    int slave = -1;
    const winsize size{24, 80, 0, 0};
    EXPECT_EQ(openpty(&master, &slave, nullptr, nullptr, &size), 0);
    open(slave, master);
  }
  void resize(unsigned short columns, unsigned short rows) const {
    const winsize size{rows, columns, 0, 0};
    EXPECT_EQ(ioctl(end, TIOCSWINSZ, &size), 0);
  }
};

class LiveViewTest : public testing::Test {
 protected:
  LiveViewTest() {
    if (const char* terminal = std::getenv("TERM")) before_ = terminal;
    setenv("TERM", "xterm", 1);
  }
  ~LiveViewTest() override {
    if (before_) {
      setenv("TERM", before_->c_str(), 1);
    } else {
      unsetenv("TERM");
    }
  }

  static void show_a_run(LiveView& view) {
    view.on_progress(progress(Stage::connecting, {}));
    view.on_progress(progress(Stage::measuring, {}));
    for (int k = 1; k <= 2; ++k) {
      view.on_interval(second(k), progress(Stage::measuring, seconds(k)));
      view.on_progress(progress(Stage::measuring, seconds(k)));
    }
    view.on_progress(progress(Stage::draining, {}));
  }

  static constexpr std::string_view kLines =
      "connecting\n"
      "1s  1,000/s of 1,000/s  p50 5.2 ms p99 5.2 ms  failed 0  in flight 0  lag p99 60 us  "
      "cpu 0.00 cores\n"
      "2s  1,000/s of 1,000/s  p50 5.2 ms p99 5.2 ms  failed 0  in flight 0  lag p99 60 us  "
      "cpu 0.00 cores\n"
      "draining\n";

 private:
  std::optional<std::string> before_;
};

TEST_F(LiveViewTest, WhatIsNoTerminalGetsLinesWithoutEscapeCodes) {
  Pipe pipe;
  LiveView view({.color = true}, pipe.end);
  show_a_run(view);
  view.finish();
  EXPECT_EQ(pipe.read(), kLines);
}

TEST_F(LiveViewTest, ADumbTerminalGetsLinesToo) {
  for (const char* terminal : {"dumb", ""}) {
    setenv("TERM", terminal, 1);
    Pty pty;
    LiveView view({.color = true}, pty.end);
    show_a_run(view);
    view.finish();
    EXPECT_THAT(pty.read(),
                testing::AllOf(StartsWith("connecting\r\n1s  1,000/s"), Not(HasSubstr("\x1b"))));
  }
}

TEST_F(LiveViewTest, ATerminalWithoutAWidthGetsLinesToo) {
  Pty pty;
  pty.resize(0, 0);
  LiveView view({.color = true}, pty.end);
  show_a_run(view);
  view.finish();
  EXPECT_THAT(pty.read(),
              testing::AllOf(StartsWith("connecting\r\n1s  1,000/s"), Not(HasSubstr("\x1b"))));
}

TEST_F(LiveViewTest, QuietSaysNothing) {
  Pipe pipe;
  Pty pty;
  for (const int descriptor : {pipe.end, pty.end}) {
    LiveView view({.color = true, .quiet = true}, descriptor);
    show_a_run(view);
  }
  EXPECT_EQ(pipe.read() + pty.read(), "");
}

TEST_F(LiveViewTest, ATerminalGetsAPanelThatIsGoneInTheEnd) {
  Pty pty;
  pty.resize(100, 30);
  Screen screen;
  screen.feed("$ onbeat http\n");
  {
    LiveView view({}, pty.end);
    show_a_run(view);
    const std::string bytes = pty.read();
    EXPECT_THAT(bytes, Not(HasSubstr("m\x1b"))) << "no colours unless asked for";
    screen.feed(bytes);
    EXPECT_THAT(screen.rows(),
                ElementsAre("$ onbeat http", HasSubstr("draining"), HasSubstr("rate"),
                            HasSubstr("1,000/s of 1,000/s"), HasSubstr("1,000/s of 1,000/s"),
                            HasSubstr("in flight 0")));
  }  // the destructor finishes
  screen.feed(pty.read());
  EXPECT_THAT(screen.rows(), ElementsAre("$ onbeat http"));
}

TEST_F(LiveViewTest, TheSizeIsThatOfTheMoment) {
  Pty pty;
  LiveView view({}, pty.end);
  Screen screen;
  for (const auto& [columns, rows] : std::vector<std::pair<unsigned short, unsigned short>>{
           {100, 30}, {20, 30}, {1, 1}, {100, 3}, {2, 2}, {0, 0}, {100, 30}}) {
    pty.resize(columns, rows);
    show_a_run(view);
    screen.feed(pty.read());
    for (const std::string& row : screen.rows())
      EXPECT_LT(row.size(), columns == 0 ? 80U : columns) << row;
    EXPECT_LT(screen.rows().size(), rows == 0 ? 24U : rows);
  }
  view.finish();
  screen.feed(pty.read());
  EXPECT_THAT(screen.rows(), testing::IsEmpty());
}

TEST_F(LiveViewTest, NothingIsDrawnAfterTheEnd) {
  Pty pty;
  LiveView view({}, pty.end);
  show_a_run(view);
  view.finish();
  static_cast<void>(pty.read());
  show_a_run(view);
  view.finish();
  EXPECT_EQ(pty.read(), "");
}

TEST_F(LiveViewTest, ATerminalThatIsGoneDoesNotHinderTheRun) {
  Pipe pipe;
  ::close(std::exchange(pipe.end, -1));
  LiveView view({}, 1'000'000);  // no such descriptor
  show_a_run(view);
  view.finish();
}

}  // namespace
}  // namespace onbeat::cli
