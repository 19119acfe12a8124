#include <onbeat/kernel/sample_sinks.hpp>
#include <onbeat/kernel/stats.hpp>

#include <gtest/gtest.h>

#include <thread>

namespace onbeat::kernel {
namespace {

using namespace std::chrono_literals;

Sample due_at(Duration due) {
  Sample sample;
  sample.due = sample.started = Instant{} + due;
  sample.done = *sample.started + 1ms;
  return sample;
}

/// Keeps the due (or started) times of what reaches it, in seconds.
struct Kept final : SampleSink {
  std::vector<long> seconds;
  void record(const Sample& sample) override {
    const Instant instant = sample.due ? *sample.due : sample.started.value_or(Instant{});
    seconds.push_back(
        std::chrono::duration_cast<std::chrono::seconds>(instant.time_since_epoch()).count());
  }
};
using Seconds = std::vector<long>;

TEST(Multi, PassesEachSampleToEverySink) {
  Kept a;
  Kept b;
  Multi both({a, b});
  for (const int second : {1, 2, 3}) both.record(due_at(1s * second));
  EXPECT_EQ(a.seconds, (Seconds{1, 2, 3}));
  EXPECT_EQ(b.seconds, a.seconds);
}

TEST(Filter, PassesOnWhatItAcceptsAndCountsTheRest) {
  Kept kept;
  Filter failures([](const Sample& sample) { return !sample.success(); }, kept);
  Sample failed = due_at(2s);
  failed.ending = Ending::failed;
  failures.record(due_at(1s));
  failures.record(failed);
  failures.record(due_at(3s));
  EXPECT_EQ(kept.seconds, (Seconds{2}));
  EXPECT_EQ(failures.skipped(), 2U);
}

TEST(After, M11_SkipsByTheTimeDueWhateverTheOrder) {
  Kept kept;
  After measured(5s, kept);
  for (const int second : {10, 12, 16, 9, 14, 15, 20, 13}) measured.record(due_at(1s * second));
  EXPECT_EQ(kept.seconds, (Seconds{16, 15, 20}));  // from 15 s on, 5 s after the first
  EXPECT_EQ(measured.skipped(), 5U);
}

TEST(After, M11_ALateStartOfTheWarmUpStillBelongsToIt) {
  Kept kept;
  After after(5s, kept);
  AfterTime after_time(Instant{} + 15s, kept);
  after.record(due_at(10s));
  Sample late = due_at(14s);
  late.started = Instant{} + 30s;
  after.record(late);
  after_time.record(late);
  EXPECT_EQ(after.skipped(), 2U);
  EXPECT_EQ(after_time.skipped(), 1U);
}

TEST(After, CountsFromStartedWithoutASchedule) {
  Kept kept;
  After measured(5s, kept);
  for (const int second : {1, 5, 6}) {
    Sample sample = due_at(1s * second);
    sample.due.reset();
    measured.record(sample);
  }
  EXPECT_EQ(kept.seconds, (Seconds{6}));
  EXPECT_EQ(measured.skipped(), 2U);
}

TEST(AfterTime, SkipsWhatWasDueBefore) {
  Kept kept;
  AfterTime measured(Instant{} + 4s, kept);
  for (const int second : {5, 3, 4, 1}) measured.record(due_at(1s * second));
  EXPECT_EQ(kept.seconds, (Seconds{5, 4}));
  EXPECT_EQ(measured.skipped(), 2U);
}

TEST(AfterN, SkipsTheFirst) {
  Kept kept;
  AfterN measured(3, kept);
  measured.record(due_at(9s));
  EXPECT_EQ(measured.skipped(), 1U);  // not yet 3
  for (const int second : {8, 7, 6, 5}) measured.record(due_at(1s * second));
  EXPECT_EQ(kept.seconds, (Seconds{6, 5}));
  EXPECT_EQ(measured.skipped(), 3U);
}

TEST(AfterN, CountsExactlyOverSeveralThreads) {
  Stats stats;
  AfterN measured(500, stats);
  std::vector<std::jthread> threads;
  for (int thread = 0; thread < 3; ++thread) {
    threads.emplace_back([&] {
      for (int i = 0; i < 1000; ++i) measured.record(due_at(1s));
    });
  }
  threads.clear();
  EXPECT_EQ(stats.snapshot().count, 2500U);
  EXPECT_EQ(measured.skipped(), 500U);
}

TEST(WarmUp, OfZeroSkipsNothingNotEvenOutOfOrder) {
  Kept kept;
  After after(0s, kept);
  AfterTime after_time(Instant{}, kept);
  AfterN after_n(0, kept);
  const auto skipped = [](SampleSink& sink, const auto& counter) {
    for (const int second : {5, 3, -2, 9}) sink.record(due_at(1s * second));
    return counter.skipped();
  };
  EXPECT_EQ(skipped(after, after), 0U);
  EXPECT_EQ(skipped(after_time, after_time), 0U);
  EXPECT_EQ(skipped(after_n, after_n), 0U);
  EXPECT_EQ(kept.seconds.size(), 12U);
}

TEST(WarmUp, SamplesThatBelongToNoTimePass) {
  Kept kept;
  After after(5s, kept);
  AfterTime after_time(Instant{} + 5s, kept);
  after.record(Sample{});
  after_time.record(Sample{});
  EXPECT_EQ(kept.seconds.size(), 2U);
}

TEST(Drain, ReadsAStreamToItsEnd) {
  struct Stream {
    int left = 4;
    std::optional<Sample> next() { return left-- > 0 ? std::optional(due_at(1s)) : std::nullopt; }
  } stream;
  Stats stats;
  EXPECT_EQ(drain(stream, stats), 4U);
  EXPECT_EQ(stats.snapshot().count, 4U);
}

}  // namespace
}  // namespace onbeat::kernel
