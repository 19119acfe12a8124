#include "cli/live_view.hpp"

#include "report/output.hpp"

#include <fmt/format.h>
#include <sys/ioctl.h>
#include <unistd.h>

#include <cstdlib>
#include <string_view>
#include <utility>

namespace onbeat::cli {
namespace {

constexpr unsigned kStandardWidth = 80;
constexpr unsigned kStandardHeight = 24;
/// An interval may be a little shorter than a second.
constexpr kernel::Duration kTolerance = std::chrono::milliseconds(100);

bool can_redraw(int descriptor) {
  const char* terminal = std::getenv("TERM");
  winsize size{};  // no columns: nobody looks at it
  return isatty(descriptor) == 1 && ioctl(descriptor, TIOCGWINSZ, &size) == 0 && size.ws_col != 0 &&
         terminal != nullptr && *terminal != '\0' && std::string_view(terminal) != "dumb";
}

}  // namespace

// Every line is ended, so that the cursor stands at the start of the line below the panel. A
// terminal that was made narrower may have broken the old lines into more rows; going up by the
// number of lines then leaves a remnant of the old panel, but never erases what is not ours.
std::string Redraw::draw(const std::vector<std::string>& lines) {
  std::string bytes = erase();
  for (const std::string& line : lines) bytes += line + "\n";
  drawn_ = lines.size();
  return bytes;
}

std::string Redraw::erase() {
  if (drawn_ == 0) return {};
  std::string bytes = fmt::format("\r\x1b[{}A\x1b[J", drawn_);
  drawn_ = 0;
  return bytes;
}

LiveView::LiveView(LiveOptions options, int descriptor)
    : kind_(options.quiet            ? Kind::none
            : can_redraw(descriptor) ? Kind::panel
                                     : Kind::lines),
      color_(options.color),
      descriptor_(descriptor),
      every_(options.every) {}

LiveView::~LiveView() { finish(); }

void LiveView::on_progress(const Progress& progress) {
  if (kind_ == Kind::none) return;
  text_.progress(progress);
  if (kind_ == Kind::panel) return redraw();
  if (step_ != progress.step) write((step_ = progress.step) + "\n");
  if (stage_ == progress.stage) return;
  stage_ = progress.stage;
  // The measured part speaks for itself.
  if (progress.stage != Stage::measuring) write(std::string(to_string(progress.stage)) + "\n");
}

void LiveView::on_interval(const kernel::Interval& interval, const Progress&) {
  if (kind_ == Kind::none) return;
  if (kind_ == Kind::panel) {
    text_.interval(interval);
    return redraw();
  }
  pending_.merge_next(interval);
  if (pending_.end - pending_.start >= every_ - kTolerance) tell();
}

// One line for all intervals since the last one.
void LiveView::tell() {
  if (pending_.end == pending_.start) return;
  text_.interval(std::exchange(pending_, {}));
  if (const std::string line = text_.line(); !line.empty()) write(line + "\n");
}

void LiveView::finish() {
  if (kind_ == Kind::panel) write(redraw_.erase());
  if (kind_ == Kind::lines) tell();
  kind_ = Kind::none;
}

// One column stays free: a character in the last one makes some terminals wrap. One line is the
// cursor's.
void LiveView::redraw() {
  winsize size{};
  const bool known = ioctl(descriptor_, TIOCGWINSZ, &size) == 0;
  const unsigned width = known && size.ws_col != 0 ? size.ws_col : kStandardWidth;
  const unsigned height = known && size.ws_row != 0 ? size.ws_row : kStandardHeight;
  write(redraw_.draw(text_.panel(width - 1, height - 1, color_)));
}

void LiveView::write(std::string_view text) {
  static_cast<void>(report::write_all(descriptor_, text));
}

}  // namespace onbeat::cli
