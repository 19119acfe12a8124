#include <onbeat/kernel/runner.hpp>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <atomic>
#include <barrier>
#include <chrono>
#include <condition_variable>
#include <limits>
#include <map>
#include <mutex>
#include <stdexcept>
#include <thread>
#include <vector>

namespace onbeat::kernel {
namespace {

using namespace std::chrono_literals;

constexpr double kUnlimited = std::numeric_limits<double>::infinity();
constexpr double kNan = std::numeric_limits<double>::quiet_NaN();

WorkResult nothing(const WorkContext&) { return {}; }

Work takes(Duration time) {
  return [time](const WorkContext&) -> WorkResult {
    std::this_thread::sleep_for(time);
    return {};
  };
}

RunOptions at_rate(double rate, std::int64_t max_requests = 0, Work work = nothing) {
  RunOptions options;
  options.work = std::move(work);
  options.rate = RateProfile::constant(rate);
  options.max_requests = max_requests;
  return options;
}

std::vector<Sample> read_all(Runner& run) {
  std::vector<Sample> samples;
  for (const Sample& sample : run) samples.push_back(sample);
  return samples;
}

std::vector<Duration> dues(const std::vector<Sample>& samples, Instant t0 = {}) {
  std::vector<Duration> dues;
  for (const Sample& sample : samples) dues.push_back(*sample.due - t0);
  std::ranges::sort(dues);
  return dues;
}

std::uint64_t count(const std::vector<Sample>& samples, Ending ending) {
  return static_cast<std::uint64_t>(std::ranges::count(samples, ending, &Sample::ending));
}

Duration worst_behind(const std::vector<Sample>& samples) {
  Duration worst{};
  for (const Sample& sample : samples) {
    worst = std::max(worst, sample.behind_schedule().value_or(Duration{}));
  }
  return worst;
}

void expect_books_balance(const Runner& run, const std::vector<Sample>& samples) {
  const Counts counts = run.counts();
  EXPECT_EQ(counts.unaccounted_planned(), 0);
  EXPECT_EQ(counts.unaccounted_started(), 0);
  EXPECT_EQ(samples.size(), counts.planned) << "one sample for each planned arrival";
  EXPECT_EQ(count(samples, Ending::saturated), counts.saturated);
  std::vector<std::uint64_t> arrivals;
  for (const Sample& sample : samples) arrivals.push_back(sample.arrival);
  std::ranges::sort(arrivals);
  EXPECT_EQ(std::ranges::adjacent_find(arrivals), arrivals.end());
}

/// Opens once; work waits at it.
class Gate {
 public:
  void open() {
    std::lock_guard lock(mutex_);
    open_ = true;
    changed_.notify_all();
  }
  void pass(const std::stop_token& stop = {}) {
    std::unique_lock lock(mutex_);
    changed_.wait(lock, stop, [&] { return open_; });
  }

