// What every command needs of the process: its terminal, its signals, how it shows problems.
#pragma once

#include "options/load_options.hpp"
#include "options/settings.hpp"
#include "run/run.hpp"

#include <cstdio>
#include <vector>

namespace onbeat::cli {

/// Before anything is opened: a standard stream that the caller has closed must not become a socket
/// or file of the run. What is written to it fails, as it would have.
void guard_standard_streams();

/// Prints all problems on stderr.
void show(const std::vector<options::Problem>& problems, const char* severity = "error");

/// Columns of the terminal behind `stream`; 0 when it is none, or does not say.
[[nodiscard]] unsigned terminal_width(std::FILE* stream);
/// By --color, NO_COLOR (any value but nothing), TERM=dumb, and whether `stream` is a terminal.
[[nodiscard]] bool use_color(options::Color color, std::FILE* stream);

/// SIGINT and SIGTERM: the first sets the flag, a second ends the process at once with 130. SIGPIPE
/// is ignored: a broken pipe comes back as an error where it is written.
run::StopFlag& take_signals();

/// Writes all of it, and flushes. False, with a message on stderr, when that fails (a full disk, a
/// broken pipe).
bool print(std::FILE* stream, const std::string& text);

}  // namespace onbeat::cli
