#include "cli/fmt_command.hpp"

#include "cli/console.hpp"
#include "cli/gctf_files.hpp"
#include "document/gctf_format.hpp"
#include "report/output.hpp"

#include <cstdio>

namespace onbeat::cli {

int fmt_command(const std::vector<std::string>& files, const options::Settings& settings) {
  constexpr int kUsage = static_cast<int>(run::ExitCode::usage);
  const auto texts = read_gctf_files(files);
  if (!texts) return kUsage;
  bool failed = false;
  bool differs = false;
  for (const GctfFile& file : *texts) {
    const auto formatted = document::format_gctf(file.path, file.text);
    if (!formatted) {
      failed = true;
      for (const document::Diagnostic& one : formatted.error()) {
        if (one.severity == document::Diagnostic::Severity::error) {
          show({document::problem_of(file.path, one)});
        }
      }
    } else if (settings.flag("check")) {
      if (*formatted == file.text) continue;
      differs = true;
      failed = !print(stdout, file.path + "\n") || failed;
    } else if (settings.flag("write")) {
      if (*formatted == file.text) continue;
      const auto written = report::write_file(file.path, *formatted);
      if (written) continue;
      show({{.where = {}, .message = written.error(), .hint = {}, .text = {}}});
      failed = true;
    } else {
      failed = !print(stdout, *formatted) || failed;
    }
  }
  if (failed) return kUsage;
  return differs ? 1 : 0;
}

}  // namespace onbeat::cli
