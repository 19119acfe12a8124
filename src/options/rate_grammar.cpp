#include "options/rate_grammar.hpp"

#include "options/format.hpp"
#include "options/scan.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <span>
#include <vector>

namespace onbeat::options {
namespace {

using kernel::RateProfile;
using Stage = RateProfile::Stage;

constexpr std::string_view kStageHint =
    "for example 100..500 over 30s, or stages: 0..500 over 1m, 500 for 5m, 0 over 30s";

/// A duration that a shape needs to be longer than nothing.
Parsing<Duration> scan_length(Scanner& scan) {
  scan.skip_spaces();
  const std::size_t start = scan.at();
  const auto length = scan_duration(scan);
  if (length && length->count() == 0) {
    return Scanner::fail_at(start, "a duration of 0 where something must last");
  }
  return length;
}

std::string stage_text(const Stage& stage, const Stage* before) {
  const std::string length = duration_text(stage.length);
  if (stage.from == stage.to) return fmt::format("{} for {}", rate_text(stage.to), length);
  if (before != nullptr && before->to == stage.from) {
    return fmt::format("{} over {}", rate_text(stage.to), length);
  }
  return fmt::format("{}..{} over {}", rate_text(stage.from), rate_text(stage.to), length);
}

RateSpec from_stages(const std::vector<Stage>& stages) {
  RateSpec spec;
  for (std::size_t i = 0; i < stages.size(); ++i) {
    if (i > 0) spec.text += ", ";
    spec.text += stage_text(stages[i], i > 0 ? &stages[i - 1] : nullptr);
    spec.length += stages[i].length;
    spec.peak = std::max({spec.peak, stages[i].from, stages[i].to});
  }
  spec.constant = std::ranges::all_of(stages, [&](const Stage& stage) {
    return stage.from == stages[0].from && stage.to == stages[0].from;
  });
  spec.profile = RateProfile::stages(stages);
  return spec;
}

/// One stage; the first rate has been read. `before`: the stage before, if any.
Parsing<Stage> scan_stage(Scanner& scan, double rate, const Stage* before) {
  Stage stage{rate, rate, {}};
  const bool ramp = scan.take("..");
  if (ramp) {
    scan.skip_spaces();
    const auto to = scan_rate(scan);
    if (!to) return std::unexpected(to.error());
    stage.to = *to;
  }
  scan.skip_spaces();
  const std::size_t word_at = scan.at();
  const std::string_view word = scan.word();
  if (word == "over") {
    if (!ramp && before == nullptr) {
      return Scanner::fail_at(word_at, "the first ramp needs the rate that it starts from",
                              fmt::format("for example 0..{} over ...", rate_text(rate)));
    }
    if (!ramp) stage.from = before->to;
  } else if (word == "for") {
    if (ramp) return Scanner::fail_at(word_at, "a ramp goes \"over\" a duration, not \"for\" one");
  } else {
    return Scanner::fail_at(
        word_at,
        word.empty() ? std::string("\"over\" or \"for\" and a duration is missing")
                     : fmt::format("\"over\" or \"for\" belongs here, not {}", quote(word)),
        std::string(kStageHint));
  }
  const auto length = scan_length(scan);
  if (!length) return std::unexpected(length.error());
  stage.length = *length;
  return stage;
}

Parsing<RateSpec> parse_stages(Scanner& scan) {
  std::vector<Stage> stages;
  Duration total{};
  while (true) {
    scan.skip_spaces();
    const std::size_t start = scan.at();
    const auto rate = scan_rate(scan);
    if (!rate) return std::unexpected(rate.error());
    scan.skip_spaces();
    if (stages.empty() && scan.at_end()) {
      return RateSpec{RateProfile::constant(*rate), rate_text(*rate), {}, *rate, true};
    }
    const auto stage = scan_stage(scan, *rate, stages.empty() ? nullptr : &stages.back());
    if (!stage) return std::unexpected(stage.error());
    stages.push_back(*stage);
    total += stage->length;
    if (total > kLongestDuration) {
      return Scanner::fail_at(start, "stages of more than ten years in all");
    }
    scan.skip_spaces();
    if (!scan.take(",")) break;
  }
  if (const auto end = scan.expect_end("a stage"); !end) return std::unexpected(end.error());
  return from_stages(stages);
}

/// A parameter of sine(...) or spike(...), a rate or a duration.
struct Parameter {
  std::string_view name;
  bool is_time = false;
  double rate = 0;
  Duration time{};
  bool given = false;
  std::size_t at = 0;
};

/// "(", then all parameters, by position or as name=value, then ")" and the end.
Parsing<bool> scan_parameters(Scanner& scan, std::span<Parameter> parameters,
                              const std::string& usage) {
  if (!scan.take("(")) return scan.fail("\"(\" is missing", usage);
  for (std::size_t position = 0;; ++position) {
    scan.skip_spaces();
    const std::size_t start = scan.at();
    auto chosen =
        parameters.begin() + static_cast<std::ptrdiff_t>(std::min(position, parameters.size()));
    if (const std::string_view name = scan.name(); !name.empty() && scan.take("=")) {
      chosen = std::ranges::find(parameters, name, &Parameter::name);
      if (chosen == parameters.end()) {
        return Scanner::fail_at(start, fmt::format("unknown parameter {}", quote(name)), usage);
      }
    } else {
      scan.back_to(start);
    }
    if (chosen == parameters.end()) return Scanner::fail_at(start, "too many parameters", usage);
    if (chosen->given) {
      return Scanner::fail_at(start, fmt::format("{} is given twice", chosen->name), usage);
    }
    scan.skip_spaces();
    chosen->at = scan.at();
    chosen->given = true;
    if (chosen->is_time) {
      const auto time = scan_duration(scan);
      if (!time) return std::unexpected(time.error());
      chosen->time = *time;
    } else {
      const auto rate = scan_rate(scan);
      if (!rate) return std::unexpected(rate.error());
      chosen->rate = *rate;
    }
    scan.skip_spaces();
    if (scan.take(")")) break;
    if (!scan.take(",")) return scan.fail("\",\" or \")\" is missing", usage);
  }
  for (const Parameter& parameter : parameters) {
    if (!parameter.given) {
      return Scanner::fail_at(scan.at() - 1, fmt::format("{} is missing", parameter.name), usage);
    }
  }
  return scan.expect_end("\")\"");
}

Parsing<RateSpec> parse_sine(Scanner& scan) {
  std::array parameters{Parameter{.name = "mean"}, Parameter{.name = "amplitude"},
                        Parameter{.name = "period", .is_time = true}};
  const auto scanned =
      scan_parameters(scan, parameters, "for example sine(mean=500, amplitude=200, period=60s)");
  if (!scanned) return std::unexpected(scanned.error());
  const auto& [mean, amplitude, period] = parameters;
  if (amplitude.rate > mean.rate) {
    return Scanner::fail_at(amplitude.at,
                            "an amplitude above the mean would make the rate negative");
  }
  if (period.time.count() == 0) return Scanner::fail_at(period.at, "a period of 0");
  RateSpec spec;
  spec.profile = RateProfile::sine(mean.rate, amplitude.rate, period.time);
  spec.text = fmt::format("sine(mean={}, amplitude={}, period={})", rate_text(mean.rate),
                          rate_text(amplitude.rate), duration_text(period.time));
  spec.peak = mean.rate + amplitude.rate;
  spec.constant = amplitude.rate == 0;
  return spec;
}

Parsing<RateSpec> parse_spike(Scanner& scan) {
  std::array parameters{Parameter{.name = "base"}, Parameter{.name = "peak"},
                        Parameter{.name = "at", .is_time = true},
                        Parameter{.name = "for", .is_time = true}};
  const auto scanned =
      scan_parameters(scan, parameters, "for example spike(base=100, peak=1000, at=10s, for=5s)");
  if (!scanned) return std::unexpected(scanned.error());
  const auto& [base, peak, at, length] = parameters;
  if (length.time.count() == 0) return Scanner::fail_at(length.at, "a spike that lasts for 0");
  if (at.time + length.time > kLongestDuration) {
    return Scanner::fail_at(at.at, "a spike that ends after more than ten years");
  }
  RateSpec spec;
  spec.profile = RateProfile::spike(base.rate, peak.rate, at.time, length.time);
  spec.text = fmt::format("spike(base={}, peak={}, at={}, for={})", rate_text(base.rate),
                          rate_text(peak.rate), duration_text(at.time), duration_text(length.time));
  spec.length = at.time + length.time;
  spec.peak = std::max(base.rate, peak.rate);
  spec.constant = base.rate == peak.rate;
  return spec;
}

}  // namespace

Parsing<RateSpec> parse_rate_profile(std::string_view text) {
  Scanner scan(text);
  scan.skip_spaces();
  if (scan.take("sine")) return parse_sine(scan);
  if (scan.take("spike")) return parse_spike(scan);
  return parse_stages(scan);
}

}  // namespace onbeat::options
