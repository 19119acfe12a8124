#include "cli/live_text.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace onbeat::cli {
namespace {

using kernel::Interval;
using Stage = run::Observer::Stage;
using std::chrono::microseconds;
using std::chrono::milliseconds;
using std::chrono::seconds;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;
using testing::Not;

/// Second k of a run at 1,000/s with a target of 5 ms.
Interval second(int k, std::uint64_t started = 1000) {
  Interval interval;
  interval.start = seconds(k - 1);
  interval.end = seconds(k);
  interval.counts.planned = 1000;
  interval.counts.started = started;
  interval.response.record(microseconds(5200), 980);
  interval.response.record(microseconds(5400), 20);
  interval.lag.record(microseconds(12), 980);
  interval.lag.record(microseconds(60), 20);
  interval.loops = {{.wall = seconds(1), .cpu = milliseconds(80)},
                    {.wall = seconds(1), .cpu = milliseconds(40)}};
  interval.in_flight = 5;
  return interval;
}

LiveText::Progress measuring(Duration elapsed) {
  return {.stage = Stage::measuring,
          .elapsed = elapsed,
          .length = seconds(10),
          .planned_rate = 1000,
          .in_flight = 5};
}

LiveText three_seconds() {
  LiveText text;
  text.progress(measuring({}));
  for (int k = 1; k <= 3; ++k) text.interval(second(k));
  text.progress(measuring(milliseconds(3100)));
  return text;
}

TEST(LiveTextLine, SaysWhatTheIntervalHeld) {
  EXPECT_EQ(three_seconds().line(),
            "3s  1,000/s of 1,000/s  p50 5.2 ms p99 5.4 ms  failed 0  in flight 5  lag p99 60 us  "
            "cpu 0.12 cores");
}

TEST(LiveTextLine, FailuresAreThoseOfTheInterval) {
  LiveText text;
  Interval first = second(1);
  first.counts.failed = 7;
  text.interval(first);
  Interval next = second(2);
  next.counts.failed = 2;
  next.counts.timed_out = 1;
  text.interval(next);
  EXPECT_THAT(text.line(), HasSubstr("  failed 3  "));
}

TEST(LiveTextLine, ARateIsOverTheIntervalsOwnTime) {
  LiveText text;
  Interval interval = second(1);
  interval.end = milliseconds(500);
  text.interval(interval);
  EXPECT_THAT(text.line(), testing::StartsWith("0.5s  2,000/s of 2,000/s  "));
}

TEST(LiveTextLine, AClosedRunHasNoPlannedRateAndNoLag) {
  LiveText text;
  text.progress({.stage = Stage::measuring, .length = seconds(10)});
  Interval interval = second(1);
  interval.lag.clear();
  text.interval(interval);
  EXPECT_EQ(text.line(),
            "1s  1,000/s  p50 5.2 ms p99 5.4 ms  failed 0  in flight 5  cpu 0.12 cores");
}

TEST(LiveTextLine, CensoredPercentilesAreLowerBounds) {
  LiveText text;
  Interval interval = second(1);
  interval.response.record_censored(seconds(30), 500);
  text.interval(interval);
  EXPECT_THAT(text.line(), HasSubstr("p50 5.2 ms p99 >= 30 s"));
}

TEST(LiveTextLine, WithoutASampleThereIsNoPercentile) {
  LiveText text;
  Interval interval = second(1);
  interval.response.clear();
  text.interval(interval);
  EXPECT_THAT(text.line(), HasSubstr("p50 n/a p99 n/a"));
}

TEST(LiveTextLine, TheRestOfTheDrainIsNoRate) {
  LiveText text = three_seconds();
  text.progress(measuring(seconds(10)));
  Interval rest = second(11, 0);
  rest.counts.planned = 0;
  rest.end = seconds(10) + milliseconds(7);
  text.interval(rest);
  EXPECT_EQ(text.line(), "");
  Interval last = second(10);
  last.end = seconds(12);  // one second of issue, two of drain
  text.interval(last);
  EXPECT_THAT(text.line(), HasSubstr("1,000/s of 1,000/s"));
}

TEST(LiveTextLine, NothingIsKnownBeforeTheFirstInterval) {
  LiveText text;
  text.progress(measuring(milliseconds(200)));
  EXPECT_EQ(text.line(), "");
}

TEST(LiveTextPanel, Golden) {
  EXPECT_THAT(three_seconds().panel(79, 23, false),
              ElementsAre("measuring     [=========                     ]  3 s of 10 s, 7 s left",
                          "              rate                      p50         p99         failed",
                          "last interval 1,000/s of 1,000/s        5.2 ms      5.4 ms      0",
                          "so far        1,000/s of 1,000/s        5.2 ms      5.4 ms      0",
                          "in flight 5   lag p99 60 us   cpu 0.12 cores"));
}

TEST(LiveTextPanel, SoFarIsAllIntervalsAndTheLastIsOne) {
  LiveText text;
  Interval slow = second(1, 500);
  slow.counts.failed = 40;
  text.progress(measuring({}));
  text.interval(slow);
  text.interval(second(2));
  const auto lines = text.panel(79, 23, false);
  EXPECT_THAT(lines[2], HasSubstr("1,000/s of 1,000/s "));
  EXPECT_THAT(lines[2], testing::EndsWith(" 0"));
  EXPECT_THAT(lines[3], HasSubstr("750/s of 1,000/s "));
  EXPECT_THAT(lines[3], testing::EndsWith(" 40"));
}

TEST(LiveTextPanel, StagesWithoutAnIntervalSayHowLongTheyTake) {
  LiveText text;
  text.progress({.stage = Stage::connecting, .elapsed = milliseconds(2300)});
  EXPECT_THAT(text.panel(79, 23, false), ElementsAre("connecting  2 s", "in flight 0"));
  text.progress({.stage = Stage::warming_up, .elapsed = seconds(1), .length = seconds(2)});
  EXPECT_THAT(text.panel(79, 23, false),
              ElementsAre("warming up    [===============               ]  1 s of 2 s, 1 s left",
                          "in flight 0"));
}

TEST(LiveTextPanel, TimePastTheLengthLeavesNothing) {
  LiveText text;
  text.progress(measuring(seconds(12)));
  EXPECT_THAT(text.panel(79, 23, false)[0], HasSubstr("=]  10 s of 10 s, 0 s left"));
}

TEST(LiveTextPanel, NarrowTerminalsGetTheSameWordsInOtherLines) {
  EXPECT_THAT(three_seconds().panel(40, 23, false),
              ElementsAre("measuring  3 s of 10 s, 7 s left", "1,000/s of 1,000/s",
                          "p50 5.2 ms p99 5.4 ms  failed 0", "in flight 5  lag p99 60 us",
                          "cpu 0.12 cores"));
}

TEST(LiveTextPanel, NeverWiderOrHigherThanAllowed) {
  LiveText text = three_seconds();
  Interval large = second(4, 123'456'789);
  large.counts.planned = 987'654'321;
  large.counts.failed = 123'456'789;
  large.response.record_censored(seconds(3599), 1'000'000);
  text.interval(large);
  for (unsigned width = 0; width <= 130; ++width) {
    for (const unsigned height : {0U, 1U, 3U, 30U}) {
      const auto lines = text.panel(width, height, false);
      EXPECT_LE(lines.size(), height);
      for (const std::string& line : lines) EXPECT_LE(line.size(), width) << line;
    }
  }
  EXPECT_THAT(text.panel(0, 23, false), IsEmpty());
}

/// Without what stands between ESC and 'm'.
std::string without_colors(std::string text) {
  for (std::size_t at = 0; (at = text.find('\x1b')) != std::string::npos;)
    text.erase(at, text.find('m', at) + 1 - at);
  return text;
}

TEST(LiveTextPanel, ColoursComeOnTopOfTheSameText) {
  LiveText text = three_seconds();
  Interval bad = second(4, 900);
  bad.counts.failed = 3;
  text.interval(bad);
  for (const unsigned width : {5U, 30U, 79U}) {
    const auto plain = text.panel(width, 23, false);
    auto colored = text.panel(width, 23, true);
    for (std::string& line : colored) line = without_colors(line);
    EXPECT_EQ(colored, plain);
  }
  const auto colored = text.panel(79, 23, true);
  EXPECT_THAT(colored[0], testing::StartsWith("\x1b[1mmeasuring     \x1b[0m["));
  EXPECT_THAT(colored[2], HasSubstr("\x1b[33m900/s of 1,000/s"));
  EXPECT_THAT(colored[2], HasSubstr("\x1b[31m3\x1b[0m"));
  for (const std::string& line : text.panel(79, 23, false))
    EXPECT_THAT(line, Not(HasSubstr("\x1b")));
}

}  // namespace
}  // namespace onbeat::cli
