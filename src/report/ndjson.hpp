// The interval stream (--stream): one JSON object a line, schema onbeat.stream/1. First a header,
// then an interval each time one is complete, last the report. Who reads it sees everything that
// the terminal and the report are made from.
#pragma once

#include "run/report.hpp"
#include <onbeat/kernel/interval.hpp>
#include <onbeat/kernel/recorder.hpp>

#include <expected>
#include <string>

namespace onbeat::report {

/// What is known before the first interval; report.total and everything that follows from it is not
/// read.
[[nodiscard]] std::string stream_header(const run::Report& report);
/// Codes, errors and endpoints by their names; histograms with exact min, max, mean and an HDR
/// payload.
[[nodiscard]] std::string stream_interval(const kernel::Interval& interval,
                                          const kernel::Names& names,
                                          const kernel::RecorderShape& shape);
/// {"type":"report","report":{...}} with the whole report.
[[nodiscard]] std::string stream_report(const run::Report& report);

/// Writes lines as they come, each at once. After the first failure it writes no more. One thread.
class StreamFile {
 public:
  StreamFile() = default;
  StreamFile(const StreamFile&) = delete;
  StreamFile& operator=(const StreamFile&) = delete;
  ~StreamFile();

  /// Creates or truncates the file; "-" is standard output.
  std::expected<void, std::string> open(const std::string& path);
  void write(const std::string& line);
  /// Empty, or why the stream is incomplete.
  [[nodiscard]] const std::string& problem() const { return problem_; }

 private:
  std::string path_, problem_;
  int descriptor_ = -1;
};

}  // namespace onbeat::report
