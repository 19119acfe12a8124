// The interval stream (--stream): one JSON object a line, schema onbeat.stream/1. First a header,
// then an interval each time one is complete, last the report. Who reads it sees everything that
// the terminal and the report are made from.
#pragma once

#include "report/interval_output.hpp"
#include "report/line_file.hpp"
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

class Stream final : public IntervalOutput {
 public:
  std::expected<void, std::string> open(const std::string& path) {
    return file_.open("stream", path);
  }
  void begin(const run::Report& known) override { file_.write(stream_header(known)); }
  void interval(const kernel::Interval& interval, const kernel::Names& names,
                const kernel::RecorderShape& shape) override {
    file_.write(stream_interval(interval, names, shape));
  }
  void end(const run::Report& report) override { file_.write(stream_report(report)); }
  [[nodiscard]] std::string problem() const override { return file_.problem(); }

 private:
  LineFile file_;
};

}  // namespace onbeat::report
