// The value of a threshold's metric, from whatever holds the figures: a finished report, or a
// window of intervals.
#pragma once

#include "options/threshold.hpp"
#include "run/report.hpp"

#include <cstdint>
#include <optional>
#include <string>

namespace onbeat::run {

/// The figures that a metric can be about. Borrowed; a null histogram is one that is not kept in
/// this scope.
struct Figures {
  const kernel::Counts* counts = nullptr;  // never null
  const Histogram* response = nullptr;
  const Histogram* service = nullptr;
  const Histogram* wait = nullptr;
  const Histogram* lag = nullptr;
  const Histogram* failed = nullptr;
  std::uint64_t named = 0;  // how often the code or the class of error of the metric came
  Duration window{};        // what rates are over
  bool open = false;
};

struct Measured {
  std::optional<double> value =
      {};  // in the threshold's unit (ns, per second, percent or plain); empty: n/a
  bool lower_bound = false;  // the true value is at least that
  bool too_few_samples = false;
  std::string why_not = {};  // when there is no value
};

[[nodiscard]] Measured measure(const options::Threshold& threshold, const Figures& figures,
                               double tail_samples = 10);

/// Whether the threshold holds for certain: a lower bound proves "greater", never "less".
[[nodiscard]] bool certainly_holds(const options::Threshold& threshold, const Measured& measured);

/// A value of the threshold's metric for people: "31.2 ms", "0.08%", "5,000/s", "12".
[[nodiscard]] std::string value_text(double value, const options::Threshold& threshold);

}  // namespace onbeat::run
