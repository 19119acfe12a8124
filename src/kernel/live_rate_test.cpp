#include <onbeat/kernel/live_rate.hpp>
#include <onbeat/kernel/random.hpp>
#include <onbeat/kernel/schedule.hpp>

#include <gtest/gtest.h>

#include <algorithm>
#include <atomic>
#include <chrono>
#include <cmath>
#include <cstdint>
#include <limits>
#include <memory>
#include <thread>
#include <vector>

namespace onbeat::kernel {
namespace {

using namespace std::chrono_literals;

constexpr double kInfinity = std::numeric_limits<double>::infinity();
constexpr double kNaN = std::numeric_limits<double>::quiet_NaN();
constexpr Instant kStart{1000s};

TEST(LiveRate, Case4_SetRateBeforeTheRun) {
  LiveRate live(RateProfile::constant(10));
  EXPECT_EQ(live.profile().rate_at(0s), 10);
  live.set_rate(42.5);
  EXPECT_EQ(live.profile().rate_at(0s), 42.5);
}

TEST(LiveRate, Case5_ManyThreadsSetAndRead) {
  LiveRate live(RateProfile::constant(10));
  live.begin(Monotonic::now(), 1);
  std::vector<std::jthread> threads;
  for (int i = 0; i < 4; ++i) {
    threads.emplace_back([&, i] {
      for (int n = 0; n < 250; ++n) live.set_rate(1 + i);
    });
    threads.emplace_back([&] {
      RateProfile own;
      std::uint64_t version = live.read(own);
      for (int n = 0; n < 250; ++n) {
        if (live.behind(version)) version = live.read(own);
        EXPECT_GE(own.rate_at(1h), 1);
      }
    });
  }
  threads.clear();
  RateProfile own;
  EXPECT_FALSE(live.behind(live.read(own)));
  EXPECT_EQ(own.rate_at(1h), live.profile().rate_at(1h));
}

TEST(LiveRate, OneLoopChangesAtOnceSeveralAfterTwoMilliseconds) {
  for (const unsigned loops : {1U, 2U}) {
    LiveRate live(RateProfile::constant(10));
    live.begin(kStart, loops);
    live.set_rate(20, [] { return kStart + 1s; });
    const Duration tau = loops == 1 ? 1s : 1s + 2ms;
    EXPECT_EQ(live.profile().rate_at(tau - 1ns), 10);
    EXPECT_EQ(live.profile().rate_at(tau), 20);
    EXPECT_EQ(live.profile().last_boundary(), tau);
  }
}

TEST(LiveRate, AChangeNeverRewritesThePast) {
  LiveRate live(RateProfile::constant(10));
  live.begin(kStart, 1);
  live.released_up_to(1500ms);
  // A clock that is behind the loop's, as those of two cores may be.
  live.set_rate(20, [] { return kStart + 1s; });
  EXPECT_EQ(live.profile().last_boundary(), 1500ms + 1ns);
  // Nor does an earlier instant come before a later change, or before the run.
  live.set_rate(30, [] { return kStart - 5s; });
  EXPECT_EQ(live.profile().last_boundary(), 1500ms + 1ns);
  EXPECT_EQ(live.profile().rate_at(1500ms), 10);
  EXPECT_EQ(live.profile().rate_at(2s), 30);
}

TEST(LiveRate, ChangesComeInTheirOrderWhateverTheClocksSay) {
  LiveRate live(RateProfile::constant(10));
  live.begin(kStart, 4);
  live.set_rate(20, [] { return kStart + 2s; });
  live.set_rate(30, [] { return kStart + 1s; });
  EXPECT_EQ(live.profile().last_boundary(), 2s + 2ms);
  EXPECT_EQ(live.profile().rate_at(2s), 10);
  EXPECT_EQ(live.profile().rate_at(3s), 30);
}

TEST(LiveRate, AChangeOverridesTheRestOfTheProfile) {
  LiveRate live(RateProfile::ramp(0, 100, 60s));
  live.begin(kStart, 1);
  live.set_rate(20, [] { return kStart + 10s; });
  EXPECT_DOUBLE_EQ(live.profile().arrivals_by(10s), 1000.0 / 12);
  EXPECT_EQ(live.profile().rate_at(10s), 20);
  EXPECT_EQ(live.profile().rate_at(61s), 20);
}

TEST(LiveRate, BadRatesPauseAndCanBeResumed) {
  for (const double rate : {0.0, -5.0, -kInfinity, kNaN}) {
    LiveRate live(RateProfile::constant(10));
    live.begin(kStart, 1);
    live.set_rate(rate, [] { return kStart + 1s; });
    EXPECT_EQ(live.profile().time_of(10), kNoTime);
    live.set_rate(10, [] { return kStart + 60s; });
    EXPECT_EQ(live.profile().time_of(10), 60s);
    EXPECT_EQ(live.profile().time_of(11), 60s + 100ms);
  }
}

TEST(LiveRate, ALoopIsBehindFromTheAnnouncementOn) {
  LiveRate live(RateProfile::constant(10));
  live.begin(kStart, 1);
  RateProfile own;
  const std::uint64_t version = live.read(own);
  EXPECT_FALSE(live.behind(version));
  // The clock is read after the change was announced: who read its own before sees the
  // announcement.
  live.set_rate(20, [&] {
    EXPECT_TRUE(live.behind(version));
    return kStart + 1s;
  });
  EXPECT_TRUE(live.behind(version));
  EXPECT_FALSE(live.behind(live.read(own)));
  EXPECT_EQ(own.rate_at(1s), 20);
}

TEST(LiveRate, EveryLoopIsWokenAfterTheChangeUntilTheEnd) {
  LiveRate live(RateProfile::constant(10));
  live.begin(Monotonic::now(), 2);  // set_rate() below reads the real clock
  int first = 0, second = 0;
  live.on_change([&] {
    ++first;
    EXPECT_EQ(live.profile().rate_at(1h), 20);  // the change is there, and no lock is held
  });
  live.on_change([&] { ++second; });
  live.set_rate(20);
  EXPECT_EQ(first, 1);
  EXPECT_EQ(second, 1);
  live.end();
  live.set_rate(30);
  EXPECT_EQ(first, 1);
  EXPECT_EQ(second, 1);
}

TEST(LiveRate, LeavingAnInfiniteRateGoesOnFromWhereTheLoopIs) {
  LiveRate live(RateProfile::constant(kInfinity));
  live.begin(kStart, 1);
  SchedulePlan plan;
  std::uint64_t version = live.read(plan.profile);
  ScheduleCursor cursor(plan);
  while (cursor.number() < 1000) cursor.next();
  EXPECT_EQ(cursor.due(), 0s);

  live.set_rate(100, [] { return kStart + 5s; });
  ASSERT_TRUE(live.behind(version));
  version = live.read(plan.profile, cursor.position());
  cursor.refresh();
  EXPECT_EQ(cursor.due(), 5s);
  cursor.next();
  EXPECT_EQ(cursor.due(), 5010ms);
  EXPECT_EQ(live.profile().time_of(1001), 5010ms);
}

double random_rate(Random& random) {
  const std::uint64_t kind = random.below(8);
  if (kind == 0) return 0;
  if (kind == 1) return random.below(2) == 0 ? kNaN : -3;
  return std::exp(random.uniform() * 12);  // 1 to 160 000
}

// A loop as the contract describes it, one of its steps at a time so that a test can put anything
// between.
class Loop {
 public:
  Loop(LiveRate& live, std::uint32_t share, std::uint32_t of, Duration length) : live_(live) {
    plan_.share = share;
    plan_.of = of;
    plan_.length = length;
    version_ = live.read(plan_.profile);
    cursor_ = std::make_unique<ScheduleCursor>(plan_);
  }

