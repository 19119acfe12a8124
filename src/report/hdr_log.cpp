#include "report/hdr_log.hpp"

#include "report/hdr_encoding.hpp"
#include "report/wall_time.hpp"

#include <fmt/format.h>

#include <algorithm>

namespace onbeat::report {
namespace {

constexpr double kNsPerMs = 1e6;

double seconds(kernel::Duration duration) {
  return std::chrono::duration<double>(duration).count();
}

std::string tag_text(std::string_view name) {
  std::string tag(name);
  for (char& c : tag)
    if (c == ',' || static_cast<unsigned char>(c) <= ' ' || c == 0x7f) c = '_';
  return tag;
}

}  // namespace

std::string hdr_log_head(const std::string& started_at) {
  const double base = seconds(unix_time(started_at).value_or(kernel::Duration{}));
  return fmt::format(
      "#[Histogram log format version 1.3]\n#[BaseTime: {0:.3f} (seconds since epoch)]\n"
      "#[StartTime: {0:.3f} (seconds since epoch), {1}]\n"
      "\"StartTimestamp\",\"Interval_Length\",\"Interval_Max\",\"Interval_Compressed_Histogram\"\n",
      base, tag_text(started_at));
}

std::string hdr_log_line(std::string_view tag, const kernel::Histogram& histogram,
                         kernel::Duration start, kernel::Duration length) {
  if (histogram.empty()) return {};
  return fmt::format("Tag={},{:.3f},{:.3f},{:.3f},{}\n", tag_text(tag), seconds(start),
                     seconds(length), static_cast<double>(histogram.max().count()) / kNsPerMs,
                     encode_hdr(histogram));
}

void HdrLog::begin(const run::Report& known) {
  scheduled_ = !known.arrivals.empty();
  file_.write(hdr_log_head(known.started_at));
}

void HdrLog::interval(const kernel::Interval& interval, const kernel::Names&,
                      const kernel::RecorderShape& shape) {
  written_ = true;
  std::string lines;
  const auto add = [&](std::string_view tag, const kernel::Histogram& histogram) {
    lines += hdr_log_line(tag, histogram, interval.start, interval.end - interval.start);
  };
  // Without a schedule response and service are one.
  if (scheduled_) add("response", interval.response);
  add("service", interval.service);
  add("wait", interval.wait);
  add("lag", interval.lag);
  add("failed", interval.failed);
  for (std::size_t i = 0; i < std::min(interval.extra.size(), shape.histograms.size()); ++i)
    add(shape.histograms[i], interval.extra[i]);
  file_.write(lines);
}

void HdrLog::end(const run::Report& report) {
  if (written_) return;
  kernel::Interval whole = report.total;
  whole.start = kernel::Duration{};
  whole.end = report.issue + report.drain;
  kernel::RecorderShape shape;
  whole.extra.clear();
  for (const auto& [name, histogram] : report.breakdown) {
    shape.histograms.push_back(name);
    whole.extra.push_back(histogram);
  }
  interval(whole, kernel::Names(), shape);
}

}  // namespace onbeat::report