 private:
  std::mutex mutex_;
  std::condition_variable_any changed_;
  bool open_ = false;
};

// --- what a run delivers ---

TEST(Runner, Case17_ExactlyMaxRequests) {
  std::atomic<int> calls{0};
  RunOptions options = at_rate(1000, 50, [&](const WorkContext&) -> WorkResult {
    ++calls;
    return {};
  });
  options.workers = 4;
  Runner run(options);
  const auto samples = read_all(run);
  EXPECT_EQ(samples.size(), 50U);
  EXPECT_EQ(calls, 50);
  expect_books_balance(run, samples);
  EXPECT_TRUE(run.finished());
}

TEST(Runner, Case18_UnlimitedInNumberEndsWhenStopped) {
  std::stop_source stop;
  RunOptions options = at_rate(1000);
  options.stop = stop.get_token();
  Runner run(options);
  EXPECT_TRUE(run.next());
  EXPECT_FALSE(run.finished());
  stop.request_stop();
  const auto rest = read_all(run);
  EXPECT_TRUE(run.finished());
  EXPECT_EQ(rest.size() + 1, run.counts().planned);
}

TEST(Runner, DurationEndsTheIssueWindow) {
  ManualClock clock;
  RunOptions options = at_rate(10);
  options.duration = 1s;
  options.clock = &clock;
  Runner run(options);
  clock.block_until_sleepers(1);
  clock.advance(950ms);
  clock.block_until_sleepers(1);
  EXPECT_FALSE(run.finished()) << "the window is open until its end";
  clock.advance(50ms);
  EXPECT_EQ(read_all(run).size(), 10U);
}

TEST(Runner, Case20_ARaisedRateTakesEffectAtOnce) {
  ManualClock clock;
  auto live = std::make_shared<LiveRate>(RateProfile::constant(10));
  RunOptions options;
  options.work = nothing;
  options.rate = live;
  options.max_requests = 60;
  options.clock = &clock;
  Runner run(options);
  clock.block_until_sleepers(1);
  clock.advance(300ms);
  clock.block_until_sleepers(1);
  run.set_rate(5000);
  clock.block_until_sleepers(1);
  clock.advance(20ms);
  const auto samples = read_all(run);
  EXPECT_EQ(samples.size(), 60U);
  EXPECT_LT(dues(samples).back(), 312ms);
}

TEST(Runner, Case21_AnExceptionFailsItsUnitOnly) {
  RunOptions options = at_rate(kUnlimited, 3, [](const WorkContext& context) -> WorkResult {
    if (context.arrival == 1) throw std::runtime_error("runner exploded");
    return {};
  });
  options.workers = 1;
  Runner run(options);
  const auto samples = read_all(run);
  ASSERT_EQ(samples.size(), 3U);
  EXPECT_EQ(count(samples, Ending::ok), 2U);
  const Sample& failed = samples[1];
  EXPECT_EQ(failed.ending, Ending::failed);
  ASSERT_TRUE(failed.error);
  EXPECT_EQ(failed.error->type, "std::runtime_error");
  EXPECT_EQ(failed.error->message, "runner exploded");
  EXPECT_TRUE(failed.started);
  EXPECT_TRUE(failed.service());
}

TEST(Runner, Case21_WhateverIsThrownIsCaught) {
  RunOptions options = at_rate(kUnlimited, 3, [](const WorkContext& context) -> WorkResult {
    if (context.arrival == 0) throw std::string("a string");
    if (context.arrival == 1) throw "characters";
    throw 42;
  });
  options.workers = 1;
  Runner run(options);
  const auto samples = read_all(run);
  ASSERT_EQ(count(samples, Ending::failed), 3U);
  EXPECT_EQ(samples[0].error->message, "a string");
  EXPECT_EQ(samples[1].error->message, "characters");
  EXPECT_EQ(samples[2].error->type, "int");
}

TEST(Runner, Case22_EveryStartedUnitIsStamped) {
  Runner run(at_rate(kUnlimited, 5));
  for (const Sample& sample : read_all(run)) {
    ASSERT_TRUE(sample.due && sample.released && sample.started && sample.done);
    EXPECT_LE(*sample.due, *sample.released);
    EXPECT_LE(*sample.released, *sample.started);
    EXPECT_LE(*sample.started, *sample.done);
  }
}

TEST(Runner, Case23_TheBufferFillsBeforeAnyRead) {
  RunOptions options = at_rate(kUnlimited, 64);
  options.workers = 1;
  Runner run(options);
  run.wait();
  EXPECT_EQ(run.buffered(), 64U);
  EXPECT_EQ(read_all(run).size(), 64U);
}

TEST(Runner, Case24_Unbuffered) {
  RunOptions options = at_rate(kUnlimited, 4);
  options.result_buffer = -1;
  Runner run(options);
  EXPECT_EQ(run.result_buffer(), 0U);
  EXPECT_EQ(read_all(run).size(), 4U);
}

TEST(Runner, Case25_WithoutWorkOrRate) {
  EXPECT_THROW(Runner({.work = {}, .rate = RateProfile::constant(1)}), std::invalid_argument);
  EXPECT_THROW(Runner({.work = nothing}), std::invalid_argument);
  EXPECT_THROW(Runner({.work = nothing, .rate = std::shared_ptr<LiveRate>()}),
               std::invalid_argument);
  EXPECT_THROW((void)measure({.work = nothing}), std::invalid_argument);
}

TEST(Runner, Case26_TenWorkersUnlessSaid) {
  for (const int workers : {0, -3}) {
    RunOptions options = at_rate(kUnlimited, 20);
    options.workers = workers;
    Runner run(options);
    EXPECT_EQ(run.workers(), 10);
    EXPECT_EQ(read_all(run).size(), 20U);
  }
}

TEST(Runner, Case27_CancelledAndNotReadItEnds) {
  RunOptions options = at_rate(kUnlimited);
  options.result_buffer = 1;
  Runner run(options);
  for (int i = 0; i < 5; ++i) ASSERT_TRUE(run.next());
  run.cancel();
  run.wait();
  EXPECT_EQ(run.buffered() + 5, run.counts().planned) << "nothing that ran is lost";
}

TEST(Runner, Case27_DestroyedAmidTheStreamItEnds) {
  std::atomic<int> running{0};
  {
    RunOptions options = at_rate(kUnlimited, 0, [&](const WorkContext&) -> WorkResult {
      ++running;
      --running;
      return {};
    });
    options.result_buffer = -1;
    Runner run(options);
    ASSERT_TRUE(run.next());
  }
  EXPECT_EQ(running, 0);
}

TEST(Runner, CancelAsksTheWorkToStop) {
  Gate never;
  RunOptions options = at_rate(kUnlimited, 0, [&](const WorkContext& context) -> WorkResult {
    never.pass(context.stop);
    return {.outcome = Outcome::cancelled};
  });
  options.workers = 3;
  Runner run(options);
  while (run.in_flight() < 3) std::this_thread::yield();
  run.cancel();
  const auto samples = read_all(run);
  EXPECT_EQ(count(samples, Ending::cancelled), 3U);
  expect_books_balance(run, samples);
}

TEST(Runner, AtTheEndOfTheDrainWorkIsToldToStop) {
  ManualClock clock;
  Gate never;
  RunOptions options = at_rate(10, 2, [&](const WorkContext& context) -> WorkResult {
    if (context.arrival == 1) never.pass(context.stop);
    return {};
  });
  options.drain = 5s;
  options.clock = &clock;
  Runner run(options);
  clock.block_until_sleepers(1);
  clock.advance(100ms);
  clock.block_until_sleepers(1);
  clock.advance(7s);
  const auto samples = read_all(run);
  ASSERT_EQ(samples.size(), 2U);
  EXPECT_EQ(samples[1].ending, Ending::in_flight);
  EXPECT_EQ(samples[1].service(), 5s) << "its elapsed time at the end of the drain";
  expect_books_balance(run, samples);
}

TEST(Runner, Case28_NothingStartsBeforeItIsDue) {
  RunOptions options = at_rate(500, 20);
  options.workers = 2;
  Runner run(options);
  const auto samples = read_all(run);
  ASSERT_EQ(samples.size(), 20U);
  for (const Sample& sample : samples) EXPECT_GE(*sample.started, *sample.due);
}

TEST(Runner, Case29_DueTimesAreExact) {
  ManualClock clock;
  RunOptions options = at_rate(10, 3);
  options.workers = 1;
  options.clock = &clock;
  Runner run(options);
  std::vector<Instant> due;
  for (int i = 0; i < 3; ++i) {
    const auto sample = run.next();
    ASSERT_TRUE(sample);
    due.push_back(*sample->due);
    EXPECT_EQ(sample->behind_schedule(), 0ns);
    if (i < 2) {
      clock.block_until_sleepers(1);
      clock.advance(100ms);
    }
  }
  EXPECT_EQ(due[1] - due[0], 100ms);
  EXPECT_EQ(due[2] - due[1], 100ms);
  EXPECT_FALSE(run.next());
}

TEST(Runner, Case30_SaturatedUnitsAreDelivered) {
  Gate gate;
  RunOptions options = at_rate(1000, 20, [&](const WorkContext&) -> WorkResult {
    gate.pass();
    return {};
  });
  options.pacing = Pacing::open;
  options.workers = 1;
  Runner run(options);
  std::vector<Sample> samples;
  while (auto sample = run.next()) {
    samples.push_back(*sample);
    if (count(samples, Ending::saturated) == 5) gate.open();
  }
  EXPECT_EQ(samples.size(), 20U);
  EXPECT_GE(count(samples, Ending::saturated), 5U);
  for (const Sample& sample : samples) {
    ASSERT_TRUE(sample.due);
    if (sample.saturated()) {
      ASSERT_TRUE(sample.error);
      EXPECT_EQ(sample.error->type, "saturated");
      EXPECT_FALSE(sample.service());
    }
  }
  expect_books_balance(run, samples);
}

TEST(Runner, Case31_AConsumerThatPausesIsNotSaturation) {
  // The consumer reads nothing while 60 arrivals fall due one by one.
  ManualClock clock;
  RunOptions options = at_rate(200, 60);
  options.pacing = Pacing::open;
  options.workers = 2;
  options.result_buffer = -1;
  options.clock = &clock;
  Runner run(options);
  for (int i = 0; i < 59; ++i) {
    clock.block_until_sleepers(1);
    while (run.in_flight() != 0) std::this_thread::yield();
    clock.advance(5ms);
  }
  const auto samples = read_all(run);
  EXPECT_EQ(samples.size(), 60U);
  EXPECT_EQ(count(samples, Ending::ok), 60U);
}

TEST(Runner, Case32_WithoutAConsumerEverythingStaysBounded) {
  std::atomic<int> calls{0};
  RunOptions options = at_rate(kUnlimited, 0, [&](const WorkContext&) -> WorkResult {
    ++calls;
    return {};
  });
  options.pacing = Pacing::open;
  options.workers = 4;
  options.result_buffer = 16;
  Runner run(options);
  while (run.buffered() < 16 + 64) std::this_thread::yield();
  std::this_thread::sleep_for(50ms);
  EXPECT_EQ(run.buffered(), 16U + 64U);
  EXPECT_LE(calls, 16 + 64 + 4);
}

TEST(Runner, Case32_TheScheduleWaitsForAConsumerToo) {
  ManualClock clock;
  Gate gate;
  RunOptions options = at_rate(10, 200, [&](const WorkContext&) -> WorkResult {
    gate.pass();
    return {};
  });
  options.pacing = Pacing::open;
  options.workers = 1;
  options.result_buffer = 1;
  options.clock = &clock;
  Runner run(options);
  for (int tick = 0; tick < 65; ++tick) {
    clock.block_until_sleepers(1);
    clock.advance(100ms);
    while (run.buffered() <= static_cast<std::size_t>(tick)) std::this_thread::yield();
  }
  clock.block_until_sleepers(1);
  clock.advance(20s);
  while (clock.sleepers() != 0) std::this_thread::yield();  // it waits for the consumer instead
  EXPECT_EQ(run.buffered(), 65U);
  gate.open();
  const auto samples = read_all(run);
  EXPECT_EQ(samples.size(), 200U);
  expect_books_balance(run, samples);
}

TEST(Runner, Case33_ClosedNeverSaturates) {
  std::atomic<int> running{0};
  std::atomic<int> most{0};
  RunOptions options = at_rate(1000, 30, [&](const WorkContext&) -> WorkResult {
    const int now = ++running;
    int seen = most;
    while (now > seen && !most.compare_exchange_weak(seen, now)) {
    }
    std::this_thread::sleep_for(5ms);
    --running;
    return {};
  });
  options.workers = 3;
  Runner run(options);
  const auto samples = read_all(run);
  EXPECT_EQ(count(samples, Ending::ok), 30U);
  EXPECT_LE(most, 3);
}

TEST(Runner, Case34_BurstOfFiveAfterOneJump) {
  ManualClock clock;
  RunOptions options = at_rate(1, 6);
  options.on_late = OnLate::burst;
  options.burst = 5;
  options.workers = 4;
  options.clock = &clock;
  Runner run(options);
  ASSERT_TRUE(run.next());
  clock.block_until_sleepers(1);
  EXPECT_EQ(run.counts().planned, 1U);
  clock.advance(5s);
  EXPECT_EQ(read_all(run).size(), 5U);
}

TEST(Runner, Case35_EachTickSaturates) {
  ManualClock clock;
  Gate gate;
  RunOptions options = at_rate(10, 4, [&](const WorkContext&) -> WorkResult {
    gate.pass();
    return {};
  });
  options.pacing = Pacing::open;
  options.workers = 1;
  options.clock = &clock;
  Runner run(options);
  std::vector<Sample> samples;
  for (int tick = 0; tick < 3; ++tick) {
    clock.block_until_sleepers(1);
    clock.advance(100ms);
    const auto sample = run.next();
    ASSERT_TRUE(sample);
    EXPECT_TRUE(sample->saturated());
    EXPECT_EQ(*sample->due - Instant{}, 100ms * (tick + 1));
    samples.push_back(*sample);
  }
  gate.open();
  const auto rest = read_all(run);
  ASSERT_EQ(rest.size(), 1U);
  EXPECT_EQ(rest[0].service(), 300ms);
  const Counts counts = run.counts();
  EXPECT_EQ(counts.planned, 4U);
  EXPECT_EQ(counts.saturated, 3U);
  EXPECT_EQ(counts.ok, 1U);
}

TEST(Runner, Case36_ASlowTargetIsBehindSchedule) {
  RunOptions options = at_rate(1000, 20, takes(5ms));
  options.workers = 1;
  Runner run(options);
  const auto samples = read_all(run);
  ASSERT_EQ(samples.size(), 20U);
  // A unit takes at least 5 ms and is due every 1 ms: the last one starts at least 95 ms in, due
  // at 19.
  EXPECT_GE(worst_behind(samples), 76ms);
  EXPECT_GE(samples.back().service(), 5ms);
}

TEST(Runner, Case37_OneJump) {
  ManualClock clock;
  RunOptions options = at_rate(10, 3);
  options.workers = 1;
  options.clock = &clock;
  Runner run(options);
  std::vector<Sample> samples{*run.next()};
  clock.block_until_sleepers(1);
  clock.advance(500ms);
  for (const Sample& sample : run) samples.push_back(sample);
  EXPECT_THAT(dues(samples), testing::ElementsAre(0ms, 100ms, 200ms));
  EXPECT_EQ(worst_behind(samples), 400ms);
  EXPECT_EQ(count(samples, Ending::saturated), 0U);
}

TEST(Runner, Case38_RunsThatStartPausedRecover) {
  const auto ramp = RateProfile::ramp(0, 500, 400ms);
  const auto phased = RateProfile::phased({{200ms, 0}, {5s, 500}});
  for (const auto& profile : {ramp, phased}) {
    RunOptions options = at_rate(0, 50);
    options.rate = profile;
    options.workers = 4;
    Runner run(options);
    EXPECT_EQ(read_all(run).size(), 50U);
  }
}

TEST(Runner, Case38_Case39_PausedAndResumedByHand) {
  ManualClock clock;
  auto live = std::make_shared<LiveRate>(RateProfile::constant(0));
  RunOptions options;
  options.work = nothing;
  options.rate = live;
  options.max_requests = 200;
  options.clock = &clock;
  Runner run(options);
  clock.block_until_sleepers(1);
  clock.advance(200ms);
  EXPECT_EQ(run.counts().planned, 0U);
  run.set_rate(500);
  clock.advance(150ms);
  while (run.counts().planned < 76) std::this_thread::yield();
  run.set_rate(kNan);
  clock.advance(200ms);
  run.set_rate(500);
  clock.advance(1s);
  const auto samples = read_all(run);
  EXPECT_EQ(samples.size(), 200U);
  // Schedule time stood still during the pause. It began at 350 ms or 1 ns later: when the schedule
  // had already taken up what was due by then.
  EXPECT_NEAR(static_cast<double>((dues(samples)[76] - 552ms).count()), 0, 1);
}

TEST(MeasuredRunner, Case19_PacedAsAsked) {
  RunOptions options = at_rate(200, 100);
  options.workers = 4;
  const Instant start = Monotonic::now();
  Runner run(options);
  EXPECT_EQ(read_all(run).size(), 100U);
  EXPECT_GE(Monotonic::now() - start, 495ms);
  EXPECT_LT(Monotonic::now() - start, 5s);
}

TEST(MeasuredRunner, Case40_AchievedRates) {
  for (const double rate : {10.0, 100.0, 1000.0, 20000.0}) {
    for (const Pacing pacing : {Pacing::closed, Pacing::open}) {
      RunOptions options = at_rate(rate);
      options.pacing = pacing;
      options.on_saturation = OnSaturation::queue;
      options.duration = 500ms;
      const Measurement measured = measure(options);
      EXPECT_EQ(static_cast<double>(measured.interval.counts.planned), rate / 2);
      EXPECT_EQ(measured.interval.counts.ok, measured.interval.counts.planned);
    }
  }
}

// --- cases 41 to 80: every configuration ends by itself, with exactly what was asked for ---

struct Shape {
  const char* name;
  RateProfile profile;
};

class RunnerMatrix : public testing::TestWithParam<std::tuple<Pacing, Shape>> {};

TEST_P(RunnerMatrix, Case41To64_DeliversExactlyMax) {
  const auto& [pacing, shape] = GetParam();
  RunOptions options = at_rate(0, 40, takes(1ms));
  options.rate = shape.profile;
  options.pacing = pacing;
  options.workers = 4;
  Runner run(options);
  const auto samples = read_all(run);
  if (shape.profile.rate_at(1h) == 0 && shape.profile.arrivals_by(1h) == 0) {
    EXPECT_EQ(samples.size(), 0U);
  } else {
    EXPECT_EQ(samples.size(), 40U);
  }
  expect_books_balance(run, samples);
}

INSTANTIATE_TEST_SUITE_P(
    Shapes, RunnerMatrix,
    testing::Combine(
        testing::Values(Pacing::closed, Pacing::open),
        testing::Values(Shape{"constant", RateProfile::constant(500)},
                        Shape{"paused", RateProfile::constant(0)},
                        Shape{"unlimited", RateProfile::constant(kUnlimited)},
                        Shape{"ramp_up", RateProfile::ramp(100, 1000, 200ms)},
                        Shape{"ramp_from_0", RateProfile::ramp(0, 1000, 200ms)},
                        Shape{"ramp_to_0", RateProfile::ramp(1000, 0, 200ms)},
                        Shape{"ramp_at_once", RateProfile::ramp(10, 1000, 0ns)},
                        Shape{"phased", RateProfile::phased({{100ms, 200}, {1s, 1000}})},
                        Shape{"phased_from_0", RateProfile::phased({{100ms, 0}, {1s, 1000}})})),
    [](const auto& param) {
      return std::string(std::get<0>(param.param) == Pacing::open ? "open_" : "closed_") +
             std::get<1>(param.param).name;
    });

TEST(Runner, Case41To64_LiveRates) {
  for (const Pacing pacing : {Pacing::closed, Pacing::open}) {
    for (const double first : {500.0, 0.0, kNan}) {
      RunOptions options = at_rate(0, 40, takes(1ms));
      options.rate = std::make_shared<LiveRate>(RateProfile::constant(first));
      options.pacing = pacing;
      options.workers = 4;
      Runner run(options);
      run.set_rate(first == 500 ? 500 : 1000);
      const auto samples = read_all(run);
      EXPECT_EQ(samples.size(), 40U);
      expect_books_balance(run, samples);
    }
  }
}

TEST(Runner, Case65To78_EveryConfigurationDeliversAll) {
  SystemClock clock;
  std::map<std::string, RunOptions> all;
  const auto variant = [&](const std::string& name) -> RunOptions& {
    return all.emplace(name, at_rate(2000, 20)).first->second;
  };
  for (const int workers : {0, -7, 1, 256}) {
    variant("workers " + std::to_string(workers)).workers = workers;
  }
  for (const int buffer : {-1, 0, 1}) {
    variant("buffer " + std::to_string(buffer)).result_buffer = buffer;
  }
  for (const int burst : {0, 1, 40}) {
    RunOptions& options = variant("burst " + std::to_string(burst));
    options.on_late = OnLate::burst;
    options.burst = burst;
  }
  variant("system clock").clock = &clock;
  variant("open").pacing = Pacing::open;
  RunOptions& unbuffered = variant("open unbuffered");
  unbuffered.pacing = Pacing::open;
  unbuffered.result_buffer = -1;
  RunOptions& one = variant("open, one worker");
  one.pacing = Pacing::open;
  one.workers = 1;
  EXPECT_EQ(all.size(), 14U);
  for (const auto& [name, options] : all) {
    Runner run(options);
    const auto samples = read_all(run);
    EXPECT_EQ(samples.size(), 20U) << name;
    expect_books_balance(run, samples);
  }
}

TEST(Runner, Case79_Case80_StoppedByTheCaller) {
  for (const Pacing pacing : {Pacing::closed, Pacing::open}) {
    std::stop_source stop;
    RunOptions options = at_rate(1000);
    options.pacing = pacing;
    options.stop = stop.get_token();
    Runner run(options);
    std::vector<Sample> samples;
    while (auto sample = run.next()) {
      samples.push_back(*sample);
      if (samples.size() == 20) stop.request_stop();
    }
    EXPECT_GE(samples.size(), 20U);
    expect_books_balance(run, samples);
  }
}

TEST(Runner, StoppedBeforeItStartsItSendsNothingMore) {
  std::stop_source stop;
  stop.request_stop();
  RunOptions options = at_rate(10);
  options.stop = stop.get_token();
  Runner run(options);
  const auto samples = read_all(run);
  EXPECT_LE(samples.size(), 1U);
}

TEST(Runner, Case7_ANanRateDoesNotFlood) {
  RunOptions options = at_rate(kNan, 5);
  options.workers = 2;
  Runner run(options);
  EXPECT_EQ(read_all(run).size(), 0U);
}

// --- policies reach the driver ---

TEST(Runner, QueueLetsArrivalsWait) {
  ManualClock clock;
  Gate gate;
  RunOptions options = at_rate(10, 4, [&](const WorkContext&) -> WorkResult {
    gate.pass();
    return {};
  });
  options.pacing = Pacing::open;
  options.on_saturation = OnSaturation::queue;
  options.workers = 1;
  options.clock = &clock;
  Runner run(options);
  while (run.in_flight() == 0) std::this_thread::yield();
  for (int tick = 0; tick < 3; ++tick) {
    clock.block_until_sleepers(1);
    clock.advance(100ms);
  }
  clock.block_until_sleepers(1);
  gate.open();
  const auto samples = read_all(run);
  ASSERT_EQ(samples.size(), 4U);
  EXPECT_EQ(count(samples, Ending::ok), 4U);
  for (const Sample& sample : samples) {
    EXPECT_EQ(*sample.released, *sample.due);
    if (sample.arrival != 0) {
      EXPECT_EQ(sample.behind_schedule(), 300ms - 100ms * sample.arrival);
    }
  }
}

TEST(Runner, MaxWaitAndQueueLimit) {
  ManualClock clock;
  Gate gate;
  RunOptions options = at_rate(10, 6, [&](const WorkContext&) -> WorkResult {
    gate.pass();
    return {};
  });
  options.pacing = Pacing::open;
  options.on_saturation = OnSaturation::queue;
  options.max_wait = 350ms;
  options.queue_limit = 2;
  options.workers = 1;
  options.clock = &clock;
  Runner run(options);
  for (int tick = 0; tick < 5; ++tick) {
    clock.block_until_sleepers(1);
    while (run.in_flight() == 0) std::this_thread::yield();
    clock.advance(100ms);
  }
  clock.block_until_sleepers(1);
  gate.open();
  const auto samples = read_all(run);
  EXPECT_EQ(count(samples, Ending::saturated), 2U);
  EXPECT_EQ(count(samples, Ending::missed_waited), 1U);
  EXPECT_EQ(count(samples, Ending::ok), 3U);
  expect_books_balance(run, samples);
}

TEST(Runner, SkipMissesWhatIsLate) {
  ManualClock clock;
  RunOptions options = at_rate(10, 11);
  options.on_late = OnLate::skip;
  options.clock = &clock;
  Runner run(options);
  ASSERT_TRUE(run.next());
  clock.block_until_sleepers(1);
  clock.advance(1s);
  const auto samples = read_all(run);
  EXPECT_EQ(count(samples, Ending::missed_late), 8U);
  EXPECT_EQ(count(samples, Ending::ok), 2U) << "on time, and one gap late";
}

TEST(Runner, PoissonRunsRepeat) {
  const auto run_once = [] {
    ManualClock clock;
    RunOptions options = at_rate(1000, 30);
    options.arrivals = Arrivals::poisson;
    options.seed = 5;
    options.clock = &clock;
    Runner run(options);
    clock.block_until_sleepers(1);
    clock.advance(900ms);
    return dues(read_all(run));
  };
  const auto first = run_once();
  EXPECT_EQ(first.size(), 30U);
  EXPECT_EQ(first, run_once());
}

// --- warm-up ---

TEST(Runner, M11_WarmupByCountIsExcluded) {
  std::atomic<int> calls{0};
  RunOptions options = at_rate(kUnlimited, 20, [&](const WorkContext&) -> WorkResult {
    ++calls;
    return {};
  });
  options.warmup_requests = 7;
  Runner run(options);
  const auto samples = read_all(run);
  EXPECT_EQ(samples.size(), 20U);
  EXPECT_EQ(calls, 27);
  EXPECT_EQ(run.warmup_excluded(), 7U);
  expect_books_balance(run, samples);
}

TEST(Runner, M11_WarmupByTimeRunsAtTheFirstRateBeforeTheStart) {
  ManualClock clock;
  RunOptions options = at_rate(0, 3);
  options.rate = RateProfile::phased({{100ms, 20}, {1s, 1000}});
  options.warmup = 500ms;
  options.clock = &clock;
  Runner run(options);
  clock.block_until_sleepers(1);
  clock.advance(500ms);  // ten in the warm-up; the first measured one is due at its end
  ASSERT_TRUE(run.next());
  EXPECT_EQ(run.warmup_excluded(), 10U);
  clock.block_until_sleepers(1);
  clock.advance(1s);
  EXPECT_THAT(dues(read_all(run), Instant{} + 500ms), testing::ElementsAre(50ms, 100ms));
}

TEST(Runner, WarmupAtRateZeroDoesNotHang) {
  RunOptions options = at_rate(0, 10);
  options.rate = RateProfile::ramp(0, 5000, 20ms);
  options.warmup_requests = 5;
  Runner run(options);
  EXPECT_EQ(read_all(run).size(), 10U);
  EXPECT_EQ(run.warmup_excluded(), 0U);
}

// --- work ---

TEST(Runner, Case106_AFunctionIsWork) {
  RunOptions options = at_rate(kUnlimited, 1, [](const WorkContext&) -> WorkResult {
    return {.outcome = Outcome::failed,
            .code = "503",
            .bytes = 12,
            .labels = {{"region", "eu"}},
            .error = SampleError{"http", "unavailable", {}}};
  });
  Runner run(options);
  const auto sample = run.next();
  ASSERT_TRUE(sample);
  EXPECT_EQ(sample->code, "503");
  EXPECT_EQ(sample->bytes, 12U);
  EXPECT_EQ(sample->label("region"), "eu");
  EXPECT_EQ(sample->error->message, "unavailable");
  EXPECT_FALSE(sample->success());
}

TEST(Runner, Case111_SuccessIffOk) {
  RunOptions options = at_rate(kUnlimited, 5, [](const WorkContext& context) -> WorkResult {
    return {.outcome = static_cast<Outcome>(context.arrival % 4)};
  });
  Runner run(options);
  for (const Sample& sample : read_all(run)) EXPECT_EQ(sample.success(), sample.arrival % 4 == 0);
}

TEST(Runner, Case107_Case108_MixByWeight) {
  std::atomic<int> first{0}, second{0};
  const auto counting = [](std::atomic<int>& calls) -> Work {
    return [&calls](const WorkContext&) -> WorkResult {
      ++calls;
      return {};
    };
  };
  Runner run(at_rate(kUnlimited, 2000, mix({{counting(first), 9}, {counting(second), 1}})));
  std::thread reader([&] { read_all(run); });
  reader.join();
  EXPECT_EQ(first, 1800) << "exactly, in whole blocks";
  EXPECT_EQ(second, 200);
}

TEST(Runner, Case109_Case110_MixRefusesAndCopies) {
  EXPECT_THROW((void)mix({}), std::invalid_argument);
  EXPECT_THROW((void)mix({{nothing, 0}, {nothing, 0}}), std::invalid_argument);
  EXPECT_THROW((void)mix({{nothing, -1}, {nothing, 3}}), std::invalid_argument);
  EXPECT_THROW((void)mix({{Work{}, 1}}), std::invalid_argument);

  int first = 0;
  std::vector<WeightedWork> works{{[&](const WorkContext&) -> WorkResult {
                                     ++first;
                                     return {};
                                   },
                                   1},
                                  {nothing, 1}};
  const Work mixed = mix(works);
  works[0].weight = 1000;
  for (std::uint64_t n = 0; n < 1000; ++n) (void)mixed({.stop = {}, .arrival = n});
  EXPECT_EQ(first, 500);
}

TEST(Runner, Case112_AllAreCounted) {
  RunOptions options = at_rate(500, 100);
  options.workers = 4;
  Runner run(options);
  run.wait();
  EXPECT_EQ(run.counts().ok, 100U);
}

// --- the measuring run ---

TEST(Runner, MeasureReturnsTheSum) {
  RunOptions options = at_rate(kUnlimited, 1000, [](const WorkContext& context) -> WorkResult {
    if (context.arrival % 10 == 0) throw std::runtime_error("no");
    return {.code = "200", .bytes = 3};
  });
  options.workers = 4;
  options.warmup_requests = 50;
  const Measurement measured = measure(options);
  const Counts& counts = measured.interval.counts;
  EXPECT_EQ(counts.planned, 1000U);
  EXPECT_EQ(counts.ok, 900U);
  EXPECT_EQ(counts.failed, 100U);
  EXPECT_EQ(counts.bytes_received, 2700U);
  EXPECT_EQ(counts.unaccounted_planned(), 0);
  EXPECT_EQ(counts.unaccounted_started(), 0);
  EXPECT_EQ(measured.interval.response.count(), 900U);
  EXPECT_EQ(measured.warmup_excluded, 50U);
  ASSERT_THAT(measured.codes, testing::Contains("200"));
  EXPECT_THAT(measured.errors, testing::Contains("std::runtime_error"));
}

// --- many threads at once ---

TEST(Runner, ManyCallersAtOnce) {
  auto live = std::make_shared<LiveRate>(RateProfile::constant(2000));
  RunOptions options;
  options.work = [](const WorkContext& context) -> WorkResult {
    if (context.arrival % 17 == 0) throw 1;
    return {.code = std::to_string(context.arrival % 5)};
  };
  options.rate = live;
  options.pacing = Pacing::open;
  options.workers = 8;
  options.result_buffer = 4;
  Runner run(options);
  std::atomic<std::uint64_t> read{0};
  std::vector<std::jthread> threads;
  for (int i = 0; i < 3; ++i) {
    threads.emplace_back([&] {
      while (run.next()) ++read;
    });
  }
  threads.emplace_back([&] {
    for (int i = 0; i < 300; ++i) run.set_rate(i % 3 == 0 ? 0 : 50000.0);
    while (read < 500) {
      run.set_rate(50000);
      (void)run.counts();
      (void)run.in_flight();
      std::this_thread::yield();
    }
    run.cancel();
  });
  threads.clear();
  EXPECT_EQ(read, run.counts().planned);
  EXPECT_EQ(run.counts().unaccounted_planned(), 0);
  EXPECT_EQ(run.counts().unaccounted_started(), 0);
}

TEST(Runner, ARunCanBeMoved) {
  std::optional<Runner> moved;
  {
    Runner run(at_rate(kUnlimited, 10));
    moved.emplace(std::move(run));
  }
  EXPECT_EQ(read_all(*moved).size(), 10U);
}

TEST(Runner, OneSetOfOptionsRunsSeveralTimes) {
  const RunOptions options = at_rate(kUnlimited, 10);
  for (int i = 0; i < 3; ++i) {
    Runner run(options);
    EXPECT_EQ(read_all(run).size(), 10U);
  }
}

}  // namespace
}  // namespace onbeat::kernel
