// A file that is written while a run lasts, each line at once. After the first failure it writes no
// more. One thread.
#pragma once

#include <expected>
#include <string>
#include <string_view>

namespace onbeat::report {

class LineFile {
 public:
  LineFile() = default;
  LineFile(const LineFile&) = delete;
  LineFile& operator=(const LineFile&) = delete;
  ~LineFile();

  /// Creates or truncates the file; "-" is standard output. `what` names it in problems: "stream".
  std::expected<void, std::string> open(std::string_view what, const std::string& path);
  void write(std::string_view lines);
  [[nodiscard]] bool is_open() const { return descriptor_ >= 0; }
  /// Empty, or why the file is incomplete.
  [[nodiscard]] const std::string& problem() const { return problem_; }

 private:
  std::string what_, path_, problem_;
  int descriptor_ = -1;
};

}  // namespace onbeat::report
