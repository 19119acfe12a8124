// What is written while a run lasts, or while a kept stream is read again: each is told of every
// interval. One thread.
#pragma once

#include "run/report.hpp"
#include <onbeat/kernel/interval.hpp>
#include <onbeat/kernel/recorder.hpp>
#include <onbeat/kernel/result.hpp>

#include <string>

namespace onbeat::report {

class IntervalOutput {
 public:
  virtual ~IntervalOutput() = default;
  /// Before the first interval: what is known without measuring; report.total and all that follows
  /// from it are not read.
  virtual void begin(const run::Report& known) = 0;
  /// `names` and `shape` are those of the ids and positions in it.
  virtual void interval(const kernel::Interval& interval, const kernel::Names& names,
                        const kernel::RecorderShape& shape) = 0;
  /// After the last one.
  virtual void end(const run::Report& report) = 0;
  /// Empty, or a sentence: why the output is incomplete.
  [[nodiscard]] virtual std::string problem() const = 0;
};

}  // namespace onbeat::report
