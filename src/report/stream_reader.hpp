// The lines of an interval stream, schema onbeat.stream/1, read back. Private to JSON readers.
#pragma once

#include "report/json_place.hpp"
#include <onbeat/kernel/interval.hpp>
#include <onbeat/kernel/recorder.hpp>

#include <string>
#include <vector>

namespace onbeat::report {

/// Ids are given as names come; names, histograms and counters are those of all lines so far.
class StreamReader {
 public:
  /// What is known without measuring, and the thresholds that were asked for.
  void header(const Place& place);
  [[nodiscard]] kernel::Interval interval(const Place& place);

  [[nodiscard]] const run::Report& known() const { return known_; }
  [[nodiscard]] const std::vector<std::string>& thresholds() const { return thresholds_; }
  [[nodiscard]] const kernel::Names& names() const { return names_; }
  [[nodiscard]] const kernel::RecorderShape& shape() const { return shape_; }

 private:
  void endpoints(const Place& place, kernel::Interval& interval);

  run::Report known_;
  std::vector<std::string> thresholds_;
  kernel::Names names_;
  kernel::RecorderShape shape_;
};

}  // namespace onbeat::report
