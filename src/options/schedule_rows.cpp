// The rows of load_schedule and of what else BENCH sections say about the course of a run.
#include "options/table_rows.hpp"

namespace onbeat::options {

std::vector<Option> schedule_rows() {
  const auto row = [](std::string_view name, std::string_view value, Kind kind,
                      std::string_view standard, std::string_view help) {
    return Option{.name = name,
                  .value = value,
                  .kind = kind,
                  .standard = standard,
                  .help = help,
                  .group = Group::schedule,
                  .commands = kLoading};
  };
  std::vector<Option> rows{
      row("max-rps", "RATE", Kind::rate, "none",
          "The rate of the const schedule, and where others start without a load-start"),
      row("load-schedule", "NAME", Kind::choice, "const",
          "const, or steps, a line, a sine, a spike, or points of one's own: a rate over time "
          "by the options below, in place of --rate"),
      row("load-start", "RATE", Kind::rate, "max-rps",
          "Where a step or line begins, and the rate outside a spike"),
      row("load-step", "X", Kind::number, "0",
          "What each step adds, or a line in each second; may be negative"),
      row("load-end", "RATE", Kind::rate, "none", "Where a step or line ends"),
      row("load-step-duration", "TIME", Kind::duration, "1s", "How long each step lasts"),
      row("load-max-duration", "TIME", Kind::duration, "none",
          "After which a step or line changes no more"),
      row("load-midpoint", "RATE", Kind::rate, "max-rps", "The mean of a sine"),
      row("load-amplitude", "X", Kind::number, "half the midpoint",
          "How far a sine swings; below 0 the rate is 0"),
      row("load-frequency", "X", Kind::number, "0.1",
          "Of a sine, in radians a second: a period is 2 pi / X"),
      row("load-spike-target", "RATE", Kind::rate, "max-rps", "The rate within a spike"),
      row("load-spike-after", "TIME", Kind::seconds, "30s",
          "When a spike begins; a bare number is seconds"),
      row("load-spike-duration", "TIME", Kind::seconds, "10s",
          "How long a spike lasts; a bare number is seconds"),
      row("load-profile", "T:RATE,...", Kind::load_points, "none",
          "The points of a custom schedule, straight lines between them: 0s:10, 30s:500"),
      row("ramp-up", "TIME", Kind::duration, "0s",
          "Scales the rate from 0 up to what it is, for so long"),
      row("cool-down", "TIME", Kind::duration, "0s",
          "Goes on after the duration with a rate that falls to 0, for so long"),
      row("max-duration", "TIME", Kind::duration, "none",
          "Ends a run by a number of requests after so long"),
      row("progress-interval", "TIME", Kind::duration, "1s; bench 5s",
          "How often a line tells of the run where there is no terminal"),
      row("duration-stop", "wait|close|ignore", Kind::choice, "wait",
          "What is in flight at the end: waited for and counted, cut off, or waited for and "
          "counted as cancelled"),
  };
  for (Option& option : rows) {
    if (option.name == "load-schedule")
      option.choices = {"const", "step", "line", "sine", "spike", "custom"};
    if (option.name == "duration-stop") option.choices = {"wait", "close", "ignore"};
  }
  return rows;
}

}  // namespace onbeat::options