  void read_clock(Duration now) {
    now_ = now;
    live_.released_up_to(now);
  }
  void catch_up() {
    if (!live_.behind(version_)) return;
    version_ = live_.read(plan_.profile);
    cursor_->refresh();
  }
  void release() {
    for (; cursor_->due() <= now_; cursor_->next()) released.push_back(cursor_->number());
  }
  [[nodiscard]] Duration due() const { return cursor_->due(); }

  std::vector<std::uint64_t> released;

 private:
  LiveRate& live_;
  SchedulePlan plan_;
  std::uint64_t version_ = 0;
  std::unique_ptr<ScheduleCursor> cursor_;
  Duration now_{};
};

struct Change {
  Duration from;
  double rate;
};

// The sum over the changes, as plainly as can be.
long double offered_by(Duration end, const std::vector<Change>& changes) {
  long double sum = 0;
  for (std::size_t i = 0; i < changes.size(); ++i) {
    const Duration until = i + 1 < changes.size() ? std::min(end, changes[i + 1].from) : end;
    if (until <= changes[i].from) continue;
    sum += static_cast<long double>(sanitise_rate(changes[i].rate)) *
           static_cast<long double>((until - changes[i].from).count()) / 1e9L;
  }
  return sum;
}

// Every planned arrival was released exactly once, and nothing else was.
void expect_exact(const std::vector<std::unique_ptr<Loop>>& loops, const LiveRate& live,
                  const std::vector<Change>& changes, Duration length) {
  const std::uint64_t planned =
      planned_arrivals(SchedulePlan{.profile = live.profile(), .length = length});
  const long double offered = offered_by(length, changes);
  if (std::abs(offered - std::round(offered)) > 1e-6L) {
    EXPECT_EQ(planned, static_cast<std::uint64_t>(std::ceil(offered)));
  }
  std::vector<std::uint64_t> released;
  for (const auto& loop : loops) {
    released.insert(released.end(), loop->released.begin(), loop->released.end());
  }
  std::ranges::sort(released);
  ASSERT_EQ(released.size(), planned);
  for (std::uint64_t n = 0; n < planned; ++n) ASSERT_EQ(released[n], n);
}

// All interleavings of the loops' steps with changes, as a seed picks them: time moves by up to a
// few gaps between any two steps, often exactly to the next due time, and changes often fall on
// one.
void run_interleaved(std::uint32_t loop_count, std::uint64_t seed, int change_count) {
  constexpr Duration kLength = 1h;
  Random random(seed);
  LiveRate live(RateProfile::constant(1000));
  live.begin(kStart, loop_count);
  std::vector<Change> changes = {{0s, 1000}};
  std::vector<std::unique_ptr<Loop>> loops;
  for (std::uint32_t k = 0; k < loop_count; ++k) {
    loops.push_back(std::make_unique<Loop>(live, k, loop_count, kLength));
  }
  std::vector<int> steps(loop_count);
  Duration now{};
  while (change_count > 0) {
    const auto k = random.below(loop_count + 1);
    if (k < loop_count) {
      Loop& loop = *loops[k];
      switch (steps[k]++ % 3) {
        case 0:
          loop.read_clock(now);
          break;
        case 1:
          loop.catch_up();
          break;
        default:
          loop.release();
          break;
      }
    } else if (random.below(4) == 0) {
      const double rate = random_rate(random);
      live.set_rate(rate, [&] { return kStart + now; });
      changes.push_back({live.profile().last_boundary(), rate});
      --change_count;
    } else if (const Duration due = loops.front()->due();
               random.below(2) == 0 && due < now + 10ms) {
      now = std::max(now, due);
    } else {
      now += Duration(static_cast<std::int64_t>(random.below(1'000'000)));
    }
  }
  for (const auto& loop : loops) {  // what was begun is ended, then one last turn
    loop->catch_up();
    loop->read_clock(now + 5ms);
    loop->catch_up();
    loop->release();
  }
  expect_exact(loops, live, changes, now + 5ms + 1ns);
}

TEST(LiveRate, Rule03_AThousandChangesOnFourLoopsInterleavedAtWill) {
  for (std::uint64_t seed = 1; seed <= 20; ++seed) run_interleaved(4, seed, 1000);
}

TEST(LiveRate, Rule03_AThousandChangesOnOneLoopOftenAtADueTime) {
  for (std::uint64_t seed = 1; seed <= 20; ++seed) run_interleaved(1, seed, 1000);
}

TEST(LiveRate, Rule03_AChangeExactlyWhenAnArrivalIsDue) {
  for (const bool loop_first : {false, true}) {
    LiveRate live(RateProfile::constant(3));
    live.begin(kStart, 1);
    std::vector<std::unique_ptr<Loop>> loops;
    loops.push_back(std::make_unique<Loop>(live, 0, 1, kNoTime));
    Loop& loop = *loops.front();
    const Duration due{333'333'333};
    const auto turn = [&](Duration now) {
      loop.read_clock(now);
      loop.catch_up();
      loop.release();
    };
    turn(0s);
    if (loop_first) turn(due);
    live.set_rate(0, [&] { return kStart + due; });
    turn(due);
    turn(10s);
    // Whoever came first is right, and the profile agrees with what was done.
    EXPECT_EQ(loop.released.size(), loop_first ? 2U : 1U);
    EXPECT_EQ(planned_arrivals(SchedulePlan{.profile = live.profile(), .length = 10s}),
              loop.released.size());
    live.set_rate(3, [&] { return kStart + 10s; });
    turn(10s + 1ms);
    EXPECT_EQ(loop.released.size(), 2U);
  }
}

// The same with real threads and the real clock; whatever the scheduler does, the sums are exact.
TEST(LiveRate, Rule03_AThousandChangesOnFourThreads) {
  constexpr std::uint32_t kLoops = 4;
  constexpr int kChanges = 1000;
  LiveRate live(RateProfile::constant(1000));
  std::vector<Change> changes = {{0s, 1000}};
  const Instant start = Monotonic::now();
  live.begin(start, kLoops);
  std::vector<std::unique_ptr<Loop>> loops;
  for (std::uint32_t k = 0; k < kLoops; ++k) {
    loops.push_back(std::make_unique<Loop>(live, k, kLoops, kNoTime));
  }
  std::atomic<bool> over{false};
  {
    std::vector<std::jthread> threads;
    for (auto& loop : loops) {
      threads.emplace_back([&] {
        while (!over.load()) {
          loop->read_clock(Monotonic::now() - start);
          loop->catch_up();
          loop->release();
          std::this_thread::yield();
        }
      });
    }
    Random random(6);
    for (int i = 0; i < kChanges; ++i) {
      const double rate = random_rate(random);
      live.set_rate(rate);
      // Changes at one instant replace each other; the last stands.
      const Duration from = live.profile().last_boundary();
      if (changes.back().from == from) changes.pop_back();
      changes.push_back({from, rate});
      const Instant until =
          Monotonic::now() + Duration(static_cast<std::int64_t>(random.below(200'000)));
      while (Monotonic::now() < until) std::this_thread::yield();
    }
    over.store(true);
  }
  const Duration end = Monotonic::now() - start + 5ms;
  for (const auto& loop : loops) {
    loop->read_clock(end);
    loop->catch_up();
    loop->release();
  }
  expect_exact(loops, live, changes, end + 1ns);
}

}  // namespace
}  // namespace onbeat::kernel
