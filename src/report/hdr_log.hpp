// The histograms of each interval as an interval log of HdrHistogram (format 1.3), one tag for each
// distribution: what HistogramLogReader and the log processor of any language read.
// Source: org.HdrHistogram.HistogramLogWriter.
#pragma once

#include "report/interval_output.hpp"
#include "report/line_file.hpp"

#include <expected>
#include <string>

namespace onbeat::report {

/// The head of a log whose times are relative to `started_at` (RFC 3339).
[[nodiscard]] std::string hdr_log_head(const std::string& started_at);
/// One line; empty for an empty histogram. Times in the log are seconds, the max is ms. Of `tag`,
/// what could end it (commas, spaces, line breaks) becomes '_'.
[[nodiscard]] std::string hdr_log_line(std::string_view tag, const kernel::Histogram& histogram,
                                       kernel::Duration start, kernel::Duration length);

/// Written line by line as the run goes. A report without intervals gives one line a distribution.
class HdrLog final : public IntervalOutput {
 public:
  std::expected<void, std::string> open(const std::string& path) {
    return file_.open("HDR log", path);
  }
  void begin(const run::Report& known) override;
  void interval(const kernel::Interval& interval, const kernel::Names& names,
                const kernel::RecorderShape& shape) override;
  void end(const run::Report& report) override;
  [[nodiscard]] std::string problem() const override { return file_.problem(); }

 private:
  LineFile file_;
  bool scheduled_ = false, written_ = false;
};

}  // namespace onbeat::report
