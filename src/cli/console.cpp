#include "cli/console.hpp"

#include <fcntl.h>
#include <sys/ioctl.h>
#include <unistd.h>

#include <cerrno>
#include <csignal>
#include <cstdlib>
#include <cstring>
#include <string>
#include <string_view>

namespace onbeat::cli {
namespace {

run::StopFlag stop_flag{0};

// Only what is safe in a handler. The sequence shows the cursor again and ends colours, should a
// live view be on.
extern "C" void on_stop_signal(int) {
  if (stop_flag.fetch_add(1) == 0) return;
  if (isatty(STDERR_FILENO) == 1) {
    constexpr std::string_view restore = "\x1b[?25h\x1b[0m\n";
    [[maybe_unused]] const auto written = write(STDERR_FILENO, restore.data(), restore.size());
  }
  _exit(static_cast<int>(run::ExitCode::interrupted));
}

}  // namespace

void guard_standard_streams() {
  // The lowest free number is taken; each is opened for the direction that nobody uses it in.
  for (int descriptor = STDIN_FILENO; descriptor <= STDERR_FILENO; ++descriptor)
    if (fcntl(descriptor, F_GETFD) < 0)
      static_cast<void>(open("/dev/null", descriptor == STDIN_FILENO ? O_WRONLY : O_RDONLY));
}

void show(const std::vector<options::Problem>& problems, const char* severity) {
  for (const options::Problem& problem : problems)
    print(stderr, options::render(problem, severity) + "\n");
}

unsigned terminal_width(std::FILE* stream) {
  winsize size{};
  return isatty(fileno(stream)) == 1 && ioctl(fileno(stream), TIOCGWINSZ, &size) == 0 ? size.ws_col
                                                                                      : 0;
}

bool use_color(options::Color color, std::FILE* stream) {
  if (color != options::Color::automatic) return color == options::Color::always;
  const char* no_color = std::getenv("NO_COLOR");
  const char* terminal = std::getenv("TERM");
  return isatty(fileno(stream)) == 1 && (no_color == nullptr || *no_color == '\0') &&
         (terminal == nullptr || std::string_view(terminal) != "dumb");
}

run::StopFlag& take_signals() {
  struct sigaction action{};
  action.sa_handler = on_stop_signal;
  sigemptyset(&action.sa_mask);
  sigaction(SIGINT, &action, nullptr);
  sigaction(SIGTERM, &action, nullptr);
  std::signal(SIGPIPE, SIG_IGN);
  return stop_flag;
}

bool print(std::FILE* stream, const std::string& text) {
  if (std::fwrite(text.data(), 1, text.size(), stream) == text.size() && std::fflush(stream) == 0)
    return true;
  if (stream != stderr)
    std::fprintf(stderr, "error: cannot write to standard output: %s\n", std::strerror(errno));
  return false;
}

}  // namespace onbeat::cli
